use extenso_core::Tensor;
use extenso_derive::ExtensionType;

#[derive(Clone, ExtensionType)]
struct Pair(Tensor, Tensor);

#[derive(Clone, ExtensionType)]
enum Either {
    Left { value: Tensor },
}

#[derive(Clone, ExtensionType)]
struct Generic<T> {
    value: T,
}

fn main() {}
