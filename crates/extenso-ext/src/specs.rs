//! Specs of the shipped types by what a user says of them: a shape, a dtype, fields. And the shape and dtype that a spec has.
//!
//! Invariant: sizes that must be equal are one variable: the values of rows and what their partition cuts, the records and
//! the outer axes of their fields.

use crate::batchable::BatchableSpec;
use crate::categorical::CategoricalTensorSpec;
use crate::decimal::DecimalTensorSpec;
use crate::logical::FixedBytesTensorSpec;
use crate::masked::MaskedTensorSpec;
use crate::ragged::RaggedTensorSpec;
use crate::structs::{StructSpec, axis_of_records};
use crate::temporal::IntervalTensorSpec;
use extenso_core::TypeSpec;
use extenso_types::{DType, Dim, Error, ExtSpec, PartitionSpec, Result, Segment, Shape, Spec, StaticValue, TensorSpec};
use std::collections::HashSet;
use std::sync::Arc;

/// More axes than any tensor has; an argument may not ask for more.
const MAX_RANK: usize = 64;

/// The spec of ragged tensors of this shape, whose axes 1 to `ragged_rank` are cut by partitions, into rows of one length where it is known,
/// over values of `flat`: a dtype, or a
/// spec of all values in one vector.
///
/// `index` is the width of the row splits.
/// Errors: no ragged axis, or more than the shape has; another width than i32 or i64.
///
/// ```
/// # use extenso_ext::ragged_spec;
/// # use extenso_types::{DType, Shape};
/// let spec = ragged_spec(&Shape::partial([Some(2), None, Some(3)]), DType::F32, 1, DType::I64).unwrap();
/// assert_eq!(spec.to_string(), "RaggedTensor([*]: f32[?, 3], @row_splits: partition<i64>[2 rows of ? values])");
/// ```
pub fn ragged_spec(shape: &Shape, flat: impl Into<FlatSpec>, ragged_rank: usize, index: DType) -> Result<Spec> {
    rows(shape, flat.into(), ragged_rank, index).map_err(|e| e.at("RaggedTensorSpec"))
}

/// What the rows of a ragged spec hold.
#[derive(Clone, Debug)]
pub enum FlatSpec {
    /// Elements of this dtype, in the axes that the shape has inside the rows.
    DType(DType),
    /// Values of this spec, whose outer axis is the values of all rows.
    Spec(Spec),
}

impl From<DType> for FlatSpec {
    fn from(dtype: DType) -> FlatSpec {
        FlatSpec::DType(dtype)
    }
}

impl From<Spec> for FlatSpec {
    fn from(spec: Spec) -> FlatSpec {
        FlatSpec::Spec(spec)
    }
}

fn rows(shape: &Shape, flat: FlatSpec, ragged_rank: usize, index: DType) -> Result<Spec> {
    if !matches!(index, DType::I32 | DType::I64) {
        return Err(Error::dtype(format!("the row splits are {index}")).wanted("i32 or i64"));
    }
    let rank = shape.rank().unwrap_or(ragged_rank.saturating_add(1));
    if !(1..rank.min(MAX_RANK)).contains(&ragged_rank) {
        return Err(Error::value(format!("the ragged rank is {ragged_rank} for rank {rank}"))
            .wanted("at least one ragged axis, and fewer than axes")
            .hint("Use `TensorSpec` where no axis is ragged."));
    }
    let dims = shape.dims().map_or_else(|| vec![Dim::any(); ragged_rank + 1], <[Dim]>::to_vec);
    // The number of values at each level: the rows of the next.
    let counts: Vec<Dim> = std::iter::once(dims[0]).chain((0..ragged_rank).map(|_| Dim::any())).collect();
    let mut values = match (flat, shape.dims()) {
        (FlatSpec::DType(dtype), None) => TensorSpec::new(dtype, Shape::unknown()).into(),
        (FlatSpec::DType(dtype), Some(_)) => {
            let inner = dims[ragged_rank + 1..].iter().copied();
            TensorSpec::new(dtype, Shape::new(std::iter::once(counts[ragged_rank]).chain(inner))).into()
        }
        (FlatSpec::Spec(spec), _) => {
            let outer: Vec<Dim> =
                std::iter::once(counts[ragged_rank]).chain(dims[ragged_rank + 1..].to_vec()).collect();
            with_outer(&spec, &outer).map_err(|e| e.at("flat_values_spec"))?
        }
    };
    for level in (0..ragged_rank).rev() {
        let nvalues = axis_of(&values, 0).unwrap_or(counts[level + 1]);
        let length = dims[level + 1].known();
        let partition = PartitionSpec { nrows: counts[level], nvalues, uniform_row_length: length, index };
        values = Spec::from(ExtSpec {
            def: RaggedTensorSpec::def().clone(),
            static_data: StaticValue::None,
            components: vec![(Segment::Each, values), (Segment::component("row_splits"), Spec::Partition(partition))],
        });
    }
    Ok(values)
}

