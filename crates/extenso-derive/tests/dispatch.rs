//! Which handlers are asked, in which order, and what happens when they decline.
//!
//! Every handler of these types writes its name down and declines, unless the test says that it takes the call.

use extenso_core::{Answer, Arg, Class, ExtensionType, Outputs, Target, Tensor, TypeSpec, Value, on, ops, unregister};
use extenso_derive::ExtensionType;
use extenso_types::{Result, TypeDef};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Base", handlers = of_base)]
struct Base {
    value: Tensor,
}

#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Child", refines = Base, handlers = of_child)]
struct Child {
    value: Tensor,
    note: Tensor,
}

#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Other", handlers = of_other)]
struct Other {
    value: Tensor,
}

/// Mixes with `Base` alone.
#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Choosy", dispatch_types = ["test/Base"], handlers = of_choosy)]
struct Choosy {
    value: Tensor,
}

/// Has no handlers but those that a test registers.
#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Late")]
struct Late {
    value: Tensor,
}

// The widest first, so that the order of registration is not the order wanted.
fn of_base(def: &Arc<TypeDef>) {
    asks(Target::Any, def, "Base any");
    asks(Target::Class(Class::BinaryElementwise), def, "Base binary");
    asks(Target::Class(Class::Comparison), def, "Base comparison");
    asks(Target::Op(&ops::ADD), def, "Base add");
}

fn of_child(def: &Arc<TypeDef>) {
    asks(Target::Any, def, "Child any");
    asks(Target::Op(&ops::ADD), def, "Child add");
}

fn of_other(def: &Arc<TypeDef>) {
    asks(Target::Any, def, "Other any");
}

fn of_choosy(def: &Arc<TypeDef>) {
    asks(Target::Any, def, "Choosy any");
}

fn asks(target: Target, def: &TypeDef, name: &'static str) {
    on(target, def, name, move |_| answer(name));
}

thread_local! {
    static ASKED: RefCell<Vec<&'static str>> = RefCell::default();
    static TAKES: Cell<&'static str> = const { Cell::new("nobody") };
}

fn answer(name: &'static str) -> Answer {
    ASKED.with_borrow_mut(|asked| asked.push(name));
    let taken = || Ok(Outputs::from_iter([Tensor::strings(&[], &[name])?.into()]));
    if TAKES.get() == name { taken().map(Some) } else { Ok(None) }
}

fn base() -> Value {
    Base { value: Tensor::scalar(1.0) }.into_value()
}

fn child() -> Value {
    Child { value: Tensor::scalar(1.0), note: Tensor::scalar(2.0) }.into_value()
}

fn other() -> Value {
    Other { value: Tensor::scalar(1.0) }.into_value()
}

fn choosy() -> Value {
    Choosy { value: Tensor::scalar(1.0) }.into_value()
}

/// Checks who is asked when `takes` is the handler that takes the call.
fn check(call: impl Fn() -> Result<Value>, takes: &'static str, asked: &[&str]) {
    // The second call finds the order in the cache.
    for time in ["first", "second"] {
        TAKES.set(takes);
        ASKED.take();
        match (call(), takes) {
            (Ok(result), _) => assert_eq!(result.to_string(), format!("{takes:?}"), "{time} call"),
            (Err(error), "nobody") => assert!(error.to_string().contains("no handler takes"), "{error}"),
            (Err(error), _) => panic!("{time} call: {error}"),
        }
        assert_eq!(ASKED.take(), asked, "{time} call");
    }
}

const OF_BASE: [&str; 3] = ["Base add", "Base binary", "Base any"];

#[test]
fn a_handler_for_the_op_comes_before_one_for_its_class_and_that_before_the_catch_all() {
    check(|| ops::add(base(), 1.0), "nobody", &OF_BASE);
    check(|| ops::multiply(base(), 1.0), "nobody", &["Base binary", "Base any"]);
    check(|| ops::negative(base()), "nobody", &["Base any"]);
}

