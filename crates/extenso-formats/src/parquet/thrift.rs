//! Thrift's compact encoding, read over: as much of it as proves the sizes that a Parquet file tells.
//!
//! Invariant: nothing is allocated but for one number for each level of a schema, and recursion is bounded. A list that is proven has at most as many items as there are
//! bytes left. What the fields mean is not known here, but for those of a page's header.

/// How deep structs and lists may nest; the metadata of Parquet nests less than ten levels.
const MAX_DEPTH: usize = 32;

/// Bytes of the encoding, and how many of them were read.
pub struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What the header of a page says of it.
#[derive(Clone, Copy, Default, Debug)]
pub struct PageHeader {
    /// How long the header itself is.
    pub len: usize,
    /// What page it is.
    pub kind: i64,
    pub uncompressed: i64,
    pub compressed: i64,
    /// How many values a page of data has.
    pub values: i64,
    /// How they are written, by the number of the encoding.
    pub encoding: i64,
}

impl PageHeader {
    /// The kinds of pages without rows.
    pub const INDEX: i64 = 1;
    pub const DICTIONARY: i64 = 2;
}

/// Whether the bytes are a struct whose lists are no longer than the bytes.
pub fn is_struct(bytes: &[u8]) -> bool {
    Thrift { bytes, at: 0 }.fields(MAX_DEPTH, &mut |_, _, _| Some(false)).is_some()
}