/// The spec of masked values, with a mask for each element, or for each outer element where values have rows or fields.
///
/// Errors: values of an unknown rank, or without axes of their own.
pub fn masked_spec(values: &Spec) -> Result<Spec> {
    let dims = match values {
        Spec::Tensor(spec) => spec.shape.dims().map(<[Dim]>::to_vec),
        Spec::Partition(_) => None,
        Spec::Ext(ext) if ext.def.is_a(StructSpec::def()) => shape_of(values).dims().map(<[Dim]>::to_vec),
        Spec::Ext(_) => axis_of(values, 0).map(|outer| vec![outer]),
    };
    let dims = dims.ok_or_else(|| {
        Error::shape(format!("the axes of {values} are not known")).wanted("a spec of the mask").at("MaskedTensorSpec")
    })?;
    Ok(ExtSpec {
        def: MaskedTensorSpec::def().clone(),
        static_data: StaticValue::None,
        components: vec![
            (Segment::Itself, values.clone()),
            (Segment::component("mask"), TensorSpec::new(DType::Bool, Shape::new(dims)).into()),
        ],
    }
    .into())
}

impl StructSpec {
    /// The spec of records of this shape; the outer axes of every field are the shape, and sizes known of either are of both.
    ///
    /// Errors: an unknown rank; an empty name or one that comes twice; a field of another outer shape, with its name.
    pub fn of_shape<N: Into<Arc<str>>>(
        shape: &Shape,
        fields: impl IntoIterator<Item = (N, Spec)>,
    ) -> Result<StructSpec> {
        let fields = fields.into_iter().map(|(name, spec)| (name.into(), spec)).collect();
        of_shape(shape, fields).map_err(|e| e.at("StructTensorSpec"))
    }
}

fn of_shape(shape: &Shape, fields: Vec<(Arc<str>, Spec)>) -> Result<StructSpec> {
    let dims = shape.dims().filter(|dims| dims.len() <= MAX_RANK).ok_or_else(|| {
        Error::shape(format!("the shape is {shape}")).wanted("a known rank: [] for one record").at("shape")
    })?;
    if fields.is_empty() {
        return Ok(StructSpec::bare(shape.clone()));
    }
    let mut names = HashSet::new();
    for (i, (name, _)) in fields.iter().enumerate() {
        if name.is_empty() || !names.insert(name.clone()) {
            return Err(Error::value(format!("field {i} has the name '{name}'")).wanted("a name, and each once"));
        }
    }
    // A size that one field knows is that of all.
    let size = |axis: usize| {
        let known = fields.iter().find_map(|(_, spec)| axis_of(spec, axis).filter(|dim| dim.known().is_some()));
        dims[axis].known().map(Dim::Known).or(known).unwrap_or(dims[axis])
    };
    let dims: Vec<Dim> = (0..dims.len()).map(size).collect();
    let field = |(name, spec): &(Arc<str>, Spec)| {
        Ok((name.clone(), with_outer(spec, &dims).map_err(|e| e.at(format!("field '{name}'")))?))
    };
    StructSpec::new(dims.len(), fields.iter().map(field).collect::<Result<Vec<_>>>()?)
}

