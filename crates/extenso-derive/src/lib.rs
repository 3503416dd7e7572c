//! `#[derive(ExtensionType)]`: an extension type from a struct of named fields.
//!
//! Invariant: what is written by the derive could be written by hand on public items of `extenso-core`.
//! Knows nothing of the types of fields; that they are components or static data is left to the traits of these names.

mod expand;
mod parse;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Writes the spec of a struct with named fields and makes the struct an extension type.
///
/// For `struct Masked` this gives `MaskedSpec`, as public as the struct. Fields are components: tensors, row partitions,
/// `Value`, other extension types; a field marked `static` is plain data (`bool`, `i64`, `f64`, `String`, `DType`, vectors
/// and options of these).
///
/// On the struct, in `#[extenso(...)]`:
///
/// | attribute | meaning |
/// |---|---|
/// | `name = "space/Name"` | the type's name; the package's name and the struct's unless given |
/// | `version = 2` | the definition's version; 1 unless given |
/// | `refines = "Base"` | the type that this one refines; the components of `Base` come first |
/// | `validate = path` | `fn(&Self) -> Result<()>`, which calls no op; runs on every rebuild |
/// | `validate_data = path` | the same for what only data can tell; runs when components came from outside |
/// | `guard = path` | `fn(Self) -> Result<Self>`, which puts the same into the graph where components are symbols |
/// | `validate_refined = path` | `fn(&ExtSpec, &[Value]) -> Result<()>`; checks a value of a type that refines this one |
/// | `cast = path` | `fn(&Value, &ExtSpec) -> Result<Option<Value>>`, a value of another type as one of this |
/// | `to_tensor = path` | `fn(&Self) -> Result<Tensor>`, for ops that no handler takes |
/// | `dispatch_types = ["space/Name"]` | the types that this one's handlers mix with; any unless given |
/// | `handlers = path` | `fn(&Arc<TypeDef>)`, called once when the type is defined, to register handlers |
/// | `crate = "path"` | where `__private::{core, types}` is found, for crates that re-export the derive |
///
/// On a field: `static`; or how a path names the component: `itself` (not at all), `each` (`[*]`), `component` (`@field`),
/// `component = "name"` (`@name`); otherwise `.field`.
///
/// ```
/// use extenso_core::{ExtensionType, Tensor};
/// use extenso_derive::ExtensionType;
///
/// #[derive(Clone, ExtensionType)]
/// #[extenso(name = "doc/Length")]
/// struct Length {
///     #[extenso(itself)]
///     value: Tensor,
///     #[extenso(static)]
///     unit: String,
/// }
///
/// let length = Length { value: Tensor::scalar(2.5), unit: "m".into() };
/// assert_eq!(format!("{:?}", length.into_value()), "Length(f64[], unit=\"m\")");
/// ```
#[proc_macro_derive(ExtensionType, attributes(extenso))]
pub fn derive_extension_type(input: TokenStream) -> TokenStream {
    derive(input, None)
}

/// [`macro@ExtensionType`] for the facade crate, which exports it under that name: paths begin at `::extenso`.
#[proc_macro_derive(FacadeExtensionType, attributes(extenso))]
pub fn derive_facade_extension_type(input: TokenStream) -> TokenStream {
    derive(input, Some("::extenso"))
}

fn derive(input: TokenStream, facade: Option<&str>) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    match parse::definition(&input, facade) {
        Ok(definition) => expand::expand(&definition).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