/// How deep the schema of a file's metadata nests, or more than `most`; none of bytes that are no metadata.
pub fn schema_levels(bytes: &[u8], most: usize) -> Option<usize> {
    let mut deepest = 0;
    Thrift { bytes, at: 0 }.fields(MAX_DEPTH, &mut |thrift, id, kind| {
        if (id, kind) != (2, LIST) {
            return Some(false);
        }
        // How many children are left of each group that is open.
        let mut open: Vec<i64> = Vec::new();
        thrift.structs(&mut |thrift| {
            let mut children = 0;
            thrift.fields(MAX_DEPTH, &mut |thrift, id, kind| {
                if (id, kind) == (5, INT32) {
                    children = thrift.zigzag()?;
                }
                Some((id, kind) == (5, INT32))
            })?;
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 && open.len() <= most {
                open.push(children);
                deepest = deepest.max(open.len());
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            Some(())
        })?;
        Some(true)
    })?;
    Some(deepest)
}

/// The header of the page that the bytes begin with; none if they do not begin with one.
pub fn page_header(bytes: &[u8]) -> Option<PageHeader> {
    let mut header = PageHeader::default();
    let mut thrift = Thrift { bytes, at: 0 };
    thrift.fields(MAX_DEPTH, &mut |thrift, id, kind| {
        match (id, kind) {
            (1, INT32) => header.kind = thrift.zigzag()?,
            (2, INT32) => header.uncompressed = thrift.zigzag()?,
            (3, INT32) => header.compressed = thrift.zigzag()?,
            // The headers of data pages, in both versions, begin with the number of values; the encoding stands behind that, and in the second
            // version behind two more numbers.
            (5 | 8, STRUCT) => {
                let encoding = if id == 5 { 2 } else { 4 };
                thrift.fields(MAX_DEPTH, &mut |thrift, id, kind| {
                    match (id, kind) {
                        (1, INT32) => header.values = thrift.zigzag()?,
                        (id, INT32) if id == encoding => header.encoding = thrift.zigzag()?,
                        _ => return Some(false),
                    }
                    Some(true)
                })?;
            }
            _ => return Some(false),
        }
        Some(true)
    })?;
    header.len = thrift.at;
    Some(header)
}

const INT32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Reads a field of this number and kind, and says whether it did; none if the bytes end.
type Field<'f> = &'f mut dyn FnMut(&mut Thrift<'_>, i64, u8) -> Option<bool>;

impl Thrift<'_> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    fn pass(&mut self, n: usize) -> Option<()> {
        self.at = self.at.checked_add(n).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    fn fields(&mut self, depth: usize, read: Field<'_>) -> Option<()> {
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = if head >> 4 == 0 { self.zigzag()? } else { i64::from(head >> 4) + id };
            if !read(self, id, head & 15)? {
                self.value(head & 15, false, depth)?;
            }
        }
    }

    /// Reads over a value; a boolean is one byte as an item, and a part of its field's head otherwise.
    fn value(&mut self, kind: u8, item: bool, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => self.pass(usize::from(item)),
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let n = self.varint()?;
                self.pass(usize::try_from(n).ok()?)
            }
            9 | 10 => self.list(depth),
            11 => self.map(depth),
            STRUCT => self.fields(depth, &mut |_, _, _| Some(false)),
            13 => self.pass(16),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        let (n, kind) = self.items()?;
        (0..n).try_for_each(|_| self.value(kind, true, depth))
    }

    /// Reads a list of structs, each by `read`.
    fn structs(&mut self, read: &mut dyn FnMut(&mut Thrift<'_>) -> Option<()>) -> Option<()> {
        let (n, kind) = self.items()?;
        if kind != STRUCT {
            return None;
        }
        (0..n).try_for_each(|_| read(self))
    }

    /// How many items a list has, and of which kind.
    fn items(&mut self) -> Option<(usize, u8)> {
        let head = self.byte()?;
        let n = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        let n = usize::try_from(n).ok().filter(|n| *n <= self.left())?;
        Some((n, head & 15))
    }

    fn map(&mut self, depth: usize) -> Option<()> {
        let n = self.varint()?;
        if n == 0 {
            return Some(());
        }
        let kinds = self.byte()?;
        let n = usize::try_from(n).ok().filter(|n| *n <= self.left())?;
        (0..n).try_for_each(|_| {
            self.value(kinds >> 4, true, depth)?;
            self.value(kinds & 15, true, depth)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_longer_than_the_bytes_is_refused() {
        // Field 1, a list of three bytes.
        assert!(is_struct(&[0x19, 0x33, 1, 2, 3, 0]));
        // The same field, a list of 2^28 - 1 structs.
        assert!(!is_struct(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f, 0]));
        assert!(!is_struct(&[0x19, 0x33, 1, 2]));
        assert!(!is_struct(&[]));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| [vec![0x1c; depth], vec![0; depth + 1]].concat();
        assert!(is_struct(&nested(MAX_DEPTH - 1)));
        assert!(!is_struct(&nested(1 << 20)));
    }

    #[test]
    fn the_levels_of_a_schema_are_those_of_its_groups() {
        // Field 2, a list of structs, each of which has field 5, the number of its children, if it is a group.
        let schema = |children: &[u8]| {
            let elements = children.iter().flat_map(|n| if *n == 0 { vec![0] } else { vec![0x55, n << 1, 0] });
            let head = [0x29, (u8::try_from(children.len()).expect("few") << 4) | STRUCT];
            head.into_iter().chain(elements).chain([0]).collect::<Vec<u8>>()
        };
        for (children, levels) in [(&[0][..], 0), (&[2, 0, 0], 1), (&[2, 1, 0, 1, 1, 0], 3), (&[1, 1, 1, 1, 0], 4)] {
            assert_eq!(schema_levels(&schema(children), 8), Some(levels), "{children:?}");
        }
        assert_eq!(schema_levels(&schema(&[1; 14]), 8), Some(9));
        assert_eq!(schema_levels(&[0x29], 8), None);
    }

    #[test]
    fn the_header_of_a_page_tells_its_sizes() {
        // Type 0, sizes 100 and 50, and a data page of 7 values in encoding 6.
        let header =
            page_header(&[0x15, 0, 0x15, 200, 1, 0x15, 100, 0x2c, 0x15, 14, 0x15, 12, 0, 0, 99]).expect("a header");
        assert_eq!((header.uncompressed, header.compressed, header.values, header.len), (100, 50, 7, 14));
        assert_eq!(header.encoding, 6);
    }
}