/// The spec with these sizes of its first axes.
///
/// Errors: other sizes; fewer axes; a ragged axis among them.
fn with_outer(spec: &Spec, outer: &[Dim]) -> Result<Spec> {
    if outer.is_empty() {
        return Ok(spec.clone());
    }
    Ok(match spec {
        Spec::Tensor(tensor) => match tensor.shape.dims() {
            None => spec.clone(),
            Some(dims) => TensorSpec::new(tensor.dtype, Shape::new(meet(dims, outer)?)).into(),
        },
        Spec::Partition(partition) => {
            let nrows = meet(&[partition.nrows], &outer[..1])?[0];
            Spec::Partition(PartitionSpec { nrows, ..partition.clone() })
        }
        Spec::Ext(ext) => with_outer_parts(ext, outer)?,
    })
}

fn with_outer_parts(ext: &ExtSpec, outer: &[Dim]) -> Result<Spec> {
    let mut ext = ext.clone();
    let is = |def: &Arc<extenso_types::TypeDef>| ext.def.is_a(def);
    let (ragged, masked, record) = (is(RaggedTensorSpec::def()), is(MaskedTensorSpec::def()), is(StructSpec::def()));
    if record && !ext.components.iter().any(|(segment, _)| matches!(segment, Segment::Field(_))) {
        let dims = meet(shape_of(&ext.clone().into()).dims().unwrap_or_default(), outer)?;
        return Ok(StructSpec::bare(Shape::new(dims)).serialize().into());
    }
    let length = axis_of(&ext.clone().into(), 1).and_then(Dim::known);
    if ragged && outer.get(1).is_some_and(|dim| dim.known().is_some() && dim.known() != length) {
        return Err(Error::shape("axis 1 is ragged").wanted(format!("the shape {}", Shape::new(outer.to_vec()))));
    }
    let cells = cells_of(&ext).is_some();
    for (segment, spec) in &mut ext.components {
        if ragged && *segment == Segment::Each && outer.len() > 2 {
            let inner: Vec<Dim> = std::iter::once(Dim::any()).chain(outer[2..].iter().copied()).collect();
            *spec = with_outer(spec, &inner)?;
        }
        let concerned = match segment {
            Segment::Component(_) => ragged || masked || cells,
            Segment::Itself => true,
            Segment::Field(_) => record,
            Segment::Each | Segment::Index(_) => false,
        };
        if concerned {
            let axes = match spec {
                _ if masked => shape_of(spec).rank().map_or(outer.len(), |rank| rank.min(outer.len())),
                Spec::Partition(_) => 1,
                Spec::Tensor(_) | Spec::Ext(_) => outer.len(),
            };
            let outer = if matches!(segment, Segment::Component(_)) { &outer[..axes] } else { outer };
            *spec = with_outer(spec, outer)?;
        }
    }
    Ok(ext.into())
}

/// The sizes, with what is known of the first ones.
fn meet(dims: &[Dim], outer: &[Dim]) -> Result<Vec<Dim>> {
    let alike = dims.len() >= outer.len() && dims.iter().zip(outer).all(|(a, b)| a.is_compatible_with(*b));
    if !alike {
        let text = |dims: &[Dim]| Shape::new(dims.to_vec());
        return Err(Error::shape(format!("the shape is {}, and that of the records {}", text(dims), text(outer)))
            .wanted("the shape of the records, and any axes inside it"));
    }
    let first = dims.iter().zip(outer).map(|(a, b)| if a.known().is_some() { *a } else { *b });
    Ok(first.chain(dims[outer.len()..].iter().copied()).collect())
}

