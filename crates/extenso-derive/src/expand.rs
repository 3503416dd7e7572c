//! Writing the spec and the two implementations.
//!
//! Every path in the output begins at a crate root, so that nothing in the user's scope can change its meaning.

use crate::parse::{Definition, FieldDef, Role};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// The code of the derive.
pub fn expand(definition: &Definition) -> TokenStream {
    let roots = Roots::of(definition);
    let parts = Parts::of(definition);
    let items = [
        spec_struct(definition, &roots, &parts),
        type_spec(definition, &roots, &parts),
        extension_type(definition, &roots, &parts),
    ];
    quote! { #(#items)* }
}

/// Where the two crates are found.
struct Roots {
    core: TokenStream,
    types: TokenStream,
}

impl Roots {
    fn of(definition: &Definition) -> Roots {
        match &definition.options.root {
            Some(root) => Roots { core: quote!(#root::__private::core), types: quote!(#root::__private::types) },
            None => Roots { core: quote!(::extenso_core), types: quote!(::extenso_types) },
        }
    }
}

/// The fields by what they are.
struct Parts<'a> {
    spec: syn::Ident,
    components: Vec<&'a FieldDef>,
    statics: Vec<&'a FieldDef>,
}

impl Parts<'_> {
    fn of(definition: &Definition) -> Parts<'_> {
        let (statics, components) = definition.fields.iter().partition(|f| f.role == Role::Static);
        Parts { spec: format_ident!("{}Spec", definition.ident), components, statics }
    }
}

fn spec_struct(definition: &Definition, roots: &Roots, parts: &Parts<'_>) -> TokenStream {
    let (Roots { types, .. }, Parts { spec, .. }) = (roots, parts);
    let (ident, vis) = (&definition.ident, &definition.vis);
    let fields = definition.fields.iter().map(|f| {
        let (name, vis, ty) = (&f.ident, &f.vis, &f.ty);
        match f.role {
            Role::Static => {
                let doc = format!("The static data `{name}`.");
                quote!(#[doc = #doc] #vis #name: #ty)
            }
            Role::Field(_) | Role::Component(_) | Role::Each | Role::Itself => {
                let doc = format!("The spec of `{name}`.");
                quote!(#[doc = #doc] #vis #name: #types::Spec)
            }
        }
    });
    let steps = parts.components.iter().filter_map(|f| f.role.step());
    let doc = format!("The spec of [`{ident}`].");
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone)]
        #vis struct #spec { #(#fields,)* }

        impl #spec {
            /// The steps that lead to the components, in order; a type that refines this one begins with them.
            pub const COMPONENTS: &'static [&'static str] = &[#(#steps),*];
        }
    }
}

