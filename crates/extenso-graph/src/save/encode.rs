//! Functions to their mirror structs.

use super::weights::Writer;
use super::wire as w;
use crate::function::Concrete;
use crate::graph::{Graph, Node, NodeKind, Subgraph, ValueRef};
use extenso_core::attrs::AttrValue;
use extenso_core::{Value, Variable};
use extenso_types::{
    Dim, DimId, Error, ExtSpec, LeafSpec, Nest, Path, Result, Segment, Shape, Spec, StaticValue, TypeDef,
};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) fn file(functions: &[Arc<Concrete>], weights: &mut Writer) -> Result<w::File> {
    let mut encoder =
        Encoder { file: w::File::default(), types: Vec::new(), variables: Vec::new(), dims: HashMap::new(), weights };
    let mut encoded = Vec::new();
    for (i, function) in functions.iter().enumerate() {
        if functions[..i].iter().any(|f| f.name() == function.name()) {
            return Err(
                Error::value(format!("two functions have the name '{}'", function.name())).wanted("one name each")
            );
        }
        encoded.push(w::Function {
            name: function.name().to_string(),
            input: Some(encoder.nest(function.input_spec())?),
            output: Some(encoder.nest(function.output_spec())?),
            graph: Some(encoder.graph(function.graph())?),
        });
    }
    encoder.file.functions = encoded;
    Ok(encoder.file)
}

struct Encoder<'a> {
    file: w::File,
    types: Vec<Arc<TypeDef>>,
    variables: Vec<Variable>,
    dims: HashMap<DimId, u32>,
    weights: &'a mut Writer,
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn at(v: &ValueRef) -> w::Ref {
    w::Ref { node: v.node, output: v.output }
}

