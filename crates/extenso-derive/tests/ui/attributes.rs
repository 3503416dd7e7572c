use extenso_core::Tensor;
use extenso_derive::ExtensionType;

#[derive(Clone, ExtensionType)]
#[extenso(title = "ui/Unknown")]
struct Unknown {
    value: Tensor,
}

#[derive(Clone, ExtensionType)]
#[extenso(version = 1, version = 2)]
struct Twice {
    value: Tensor,
}

#[derive(Clone, ExtensionType)]
#[extenso(name = "bad name")]
struct Named {
    value: Tensor,
}

#[derive(Clone, ExtensionType)]
#[extenso(name = "ui/")]
struct Nameless {
    value: Tensor,
}

#[derive(Clone, ExtensionType)]
struct OneStep {
    #[extenso(each)]
    a: Tensor,
    #[extenso(each)]
    b: Tensor,
}

#[derive(Clone, ExtensionType)]
struct Mark {
    #[extenso(constant)]
    unit: String,
}

fn main() {}
