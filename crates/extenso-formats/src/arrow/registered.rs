//! Extension types as Arrow's: the name of the type is that of the extension, its static data are the metadata, its components a struct.
//!
//! Invariant: the metadata are JSON with one encoding; a value that comes back is proven as any other from outside is.

use crate::json::write_string;
use crate::looks::provenance;
use crate::records::is;
use arrow_buffer::BooleanBuffer;
use extenso_core::{ExtensionType, OpaqueExtension, Tensor, Value, behavior, rebuild, resolve};
use extenso_ext::{MaskedTensor, MaskedTensorSpec, StructTensor, outer};
use extenso_types::{
    DType, Dim, Error, ExtSpec, Fingerprint, Path, Result, Segment, Shape, Spec, StaticValue, TypeDef,
};
use jiter::JsonValue;
use std::sync::Arc;

/// What the metadata say of a type.
pub struct Frame {
    def: Arc<TypeDef>,
    static_data: StaticValue,
    segments: Vec<Segment>,
    /// How many axes the mask of each component has, of those that may be missing; an array says that only where one is.
    masks: Vec<usize>,
}

/// The metadata of a spec.
///
/// Errors: static data that hold a spec.
pub fn metadata(spec: &ExtSpec) -> Result<String> {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"extenso\":1,");
    write_definition(&spec.def, &mut out);
    if !spec.def.ancestors().is_empty() {
        // What a type is beside its own name counts where nobody knows it.
        out.extend_from_slice(b",\"refines\":[");
        for (i, ancestor) in spec.def.ancestors().iter().enumerate() {
            out.extend_from_slice(if i > 0 { b",{\"name\":" } else { b"{\"name\":" });
            write_string(ancestor.name().as_str().as_bytes(), &mut out);
            out.push(b',');
            write_definition(ancestor, &mut out);
            out.push(b'}');
        }
        out.push(b']');
    }
    out.extend_from_slice(b",\"components\":[");
    for (i, (segment, _)) in spec.components.iter().enumerate() {
        out.extend_from_slice(if i > 0 { b"," } else { b"" });
        write_string(Path::from_iter([segment.clone()]).to_string().as_bytes(), &mut out);
    }
    out.extend_from_slice(b"],");
    let masks: Vec<usize> = spec.components.iter().map(|(_, spec)| mask_rank(spec)).collect();
    if masks.iter().any(|rank| *rank > 0) {
        let text: Vec<String> = masks.iter().map(usize::to_string).collect();
        out.extend_from_slice(format!("\"masks\":[{}],", text.join(",")).as_bytes());
    }
    out.extend_from_slice(b"\"static\":");
    write_static(&spec.static_data, &mut out)?;
    out.push(b'}');
    String::from_utf8(out).map_err(|_| Error::internal("metadata that are no text"))
}

fn write_definition(def: &TypeDef, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\"version\":{},\"fingerprint\":", def.version()).as_bytes());
    write_string(def.fingerprint().to_string().as_bytes(), out);
}

/// How many axes the mask of a spec has; none where nothing may be missing.
fn mask_rank(spec: &Spec) -> usize {
    let Spec::Ext(ext) = spec else { return 0 };
    let mask = ext.component(&Segment::component("mask")).filter(|_| is::<MaskedTensorSpec>(ext));
    match mask {
        Some(Spec::Tensor(mask)) => mask.shape.rank().unwrap_or(1),
        _ => 0,
    }
}

impl Frame {
    /// Whether a spec is of this type, with these static data and components of these names.
    pub fn is_of(&self, ext: &ExtSpec) -> bool {
        let segments = ext.components.iter().map(|(segment, _)| segment);
        self.def == ext.def && self.static_data == ext.static_data && segments.eq(&self.segments)
    }
}

/// What metadata say, if they are ours.
///
/// Errors: metadata that are ours and malformed.
pub fn frame(name: &str, text: &str) -> Option<Result<Frame>> {
    let json = JsonValue::parse(text.as_bytes(), false).ok()?;
    let entry = |key: &str| entry_of(&json, key);
    entry("extenso")?;
    let read = || {
        let JsonValue::Array(components) = entry("components")? else { return None };
        let segment = |component: &JsonValue<'_>| match component {
            JsonValue::Str(path) => match path.parse::<Path>().ok()?.segments() {
                [] => Some(Segment::Itself),
                [segment] => Some(segment.clone()),
                _ => None,
            },
            _ => None,
        };
        let mut ancestors = Vec::new();
        if let Some(refined) = entry("refines") {
            let JsonValue::Array(refined) = refined else { return None };
            if refined.len() > DEEPEST {
                return None;
            }
            // The farthest one refines none of the others.
            for ancestor in refined.iter().rev() {
                let JsonValue::Str(name) = entry_of(ancestor, "name")? else { return None };
                let def = definition(name, ancestor, ancestors.clone())?;
                ancestors.insert(0, def);
            }
        }
        let segments: Option<Vec<Segment>> = components.iter().map(segment).collect();
        let def = definition(name, &json, ancestors)?;
        let masks = match entry("masks") {
            Some(JsonValue::Array(ranks)) => sizes(ranks)?.into_iter().map(Option::unwrap_or_default).collect(),
            Some(_) => return None,
            None => Vec::new(),
        };
        Some(Frame { def, static_data: read_static(entry("static")?, 0)?, segments: segments?, masks })
    };
    Some(read().ok_or_else(|| Error::data(format!("the metadata of '{name}' are malformed"))))
}

