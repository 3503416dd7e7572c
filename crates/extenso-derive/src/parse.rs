//! Reading the struct and its attributes.
//!
//! Invariant: a [`Definition`] has named fields, no generics, and no two components under one step. Writes no code.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Ident, LitInt, LitStr, Path, Result, Type, Visibility};

/// What the derive knows of the struct.
pub struct Definition {
    pub ident: Ident,
    pub vis: Visibility,
    pub options: Options,
    pub fields: Vec<FieldDef>,
}

/// The attributes of the struct.
#[derive(Default)]
pub struct Options {
    pub name: Option<LitStr>,
    pub version: Option<LitInt>,
    pub refines: Option<Path>,
    pub validate: Option<Path>,
    pub validate_data: Option<Path>,
    pub guard: Option<Path>,
    pub validate_refined: Option<Path>,
    pub cast: Option<Path>,
    pub to_tensor: Option<Path>,
    pub dispatch_types: Option<Vec<LitStr>>,
    pub handlers: Option<Path>,
    pub root: Option<Path>,
}

/// One field.
pub struct FieldDef {
    pub ident: Ident,
    pub vis: Visibility,
    pub ty: Type,
    pub role: Role,
}

/// What a field is.
#[derive(Clone, PartialEq, Eq)]
pub enum Role {
    /// Plain data.
    Static,
    /// A component under `.name`.
    Field(String),
    /// A component under `@name`.
    Component(String),
    /// The component under `[*]`.
    Each,
    /// The component that adds nothing to a path.
    Itself,
}

impl Role {
    /// The step as the text of a path; none for static data.
    pub fn step(&self) -> Option<String> {
        match self {
            Role::Static => None,
            Role::Field(name) => Some(format!(".{name}")),
            Role::Component(name) => Some(format!("@{name}")),
            Role::Each => Some("[*]".to_string()),
            Role::Itself => Some(String::new()),
        }
    }
}

/// Reads the struct.
///
/// Errors: not a struct with named fields; generics; an attribute that is unknown, malformed or given twice; two components
/// under one step.
pub fn definition(input: &DeriveInput, facade: Option<&str>) -> Result<Definition> {
    let named = named_fields(input)?;
    if !input.generics.params.is_empty() {
        let what = "an extension type has no generics: its components say what they are when the program runs";
        return Err(Error::new(input.generics.span(), what));
    }
    let mut options = Options::default();
    if let Some(facade) = facade {
        options.root = Some(syn::parse_str(facade)?);
    }
    each_option(&input.attrs, |meta| options.read(meta))?;
    let fields: Vec<FieldDef> = collect(named.iter().map(field))?;
    distinct_steps(&fields)?;
    Ok(Definition { ident: input.ident.clone(), vis: input.vis.clone(), options, fields })
}

fn named_fields(input: &DeriveInput) -> Result<&syn::punctuated::Punctuated<Field, syn::Token![,]>> {
    let fail = |span: Span, what: &str| {
        Err(Error::new(span, format!("{what} cannot be an extension type; wanted: a struct with named fields")))
    };
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(&fields.named),
            Fields::Unnamed(fields) => fail(fields.span(), "a tuple struct"),
            Fields::Unit => fail(input.ident.span(), "a struct without fields"),
        },
        Data::Enum(data) => fail(data.enum_token.span(), "an enum"),
        Data::Union(data) => fail(data.union_token.span(), "a union"),
    }
}

impl Options {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(key) = meta.path.get_ident().map(Ident::to_string) else {
            return Err(unknown(meta, STRUCT_KEYS));
        };
        match key.as_str() {
            "name" => set(&mut self.name, meta, type_name),
            "version" => set(&mut self.version, meta, version),
            "refines" => set(&mut self.refines, meta, path),
            "validate" => set(&mut self.validate, meta, path),
            "validate_data" => set(&mut self.validate_data, meta, path),
            "guard" => set(&mut self.guard, meta, path),
            "validate_refined" => set(&mut self.validate_refined, meta, path),
            "cast" => set(&mut self.cast, meta, path),
            "to_tensor" => set(&mut self.to_tensor, meta, path),
            "dispatch_types" => set(&mut self.dispatch_types, meta, names),
            "handlers" => set(&mut self.handlers, meta, path),
            "crate" => {
                self.root = Some(path(meta)?);
                Ok(())
            }
            _ => Err(unknown(meta, STRUCT_KEYS)),
        }
    }
}

