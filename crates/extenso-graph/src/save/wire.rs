//! The mirror structs of what `graph.pb` holds, in the encoding of protocol buffers.
//!
//! Invariant: append-only. A field number is never used again for something else.

#![allow(missing_docs)] // The fields mirror those of the types that they encode.

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub struct File {
    #[prost(message, repeated, tag = "1")]
    pub types: Vec<Type>,
    #[prost(message, repeated, tag = "2")]
    pub variables: Vec<Variable>,
    #[prost(message, repeated, tag = "3")]
    pub functions: Vec<Function>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Type {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(uint32, tag = "2")]
    pub version: u32,
    #[prost(fixed64, tag = "3")]
    pub fingerprint: u64,
    /// Earlier entries of the table, nearest first.
    #[prost(uint32, repeated, tag = "4")]
    pub ancestors: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Variable {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub spec: Option<Leaf>,
    #[prost(string, tag = "3")]
    pub weights: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Function {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub input: Option<Nest>,
    #[prost(message, optional, tag = "3")]
    pub output: Option<Nest>,
    #[prost(message, optional, tag = "4")]
    pub graph: Option<Graph>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "2")]
    pub inputs: Vec<Input>,
    #[prost(message, repeated, tag = "3")]
    pub nodes: Vec<Node>,
    #[prost(message, repeated, tag = "4")]
    pub outputs: Vec<Ref>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Input {
    #[prost(string, tag = "1")]
    pub path: String,
    #[prost(message, optional, tag = "2")]
    pub spec: Option<Leaf>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Ref {
    #[prost(uint32, tag = "1")]
    pub node: u32,
    #[prost(uint32, tag = "2")]
    pub output: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(message, repeated, tag = "1")]
    pub inputs: Vec<Ref>,
    #[prost(message, repeated, tag = "2")]
    pub outputs: Vec<Leaf>,
    #[prost(uint32, optional, tag = "3")]
    pub after: Option<u32>,
    #[prost(oneof = "NodeKind", tags = "4, 5, 6")]
    pub kind: Option<NodeKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum NodeKind {
    #[prost(uint64, tag = "4")]
    Input(u64),
    /// The name of the weights.
    #[prost(string, tag = "5")]
    Constant(String),
    #[prost(message, tag = "6")]
    Op(Op),
}

#[derive(Clone, PartialEq, Message)]
pub struct Op {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(uint32, tag = "2")]
    pub version: u32,
    #[prost(message, repeated, tag = "3")]
    pub attrs: Vec<Attr>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub struct Ints {
    #[prost(sint64, repeated, tag = "1")]
    pub values: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Attr {
    #[prost(oneof = "AttrKind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11")]
    pub kind: Option<AttrKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum AttrKind {
    #[prost(message, tag = "1")]
    None(Empty),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(sint64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Float(f64),
    #[prost(string, tag = "5")]
    Str(String),
    #[prost(string, tag = "6")]
    DType(String),
    #[prost(message, tag = "7")]
    Ints(Ints),
    #[prost(uint32, tag = "8")]
    Variable(u32),
    #[prost(message, tag = "9")]
    Graph(Graph),
    #[prost(bytes = "vec", tag = "10")]
    Bytes(Vec<u8>),
    #[prost(message, tag = "11")]
    Spec(Spec),
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Dim {
    #[prost(oneof = "DimKind", tags = "1, 2")]
    pub kind: Option<DimKind>,
}

#[derive(Clone, Copy, PartialEq, Oneof)]
pub enum DimKind {
    #[prost(uint64, tag = "1")]
    Known(u64),
    /// Equal numbers in one file are one variable.
    #[prost(uint32, tag = "2")]
    Var(u32),
}

#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(bool, tag = "1")]
    pub unknown: bool,
    #[prost(message, repeated, tag = "2")]
    pub dims: Vec<Dim>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TensorSpec {
    #[prost(string, tag = "1")]
    pub dtype: String,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PartitionSpec {
    #[prost(message, optional, tag = "1")]
    pub nrows: Option<Dim>,
    #[prost(message, optional, tag = "2")]
    pub nvalues: Option<Dim>,
    #[prost(string, tag = "3")]
    pub index: String,
    #[prost(uint64, optional, tag = "4")]
    pub uniform_row_length: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Leaf {
    #[prost(oneof = "LeafKind", tags = "1, 2")]
    pub kind: Option<LeafKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum LeafKind {
    #[prost(message, tag = "1")]
    Tensor(TensorSpec),
    #[prost(message, tag = "2")]
    Partition(PartitionSpec),
}

#[derive(Clone, PartialEq, Message)]
pub struct Spec {
    #[prost(oneof = "SpecKind", tags = "1, 2")]
    pub kind: Option<SpecKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum SpecKind {
    #[prost(message, tag = "1")]
    Leaf(Leaf),
    #[prost(message, tag = "2")]
    Ext(ExtSpec),
}

#[derive(Clone, PartialEq, Message)]
pub struct ExtSpec {
    #[prost(uint32, tag = "1")]
    pub def: u32,
    #[prost(message, optional, tag = "2")]
    pub static_data: Option<Static>,
    #[prost(message, repeated, tag = "3")]
    pub components: Vec<Component>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Component {
    /// The step as the text of a path; empty for the component that is the value itself.
    #[prost(string, tag = "1")]
    pub segment: String,
    #[prost(message, optional, tag = "2")]
    pub spec: Option<Spec>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Static {
    #[prost(oneof = "StaticKind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11")]
    pub kind: Option<StaticKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum StaticKind {
    #[prost(message, tag = "1")]
    None(Empty),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(sint64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Float(f64),
    #[prost(string, tag = "5")]
    Str(String),
    #[prost(bytes = "vec", tag = "6")]
    Bytes(Vec<u8>),
    #[prost(string, tag = "7")]
    DType(String),
    #[prost(message, tag = "8")]
    Shape(Shape),
    #[prost(message, boxed, tag = "9")]
    Spec(Box<Spec>),
    #[prost(message, tag = "10")]
    Tuple(Statics),
    #[prost(message, tag = "11")]
    Map(StaticMap),
}

#[derive(Clone, PartialEq, Message)]
pub struct Statics {
    #[prost(message, repeated, tag = "1")]
    pub items: Vec<Static>,
}

#[derive(Clone, PartialEq, Message)]
pub struct StaticMap {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<StaticEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct StaticEntry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Static>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Nest {
    #[prost(oneof = "NestKind", tags = "1, 2, 3, 4, 5, 6")]
    pub kind: Option<NestKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum NestKind {
    #[prost(message, tag = "1")]
    Leaf(Spec),
    #[prost(message, tag = "2")]
    Static(Static),
    #[prost(message, tag = "3")]
    List(Nests),
    #[prost(message, tag = "4")]
    Tuple(Nests),
    #[prost(message, tag = "5")]
    Dict(Entries),
    #[prost(message, tag = "6")]
    Record(Entries),
}

#[derive(Clone, PartialEq, Message)]
pub struct Nests {
    #[prost(message, repeated, tag = "1")]
    pub items: Vec<Nest>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entries {
    /// The type of a record; empty for a dict.
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "2")]
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Nest>,
}
