//! Mirror structs to functions. Trusts nothing.

use super::Module;
use super::weights::Reader;
use super::wire as w;
use crate::function::Concrete;
use crate::graph::{Graph, Input, Node, NodeKind, Subgraph, ValueRef};
use extenso_core::attrs::AttrValue;
use extenso_core::{OpDef, Value, Variable, check_spec, resolve};
use extenso_types::{
    DType, Dim, DimId, Error, ExtSpec, Fingerprint, LeafSpec, Nest, PartitionSpec, Path, Result, Segment, Shape, Spec,
    StaticValue, TensorSpec, TypeDef,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(super) fn module(file: w::File, weights: &Reader<'_>) -> Result<Module> {
    let mut decoder =
        Decoder { types: Vec::new(), variables: Vec::new(), dims: HashMap::new(), weights, made: HashMap::new() };
    for def in &file.types {
        let ancestors = def.ancestors.iter().map(|i| decoder.def(*i)).collect::<Result<_>>()?;
        decoder.types.push(resolve(def.name.parse()?, def.version, Fingerprint(def.fingerprint), ancestors));
    }
    for variable in file.variables {
        let spec = decoder.leaf(required(variable.spec, "a variable's spec")?)?;
        let value = decoder.weight(variable.weights, &spec)?;
        decoder.variables.push(Variable::new(variable.name, value.tensor()?.clone())?);
    }
    let mut names = HashSet::new();
    if let Some(twice) = file.functions.iter().find(|f| !names.insert(f.name.clone())) {
        return Err(Error::data(format!("two functions have the name '{}'", twice.name)).wanted("one name each"));
    }
    let functions: Result<Vec<_>> = file.functions.into_iter().map(|f| decoder.function(f)).collect();
    Ok(Module { functions: functions?, variables: decoder.variables, types: decoder.types })
}

struct Decoder<'a> {
    types: Vec<Arc<TypeDef>>,
    variables: Vec<Variable>,
    dims: HashMap<u32, DimId>,
    weights: &'a Reader<'a>,
    /// What was made of each name: who names it again shares the memory.
    made: HashMap<String, (LeafSpec, Value)>,
}

fn required<T>(value: Option<T>, what: &str) -> Result<T> {
    value.ok_or_else(|| Error::data(format!("{what} is missing")))
}

fn size(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::data(format!("the size {n} is larger than memory")))
}

