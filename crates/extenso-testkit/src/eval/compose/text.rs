//! Functions of strings that are no ops.

use super::{Composed, given};
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_core::ops::{CharacterFaults, FindAll, Pattern, RegexSplit, Split};
use extenso_core::{Arg, Scalar, ops};
use extenso_ext::{
    drop_empty, regex_find_all, regex_groups, regex_split, string_rsplit, unicode_decode, unicode_encode,
};
use extenso_types::{Error, Result};

extenso_core::attrs! {
    /// Of `unicode_transcode`.
    pub struct Transcode { input_encoding: String, output_encoding: String, errors: String = "strict".to_string() }
    /// Of `hash_bucket`.
    pub struct HashBucket { buckets: i64, key: Option<Vec<i64>> = None }
}

pub(super) static FUNCTIONS: &[Composed] = &[
    Composed {
        name: "string_rsplit",
        params: &["x"],
        attrs: Split::DEF,
        run: |args, attrs| {
            let Split { sep, maxsplit } = Split::of(attrs)?;
            string_rsplit(&given(args, 0)?, sep.as_deref(), *maxsplit)
        },
    },
    Composed {
        name: "regex_split",
        params: &["x"],
        attrs: RegexSplit::DEF,
        run: |args, attrs| {
            let RegexSplit { pattern, maxsplit } = RegexSplit::of(attrs)?;
            regex_split(&given(args, 0)?, pattern, *maxsplit)
        },
    },
    Composed {
        name: "regex_find_all",
        params: &["x"],
        attrs: FindAll::DEF,
        run: |args, attrs| {
            let FindAll { pattern, group } = FindAll::of(attrs)?;
            regex_find_all(&given(args, 0)?, pattern, *group)
        },
    },
    Composed {
        name: "regex_groups",
        params: &["x"],
        attrs: Pattern::DEF,
        run: |args, attrs| regex_groups(&given(args, 0)?, &Pattern::of(attrs)?.pattern),
    },
    Composed { name: "drop_empty", params: &["x"], attrs: NoAttrs::DEF, run: |args, _| drop_empty(&given(args, 0)?) },
    Composed {
        name: "unicode_decode",
        params: &["x"],
        attrs: NoAttrs::DEF,
        run: |args, _| unicode_decode(&given(args, 0)?),
    },
    Composed {
        name: "unicode_encode",
        params: &["x"],
        attrs: CharacterFaults::DEF,
        run: |args, attrs| unicode_encode(&given(args, 0)?, &CharacterFaults::of(attrs)?.errors),
    },
    Composed {
        name: "unicode_transcode",
        params: &["x"],
        attrs: Transcode::DEF,
        run: |args, attrs| {
            let Transcode { input_encoding, output_encoding, errors } = Transcode::of(attrs)?;
            ops::unicode_transcode(given(args, 0)?, input_encoding, output_encoding, errors)
        },
    },
    Composed {
        name: "string_format",
        params: &["template", "values"],
        attrs: NoAttrs::DEF,
        run: |args, _| match (&args[0], &args[1]) {
            (Arg::Scalar(Scalar::Str(template)), Arg::List(values)) => ops::string_format(template, values),
            _ => Err(Error::dtype("found something else").wanted("a template and a tuple of values")),
        },
    },
    Composed {
        name: "hash_bucket",
        params: &["x"],
        attrs: HashBucket::DEF,
        run: |args, attrs| {
            let HashBucket { buckets, key } = HashBucket::of(attrs)?;
            ops::hash_bucket(&args[0], *buckets, key.as_deref().map(pair).transpose()?)
        },
    },
];

/// The two numbers of a key.
pub(super) fn pair(key: &[i64]) -> Result<[i64; 2]> {
    key.try_into().map_err(|_| Error::value(format!("the key is {key:?}")).wanted("two numbers").at("hash_bucket"))
}
