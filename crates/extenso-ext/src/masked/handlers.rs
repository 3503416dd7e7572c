//! What a masked tensor does under ops: the table of handlers.

use super::{arithmetic, lines, products, rows, structure, text};
use crate::args::unless_foreign;
use extenso_core::{Answer, Call, Class, OpDef, Target, on, ops};
use extenso_types::TypeDef;
use std::sync::Arc;

type Handle = fn(&Call<'_>) -> Answer;

/// Registers the handlers; called once, when the type is defined.
pub(super) fn register(def: &Arc<TypeDef>) {
    let classes: [(Class, &'static str, Handle); 6] = [
        (Class::UnaryElementwise, "MaskedTensor elementwise", arithmetic::unary),
        (Class::BinaryElementwise, "MaskedTensor elementwise", arithmetic::elementwise),
        (Class::Elementwise, "MaskedTensor elementwise", arithmetic::elementwise),
        (Class::Reduction, "MaskedTensor reduction", arithmetic::reduce),
        (Class::Segment, "MaskedTensor segments", arithmetic::segments),
        (Class::Structural, "MaskedTensor structure", structure::whole),
    ];
    for (class, name, handle) in classes {
        on(Target::Class(class), def, name, unless_foreign(handle));
    }
    let single: &[(&OpDef, &str, Handle)] = &[
        (&ops::FLOOR_DIVIDE, "MaskedTensor division", arithmetic::faulting),
        (&ops::REMAINDER, "MaskedTensor division", arithmetic::faulting),
        (&ops::FMOD, "MaskedTensor division", arithmetic::faulting),
        (&ops::DIVIDE, "MaskedTensor division", arithmetic::divide),
        (&ops::POW, "MaskedTensor powers", arithmetic::faulting),
        (&ops::BITWISE_LEFT_SHIFT, "MaskedTensor shifts", arithmetic::faulting),
        (&ops::BITWISE_RIGHT_SHIFT, "MaskedTensor shifts", arithmetic::faulting),
        (&ops::STRING_REPEAT_EACH, "MaskedTensor repeat", arithmetic::repeated),
        (&ops::WHERE, "MaskedTensor where", arithmetic::where_),
        (&ops::GATHER_ROWS_OF, "MaskedTensor rows", structure::along_rows),
        (&ops::ALIGN_ROWS, "MaskedTensor rows", structure::along_rows),
        (&ops::STRETCH_ROWS, "MaskedTensor rows", structure::along_rows),
        (&ops::PAD_ROWS, "MaskedTensor rows", structure::pad_rows),
        (&ops::UNPAD_ROWS, "MaskedTensor rows", structure::unpad_rows),
        (&ops::ROW_PARTITION, "MaskedTensor rows", structure::row_partition),
        (&ops::TAKE, "MaskedTensor take", structure::take),
        (&ops::SLICE, "MaskedTensor slice", structure::slice),
        (&ops::BOOLEAN_MASK, "MaskedTensor boolean_mask", structure::boolean_mask),
        (&ops::CONCAT, "MaskedTensor concat", structure::concat),
        (&ops::EXPAND_DIMS, "MaskedTensor expand_dims", rows::expand_dims),
        (&ops::EXPAND_DIMS_AT, "MaskedTensor expand_dims", rows::expand_dims_at),
        (&ops::SQUEEZE, "MaskedTensor squeeze", rows::squeeze),
        (&ops::TRANSPOSE, "MaskedTensor transpose", rows::transpose),
        (&ops::ROW_LENGTHS, "MaskedTensor row lengths", rows::row_lengths),
        (&ops::MATMUL, "MaskedTensor matmul", products::matmul),
        (&ops::SCATTER_ADD_LIKE, "MaskedTensor scatter", products::scatter_add),
        (&ops::SCATTER_ADD_ALONG_AXIS, "MaskedTensor scatter", products::scatter_add),
        (&ops::TAKE_ALONG_AXIS, "MaskedTensor take_along_axis", rows::take_along_axis),
        (&ops::PAD, "MaskedTensor pad", structure::pad),
        (&ops::BROADCAST_TO, "MaskedTensor broadcasting", structure::broadcast_to),
        (&ops::BROADCAST_LIKE, "MaskedTensor broadcasting", structure::broadcast_like),
        (&ops::SORT, "MaskedTensor sort", lines::sort),
        (&ops::ARGSORT, "MaskedTensor sort", lines::argsort),
        (&ops::SEGMENT_SORT, "MaskedTensor sort", lines::segment_sort),
        (&ops::SEGMENT_ARGSORT, "MaskedTensor sort", lines::segment_argsort),
        (&ops::TOP_K_INDICES, "MaskedTensor top_k", lines::top_k),
        (&ops::ARGMAX, "MaskedTensor argmax", lines::argmax),
        (&ops::ARGMIN, "MaskedTensor argmin", lines::argmin),
        (&ops::SEGMENT_ARGMAX, "MaskedTensor argmax", lines::segment_argmax),
        (&ops::SEGMENT_ARGMIN, "MaskedTensor argmin", lines::segment_argmin),
        (&ops::CUMULATIVE_SUM, "MaskedTensor running fold", lines::cumulative_sum),
        (&ops::CUMULATIVE_PROD, "MaskedTensor running fold", lines::cumulative_prod),
        (&ops::SEGMENT_CUMULATIVE_SUM, "MaskedTensor running fold", lines::segment_cumulative_sum),
        (&ops::SEGMENT_CUMULATIVE_PROD, "MaskedTensor running fold", lines::segment_cumulative_prod),
        (&ops::CUMULATIVE_MAX, "MaskedTensor running fold", lines::cumulative_max),
        (&ops::CUMULATIVE_MIN, "MaskedTensor running fold", lines::cumulative_min),
        (&ops::SEGMENT_CUMULATIVE_MAX, "MaskedTensor running fold", lines::segment_cumulative_max),
        (&ops::SEGMENT_CUMULATIVE_MIN, "MaskedTensor running fold", lines::segment_cumulative_min),
        (&ops::LINEAR_SCAN, "MaskedTensor recurrence", lines::linear_scan),
        (&ops::SEGMENT_LINEAR_SCAN, "MaskedTensor recurrence", lines::linear_scan),
        (&ops::SHIFT_IN, "MaskedTensor shift", lines::shift),
        (&ops::SEGMENT_SHIFT, "MaskedTensor shift", lines::segment_shift),
        (&ops::INDICES_ALONG, "MaskedTensor positions", lines::indices_along),
        (&ops::ARGWHERE, "MaskedTensor positions", lines::argwhere),
        (&ops::CHECK_ALL, "MaskedTensor check_all", structure::check_all),
        (&ops::RESHAPE, "MaskedTensor reshape", structure::reshape),
        (&ops::RESHAPE_LIKE, "MaskedTensor reshape", structure::reshape_like),
        (&ops::REDUCE_JOIN, "MaskedTensor join", text::reduce_join),
        (&ops::SEGMENT_JOIN, "MaskedTensor join", text::segment_join),
        (&ops::NGRAM_VALUES, "MaskedTensor join", text::joins),
        (&ops::SEGMENT_CHARACTERS, "MaskedTensor join", text::joins),
        (&ops::TO_NUMBER, "MaskedTensor to_number", text::to_number),
        (&ops::STRING_INDEX, "MaskedTensor string_index", text::index),
        (&ops::STRING_DECODE, "MaskedTensor decoding", text::decoded),
        (&ops::BASE64_DECODE, "MaskedTensor decoding", text::decoded),
        (&ops::HEX_DECODE, "MaskedTensor decoding", text::decoded),
        (&ops::BUCKETIZE, "MaskedTensor lookup", text::looked_up),
        (&ops::EMBEDDING_BAG, "MaskedTensor embedding_bag", crate::features::bag_of_those_there),
        (&ops::VOCABULARY, "MaskedTensor vocabulary", text::vocabulary),
        (&ops::LOOKUP, "MaskedTensor lookup", text::looked_up),
        (&ops::LOOKUP_VALUES, "MaskedTensor lookup", text::looked_up_values),
        (&ops::SEARCHSORTED, "MaskedTensor searchsorted", crate::lists::places),
        (&ops::BIN_COUNTS, "MaskedTensor counts", crate::lists::bin_counts),
    ];
    for &(op, name, handle) in single {
        on(Target::Op(op), def, name, unless_foreign(handle));
    }
}
