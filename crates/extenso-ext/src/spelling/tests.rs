use super::*;

fn check(spelling: Of, text: &str, wanted: Option<i128>) {
    let spelling = Spelling(spelling);
    let parsed = spelling.parse(text).map(|cell| integer(&cell).to_i128().expect("128 bits"));
    assert_eq!(parsed, wanted, "{text} as {}", spelling.wanted());
    if let Some(cell) = spelling.parse(text) {
        let shown = spelling.show(&cell[..spelling.width()]);
        assert_eq!(spelling.parse(&shown), Some(cell), "{text} is shown as {shown}");
    }
}

fn at(unit: TimeUnit, zone: Option<&str>) -> Of {
    Of::Timestamp { unit, zone: zone.map(show::zone) }
}

#[test]
fn timestamps_are_read_exactly_or_not_at_all() {
    use TimeUnit::*;
    check(at(Second, Some("UTC")), "1970-01-01T00:00:00Z", Some(0));
    check(at(Second, Some("UTC")), "2000-02-29t23:59:59+00:30", Some(951_866_999));
    check(at(Millisecond, Some("+05:30")), "1970-01-01T05:30:00.5+05:30", Some(500));
    check(at(Nanosecond, Some("Europe/Berlin")), "1969-12-31 23:59:59.999999999Z[Europe/Berlin]", Some(-1));
    check(at(Nanosecond, None), "2262-04-11T23:47:16.854775807", Some(i64::MAX.into()));
    check(at(Microsecond, None), "-0001-01-01T00:00:00.000001000", Some(-62_198_755_199_999_999));
    for odd in [
        "2262-04-11T23:47:16.854775808",
        "2001-02-03T04:05:06Z",
        "2001-02-03",
        "2001-02-03T24:00:00",
        "2001-02-03T04:05:60",
        "2001-02-03T04:05",
        "2001-2-3T04:05:06",
        "2001-02-03T04:05:06.",
        "2001-13-01T00:00:00",
        "",
        "T",
        "2001-02-03T+4:05:06",
    ] {
        check(at(Nanosecond, None), odd, None);
    }
    for odd in [
        "2001-02-03T04:05:06",
        "2001-02-03T04:05:06.5Z",
        "2001-02-03T04:05:06+24:00",
        "2001-02-03T04:05:06Z[UTC",
        "2001-02-03T04:05:06Z[Etc/GMT+1]",
    ] {
        check(at(Second, Some("UTC")), odd, None);
    }
}

#[test]
fn intervals_are_read_whole_or_not_at_all() {
    let texts = |parts: &[&str], unit: &str| {
        let spelling = Spelling(Of::Interval { parts: interval::parts_of(unit).expect("a unit") });
        let again = |text: &&str| spelling.parse(text).map(|cell| spelling.show(&cell[..spelling.width()]));
        parts.iter().map(again).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_string());
    let wanted = [some("1mo -2d 3ns"), some("0mo 2d 0ns"), some("-1mo 0d -5ns"), None, None, None, None, None];
    let given = ["1mo -2d 3ns", "2d", "-1mo -5ns", "", "1d 2mo", "1mo  2d", "2147483648mo", "1mo 2d 3ns 4"];
    assert_eq!(texts(&given, "month_day_nano"), wanted);
    assert_eq!(texts(&["14mo", "1d"], "month"), [some("14mo"), None]);
    assert_eq!(texts(&["1d 2ms", "-1ms"], "day_time"), [some("1d 2ms"), some("0d -1ms")]);
}

#[test]
fn dates_times_and_durations_are_read_exactly_or_not_at_all() {
    use TimeUnit::*;
    let days = || Of::Date { milliseconds: false };
    check(days(), "1969-12-31", Some(-1));
    check(days(), "10000-01-01", Some(2_932_897));
    check(Of::Date { milliseconds: true }, "1970-01-02", Some(86_400_000));
    for odd in ["1900-02-29", "2001-02-03T00:00:00", "999999999999-01-01", "01-01-01", "+2001-01-01"] {
        check(days(), odd, None);
    }
    check(Of::Time { unit: Microsecond }, "23:59:59.25", Some(86_399_250_000));
    check(Of::Time { unit: Second }, "23:59:59.0", Some(86_399));
    for odd in ["24:00:00", "1:00:00", "-1:00:00", "00:00:00.5"] {
        check(Of::Time { unit: Second }, odd, None);
    }
    let duration = || Of::Duration { unit: Millisecond };
    for (text, wanted) in
        [("1.5s", 1_500), ("-7ms", -7), ("2000us", 2), ("P1DT2H3M4.5S", 93_784_500), ("-PT0.001S", -1), ("0s", 0)]
    {
        check(duration(), text, Some(wanted));
    }
    for odd in [
        "1us",
        "1",
        "s",
        "P",
        "PT",
        "P1M",
        "P1Y",
        "PT1S2M",
        "1.5.5s",
        "--1s",
        "PT1.5M",
        "99999999999999999999999999999999999999999s",
        "P1DT",
    ] {
        check(duration(), odd, None);
    }
}

