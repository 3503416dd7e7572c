//! Elementwise ops on ragged tensors: on the values, once every operand stands in the rows of one partition.
//!
//! Operands that share the partition object are neither compared nor moved. Ranks are padded on the left with axes of size 1;
//! an axis of size 1 is repeated along rows, and a ragged one is of size 1 if all of its rows have length 1; any other axis
//! needs equal rows, or every row to have its size, which data and running graphs check. One ragged axis is handled here, and
//! the op applied again to what is below it. The offsets of the result are those of the ragged operands, i64 where they differ, in
//! an eager call and in a graph.

use super::{RaggedTensor, has_rows};
use crate::args::{again, answer_ext, flat, held, int, on_value, typed, typed_arg, wrap};
use crate::axes::{dim, one_row_as, outer, rank, rows_of_one_as};
use crate::masked::MaskedTensor;
use extenso_core::{Answer, Arg, Call, ExtensionType, Fact, RowPartition, Value, ops};
use extenso_types::{DType, Dim, Error, Result};

/// A unary op is the op on the values.
pub(super) fn unary(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<RaggedTensor>) {
        Some(x) => answer_ext(x.with_values(on_value(call, x.values())?)?),
        None => Ok(None),
    }
}

/// An op of several operands that broadcast.
pub(super) fn elementwise(call: &Call<'_>) -> Answer {
    if let Some((values, partition)) = sharing_rows(call) {
        let in_rows = |values| Ok(RaggedTensor::from_partition(values, partition.clone())?.into_value());
        return wrap(again(call, &values)?, in_rows);
    }
    let Some(mut operands) = operands_of(call)? else { return Ok(None) };
    rows_of_uniform(&mut operands)?;
    match common_rows(&operands)? {
        Some(partition) => in_rows(call, &operands, &partition),
        None => Ok(None),
    }
}

/// The values of operands of one rank that stand in the same rows as they are, beside operands without axes.
fn sharing_rows<'a>(call: &'a Call<'_>) -> Option<(Vec<Arg>, &'a RowPartition)> {
    let mut shared: Option<(&RowPartition, usize)> = None;
    let mut values = Vec::with_capacity(flat(call).len());
    for arg in flat(call) {
        let Some(x) = held::<RaggedTensor>(arg) else {
            values.push(Some(arg).filter(|arg| is_single(arg))?.clone());
            continue;
        };
        let rank = rank(x.values()).ok()?;
        let (partition, of) = *shared.get_or_insert((x.partition(), rank));
        if of != rank || !partition.same(x.partition()) {
            return None;
        }
        values.push(Arg::from(x.values()));
    }
    let (partition, _) = shared?;
    // Values outside every row are left behind first, so that an op cannot fail on them.
    (partition.covers_all() || partition.symbol().is_some() && !looks_outside(call, &values))
        .then_some((values, partition))
}

/// Whether it matters to the op what lies outside the rows of its operands, whose values these are: it may fail there, or compare the
/// rows that are there.
fn looks_outside(call: &Call<'_>, values: &[Arg]) -> bool {
    let mut inner = values.iter().filter_map(held::<RaggedTensor>).map(RaggedTensor::partition);
    let first = inner.next();
    call.op.facts.contains(&Fact::Partial) || inner.any(|other| first.is_some_and(|first| !first.same(other)))
}

fn is_single(arg: &Arg) -> bool {
    match arg {
        Arg::Scalar(_) => true,
        Arg::Value(Value::Tensor(t)) => t.rank() == Some(0),
        Arg::Value(Value::Partition(_) | Value::Ext(_)) | Arg::List(_) => false,
    }
}

/// The operands with axes of one number, as many rows each, and nothing outside the rows.
fn operands_of(call: &Call<'_>) -> Result<Option<Vec<Operand>>> {
    let Some(mut operands) = flat(call).iter().map(Operand::of).collect::<Option<Vec<_>>>() else { return Ok(None) };
    if miss_rows(&operands)? {
        return Ok(None);
    }
    pad_ranks(&mut operands)?;
    check_outer_sizes(&operands)?;
    compact(call, &mut operands)?;
    Ok(Some(operands))
}