fn type_spec(definition: &Definition, roots: &Roots, parts: &Parts<'_>) -> TokenStream {
    let (Roots { core, types }, Parts { spec, components, .. }) = (roots, parts);
    let ident = &definition.ident;
    let names: Vec<_> = components.iter().map(|f| &f.ident).collect();
    let def = def(definition, roots, spec);
    let serialize = serialize(roots, parts);
    let deserialize = deserialize(roots, parts);
    let from_components = from_components(definition, roots, parts);
    let provided = provided(definition, roots);
    quote! {
        impl #core::TypeSpec for #spec {
            type Value = #ident;

            #def
            #serialize
            #deserialize

            fn to_components(&self, value: &#ident) -> #types::Result<::std::vec::Vec<#core::Value>> {
                ::core::result::Result::Ok(::std::vec![#(#core::Component::to_value(&value.#names)),*])
            }

            #from_components
            #provided
        }
    }
}

fn def(definition: &Definition, roots: &Roots, spec: &syn::Ident) -> TokenStream {
    let Roots { core, types } = roots;
    let options = &definition.options;
    let short = definition.ident.to_string();
    let name = match &options.name {
        Some(name) => quote!(#name),
        None => quote!(::core::concat!(::core::env!("CARGO_PKG_NAME"), "/", #short)),
    };
    let version = options.version.as_ref().map_or(quote!(1), |v| quote!(#v));
    let text = fingerprint_text(definition);
    let handlers = options.handlers.as_ref().map(|path| quote!(#path(&def);));
    let ancestors = match &options.refines {
        None => quote!(::std::vec::Vec::new()),
        Some(base) => {
            // No alias: its name would hide a type of the caller's.
            let base = quote!(<#base as #core::ExtensionType>::Spec);
            quote! {{
                ::core::assert!(
                    #spec::COMPONENTS.starts_with(<#base>::COMPONENTS),
                    "{} refines {}, so its components begin with {:?}; they are {:?}",
                    #short, <#base as #core::TypeSpec>::def(), <#base>::COMPONENTS, #spec::COMPONENTS,
                );
                let base = <#base as #core::TypeSpec>::def();
                ::core::iter::once(base).chain(base.ancestors()).cloned().collect()
            }}
        }
    };
    quote! {
        fn def() -> &'static ::std::sync::Arc<#types::TypeDef> {
            static DEF: ::std::sync::LazyLock<::std::sync::Arc<#types::TypeDef>> = ::std::sync::LazyLock::new(|| {
                let def = #core::define::<#spec>(#name, #version, #text, #ancestors);
                #handlers
                def
            });
            &DEF
        }
    }
}

/// Field names, types, steps and static marks, without white space; the version stands beside the fingerprint.
fn fingerprint_text(definition: &Definition) -> String {
    let field = |f: &FieldDef| {
        let ty = &f.ty;
        let ty: String = quote!(#ty).to_string().split_whitespace().collect();
        let step = f.role.step().unwrap_or_else(|| "static".to_string());
        format!("{}:{ty}={step}", f.ident)
    };
    definition.fields.iter().map(field).collect::<Vec<_>>().join(";")
}

/// An expression of the step to a component.
fn segment(role: &Role, types: &TokenStream) -> TokenStream {
    match role {
        Role::Field(name) => quote!(#types::Segment::field(#name)),
        Role::Component(name) => quote!(#types::Segment::component(#name)),
        Role::Each => quote!(#types::Segment::Each),
        Role::Itself | Role::Static => quote!(#types::Segment::Itself),
    }
}

fn serialize(roots: &Roots, parts: &Parts<'_>) -> TokenStream {
    let Roots { core, types } = roots;
    let segments = parts.components.iter().map(|f| segment(&f.role, types));
    let names = parts.components.iter().map(|f| &f.ident);
    let statics: Vec<_> = parts.statics.iter().map(|f| &f.ident).collect();
    let keys = statics.iter().map(ToString::to_string);
    let static_data = if statics.is_empty() {
        quote!(#types::StaticValue::None)
    } else {
        quote!(#types::StaticValue::map([#((#keys, #core::StaticData::to_static(&self.#statics))),*]))
    };
    quote! {
        fn serialize(&self) -> #types::ExtSpec {
            #types::ExtSpec {
                def: <Self as #core::TypeSpec>::def().clone(),
                static_data: #static_data,
                components: ::std::vec![#((#segments, self.#names.clone())),*],
            }
        }
    }
}

fn deserialize(roots: &Roots, parts: &Parts<'_>) -> TokenStream {
    let Roots { core, types } = roots;
    let components = parts.components.iter().map(|f| {
        let (name, text, segment) = (&f.ident, f.ident.to_string(), segment(&f.role, types));
        quote! {
            #name: spec.component(&#segment).cloned().ok_or_else(|| {
                #types::Error::missing(::core::concat!("the spec has no component '", #text, "'"))
            })?
        }
    });
    let statics = parts.statics.iter().map(|f| {
        let (name, ty, text) = (&f.ident, &f.ty, f.ident.to_string());
        quote! {
            #name: spec.static_data.get(#text).and_then(<#ty as #core::StaticData>::of_static).ok_or_else(|| {
                #types::Error::missing(::core::concat!("the spec has no fitting static data '", #text, "'"))
            })?
        }
    });
    quote! {
        fn deserialize(spec: &#types::ExtSpec) -> #types::Result<Self> {
            ::core::result::Result::Ok(Self { #(#components,)* #(#statics,)* })
        }
    }
}

fn from_components(definition: &Definition, roots: &Roots, parts: &Parts<'_>) -> TokenStream {
    let (Roots { core, types }, ident) = (roots, &definition.ident);
    let count = parts.components.len();
    let names: Vec<_> = parts.components.iter().map(|f| &f.ident).collect();
    let wanted = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let places = names.iter().map(|name| format!("component '{name}'"));
    let statics = parts.statics.iter().map(|f| &f.ident);
    quote! {
        fn from_components(&self, components: ::std::vec::Vec<#core::Value>) -> #types::Result<#ident> {
            let [#(#names),*]: [#core::Value; #count] = components.try_into().map_err(
                |given: ::std::vec::Vec<#core::Value>| {
                    #types::Error::value(::std::format!("{} components are given", given.len())).wanted(#wanted)
                },
            )?;
            ::core::result::Result::Ok(#ident {
                #(#names: #core::Component::of_value(&#names).map_err(|e| e.at(#places))?,)*
                #(#statics: self.#statics.clone(),)*
            })
        }
    }
}

fn provided(definition: &Definition, roots: &Roots) -> TokenStream {
    let (Roots { core, types }, ident) = (roots, &definition.ident);
    let options = &definition.options;
    let check = |method: TokenStream, path: &Option<syn::Path>| {
        path.as_ref().map(|path| {
            quote! {
                fn #method(&self, value: &#ident) -> #types::Result<()> {
                    #path(value)
                }
            }
        })
    };
    let validate = check(quote!(validate), &options.validate);
    let validate_data = check(quote!(validate_data), &options.validate_data);
    let checks_data = options.validate_data.is_some();
    let guard = options.guard.as_ref().map(|path| {
        quote! {
            fn guard(&self, value: #ident) -> #types::Result<#ident> {
                #path(value)
            }
        }
    });
    let validate_refined = options.validate_refined.as_ref().map(|path| {
        quote! {
            fn validate_refined(spec: &#types::ExtSpec, components: &[#core::Value]) -> #types::Result<()> {
                #path(spec, components)
            }
        }
    });
    let cast = options.cast.as_ref().map(|path| {
        quote! {
            fn cast(
                value: &#core::Value,
                wanted: &#types::ExtSpec,
            ) -> #types::Result<::core::option::Option<#core::Value>> {
                #path(value, wanted)
            }
        }
    });
    let to_tensor = options.to_tensor.as_ref().map(|path| {
        quote! {
            fn to_tensor(value: &#ident) -> ::core::option::Option<#types::Result<#core::Tensor>> {
                ::core::option::Option::Some(#path(value))
            }
        }
    });
    let dispatch_types = options.dispatch_types.as_ref().map(|names| {
        quote! {
            fn dispatch_types() -> ::core::option::Option<&'static [&'static str]> {
                ::core::option::Option::Some(&[#(#names),*])
            }
        }
    });
    quote! {
        const CHECKS_DATA: bool = #checks_data;
        #validate #validate_data #guard #validate_refined #cast #to_tensor #dispatch_types
    }
}

fn extension_type(definition: &Definition, roots: &Roots, parts: &Parts<'_>) -> TokenStream {
    let (Roots { core, types }, Parts { spec, .. }, ident) = (roots, parts, &definition.ident);
    let components: Vec<_> = parts.components.iter().map(|f| &f.ident).collect();
    let statics: Vec<_> = parts.statics.iter().map(|f| &f.ident).collect();
    quote! {
        impl #core::ExtensionType for #ident {
            type Spec = #spec;

            fn type_spec(&self) -> #spec {
                #spec {
                    // A component that cannot tell its spec is one of a foreign type; taking the value apart reports why.
                    #(#components: #core::Component::to_value(&self.#components).spec().unwrap_or_else(|_| {
                        #types::Spec::Tensor(#types::TensorSpec::new(#types::DType::Variant, #types::Shape::unknown()))
                    }),)*
                    #(#statics: self.#statics.clone(),)*
                }
            }
        }
    }
}
