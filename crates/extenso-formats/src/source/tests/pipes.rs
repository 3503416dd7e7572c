//! Laws of what can be read once only: it is opened once, and gives all that a file of the same bytes does.

use super::*;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// A path to a pipe that holds these bytes, which are few enough for it.
fn piped(bytes: &[u8]) -> (std::io::PipeReader, PathBuf) {
    let (read, mut write) = std::io::pipe().expect("a pipe");
    write.write_all(bytes).expect("room for the bytes");
    let path = PathBuf::from(format!("/dev/fd/{}", read.as_raw_fd()));
    (read, path)
}

/// The rows as every format that is told by its first bytes.
fn stored() -> Vec<Vec<u8>> {
    let value = crate::read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let parquet = crate::parquet::encode_parquet(&Nest::Leaf(value.clone())).expect("writes");
    let arrow = crate::arrow::write_ipc(&value, true).expect("writes");
    let array = format!("[{}]", ROWS.trim_end().replace('\n', ","));
    vec![ROWS.into(), array.into(), gzip(ROWS.as_bytes()), gzip(&parquet), parquet, arrow]
}

#[test]
fn a_pipe_is_run_over_and_looked_at_as_a_file_is() {
    let options = SourceOptions::default();
    for bytes in stored() {
        let (_open, path) = piped(&bytes);
        let (function, mut out) = (totals(), Vec::new());
        let source = open_file(&function, &path, &options).expect("opens");
        run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, _| Ok(())).expect("runs");
        assert_eq!(String::from_utf8_lossy(&out), TOTALS);

        let (_open, path) = piped(&bytes);
        let wanted = spec_of_reader(Box::new(&*bytes), &options, &Asked::default()).expect("a spec");
        let found = spec_of_file(&path, &options, &Asked::default()).expect("a spec");
        assert_eq!(found.to_string(), wanted.to_string());
    }
}

#[test]
fn parquet_of_a_pipe_is_read_whole() {
    let bytes = stored().swap_remove(4);
    let (_open, path) = piped(&bytes);
    let source = crate::parquet::ParquetSource::open(path).expect("opens");
    assert_eq!(source.size(), bytes.len() as u64);
}