#[test]
fn nanoseconds_are_exactly_units_or_none() {
    let cell = |n: i64| i256::from_i128(n.into()).to_le_bytes();
    for (spelling, each) in
        [(at(TimeUnit::Millisecond, Some("UTC")), 1_000_000), (Of::Duration { unit: TimeUnit::Second }, 1_000_000_000)]
    {
        let spelling = Spelling(spelling);
        assert_eq!(spelling.of_nanoseconds(-7 * each), Some(cell(-7)));
        assert_eq!(spelling.nanoseconds(&(-7_i64).to_le_bytes()), Some(-7 * each));
        assert_eq!(spelling.of_nanoseconds(each + 1), None);
        assert_eq!(spelling.of_nanoseconds(i128::MAX), None);
    }
    assert_eq!(Spelling(at(TimeUnit::Second, None)).nanoseconds(&[0; 8]), None);
}

#[test]
fn decimals_of_other_digits_are_exact_or_none() {
    let of = |precision, scale| Spelling(Of::Decimal { precision, scale, width: 16 });
    let check = |spelling: Spelling, value: i64, scale, wanted: Option<i64>| {
        let found = spelling.of_decimal(&value.to_le_bytes(), scale).map(|cell| integer(&cell));
        assert_eq!(found, wanted.map(|wanted| i256::from_i128(wanted.into())), "{value} of scale {scale}");
    };
    check(of(10, 4), -125, 2, Some(-12_500));
    check(of(10, 0), 12_300, 2, Some(123));
    check(of(10, 0), 12_345, 2, None);
    check(of(4, 4), 125, 2, None);
    check(of(3, -2), 12_300, 0, Some(123));
    check(of(10, 2), 0, 300, Some(0));
    check(of(10, 2), 1, 300, None);
    check(of(10, 2), 1, i64::MIN, None);
}

#[test]
fn uuids_are_read_with_their_hyphens_or_without() {
    let (spelling, text) = (Spelling(Of::Uuid), "01234567-89ab-cdef-0123-456789abcdef");
    let cell = spelling.parse(text).expect("a uuid");
    assert_eq!(cell[..4], [0x01, 0x23, 0x45, 0x67]);
    assert_eq!((spelling.show(&cell[..16]).as_str(), spelling.dtype(), spelling.width()), (text, DType::U8, 16));
    for same in [text.to_uppercase(), text.replace('-', "")] {
        assert_eq!(spelling.parse(&same), Some(cell), "{same}");
    }
    let odd = [&text[1..], "0123456789ab-cdef-0123-456789abcdef-", "g1234567-89ab-cdef-0123-456789abcdef", ""];
    assert!(odd.iter().all(|odd| spelling.parse(odd).is_none()));
    assert!(spelling.parse("é1234567-89ab-cdef-0123-456789abcde").is_none());
}

#[test]
fn bytes_have_the_width_of_their_spec_whatever_it_is() {
    for width in [1, 4, 8, 16, 40] {
        let spelling = Spelling(Of::Bytes { width });
        assert!(spelling.dtype() == DType::U8 && spelling.width() == width && spelling.is_bytes());
    }
}

#[test]
fn decimals_are_read_exactly_or_not_at_all() {
    let of = |precision, scale| Of::Decimal { precision, scale, width: 16 };
    for (text, wanted) in
        [("1.10", 110), ("-0.05", -5), ("1e2", 10_000), ("12.5E-1", 125), ("0e999", 0), ("0.000", 0), ("+7", 700)]
    {
        check(of(10, 2), text, Some(wanted));
    }
    for odd in
        ["1.001", "123456789", "1e9", "", "-", ".", "1e", "1e+", "e1", "NaN", "0x1", "1e99999999999999999999", "1e-3"]
    {
        check(of(10, 2), odd, None);
    }
    check(of(5, -2), "12300", Some(123));
    check(of(5, -2), "12350", None);
    check(of(38, 0), &"9".repeat(38), Some(99_999_999_999_999_999_999_999_999_999_999_999_999));
}
