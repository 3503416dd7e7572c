//! What a ragged tensor does under ops: the table of handlers.
//!
//! Each entry names an op or a class; how it answers stands in the module of its family.

use super::{RaggedTensor, arrange, broadcast, lines, reduction, rows, select, shape, text};
use crate::args::{answer, flat, typed_arg, unless_foreign};
use extenso_core::{Answer, Call, Class, OpDef, Target, call_one, on, ops};
use extenso_types::TypeDef;
use std::sync::Arc;

type Handle = fn(&Call<'_>) -> Answer;

/// Registers the handlers; called once, when the type is defined.
pub(super) fn register(def: &Arc<TypeDef>) {
    let classes: [(Class, &'static str, Handle); 5] = [
        (Class::UnaryElementwise, "RaggedTensor elementwise", broadcast::unary),
        (Class::BinaryElementwise, "RaggedTensor broadcasting", broadcast::elementwise),
        (Class::Elementwise, "RaggedTensor broadcasting", broadcast::elementwise),
        (Class::Reduction, "RaggedTensor reduction", reduction::reduce),
        (Class::Segment, "RaggedTensor segments", reduction::segments),
    ];
    for (class, name, handle) in classes {
        on(Target::Class(class), def, name, unless_foreign(handle));
    }
    let single: &[(&OpDef, &str, Handle)] = &[
        (&ops::ROW_LENGTHS, "RaggedTensor rows", of_partition),
        (&ops::ROW_SPLITS, "RaggedTensor rows", of_partition),
        (&ops::VALUE_ROWIDS, "RaggedTensor rows", of_partition),
        (&ops::ROW_STARTS, "RaggedTensor rows", of_partition),
        (&ops::PLACES_IN_ROWS, "RaggedTensor rows", of_partition),
        (&ops::ROW_PARTITION, "RaggedTensor rows", rows::row_partition),
        (&ops::GATHER_ROWS_OF, "RaggedTensor rows", rows::gather_rows_of),
        (&ops::ALIGN_ROWS, "RaggedTensor rows", rows::align_rows),
        (&ops::STRETCH_ROWS, "RaggedTensor rows", rows::stretch_rows),
        (&ops::TAKE, "RaggedTensor take", rows::take),
        (&ops::SLICE, "RaggedTensor slice", rows::slice),
        (&ops::BOOLEAN_MASK, "RaggedTensor boolean_mask", select::boolean_mask),
        (&ops::CHECK_ALL, "RaggedTensor check_all", select::check_all),
        (&ops::CONCAT, "RaggedTensor concat", rows::concat),
        (&ops::EXPAND_DIMS, "RaggedTensor expand_dims", rows::expand_dims),
        (&ops::REDUCE_JOIN, "RaggedTensor reduce_join", text::reduce_join),
        (&ops::TO_NUMBER, "RaggedTensor to_number", text::in_rows),
        (&ops::STRING_INDEX, "RaggedTensor string_index", text::in_rows),
        (&ops::STRING_DECODE, "RaggedTensor decoding", text::in_rows),
        (&ops::BASE64_DECODE, "RaggedTensor decoding", text::in_rows),
        (&ops::HEX_DECODE, "RaggedTensor decoding", text::in_rows),
        (&ops::BUCKETIZE, "RaggedTensor lookup", text::looked_up),
        (&ops::VOCABULARY, "RaggedTensor vocabulary", text::vocabulary),
        (&ops::LOOKUP, "RaggedTensor lookup", text::looked_up),
        (&ops::LOOKUP_VALUES, "RaggedTensor lookup", text::looked_up),
        (&ops::SEARCHSORTED, "RaggedTensor searchsorted", crate::lists::places),
        (&ops::BIN_COUNTS, "RaggedTensor counts", crate::lists::bin_counts),
        (&ops::EXPAND_DIMS_AT, "RaggedTensor expand_dims", shape::expand_dims_at),
        (&ops::SQUEEZE, "RaggedTensor squeeze", shape::squeeze),
        (&ops::TRANSPOSE, "RaggedTensor transpose", shape::transpose),
        (&ops::MATMUL, "RaggedTensor matmul", shape::matmul),
        (&ops::RESHAPE, "RaggedTensor reshape", arrange::reshape),
        (&ops::RESHAPE_LIKE, "RaggedTensor reshape", arrange::reshape_like),
        (&ops::BROADCAST_TO, "RaggedTensor broadcasting", arrange::broadcast_to),
        (&ops::PAD, "RaggedTensor pad", arrange::pad),
        (&ops::ARGWHERE, "RaggedTensor positions", arrange::argwhere),
        (&ops::SORT, "RaggedTensor sort", lines::sort),
        (&ops::ARGSORT, "RaggedTensor sort", lines::argsort),
        (&ops::TOP_K_INDICES, "RaggedTensor top_k", lines::top_k),
        (&ops::ARGMAX, "RaggedTensor argmax", lines::argmax),
        (&ops::ARGMIN, "RaggedTensor argmin", lines::argmin),
        (&ops::CUMULATIVE_SUM, "RaggedTensor running fold", lines::cumulative_sum),
        (&ops::CUMULATIVE_PROD, "RaggedTensor running fold", lines::cumulative_prod),
        (&ops::CUMULATIVE_MAX, "RaggedTensor running fold", lines::cumulative_max),
        (&ops::CUMULATIVE_MIN, "RaggedTensor running fold", lines::cumulative_min),
        (&ops::SHIFT_IN, "RaggedTensor shift", lines::shift),
        (&ops::LINEAR_SCAN, "RaggedTensor recurrence", lines::linear_scan),
        (&ops::TAKE_ALONG_AXIS, "RaggedTensor take_along_axis", lines::take_along_axis),
        (&ops::INDICES_ALONG, "RaggedTensor positions", lines::indices_along),
        (&ops::BROADCAST_LIKE, "RaggedTensor broadcasting", broadcast::like),
    ];
    for &(op, name, handle) in single {
        on(Target::Op(op), def, name, unless_foreign(handle));
    }
}

/// Ops on a row partition read that of a ragged tensor.
fn of_partition(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<RaggedTensor>) {
        Some(x) => answer(call_one(call.op, &[x.partition().into()], call.attrs)?),
        None => Ok(None),
    }
}
