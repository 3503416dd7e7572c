//! Changes of a file of weights that leave the length of its header right: the header is JSON, and data follow it.

use super::json;
use extenso_testkit::rng::Rng;

/// Changes the header, or one byte of the data.
pub fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut Rng) {
    let Some((mut header, mut data)) = parts(input) else { return };
    if rng.below(5) == 0 && !data.is_empty() {
        let at = rng.below(data.len());
        data[at] ^= 1 << rng.below(8);
    } else {
        let headers: Vec<Vec<u8>> = corpus.iter().filter_map(|file| Some(parts(file)?.0)).collect();
        json::change(&mut header, &headers, rng);
    }
    let len = u64::try_from(header.len()).unwrap_or(u64::MAX);
    *input = [&len.to_le_bytes()[..], &header, &data].concat();
}

fn parts(file: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (len, rest) = file.split_first_chunk()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    Some((header.to_vec(), data.to_vec()))
}