impl Decoder<'_> {
    fn function(&mut self, function: w::Function) -> Result<Arc<Concrete>> {
        let place = format!("function '{}'", function.name);
        let input = self.nest(required(function.input, "a signature")?)?;
        let output = self.nest(required(function.output, "a signature")?)?;
        let graph = self.graph(required(function.graph, "a graph")?).map_err(|e| e.at(place.clone()))?;
        Concrete::loaded(function.name, input, output, graph).map(Arc::new).map_err(|e| e.at(place))
    }

    fn graph(&mut self, graph: w::Graph) -> Result<Graph> {
        let input = |i: w::Input, decoder: &mut Self| {
            Ok(Input { path: i.path.parse()?, spec: decoder.leaf(required(i.spec, "an input's spec")?)? })
        };
        let inputs: Result<Vec<_>> = graph.inputs.into_iter().map(|i| input(i, self)).collect();
        let nodes: Result<Vec<_>> = graph.nodes.into_iter().map(|n| self.node(n)).collect();
        let outputs = graph.outputs.iter().map(at).collect();
        let graph = Graph { name: graph.name, nodes: nodes?, inputs: inputs?, outputs };
        graph.verify()?;
        Ok(graph)
    }

    fn node(&mut self, node: w::Node) -> Result<Node> {
        let outputs: Result<Vec<LeafSpec>> = node.outputs.into_iter().map(|o| self.leaf(o)).collect();
        let outputs = outputs?;
        let kind = match required(node.kind, "a node's kind")? {
            w::NodeKind::Input(i) => NodeKind::Input(size(i)?),
            w::NodeKind::Constant(name) => {
                let spec = outputs.first().ok_or_else(|| Error::data("a constant without a spec"))?;
                NodeKind::Constant(self.weight(name, spec)?)
            }
            w::NodeKind::Op(op) => self.op(op)?,
        };
        Ok(Node {
            kind,
            inputs: node.inputs.iter().map(at).collect(),
            outputs: outputs.into_iter().collect(),
            after: node.after,
            origin: None,
        })
    }

    /// The value of a name, made once.
    ///
    /// Errors: entries that are missing or not what the spec needs; a name that is given two specs.
    fn weight(&mut self, name: String, spec: &LeafSpec) -> Result<Value> {
        if let Some((known, value)) = self.made.get(&name) {
            if known == spec {
                return Ok(value.clone());
            }
            return Err(
                Error::data(format!("the weights '{name}' are {known} and {spec}")).wanted("one spec for a name")
            );
        }
        let value = self.weights.get(&name, spec)?;
        self.made.insert(name, (spec.clone(), value.clone()));
        Ok(value)
    }

    fn op(&mut self, op: w::Op) -> Result<NodeKind> {
        let def = find_op(&op.name)?;
        if op.version > def.version {
            return Err(Error::data(format!(
                "the file needs version {} of the op '{}', this build has {}",
                op.version, op.name, def.version
            ))
            .hint("Upgrade extenso."));
        }
        let attrs: Result<Vec<AttrValue>> = op.attrs.into_iter().map(|a| self.attr(a)).collect();
        let attrs = (def.attrs.parse)(&attrs?).map_err(|e| e.at(def.name))?;
        Ok(NodeKind::Op(def, attrs))
    }

    fn attr(&mut self, attr: w::Attr) -> Result<AttrValue> {
        Ok(match required(attr.kind, "an attribute")? {
            w::AttrKind::None(_) => AttrValue::None,
            w::AttrKind::Bool(v) => AttrValue::Bool(v),
            w::AttrKind::Int(v) => AttrValue::Int(v),
            w::AttrKind::Float(v) => AttrValue::Float(v),
            w::AttrKind::Str(v) => AttrValue::Str(v),
            w::AttrKind::DType(v) => AttrValue::DType(v.parse()?),
            w::AttrKind::Ints(v) => AttrValue::Ints(v.values),
            w::AttrKind::Bytes(v) => AttrValue::Bytes(v.into()),
            w::AttrKind::Spec(v) => AttrValue::Spec(self.spec(v)?),
            w::AttrKind::Variable(i) => {
                let variable = self.variables.get(i as usize);
                AttrValue::Variable(variable.cloned().ok_or_else(|| Error::data(format!("there is no variable {i}")))?)
            }
            w::AttrKind::Graph(g) => AttrValue::Graph(Subgraph::new(self.graph(g)?)),
        })
    }

    fn def(&self, i: u32) -> Result<Arc<TypeDef>> {
        self.types.get(i as usize).cloned().ok_or_else(|| Error::data(format!("there is no type {i}")))
    }

    fn dim(&mut self, dim: Option<w::Dim>) -> Result<Dim> {
        Ok(match required(dim.and_then(|d| d.kind), "a size")? {
            w::DimKind::Known(n) => Dim::Known(size(n)?),
            w::DimKind::Var(i) => Dim::Var(*self.dims.entry(i).or_insert_with(DimId::fresh)),
        })
    }

    fn shape(&mut self, shape: w::Shape) -> Result<Shape> {
        if shape.unknown {
            return Ok(Shape::unknown());
        }
        let dims: Result<Vec<Dim>> = shape.dims.into_iter().map(|d| self.dim(Some(d))).collect();
        Ok(Shape::new(dims?))
    }

    fn leaf(&mut self, leaf: w::Leaf) -> Result<LeafSpec> {
        Ok(match required(leaf.kind, "a spec")? {
            w::LeafKind::Tensor(t) => {
                LeafSpec::Tensor(TensorSpec::new(t.dtype.parse()?, self.shape(required(t.shape, "a shape")?)?))
            }
            w::LeafKind::Partition(p) => {
                let index: DType = p.index.parse()?;
                if !matches!(index, DType::I32 | DType::I64) {
                    return Err(Error::data(format!("offsets are {index}")).wanted("i32 or i64"));
                }
                let length = p.uniform_row_length.map(usize::try_from).transpose();
                let uniform_row_length = length.map_err(|_| Error::data("rows are longer than can be counted"))?;
                let (nrows, nvalues) = (self.dim(p.nrows)?, self.dim(p.nvalues)?);
                LeafSpec::Partition(PartitionSpec { nrows, nvalues, uniform_row_length, index })
            }
        })
    }

    fn spec(&mut self, spec: w::Spec) -> Result<Spec> {
        Ok(match required(spec.kind, "a spec")? {
            w::SpecKind::Leaf(leaf) => Spec::from(self.leaf(leaf)?),
            w::SpecKind::Ext(ext) => {
                let def = self.def(ext.def)?;
                let static_data = self.static_value(required(ext.static_data, "static data")?)?;
                let component = |c: w::Component, decoder: &mut Self| {
                    Ok((segment(&c.segment)?, decoder.spec(required(c.spec, "a component's spec")?)?))
                };
                let components: Result<Vec<_>> = ext.components.into_iter().map(|c| component(c, self)).collect();
                let ext = ExtSpec { def, static_data, components: components? };
                check_spec(&ext)?;
                Spec::from(ext)
            }
        })
    }

    fn static_value(&mut self, value: w::Static) -> Result<StaticValue> {
        Ok(match required(value.kind, "a static value")? {
            w::StaticKind::None(_) => StaticValue::None,
            w::StaticKind::Bool(v) => StaticValue::Bool(v),
            w::StaticKind::Int(v) => StaticValue::Int(v),
            w::StaticKind::Float(v) => StaticValue::Float(v),
            w::StaticKind::Str(v) => StaticValue::Str(v),
            w::StaticKind::Bytes(v) => StaticValue::Bytes(v),
            w::StaticKind::DType(v) => StaticValue::DType(v.parse()?),
            w::StaticKind::Shape(v) => StaticValue::Shape(self.shape(v)?),
            w::StaticKind::Spec(v) => StaticValue::Spec(Box::new(self.spec(*v)?)),
            w::StaticKind::Tuple(v) => {
                StaticValue::Tuple(v.items.into_iter().map(|i| self.static_value(i)).collect::<Result<_>>()?)
            }
            w::StaticKind::Map(v) => {
                let entry = |e: w::StaticEntry| Ok((e.key, self.static_value(required(e.value, "a static value")?)?));
                StaticValue::Map(v.entries.into_iter().map(entry).collect::<Result<_>>()?)
            }
        })
    }

    fn nest(&mut self, nest: w::Nest) -> Result<Nest<Spec>> {
        Ok(match required(nest.kind, "a nest")? {
            w::NestKind::Leaf(spec) => Nest::Leaf(self.spec(spec)?),
            w::NestKind::Static(value) => Nest::Static(self.static_value(value)?),
            w::NestKind::List(items) => Nest::List(self.nests(items)?),
            w::NestKind::Tuple(items) => Nest::Tuple(self.nests(items)?),
            w::NestKind::Dict(entries) => Nest::Dict(self.entries(entries.entries)?),
            w::NestKind::Record(record) => Nest::Record(record.name.into(), self.entries(record.entries)?),
        })
    }

    fn nests(&mut self, nests: w::Nests) -> Result<Vec<Nest<Spec>>> {
        nests.items.into_iter().map(|n| self.nest(n)).collect()
    }

    fn entries(&mut self, entries: Vec<w::Entry>) -> Result<Vec<(Arc<str>, Nest<Spec>)>> {
        entries.into_iter().map(|e| Ok((e.key.into(), self.nest(required(e.value, "an entry")?)?))).collect()
    }
}

fn at(v: &w::Ref) -> ValueRef {
    ValueRef { node: v.node, output: v.output }
}

fn segment(text: &str) -> Result<Segment> {
    let path: Path = text.parse()?;
    match path.segments() {
        [] => Ok(Segment::Itself),
        [segment] => Ok(segment.clone()),
        _ => Err(Error::data(format!("'{text}' is more than one step of a path"))),
    }
}

fn find_op(name: &str) -> Result<&'static OpDef> {
    crate::tables().find(|op| op.name == name).ok_or_else(|| {
        Error::data(format!("the file needs the op '{name}', which this build does not have"))
            .hint("Upgrade extenso, or load the package that declares the op.")
    })
}