/// Whether uniform operands miss rows as a whole, and none of them elements of rows: then the masks come first and the rows after.
fn miss_rows(operands: &[Operand]) -> Result<bool> {
    let ranks: Vec<usize> = operands.iter().map(|operand| Ok(operand.rank()?.unwrap_or(0))).collect::<Result<_>>()?;
    let most = ranks.iter().copied().max().unwrap_or(0);
    let (mut rows, mut elements) = (false, false);
    for (operand, own) in operands.iter().zip(ranks) {
        if let Operand::Uniform(value) = operand
            && let Some(masked) = typed::<MaskedTensor>(value)
        {
            let covers = most - own + masked.mask_rank()?;
            (rows, elements) = (rows || covers == 1, elements || covers > 1);
        }
    }
    Ok(rows && !elements)
}

/// The op on what is in the rows of a partition.
fn in_rows(call: &Call<'_>, operands: &[Operand], partition: &RowPartition) -> Answer {
    let inner: Result<Vec<Arg>> = operands.iter().map(|operand| operand.in_rows_of(partition)).collect();
    wrap(again(call, &inner?)?, |values| Ok(RaggedTensor::from_partition(values, partition.clone())?.into_value()))
}

/// `broadcast_like` repeats the first argument along the axes of the second, which keeps its own.
///
/// Errors: the first has more axes or more rows.
pub(super) fn like(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    let (Some(x), Some(like)) = (Operand::of(x), Operand::of(like)) else { return Ok(None) };
    let (given, wanted) = (x.rank()?.unwrap_or(0), like.rank()?.unwrap_or(0));
    let one = Some(Dim::Known(1));
    if given > wanted || (given == wanted && like.outer() == one && x.outer().is_some() && x.outer() != one) {
        return Err(Error::shape("the first argument has axes or rows that the second lacks")
            .wanted("an argument that broadcasts to the second"));
    }
    if let (Operand::Ragged(rows), Operand::Uniform(of)) = (&x, &like)
        && given == wanted
        && dim(of, 1)? == Dim::Known(1)
    {
        return match rows.partition().data() {
            Ok(known) if known.all_have_length_one() => elementwise(call),
            Ok(_) => Err(Error::shape("the rows of the first argument have other lengths than 1, as the second has")
                .wanted("an argument that broadcasts to the second")),
            Err(_) => {
                let ones = rows_of_one_as(of, rows.partition().spec().index)?;
                answer_ext(RaggedTensor::from_partition(rows.stretched_in(&ones)?, ones)?)
            }
        };
    }
    if !matches!(like, Operand::Ragged(_)) {
        return elementwise(call);
    }
    match operands_of(call)?.as_deref() {
        Some(operands @ [_, Operand::Ragged(like)]) => in_rows(call, operands, like.partition()),
        Some(_) | None => Ok(None),
    }
}

/// One operand.
enum Operand {
    /// Without axes: the same for every element.
    Single(Arg),
    /// Uniform in its first two axes, as far as is known.
    Uniform(Value),
    /// Ragged in its second axis.
    Ragged(RaggedTensor),
}

impl Operand {
    /// None for what is not to be broadcast here: a list, or rows of which some are missing.
    fn of(arg: &Arg) -> Option<Operand> {
        match arg {
            Arg::Scalar(_) => Some(Operand::Single(arg.clone())),
            Arg::List(_) => None,
            Arg::Value(value) => match typed::<RaggedTensor>(value) {
                Some(x) => Some(Operand::Ragged(x)),
                None if outer(value).is_none() => Some(Operand::Single(arg.clone())),
                None if is_masked_rows(value) => None,
                None => Some(Operand::Uniform(value.clone())),
            },
        }
    }

    fn partition(&self) -> Option<&RowPartition> {
        match self {
            Operand::Ragged(x) => Some(x.partition()),
            Operand::Single(_) | Operand::Uniform(_) => None,
        }
    }

    fn rank(&self) -> Result<Option<usize>> {
        match self {
            Operand::Single(_) => Ok(None),
            Operand::Uniform(value) => rank(value).map(Some),
            Operand::Ragged(x) => x.rank().map(Some),
        }
    }

