//! What a masked tensor does under ops: the table of handlers.

use super::{arithmetic, structure, text};
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
        (&ops::POW, "MaskedTensor powers", arithmetic::faulting),
        (&ops::WHERE, "MaskedTensor where", arithmetic::where_),
        (&ops::GATHER_ROWS_OF, "MaskedTensor rows", structure::along_rows),
        (&ops::ALIGN_ROWS, "MaskedTensor rows", structure::along_rows),
        (&ops::PAD_ROWS, "MaskedTensor rows", structure::pad_rows),
        (&ops::ROW_PARTITION, "MaskedTensor rows", structure::row_partition),
        (&ops::TAKE, "MaskedTensor take", structure::take),
        (&ops::SLICE, "MaskedTensor slice", structure::slice),
        (&ops::CONCAT, "MaskedTensor concat", structure::concat),
        (&ops::REDUCE_JOIN, "MaskedTensor join", text::join),
        (&ops::SEGMENT_JOIN, "MaskedTensor join", text::join),
        (&ops::NGRAM_VALUES, "MaskedTensor join", text::join),
        (&ops::TO_NUMBER, "MaskedTensor to_number", text::to_number),
        (&ops::LOOKUP, "MaskedTensor lookup", text::looked_up),
        (&ops::LOOKUP_VALUES, "MaskedTensor lookup", text::looked_up),
    ];
    for &(op, name, handle) in single {
        on(Target::Op(op), def, name, unless_foreign(handle));
    }
}