fn entry_of<'a, 'j>(json: &'a JsonValue<'j>, key: &str) -> Option<&'a JsonValue<'j>> {
    let JsonValue::Object(entries) = json else { return None };
    entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// The definition that is said of a type, which refines these.
fn definition(name: &str, json: &JsonValue<'_>, ancestors: Vec<Arc<TypeDef>>) -> Option<Arc<TypeDef>> {
    let (JsonValue::Int(version), JsonValue::Str(print)) = (entry_of(json, "version")?, entry_of(json, "fingerprint")?)
    else {
        return None;
    };
    let print = Fingerprint(u64::from_str_radix(print, 16).ok()?);
    Some(resolve(name.parse().ok()?, u32::try_from(*version).ok()?, print, ancestors))
}

/// The value of the components, which are the fields of a struct in their order.
///
/// What a type says of data is asked when all is read. Errors: other components; those that the type refuses whatever they hold.
pub fn rebuilt(frame: &Frame, storage: Value) -> Result<Value> {
    let records = StructTensor::from_value(&storage)
        .map_err(|_| Error::data(format!("the storage of {} is no struct", frame.def)))?;
    let masks = frame.masks.iter().copied().chain(std::iter::repeat(0));
    let components: Vec<Value> =
        records.fields().iter().zip(masks).map(|((_, value), rank)| masked(value, rank)).collect::<Result<_>>()?;
    if components.len() != frame.segments.len() {
        return Err(Error::data(format!("{} components are given for {}", components.len(), frame.def)));
    }
    let specs: Result<Vec<_>> = components.iter().map(Value::spec).collect();
    let components_of = frame.segments.iter().cloned().zip(specs?).collect();
    let spec = ExtSpec { def: frame.def.clone(), static_data: frame.static_data.clone(), components: components_of };
    if behavior(&spec.def).is_none() {
        return Ok(Value::Ext(extenso_core::Ext::new(OpaqueExtension::new(spec, components))));
    }
    let provenance = provenance(&spec);
    rebuild(&spec, components, provenance)
}

/// The value under a mask of so many axes, or of as many as are known, where its type has one and its array had no null.
fn masked(value: &Value, rank: usize) -> Result<Value> {
    if rank == 0 || MaskedTensor::from_value(value).is_ok() {
        return Ok(value.clone());
    }
    let dims = match value {
        Value::Tensor(tensor) => tensor.data()?.dims().iter().copied().take(rank).collect(),
        _ => match outer(value) {
            Some(Dim::Known(rows)) => vec![rows],
            _ => return Ok(value.clone()),
        },
    };
    let there = BooleanBuffer::new_set(dims.iter().product());
    Ok(MaskedTensor::new(value.clone(), Tensor::from_bits(&dims, there)?)?.into_value())
}

/// The names of the fields that hold components.
pub fn column_name(i: usize, segment: &Segment) -> String {
    match segment {
        Segment::Itself => "value".into(),
        Segment::Field(name) | Segment::Component(name) => name.to_string(),
        Segment::Each | Segment::Index(_) => format!("component{i}"),
    }
}

/// The sizes behind the outer axis that the metadata of `arrow.fixed_shape_tensor` say, and the order that its axes are given in.
pub fn tensor_shape(text: &str) -> Option<(Vec<usize>, Option<Vec<usize>>)> {
    let json = JsonValue::parse(text.as_bytes(), false).ok()?;
    let JsonValue::Object(entries) = &json else { return None };
    let numbers = |key: &str| {
        let (_, value) = entries.iter().find(|(known, _)| known == key)?;
        let JsonValue::Array(items) = value else { return None };
        let number = |item: &JsonValue<'_>| match item {
            JsonValue::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        items.iter().map(number).collect::<Option<Vec<usize>>>()
    };
    let order = numbers("permutation").filter(|axes| axes.iter().enumerate().any(|(i, axis)| i != *axis));
    Some((numbers("shape")?, order))
}

fn write_static(value: &StaticValue, out: &mut Vec<u8>) -> Result<()> {
    let tagged = |tag: &str, text: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(format!("{{\"{tag}\":").as_bytes());
        write_string(text.as_bytes(), out);
        out.push(b'}');
    };
    match value {
        StaticValue::None => out.extend_from_slice(b"null"),
        StaticValue::Bool(v) => out.extend_from_slice(v.to_string().as_bytes()),
        StaticValue::Int(v) => out.extend_from_slice(v.to_string().as_bytes()),
        StaticValue::Float(v) => tagged("float", &format!("{:016x}", v.to_bits()), out),
        StaticValue::Str(v) => write_string(v.as_bytes(), out),
        StaticValue::Bytes(v) => tagged("bytes", &v.iter().map(|b| format!("{b:02x}")).collect::<String>(), out),
        StaticValue::DType(v) => tagged("dtype", v.name(), out),
        StaticValue::Shape(v) => {
            let dims = v.dims().map(|dims| dims.iter().map(|d| d.known().map_or("null".into(), |n| n.to_string())));
            let text = dims.map_or("null".into(), |dims| format!("[{}]", dims.collect::<Vec<String>>().join(",")));
            out.extend_from_slice(format!("{{\"shape\":{text}}}").as_bytes());
        }
        StaticValue::Spec(v) => {
            return Err(Error::dtype(format!("the static data hold the spec {v}"))
                .wanted("static data that Arrow's metadata have"));
        }
        StaticValue::Tuple(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                out.extend_from_slice(if i > 0 { b"," } else { b"" });
                write_static(item, out)?;
            }
            out.push(b']');
        }
        StaticValue::Map(map) => {
            out.extend_from_slice(b"{\"map\":[");
            for (i, (key, item)) in map.iter().enumerate() {
                out.extend_from_slice(if i > 0 { b",[" } else { b"[" });
                write_string(key.as_bytes(), out);
                out.push(b',');
                write_static(item, out)?;
                out.push(b']');
            }
            out.extend_from_slice(b"]}");
        }
    }
    Ok(())
}