    fn outer(&self) -> Option<Dim> {
        match self {
            Operand::Single(_) => None,
            Operand::Uniform(value) => outer(value),
            Operand::Ragged(x) => Some(x.nrows()),
        }
    }

    /// The operand's values as the partition cuts them, one axis less.
    fn in_rows_of(&self, partition: &RowPartition) -> Result<Arg> {
        match self {
            Operand::Single(arg) => Ok(arg.clone()),
            Operand::Ragged(x) => x.stretched_in(partition).map(Arg::Value),
            Operand::Uniform(value) => uniform_in(value, partition).map(Arg::Value),
        }
    }
}

/// Whether the value is masked outside a ragged axis, so that the mask comes first and the rows after.
fn is_masked_rows(value: &Value) -> bool {
    typed::<MaskedTensor>(value).is_some_and(|masked| typed::<RaggedTensor>(masked.values()).is_some())
}

impl RaggedTensor {
    /// The values as another partition with equal rows cuts them.
    ///
    /// Errors: the rows differ; while tracing this is found when the graph runs.
    pub(crate) fn values_in(&self, partition: &RowPartition) -> Result<Value> {
        if self.partition.same(partition) {
            return Ok(self.values.clone());
        }
        ops::align_rows(&self.values, &self.partition, partition)
    }

    /// The same, with the only value of each row repeated if every row has one, and the only row if there is one.
    fn stretched_in(&self, partition: &RowPartition) -> Result<Value> {
        if self.partition.same(partition) || !may_stretch(&self.partition, partition.spec().nrows) {
            return self.values_in(partition);
        }
        ops::stretch_rows(&self.values, &self.partition, partition)
    }
}

/// Whether rows are repeated beside so many others, as far as is known: every one has length 1, or there is one beside several.
fn may_stretch(partition: &RowPartition, beside: Dim) -> bool {
    let spec = partition.spec();
    if spec.nrows != beside && spec.nrows.known().is_none_or(|n| n == 1) {
        return true;
    }
    match partition.data() {
        Ok(rows) => rows.all_have_length_one(),
        Err(_) => spec.nrows.known().zip(spec.nvalues.known()).is_none_or(|(nrows, nvalues)| nvalues >= nrows),
    }
}

/// Uniform operands as rows where those may be longer or more than the rows of another, or of size 1 after all; columns stay.
fn rows_of_uniform(operands: &mut [Operand]) -> Result<()> {
    let partitions: Vec<RowPartition> = operands.iter().filter_map(Operand::partition).cloned().collect();
    if partitions.is_empty() {
        return Ok(());
    }
    let index = index_of(&partitions);
    for operand in operands {
        let Operand::Uniform(value) = operand else { continue };
        let (nrows, size) = (outer(value), dim(value, 1)?);
        let stretched = |partition| may_stretch(partition, nrows.unwrap_or(Dim::Known(1)));
        let alone = size.known().is_none() || partitions.iter().any(stretched) || !may_stand_beside(nrows, &partitions);
        if size != Dim::Known(1) && alone {
            *operand = Operand::Ragged(RaggedTensor::of_uniform_as(value, index)?);
        }
    }
    Ok(())
}

/// The dtype of offsets that holds those of all partitions.
fn index_of(partitions: &[RowPartition]) -> DType {
    let narrow = !partitions.is_empty() && partitions.iter().all(|partition| partition.spec().index == DType::I32);
    if narrow { DType::I32 } else { DType::I64 }
}

/// Whether so many rows are known to be one, or as many as each partition has.
fn may_stand_beside(nrows: Option<Dim>, partitions: &[RowPartition]) -> bool {
    nrows == Some(Dim::Known(1)) || partitions.iter().all(|partition| nrows == Some(partition.spec().nrows))
}