const STRUCT_KEYS: &str = "name, version, refines, validate, validate_data, guard, validate_refined, cast, to_tensor, dispatch_types, handlers, crate";
const FIELD_KEYS: &str = "static, itself, each, component, component = \"name\"";

fn unknown(meta: &ParseNestedMeta<'_>, wanted: &str) -> Error {
    meta.error(format!("unknown attribute; wanted one of: {wanted}"))
}

fn set<T>(
    slot: &mut Option<T>,
    meta: &ParseNestedMeta<'_>,
    read: impl FnOnce(&ParseNestedMeta<'_>) -> Result<T>,
) -> Result<()> {
    let value = read(meta)?;
    if slot.replace(value).is_some() {
        return Err(meta.error("the attribute is given twice"));
    }
    Ok(())
}

/// A path, bare or in quotes.
fn path(meta: &ParseNestedMeta<'_>) -> Result<Path> {
    let value = meta.value()?;
    if value.peek(LitStr) { value.parse::<LitStr>()?.parse() } else { value.parse() }
}

/// The name of a type, as it is read at the first use of the type: there is no way to report a mistake then.
fn type_name(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let literal: LitStr = meta.value()?.parse()?;
    let text = literal.value();
    let parts = text.rsplit_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty());
    if parts.is_none() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let what = format!("{text:?} is not a type name; wanted: \"namespace/Name\" without white space");
        return Err(Error::new(literal.span(), what));
    }
    Ok(literal)
}

fn version(meta: &ParseNestedMeta<'_>) -> Result<LitInt> {
    let literal: LitInt = meta.value()?.parse()?;
    literal.base10_parse::<u32>()?;
    Ok(literal)
}

fn names(meta: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    let list: syn::ExprArray = meta.value()?.parse()?;
    let name = |item: &syn::Expr| match item {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) => Ok(name.clone()),
        other => Err(Error::new(other.span(), "wanted a type name in quotes: \"namespace/Name\"")),
    };
    collect(list.elems.iter().map(name))
}

fn each_option(attrs: &[Attribute], mut read: impl FnMut(&ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    let ours = attrs.iter().filter(|attr| attr.path().is_ident("extenso"));
    collect::<()>(ours.map(|attr| attr.parse_nested_meta(|meta| read(&meta)))).map(|_| ())
}

fn field(field: &Field) -> Result<FieldDef> {
    let ident = field.ident.clone().ok_or_else(|| Error::new(field.span(), "wanted a field with a name"))?;
    let text = ident.to_string();
    let name = text.trim_start_matches("r#").to_string();
    let mut role = None;
    each_option(&field.attrs, |meta| {
        set(&mut role, meta, |meta| {
            let key = meta.path.get_ident().map(Ident::to_string);
            match key.as_deref() {
                Some("static") => Ok(Role::Static),
                Some("itself") => Ok(Role::Itself),
                Some("each") => Ok(Role::Each),
                Some("component") if meta.input.peek(syn::Token![=]) => {
                    Ok(Role::Component(meta.value()?.parse::<LitStr>()?.value()))
                }
                Some("component") => Ok(Role::Component(name.clone())),
                Some(_) | None => Err(unknown(meta, FIELD_KEYS)),
            }
        })
    })?;
    let role = role.unwrap_or(Role::Field(name));
    Ok(FieldDef { ident, vis: field.vis.clone(), ty: field.ty.clone(), role })
}

fn distinct_steps(fields: &[FieldDef]) -> Result<()> {
    let twice = |(i, field): (usize, &FieldDef)| {
        let taken = fields[..i].iter().find(|other| other.role == field.role && field.role != Role::Static);
        match taken {
            Some(other) => Err(Error::new(
                field.ident.span(),
                format!("`{}` and `{}` are components under one step; wanted: one for each", other.ident, field.ident),
            )),
            None => Ok(()),
        }
    };
    collect::<()>(fields.iter().enumerate().map(twice)).map(|_| ())
}

/// All results, or all errors in one.
fn collect<T>(results: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut out = Vec::new();
    let mut errors: Option<Error> = None;
    for result in results {
        match (result, &mut errors) {
            (Ok(value), _) => out.push(value),
            (Err(error), Some(all)) => all.combine(error),
            (Err(error), None) => errors = Some(error),
        }
    }
    errors.map_or(Ok(out), Err)
}
