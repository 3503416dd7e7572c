//! The saved file (being written).