/// How deep static data may be nested, and how many types one may refine.
const DEEPEST: usize = 32;

fn read_static(json: &JsonValue<'_>, depth: usize) -> Option<StaticValue> {
    if depth > DEEPEST {
        return None;
    }
    Some(match json {
        JsonValue::Null => StaticValue::None,
        JsonValue::Bool(v) => StaticValue::Bool(*v),
        JsonValue::Int(v) => StaticValue::Int(*v),
        JsonValue::Str(v) => StaticValue::Str(v.to_string()),
        JsonValue::Array(items) => {
            StaticValue::Tuple(items.iter().map(|item| read_static(item, depth + 1)).collect::<Option<_>>()?)
        }
        JsonValue::Object(entries) => {
            let [(tag, value)] = &entries[..] else { return None };
            match (tag.as_ref(), value) {
                ("float", JsonValue::Str(bits)) => {
                    StaticValue::Float(f64::from_bits(u64::from_str_radix(bits, 16).ok()?))
                }
                ("bytes", JsonValue::Str(hex)) => StaticValue::Bytes(unhex(hex)?),
                ("dtype", JsonValue::Str(name)) => StaticValue::DType(name.parse::<DType>().ok()?),
                ("shape", JsonValue::Null) => StaticValue::Shape(Shape::unknown()),
                ("shape", JsonValue::Array(dims)) => StaticValue::Shape(Shape::partial(sizes(dims)?)),
                ("map", JsonValue::Array(items)) => StaticValue::map(pairs(items, depth)?),
                _ => return None,
            }
        }
        JsonValue::Float(_) => return None,
    })
}

fn sizes(dims: &[JsonValue<'_>]) -> Option<Vec<Option<usize>>> {
    let size = |dim: &JsonValue<'_>| match dim {
        JsonValue::Null => Some(None),
        JsonValue::Int(n) => Some(Some(usize::try_from(*n).ok()?)),
        _ => None,
    };
    dims.iter().map(size).collect()
}

fn pairs(items: &[JsonValue<'_>], depth: usize) -> Option<Vec<(String, StaticValue)>> {
    let pair = |item: &JsonValue<'_>| match item {
        JsonValue::Array(pair) => match &pair[..] {
            [JsonValue::Str(key), value] => Some((key.to_string(), read_static(value, depth + 1)?)),
            _ => None,
        },
        _ => None,
    };
    items.iter().map(pair).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    bytes.chunks_exact(2).map(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?)).collect()
}
