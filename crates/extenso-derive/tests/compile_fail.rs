//! What the derive refuses, and how it says so.

#[test]
fn misuse_is_explained_where_it_stands() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
