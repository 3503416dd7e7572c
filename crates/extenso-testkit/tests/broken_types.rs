//! The laws of extension types on types that break them: the suite says which law, and what differs.

use extenso_core::{ExtensionType, Tensor, TypeSpec, Value, define, ops};
use extenso_testkit::laws::check_type;
use extenso_types::{DType, ExtSpec, Result, Segment, Shape, Spec, StaticValue, TensorSpec, TypeDef};
use std::sync::{Arc, LazyLock};

/// Says how it is broken.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    CallsOpsApart,
    CallsOpsTogether,
    LosesStaticData,
    SwapsComponents,
    RoundsData,
}

macro_rules! broken {
    ($name:ident, $spec:ident, $text:literal, $fault:expr) => {
        #[derive(Clone)]
        struct $name(Tensor, Tensor, i64);

        #[derive(Clone)]
        struct $spec(i64);

        impl ExtensionType for $name {
            type Spec = $spec;

            fn type_spec(&self) -> $spec {
                $spec(self.2)
            }
        }

        impl TypeSpec for $spec {
            type Value = $name;

            fn def() -> &'static Arc<TypeDef> {
                static DEF: LazyLock<Arc<TypeDef>> = LazyLock::new(|| define::<$spec>($text, 1, "a, b", Vec::new()));
                &DEF
            }

            fn serialize(&self) -> ExtSpec {
                let f64s = || Spec::from(TensorSpec::new(DType::F64, Shape::known(&[2])));
                ExtSpec {
                    def: $spec::def().clone(),
                    static_data: StaticValue::Int(self.0),
                    components: vec![(Segment::field("a"), f64s()), (Segment::field("b"), f64s())],
                }
            }

            fn deserialize(spec: &ExtSpec) -> Result<$spec> {
                match spec.static_data {
                    StaticValue::Int(v) if $fault != Fault::LosesStaticData => Ok($spec(v)),
                    _ => Ok($spec(0)),
                }
            }

            fn to_components(&self, value: &$name) -> Result<Vec<Value>> {
                let a = match $fault {
                    Fault::CallsOpsApart => ops::negative(ops::negative(&value.0)?)?,
                    _ => value.0.clone().into(),
                };
                Ok(vec![a, value.1.clone().into()])
            }

            fn from_components(&self, components: Vec<Value>) -> Result<$name> {
                let tensor = |i: usize| components[i].tensor().cloned();
                let (a, b) = (tensor(0)?, tensor(1)?);
                Ok(match $fault {
                    Fault::CallsOpsTogether => $name(ops::abs(&a)?.tensor()?.clone(), b, self.0),
                    Fault::SwapsComponents => $name(b, a, self.0),
                    Fault::RoundsData => $name(b.clone(), b, self.0),
                    Fault::CallsOpsApart | Fault::LosesStaticData => $name(a, b, self.0),
                })
            }
        }
    };
}

broken!(Apart, ApartSpec, "test/Apart", Fault::CallsOpsApart);
broken!(Together, TogetherSpec, "test/Together", Fault::CallsOpsTogether);
broken!(Loses, LosesSpec, "test/Loses", Fault::LosesStaticData);
broken!(Swaps, SwapsSpec, "test/Swaps", Fault::SwapsComponents);
broken!(Rounds, RoundsSpec, "test/Rounds", Fault::RoundsData);

#[test]
fn a_broken_type_is_told_which_law_it_breaks() {
    let (a, b) = (Tensor::from_vec(vec![1.0, 2.0]), Tensor::from_vec(vec![1.0, 3.0]));
    let refused = |result: Result<()>, texts: &[&str]| {
        let error = result.expect_err("a broken type").to_string();
        assert!(texts.iter().all(|text| error.contains(text)), "{texts:?} are not in: {error}");
    };
    refused(check_type(&[Apart(a.clone(), b.clone(), 7)]), &["value 0", "to_components", "negative"]);
    refused(check_type(&[Together(a.clone(), b.clone(), 7)]), &["rebuilding", "from_components", "abs"]);
    refused(check_type(&[Loses(a.clone(), b.clone(), 7)]), &["rebuilding gives the value", "7"]);
    refused(check_type(&[Swaps(a.clone(), b.clone(), 7)]), &["rebuilding gives the value", "element 1"]);
    refused(check_type(&[Rounds(a, b, 7)]), &["rebuilding gives the value", "is 3.0, wanted 2.0"]);
    refused(check_type::<Apart>(&[]), &["no value"]);
}