#[test]
fn a_class_comes_before_the_class_that_contains_it() {
    check(|| ops::less(base(), 1.0), "nobody", &["Base comparison", "Base binary", "Base any"]);
}

#[test]
fn a_refining_type_is_asked_before_the_one_that_it_refines() {
    let all = ["Child add", "Child any", "Base add", "Base binary", "Base any"];
    check(|| ops::add(base(), child()), "nobody", &all);
    check(|| ops::add(child(), base()), "nobody", &all);
    check(|| ops::add(child(), 1.0), "nobody", &all);
}

#[test]
fn unrelated_types_are_asked_from_left_to_right() {
    check(|| ops::multiply(base(), other()), "nobody", &["Base binary", "Base any", "Other any"]);
    check(|| ops::multiply(other(), base()), "nobody", &["Other any", "Base binary", "Base any"]);
    check(|| ops::multiply(Tensor::scalar(1.0), other()), "nobody", &["Other any"]);
}

#[test]
fn the_values_of_a_list_are_asked_in_its_order() {
    let join = |values: Vec<Value>| move || ops::concat(values.clone(), 0);
    check(join(vec![other(), base(), child()]), "nobody", &["Other any", "Child any", "Base any"]);
    check(join(vec![base(), other(), child()]), "nobody", &["Child any", "Base any", "Other any"]);
}

#[test]
fn after_a_handler_that_declines_the_next_is_asked_and_after_one_that_takes_none() {
    for (i, takes) in OF_BASE.into_iter().enumerate() {
        check(|| ops::add(base(), other()), takes, &OF_BASE[..=i]);
    }
    let all = [&OF_BASE[..], &["Other any"]].concat();
    check(|| ops::add(base(), other()), "Other any", &all);
    check(|| ops::add(base(), child()), "Base add", &["Child add", "Child any", "Base add"]);
}

#[test]
fn a_type_is_not_asked_beside_types_that_it_does_not_mix_with() {
    check(|| ops::multiply(choosy(), 1.0), "nobody", &["Choosy any"]);
    check(|| ops::multiply(choosy(), base()), "nobody", &["Choosy any", "Base binary", "Base any"]);
    check(|| ops::multiply(choosy(), child()), "nobody", &["Choosy any", "Child any", "Base binary", "Base any"]);
    check(|| ops::multiply(choosy(), other()), "nobody", &["Other any"]);
    check(|| ops::multiply(other(), choosy()), "Other any", &["Other any"]);
}

#[test]
fn when_all_decline_the_error_names_the_op_the_types_and_every_handler() {
    let error = ops::add(other(), child()).expect_err("all decline").to_string();
    let names = ["add: ", "test/Other, test/Child"];
    let declined = "Declined: Other any, Child add, Child any, Base add, Base binary, Base any.";
    assert!(names.into_iter().chain([declined]).all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_later_handler_comes_first_and_one_that_is_removed_is_not_asked() {
    let late = || Late { value: Tensor::scalar(1.0) }.into_value();
    let call = || ops::negative(late());
    let def = LateSpec::def();
    let register = |name| on(Target::Op(&ops::NEGATIVE), def, name, move |_| answer(name));
    let (first, second) = (register("first"), register("second"));
    check(call, "nobody", &["second", "first"]);
    unregister(second);
    check(call, "first", &["first"]);
    unregister(first);
    let error = call().expect_err("no handler").to_string();
    assert!(error.contains("test/Late") && !error.contains("Declined"), "{error}");
    assert!(ASKED.take().is_empty());
}

#[test]
fn a_handler_sees_the_arguments_as_the_caller_wrote_them() {
    on(Target::Op(&ops::SUBTRACT), LateSpec::def(), "Late subtract", |call| {
        let [Arg::Scalar(_), Arg::Value(Value::Ext(_))] = call.args else { return Ok(None) };
        Ok(Some(Outputs::from_iter([Tensor::scalar(7_i64).into()])))
    });
    let late = Late { value: Tensor::scalar(1.0) }.into_value();
    assert_eq!(ops::subtract(2, late).expect("taken").to_string(), "7");
}