/// The rows that all operands broadcast to; none if none is ragged.
fn common_rows(operands: &[Operand]) -> Result<Option<RowPartition>> {
    let mut partitions: Vec<RowPartition> = operands.iter().filter_map(Operand::partition).cloned().collect();
    let Some(first) = partitions.first().cloned() else { return Ok(None) };
    let index = index_of(&partitions);
    for operand in operands {
        // A column has one value in each row, which says how many rows there are.
        if let Operand::Uniform(value) = operand
            && !may_stand_beside(outer(value), &partitions)
        {
            partitions.push(rows_of_one_as(value, index)?);
        }
    }
    let join = |all: RowPartition, other: &RowPartition| {
        let (one, two) = (all.spec(), other.spec());
        let alike = one.index == two.index && !(may_stretch(&all, two.nrows) || may_stretch(other, one.nrows));
        if all.same(other) || alike {
            return Ok(all);
        }
        ops::broadcast_rows(all, other)?.partition().cloned()
    };
    partitions[1..].iter().try_fold(first, join).map(Some)
}

/// Axes of size 1 in front of operands of a lower rank.
fn pad_ranks(operands: &mut [Operand]) -> Result<()> {
    if operands.iter().filter(|o| !matches!(o, Operand::Single(_))).count() < 2 {
        return Ok(());
    }
    let ranks: Result<Vec<Option<usize>>> = operands.iter().map(Operand::rank).collect();
    let ranks = ranks?;
    let wanted = ranks.iter().flatten().copied().max().unwrap_or(0);
    let whole = operands.iter().zip(&ranks).filter(|(_, rank)| **rank == Some(wanted));
    let index = index_of(&whole.filter_map(|(operand, _)| operand.partition()).cloned().collect::<Vec<_>>());
    for (operand, rank) in operands.iter_mut().zip(ranks) {
        let missing = rank.map_or(0, |rank| wanted - rank);
        if missing == 0 {
            continue;
        }
        match operand {
            Operand::Single(_) => {}
            Operand::Uniform(value) => {
                *value = ops::expand_dims_at(&*value, (0..missing).map(int).collect::<Vec<_>>())?
            }
            Operand::Ragged(x) => {
                for _ in 0..missing {
                    let value = x.clone().into_value();
                    let partition = one_row_as(&value, index)?;
                    *x = RaggedTensor::from_partition(value, partition)?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that operands of more than one row have as many.
///
/// Errors: known numbers of rows that differ.
fn check_outer_sizes(operands: &[Operand]) -> Result<()> {
    let known = || operands.iter().filter_map(|operand| operand.outer()?.known()).filter(|&n| n != 1);
    let wanted = known().next();
    match known().find(|&n| Some(n) != wanted) {
        Some(given) => Err(rows_differ(given, wanted.unwrap_or(given))),
        None => Ok(()),
    }
}

fn rows_differ(given: usize, wanted: usize) -> Error {
    Error::shape(format!("one argument has {wanted} rows, another {given}")).wanted("as many rows in each, or one row")
}

/// Leaves values outside every row behind, so that an op cannot fail on them; operands that share rows still do.
fn compact(call: &Call<'_>, operands: &mut [Operand]) -> Result<()> {
    let mut done: Vec<(RowPartition, RowPartition)> = Vec::new();
    for operand in operands {
        let Operand::Ragged(x) = operand else { continue };
        let open = x.partition.symbol().is_some() && !has_rows(&x.values);
        if x.partition.covers_all() || open && !call.op.facts.contains(&Fact::Partial) {
            continue;
        }
        let before = x.partition.clone();
        *x = x.compact()?;
        match done.iter().find(|(known, _)| known.same(&before)) {
            Some((_, after)) => x.partition = after.clone(),
            None => done.push((before, x.partition.clone())),
        }
    }
    Ok(())
}

/// A uniform operand in the rows of a partition.
fn uniform_in(value: &Value, partition: &RowPartition) -> Result<Value> {
    if dim(value, 1)? != Dim::Known(1) {
        return RaggedTensor::of_uniform(value)?.stretched_in(partition);
    }
    let (nrows, column) = (outer(value), ops::squeeze(value, vec![1_i64])?);
    if nrows == Some(Dim::Known(1)) {
        return Ok(column);
    }
    if may_stand_beside(nrows, std::slice::from_ref(partition)) {
        return ops::gather_rows_of(column, partition);
    }
    let rows = ops::broadcast_like(ops::indices_along(&column, 0)?, ops::row_lengths(partition)?)?;
    ops::gather_rows_of(ops::take(column, rows, 0)?, partition)
}
