//! Small steps that handlers share: arguments in, outputs out.

use crate::axes::has_axes;
use extenso_core::{Answer, Arg, Call, ExtensionType, Outputs, TypeSpec, Value, call, call_one};
use extenso_types::Result;
use std::borrow::Cow;

/// The arguments as one list, whether the op takes a list or not.
pub(crate) fn flat<'a>(call: &'a Call<'_>) -> &'a [Arg] {
    match call.args {
        [Arg::List(items)] if call.op.variadic => items,
        args => args,
    }
}

/// The handler that declines where an argument is of a type whose axes nobody knows: that type may have an answer.
pub(crate) fn unless_foreign(handle: fn(&Call<'_>) -> Answer) -> impl Fn(&Call<'_>) -> Answer + Send + Sync + 'static {
    move |call| {
        let foreign = |arg: &Arg| matches!(arg, Arg::Value(value) if !has_axes(value));
        if flat(call).iter().any(foreign) { Ok(None) } else { handle(call) }
    }
}

/// Applies the called op, with its attributes, to other arguments.
pub(crate) fn again(call_: &Call<'_>, args: &[Arg]) -> Result<Outputs> {
    match call_.op.variadic {
        true => call(call_.op, &[Arg::List(args.to_vec())], call_.attrs),
        false => call(call_.op, args, call_.attrs),
    }
}

/// Applies the called op of one output to one value.
pub(crate) fn on_value(call: &Call<'_>, value: &Value) -> Result<Value> {
    call_one(call.op, &[Arg::from(value)], call.attrs)
}

/// The value as a `T`, if it is one or refines it.
pub(crate) fn typed<T: ExtensionType>(value: &Value) -> Option<T> {
    typed_ref::<T>(value).map(Cow::into_owned)
}

/// The same without a copy where the value is a `T` as it stands.
pub(crate) fn typed_ref<T: ExtensionType>(value: &Value) -> Option<Cow<'_, T>> {
    let Value::Ext(ext) = value else { return None };
    match ext.downcast::<T>() {
        Some(typed) => Some(Cow::Borrowed(typed)),
        None if ext.def().is_a(T::Spec::def()) => T::from_value(value).ok().map(Cow::Owned),
        None => None,
    }
}

/// The argument as a `T`, if it is one as it stands.
pub(crate) fn held<T: ExtensionType>(arg: &Arg) -> Option<&T> {
    match arg {
        Arg::Value(Value::Ext(ext)) => ext.downcast(),
        Arg::Value(Value::Tensor(_) | Value::Partition(_)) | Arg::Scalar(_) | Arg::List(_) => None,
    }
}

/// The argument as a `T`, if it is one or refines it.
pub(crate) fn typed_arg<T: ExtensionType>(arg: &Arg) -> Option<T> {
    match arg {
        Arg::Value(value) => typed(value),
        Arg::Scalar(_) | Arg::List(_) => None,
    }
}

/// The answer of one value.
pub(crate) fn answer(value: Value) -> Answer {
    Ok(Some(Outputs::from_iter([value])))
}

/// The answer of one extension value.
pub(crate) fn answer_ext(value: impl ExtensionType) -> Answer {
    answer(value.into_value())
}

/// Wraps each output.
pub(crate) fn wrap(outputs: Outputs, f: impl Fn(Value) -> Result<Value>) -> Answer {
    outputs.into_iter().map(f).collect::<Result<Outputs>>().map(Some)
}

/// An axis or a size as an attribute.
pub(crate) fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
