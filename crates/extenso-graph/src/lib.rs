//! Functions (being written).