/// The shape of the values of a spec, as far as it is known; the size of a ragged axis is not, unless all rows have one length.
pub fn shape_of(spec: &Spec) -> Shape {
    match spec {
        Spec::Tensor(spec) => spec.shape.clone(),
        Spec::Partition(_) => Shape::unknown(),
        Spec::Ext(ext) => match &ext.components[..] {
            [(_, values), ..] if ext.def.is_a(RaggedTensorSpec::def()) => {
                let inner = shape_of(values);
                let Some(dims) = inner.dims().filter(|dims| !dims.is_empty()) else { return Shape::unknown() };
                let outer = axis_of(spec, 0).unwrap_or_else(Dim::any);
                let length = ext.components.iter().find_map(|(_, spec)| match spec {
                    Spec::Partition(rows) => Some(rows.row_length()),
                    Spec::Tensor(_) | Spec::Ext(_) => None,
                });
                let length = length.unwrap_or_else(Dim::any);
                Shape::new([outer, length].into_iter().chain(dims[1..].iter().copied()))
            }
            _ if ext.def.is_a(StructSpec::def()) => {
                StructSpec::deserialize(ext).map_or_else(|_| Shape::unknown(), |spec| spec.known_shape())
            }
            _ if ext.def.is_a(BatchableSpec::def()) => {
                let shapes = ext.components.iter().map(|(_, component)| before_rows(component));
                shapes.filter(|shape| shape.rank().is_some()).min_by_key(Shape::rank).unwrap_or_else(Shape::unknown)
            }
            _ => match cells_of(ext) {
                Some(cells) => outside(cells),
                None => ext.component(&Segment::Itself).map_or_else(Shape::unknown, shape_of),
            },
        },
    }
}

/// The shape of what stands before the rows of a component, which are inside a value of its type.
fn before_rows(spec: &Spec) -> Shape {
    match spec {
        Spec::Ext(ext) if ext.def.is_a(RaggedTensorSpec::def()) => Shape::new(axis_of(spec, 0)),
        Spec::Ext(ext) if ext.def.is_a(MaskedTensorSpec::def()) => {
            ext.component(&Segment::Itself).map_or_else(Shape::unknown, before_rows)
        }
        Spec::Tensor(_) | Spec::Partition(_) | Spec::Ext(_) => shape_of(spec),
    }
}

/// The bytes of the elements of a type whose elements have so many bytes each.
fn cells_of(ext: &ExtSpec) -> Option<&Spec> {
    let defs = [DecimalTensorSpec::def(), IntervalTensorSpec::def(), FixedBytesTensorSpec::def()];
    defs.into_iter().find(|def| ext.def.is_a(def)).and_then(|_| ext.component(&Segment::component("cells")))
}

/// The shape without the innermost axis, which is that of the bytes of an element.
fn outside(cells: &Spec) -> Shape {
    match shape_of(cells).dims() {
        Some([outer @ .., _]) => Shape::new(outer.iter().copied()),
        Some([]) | None => Shape::unknown(),
    }
}

/// The dtype of the elements of a spec; none for records, partitions and foreign types.
pub fn dtype_of(spec: &Spec) -> Option<DType> {
    match spec {
        Spec::Tensor(spec) => Some(spec.dtype),
        Spec::Partition(_) => None,
        Spec::Ext(ext) if ext.def.is_a(RaggedTensorSpec::def()) => dtype_of(ext.component(&Segment::Each)?),
        Spec::Ext(ext) if ext.def.is_a(CategoricalTensorSpec::def()) => {
            dtype_of(ext.component(&Segment::component("categories"))?)
        }
        // The elements of a union are of several types.
        Spec::Ext(ext) if ext.def.is_a(crate::UnionSpec::def()) => None,
        Spec::Ext(ext) => dtype_of(ext.component(&Segment::Itself)?),
    }
}

/// The size of one axis of the values of a spec, where it says so.
pub(crate) fn axis_of(spec: &Spec, axis: usize) -> Option<Dim> {
    match spec {
        Spec::Tensor(spec) => spec.shape.dims()?.get(axis).copied(),
        Spec::Partition(spec) => (axis == 0).then_some(spec.nrows),
        Spec::Ext(ext) if ext.def.is_a(RaggedTensorSpec::def()) => match (axis, &ext.components[..]) {
            (0, [_, (_, partition)]) => axis_of(partition, 0),
            (1, [_, (_, Spec::Partition(rows))]) => Some(rows.row_length()),
            (2.., [(_, values), ..]) => axis_of(values, axis - 1),
            _ => None,
        },
        Spec::Ext(ext) if ext.def.is_a(StructSpec::def()) => axis_of_records(ext, axis),
        Spec::Ext(ext) if ext.def.is_a(BatchableSpec::def()) => shape_of(spec).dims()?.get(axis).copied(),
        Spec::Ext(ext) => match cells_of(ext) {
            Some(cells) => outside(cells).dims()?.get(axis).copied(),
            None => axis_of(ext.component(&Segment::Itself)?, axis),
        },
    }
}