impl Encoder<'_> {
    fn graph(&mut self, graph: &Graph) -> Result<w::Graph> {
        let inputs: Vec<_> = graph
            .inputs
            .iter()
            .map(|i| w::Input { path: i.path.to_string(), spec: Some(self.leaf(&i.spec)) })
            .collect();
        let nodes: Result<Vec<_>> = graph.nodes.iter().map(|n| self.node(n)).collect();
        Ok(w::Graph {
            name: graph.name.clone(),
            inputs,
            nodes: nodes?,
            outputs: graph.outputs.iter().map(at).collect(),
        })
    }

    fn node(&mut self, node: &Node) -> Result<w::Node> {
        let kind = match &node.kind {
            NodeKind::Input(i) => w::NodeKind::Input(u64::try_from(*i).unwrap_or(u64::MAX)),
            NodeKind::Constant(value) => w::NodeKind::Constant(self.weights.add(value)?),
            NodeKind::Op(op, attrs) => {
                let attrs: Result<Vec<_>> = attrs.values().iter().map(|a| self.attr(a)).collect();
                w::NodeKind::Op(w::Op {
                    name: op.name.to_string(),
                    version: op.version,
                    attrs: attrs.map_err(|e| e.at(op.name))?,
                })
            }
        };
        Ok(w::Node {
            inputs: node.inputs.iter().map(at).collect(),
            outputs: node.outputs.iter().map(|o| self.leaf(o)).collect(),
            after: node.after,
            kind: Some(kind),
        })
    }

    fn attr(&mut self, attr: &AttrValue) -> Result<w::Attr> {
        let kind = match attr {
            AttrValue::None => w::AttrKind::None(w::Empty {}),
            AttrValue::Bool(v) => w::AttrKind::Bool(*v),
            AttrValue::Int(v) => w::AttrKind::Int(*v),
            AttrValue::Float(v) => w::AttrKind::Float(*v),
            AttrValue::Str(v) => w::AttrKind::Str(v.clone()),
            AttrValue::DType(v) => w::AttrKind::DType(v.name().to_string()),
            AttrValue::Ints(v) => w::AttrKind::Ints(w::Ints { values: v.clone() }),
            AttrValue::Bytes(v) => w::AttrKind::Bytes(v.to_vec()),
            AttrValue::Spec(v) => w::AttrKind::Spec(self.spec(v)?),
            AttrValue::Variable(v) => w::AttrKind::Variable(self.variable(v)?),
            AttrValue::Graph(g) => w::AttrKind::Graph(self.graph(Subgraph::of(g)?.graph())?),
        };
        Ok(w::Attr { kind: Some(kind) })
    }

    fn variable(&mut self, variable: &Variable) -> Result<u32> {
        if let Some(i) = self.variables.iter().position(|v| v.same(variable)) {
            return Ok(narrow(i));
        }
        let spec = Some(self.leaf(&LeafSpec::Tensor(variable.spec().clone())));
        let weights = self.weights.add(&Value::Tensor(variable.value()?))?;
        self.file.variables.push(w::Variable { name: variable.name().to_string(), spec, weights });
        self.variables.push(variable.clone());
        Ok(narrow(self.variables.len() - 1))
    }

    fn def(&mut self, def: &Arc<TypeDef>) -> u32 {
        if let Some(i) = self.types.iter().position(|t| t.uid() == def.uid()) {
            return narrow(i);
        }
        let ancestors = def.ancestors().iter().map(|a| self.def(a)).collect();
        self.file.types.push(w::Type {
            name: def.name().to_string(),
            version: def.version(),
            fingerprint: def.fingerprint().0,
            ancestors,
        });
        self.types.push(def.clone());
        narrow(self.types.len() - 1)
    }

    fn dim(&mut self, dim: Dim) -> w::Dim {
        let kind = match dim {
            Dim::Known(n) => w::DimKind::Known(u64::try_from(n).unwrap_or(u64::MAX)),
            Dim::Var(id) => {
                let next = narrow(self.dims.len());
                w::DimKind::Var(*self.dims.entry(id).or_insert(next))
            }
        };
        w::Dim { kind: Some(kind) }
    }

    fn shape(&mut self, shape: &Shape) -> w::Shape {
        match shape.dims() {
            None => w::Shape { unknown: true, dims: Vec::new() },
            Some(dims) => w::Shape { unknown: false, dims: dims.iter().map(|d| self.dim(*d)).collect() },
        }
    }

    fn leaf(&mut self, leaf: &LeafSpec) -> w::Leaf {
        let kind = match leaf {
            LeafSpec::Tensor(t) => w::LeafKind::Tensor(w::TensorSpec {
                dtype: t.dtype.name().to_string(),
                shape: Some(self.shape(&t.shape)),
            }),
            LeafSpec::Partition(p) => w::LeafKind::Partition(w::PartitionSpec {
                nrows: Some(self.dim(p.nrows)),
                nvalues: Some(self.dim(p.nvalues)),
                index: p.index.name().to_string(),
                uniform_row_length: p.uniform_row_length.and_then(|n| u64::try_from(n).ok()),
            }),
        };
        w::Leaf { kind: Some(kind) }
    }

    fn spec(&mut self, spec: &Spec) -> Result<w::Spec> {
        let kind = match spec {
            Spec::Tensor(t) => w::SpecKind::Leaf(self.leaf(&LeafSpec::Tensor(t.clone()))),
            Spec::Partition(p) => w::SpecKind::Leaf(self.leaf(&LeafSpec::Partition(p.clone()))),
            Spec::Ext(e) => w::SpecKind::Ext(self.ext(e)?),
        };
        Ok(w::Spec { kind: Some(kind) })
    }

    fn ext(&mut self, ext: &ExtSpec) -> Result<w::ExtSpec> {
        let def = self.def(&ext.def);
        let static_data = Some(self.static_value(&ext.static_data)?);
        let components = ext
            .components
            .iter()
            .map(|(segment, spec)| Ok(w::Component { segment: segment_text(segment), spec: Some(self.spec(spec)?) }));
        Ok(w::ExtSpec { def, static_data, components: components.collect::<Result<_>>()? })
    }

    fn static_value(&mut self, value: &StaticValue) -> Result<w::Static> {
        let kind = match value {
            StaticValue::None => w::StaticKind::None(w::Empty {}),
            StaticValue::Bool(v) => w::StaticKind::Bool(*v),
            StaticValue::Int(v) => w::StaticKind::Int(*v),
            StaticValue::Float(v) => w::StaticKind::Float(*v),
            StaticValue::Str(v) => w::StaticKind::Str(v.clone()),
            StaticValue::Bytes(v) => w::StaticKind::Bytes(v.clone()),
            StaticValue::DType(v) => w::StaticKind::DType(v.name().to_string()),
            StaticValue::Shape(v) => w::StaticKind::Shape(self.shape(v)),
            StaticValue::Spec(v) => w::StaticKind::Spec(Box::new(self.spec(v)?)),
            StaticValue::Tuple(v) => w::StaticKind::Tuple(w::Statics {
                items: v.iter().map(|v| self.static_value(v)).collect::<Result<_>>()?,
            }),
            StaticValue::Map(v) => {
                let entry = |(key, value): (&String, &StaticValue)| {
                    Ok(w::StaticEntry { key: key.clone(), value: Some(self.static_value(value)?) })
                };
                w::StaticKind::Map(w::StaticMap { entries: v.iter().map(entry).collect::<Result<_>>()? })
            }
        };
        Ok(w::Static { kind: Some(kind) })
    }

    fn nest(&mut self, nest: &Nest<Spec>) -> Result<w::Nest> {
        let kind = match nest {
            Nest::Leaf(spec) => w::NestKind::Leaf(self.spec(spec)?),
            Nest::Static(value) => w::NestKind::Static(self.static_value(value)?),
            Nest::List(items) => w::NestKind::List(self.nests(items)?),
            Nest::Tuple(items) => w::NestKind::Tuple(self.nests(items)?),
            Nest::Dict(entries) => w::NestKind::Dict(self.entries("", entries)?),
            Nest::Record(name, entries) => w::NestKind::Record(self.entries(name, entries)?),
        };
        Ok(w::Nest { kind: Some(kind) })
    }

    fn nests(&mut self, items: &[Nest<Spec>]) -> Result<w::Nests> {
        Ok(w::Nests { items: items.iter().map(|n| self.nest(n)).collect::<Result<_>>()? })
    }

    fn entries(&mut self, name: &str, entries: &[(Arc<str>, Nest<Spec>)]) -> Result<w::Entries> {
        let entry =
            |(key, nest): &(Arc<str>, Nest<Spec>)| Ok(w::Entry { key: key.to_string(), value: Some(self.nest(nest)?) });
        Ok(w::Entries { name: name.to_string(), entries: entries.iter().map(entry).collect::<Result<_>>()? })
    }
}

pub(super) fn segment_text(segment: &Segment) -> String {
    Path::from_iter([segment.clone()]).to_string()
}
