"""Tests of times and decimals of Python and NumPy as arguments of ops, and in `constant`."""

from __future__ import annotations

import datetime as dt
import operator
import random
import uuid
import zoneinfo
from decimal import Decimal
from typing import Any

import extenso as ex
import numpy as np
import pytest

SECONDS = [0, 1704067200, 1800000000]
TIMES = ex.to_timestamp(SECONDS, "s")
ZONED = ex.to_timestamp(SECONDS, "s", "UTC")
ARRAY = np.array(SECONDS, "M8[s]")
MOMENTS = [dt.datetime(2024, 1, 1), np.datetime64("2024-01-01T00:00:00"), np.datetime64("2024-01-01T00:00:00", "ns")]


@pytest.mark.parametrize("moment", [*MOMENTS, np.datetime64("2024-01-01"), dt.date(2024, 1, 1)])
def test_one_time_beside_times_is_what_it_is_in_numpy(moment: Any) -> None:
    wanted = np.datetime64(moment)
    assert (moment > TIMES).tolist() == (TIMES < moment).tolist() == (wanted > ARRAY).tolist() == [True, False, False]
    assert (moment == TIMES).tolist() == (TIMES == moment).tolist() == (wanted == ARRAY).tolist()
    assert (TIMES - moment).to_numpy().tolist() == (ARRAY - wanted).astype("m8[us]").tolist() or moment is MOMENTS[2]
    assert np.array_equal((moment - TIMES).to_numpy(), wanted - ARRAY)
    mask = np.array([True, False, True])
    assert np.array_equal(ex.where(mask, TIMES, moment).to_numpy(), np.where(mask, ARRAY, wanted))
    masked = ex.MaskedTensor(TIMES, ex.tensor([False, True, True]))
    assert np.array_equal(ex.fill_none(masked, moment).to_numpy(), np.where([False, True, True], ARRAY, wanted))


@pytest.mark.parametrize("step", [dt.timedelta(hours=1), np.timedelta64(1, "h"), np.timedelta64(3_600_000, "ms")])
def test_one_duration_beside_times(step: Any) -> None:
    wanted = ARRAY - np.timedelta64(1, "h")
    assert np.array_equal((TIMES - step).to_numpy(), wanted) and np.array_equal((TIMES + step - step).to_numpy(), ARRAY)
    durations = ex.to_duration([3599, 3600], "s")
    assert (durations < step).tolist() == (step > durations).tolist() == [True, False]


def test_arrays_and_lists_of_times_beside_times() -> None:
    for other in (ARRAY[::-1], ARRAY[::-1].astype("M8[ns]"), ARRAY[::-1].tolist(), np.array(ARRAY[::-1].tolist(), object)):
        assert (TIMES < other).tolist() == (ARRAY < ARRAY[::-1]).tolist() == [True, False, False]
        assert ex.concat([TIMES, other], 0).to_py() == TIMES.to_py() + TIMES.to_py()[::-1]
    assert (ARRAY > TIMES).tolist() == [False] * 3 and (ARRAY[:, None] > TIMES).shape == (3, 3)
    assert (TIMES < np.array(["NaT", "2024", "2030"], "M8[s]")).to_py() == [None, False, True]
    assert (TIMES == np.datetime64("NaT", "s")).to_py() == [None] * 3
    rows = ex.constant([[MOMENTS[0]], [], [MOMENTS[0], MOMENTS[1]]])
    assert (rows == [[MOMENTS[0]], [], [dt.datetime(1970, 1, 1), MOMENTS[1]]]).to_py() == [[True], [], [False, True]]


def test_zones_are_kept_apart() -> None:
    east = dt.timezone(dt.timedelta(hours=2))
    assert (ZONED == dt.datetime(2024, 1, 1, 2, tzinfo=east)).tolist() == [False, True, False]
    assert ex.constant(dt.datetime(2024, 1, 1, 2, tzinfo=east)).to_py() == "2024-01-01T00:00:00Z"
    for moment in MOMENTS:
        with pytest.raises(ex.Error, match="no zone.*\n.*to_timestamp"):
            _ = ZONED < moment
    with pytest.raises(ex.Error, match="dates stand beside timestamps of zone UTC"):
        _ = ZONED < np.datetime64("2024-01-01")
    with pytest.raises(ex.Error, match="without a zone"):
        ex.constant(dt.time(1, tzinfo=dt.timezone.utc))


def test_dates_times_of_day_and_decimals() -> None:
    assert (ex.to_date([0, 19723]) < dt.date(2024, 1, 1)).tolist() == [True, False]
    assert (ex.to_date([0, 19723]) < np.datetime64("2024-01-01")).tolist() == [True, False]
    assert (ex.to_time([59, 60], "s") < dt.time(0, 1)).tolist() == [True, False]
    prices = ex.DecimalTensor.parse(["1.5", "2"], 10, 2)
    assert (prices * Decimal("1.1")).to_py() == (Decimal("1.1") * prices).to_py() == ["1.650", "2.200"]
    assert (prices == [Decimal("1.50"), Decimal("2.1")]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (dt.datetime(2024, 1, 1, 0, 0, 0, 1), "TimestampTensor", "2024-01-01T00:00:00.000001"),
        (dt.date(1, 1, 1), "DateTensor", "0001-01-01"),
        (dt.time(23, 59, 59, 999999), "TimeTensor", "23:59:59.999999"),
        (dt.timedelta(days=-1), "DurationTensor", "-86400000000us"),
        (Decimal("1.10"), "DecimalTensor", "1.10"),
        (Decimal("-1E+3"), "DecimalTensor", "-1000"),
        (np.datetime64("2024-01-01"), "DateTensor", "2024-01-01"),
        (np.datetime64("2024-01-01T00:00:00.000000001"), "TimestampTensor", "2024-01-01T00:00:00.000000001"),
        (np.timedelta64(5, "ns"), "DurationTensor", "5ns"),
    ],
)
def test_constants_of_one_kind(given: Any, kind: str, text: str) -> None:
    one = ex.constant(given)
    assert type(one).__name__ == kind and one.to_py() == text
    row = ex.constant([given, None, given])
    assert isinstance(row, ex.MaskedTensor) and type(row.values).__name__ == kind
    assert row.to_py() == [text, None, text]
    dense = ex.constant([[given, given], [given, given], [given, given]])
    assert type(dense).__name__ == kind and dense.to_py() == [[text, text]] * 3
    assert ex.constant([[given, None], []]).to_py() == [[text, None], []]
    assert ex.constant([[given], None]).to_py() == [[text], None]
    assert ex.constant([{"a": given}, {"a": None}, None]).to_py() == [{"a": text}, {"a": None}, None]
    assert type(ex.constant({"a": given})["a"]).__name__ == kind


def test_constants_of_arrays_and_of_what_is_missing() -> None:
    array = np.array(["2024-01-01", "NaT"], "M8[ns]")
    assert ex.constant(array).to_py() == ["2024-01-01T00:00:00", None]
    assert ex.constant([array, array[:1]]).to_py() == [["2024-01-01T00:00:00", None], ["2024-01-01T00:00:00"]]
    assert ex.constant(list(array)).to_py() == ["2024-01-01T00:00:00", None]
    assert ex.constant(np.ma.array(array, mask=[True, False])).to_py() == [None, None]
    assert ex.constant(np.array([dt.datetime(2024, 1, 1), None])).to_py() == ["2024-01-01T00:00:00", None]
    assert ex.constant([Decimal("1.1"), Decimal("22.55")]).to_py() == ["1.10", "22.55"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([dt.datetime(2024, 1, 1), dt.date(2024, 1, 1)], r"\[1\]: a DateTensor stands beside a TimestampTensor"),
        ([None, dt.datetime(2024, 1, 1), "2024"], r"\[2\]: a string stands beside a TimestampTensor"),
        ([1, Decimal(1)], r"\[0\]: an integer stands beside a DecimalTensor"),
        ([dt.timedelta(1), dt.datetime(2024, 1, 1)], "a TimestampTensor stands beside a DurationTensor"),
        (dt.timedelta.max, "fits 64 bits"),
        (Decimal("NaN"), "at most 76 digits"),
        (np.datetime64(1, "ps"), "steps of 1 ps"),
        (np.timedelta64(1), "without a unit"),
    ],
)
def test_what_has_no_value_is_refused(given: Any, text: str) -> None:
    with pytest.raises(ex.Error, match=text):
        ex.constant(given)


def test_tensors_are_not_made_of_times() -> None:
    for given in (dt.datetime(2024, 1, 1), Decimal(1), ARRAY, ARRAY[0]):
        with pytest.raises(ex.Error, match="`constant`"):
            ex.tensor(given)


def test_objects_of_pandas_keep_nanoseconds() -> None:
    pd: Any = pytest.importorskip("pandas", reason="this test needs pandas")
    moment = pd.Timestamp("2024-01-01T00:00:00.000000001")
    assert (ex.constant([moment, moment.floor("s")])).to_py() == ["2024-01-01T00:00:00.000000001", "2024-01-01T00:00:00"]
    assert ex.constant(pd.Timedelta(5, "ns")).to_py() == "5ns"
    with pytest.raises(ex.Error, match="None"):
        _ = TIMES < pd.NaT
    assert (TIMES < pd.Series(ARRAY[::-1])).tolist() == [True, False, False]


FORMATS = [
    "%Y-%m-%d %H:%M:%S.%f",
    "%d/%m/%y %I:%M:%S %p",
    "%b %d, %Y %H:%M",
    "%A %B %d %Y %H",
    "%j %Y %H%M%S%f",
    "%Y%m%dT%H%M%S%z",
    "%a %d %b %Y 100%%",
]


@pytest.mark.parametrize("format", FORMATS)
def test_times_of_a_format_are_those_of_python(format: str) -> None:
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30)) if "%z" in format else None
    of_day = "%H" not in format and "%I" not in format
    chance = random.Random(format)
    start = dt.datetime(1970, 1, 1, tzinfo=zone)
    moments = [start + dt.timedelta(microseconds=chance.randrange(86_400_000_000 * 365 * 95)) for _ in range(300)]
    texts = [moment.strftime(format) for moment in moments]
    wanted = [dt.datetime.strptime(text, format) for text in texts]
    times = ex.to_timestamp(texts, "us", "+05:30" if zone else None, format=format)
    instants = [moment.astimezone(dt.timezone.utc).replace(tzinfo=None) if zone else moment for moment in wanted]
    assert times.to_numpy().astype("M8[us]").tolist() == instants
    assert ex.strftime(times, format).tolist() == texts
    assert ex.strftime(ex.MaskedTensor(times, ex.tensor([True, False] * 150)), format).to_py() == [
        text if i % 2 == 0 else None for i, text in enumerate(texts)
    ]
    if of_day:
        assert ex.to_date(texts, format=format).to_py() == [moment.date().isoformat() for moment in wanted]


def test_sums_of_durations_that_do_not_fit_are_errors() -> None:
    most = 2**63 - 1
    rows = ex.RaggedTensor.from_row_lengths(ex.DurationTensor([most, 1, 2, -most], "s"), ex.tensor([2, 2]))
    folds = [
        (lambda x: ex.sum(x), ex.DurationTensor([most, 4], "s")),
        (lambda x: ex.cumulative_sum(x), ex.DurationTensor([most, 1], "s")),
        (lambda x: ex.sum(x, axis=1), rows),
        (lambda x: -x, ex.DurationTensor([-most - 1], "s")),
        (lambda x: abs(x), ex.DurationTensor([-most - 1], "s")),
        (lambda x: x // -1, ex.DurationTensor([-most - 1], "s")),
    ]
    for fold, value in folds:
        for call in (fold, ex.function(fold)):
            with pytest.raises(ex.InvalidValueError, match="does not fit 64 bits"):
                call(value)
    assert ex.sum(ex.DurationTensor([most, 4, -5], "s")).to_py() == f"{most - 1}s"
    missing = ex.mask(ex.DurationTensor([-most - 1, 1], "s"), ex.tensor([False, True]))
    assert (-missing).to_py() == [None, "-1s"]
    assert ex.TimestampTensor([], "s").to_py() == []


def test_a_condition_of_decimals_is_an_error() -> None:
    x = ex.DecimalTensor.parse(["1.50"], 3, 2)
    for call in (lambda x: ex.where(x, 1, 2), lambda x: ex.where(x, x, x), ex.function(lambda x: ex.where(x, x, 0))):
        with pytest.raises(ex.DTypeError, match="the condition is DecimalTensor"):
            call(x)


def test_sums_of_decimals_have_a_digit_more() -> None:
    assert (ex.DecimalTensor.parse(["9" * 18], 18, 0) + 1).to_py() == ["1" + "0" * 18]


def test_weeks_and_quarters_are_those_of_the_calendar() -> None:
    pick = random.Random(2)
    days = [dt.date(1, 1, 1) + dt.timedelta(days=pick.randrange(3_600_000)) for _ in range(500)]
    dates = ex.constant(days)
    for part, of in {
        "week": lambda day: day.isocalendar()[1],
        "iso_year": lambda day: day.isocalendar()[0],
        "quarter": lambda day: (day.month + 2) // 3,
    }.items():
        assert ex.date_part(dates, part).tolist() == [of(day) for day in days]
        assert ex.function(lambda x, part=part: ex.date_part(x, part))(dates).tolist() == [of(day) for day in days]


def test_units_of_the_calendar_begin_where_it_says() -> None:
    pick = random.Random(3)
    times = [dt.datetime(1, 1, 1) + dt.timedelta(microseconds=pick.randrange(3_600_000 * 86_400_000_000)) for _ in range(500)]
    stamps, midnight = ex.constant(times), {"hour": 0, "minute": 0, "second": 0, "microsecond": 0}
    for unit, of in {
        "year": lambda t: t.replace(month=1, day=1, **midnight),
        "quarter": lambda t: t.replace(month=(t.month - 1) // 3 * 3 + 1, day=1, **midnight),
        "month": lambda t: t.replace(day=1, **midnight),
        "week": lambda t: t.replace(**midnight) - dt.timedelta(days=t.weekday()),
        "day": lambda t: t.replace(**midnight),
        "hour": lambda t: t.replace(minute=0, second=0, microsecond=0),
        "minute": lambda t: t.replace(second=0, microsecond=0),
        "second": lambda t: t.replace(microsecond=0),
        "millisecond": lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000),
    }.items():
        begun = ex.constant([of(time) for time in times])
        found = ex.date_trunc(stamps, unit)
        assert ex.all(found == begun), unit
        assert ex.all(ex.function(lambda x, unit=unit: ex.date_trunc(x, unit))(stamps) == begun), unit
        assert found.unit == stamps.unit
        if unit in ("year", "quarter", "month", "week", "day"):
            assert ex.all(ex.date_trunc(ex.to_date(stamps), unit) == ex.to_date(begun)), unit


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca"])
def test_clocks_of_zones_show_what_python_says(name: str) -> None:
    zone, pick = zoneinfo.ZoneInfo(name), random.Random(4)
    # From 1970 to 2025: of later years, and of the first ones, databases say different things.
    seconds = [pick.randrange(1_740_000_000) for _ in range(2_000)]
    times = [dt.datetime.fromtimestamp(second, zone) for second in seconds]
    stamps = ex.TimestampTensor(seconds, "s", name)
    for read in (ex.strftime, ex.function(lambda x, format: ex.strftime(x, format))):
        assert read(stamps, "%Y-%m-%d %H:%M:%S").tolist() == [time.strftime("%Y-%m-%d %H:%M:%S") for time in times]
    assert ex.date_part(stamps, "hour").tolist() == [time.hour for time in times]
    assert ex.date_part(stamps, "weekday").tolist() == [time.weekday() for time in times]
    # Of a time that clocks show twice Python too takes the first.
    clocks = [time.replace(tzinfo=None, fold=0) for time in times]
    back = ex.to_timestamp([str(clock) for clock in clocks], "s", name, format="%Y-%m-%d %H:%M:%S")
    assert back.values.tolist() == [int(clock.replace(tzinfo=zone).timestamp()) for clock in clocks]
    days = [clock.replace(hour=0, minute=0, second=0) for clock in clocks]
    begun = ex.date_trunc(stamps, "day")
    assert begun.values.tolist() == [int(day.replace(tzinfo=zone).timestamp()) for day in days]


def traced(holds: Any) -> Any:
    return ex.function(lambda x, y: holds(x, y))


@pytest.mark.parametrize("kind", [ex.TimestampTensor, ex.DurationTensor])
def test_counts_of_two_units_are_compared_without_a_common_one(kind: Any) -> None:
    pick, most, per = random.Random(3), 2**63 - 1, {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    for unit, other in (("s", "ns"), ("ns", "ms"), ("us", "s")):
        a = [pick.choice([most, -most - 1, 0, -1, pick.randrange(-(10**6), 10**6)]) for _ in range(60)]
        near = [x * per[other] // per[unit] + pick.choice([0, 1, -1]) for x in a]
        b = [x if abs(x) <= most else pick.choice([most, -most]) for x in near]
        for holds in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            wanted = [holds(x * per[other], y * per[unit]) for x, y in zip(a, b, strict=True)]
            assert holds(kind(a, unit), kind(b, other)).tolist() == wanted
            assert traced(holds)(kind(a, unit), kind(b, other)).tolist() == wanted


def test_what_has_no_least_is_missing_where_rows_of_one_size_are_none() -> None:
    none = ex.tensor([], dtype="i64")
    for leaves in (ex.TimestampTensor([], "s"), ex.CategoricalTensor(none, ["a"]), ex.tensor([], dtype="string")):
        pairs = ex.RaggedTensor.from_uniform_row_length(leaves, 2, 0)
        for call in (ex.max, ex.function(ex.max)):
            assert call(ex.RaggedTensor.from_row_lengths(pairs, none), axis=(0, 1)).to_py() == [None, None]
            assert call(pairs, axis=0).to_py() == [None, None]


def test_lists_of_objects_are_what_each_is_alone() -> None:
    rng = random.Random(3)
    kinds = {
        "decimals": lambda: Decimal(rng.randrange(-(10**9), 10**9)).scaleb(rng.randrange(-6, 3)),
        "moments": lambda: dt.datetime(1950, 1, 1) + dt.timedelta(microseconds=rng.randrange(10**16)),
        "zoned": lambda: (
            dt.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")) + dt.timedelta(hours=rng.randrange(9000))
        ),
        "dates": lambda: dt.date.fromordinal(rng.randrange(1, 3_000_000)),
        "times": lambda: dt.time(rng.randrange(24), rng.randrange(60), rng.randrange(60), rng.randrange(10**6)),
        "durations": lambda: dt.timedelta(microseconds=rng.randrange(-(10**15), 10**15)),
        "identifiers": lambda: uuid.UUID(int=rng.getrandbits(128)),
    }
    for name, make in kinds.items():
        objects = [make() for _ in range(300)]
        together = ex.constant(objects)
        alone = ex.stack([ex.constant(item) for item in objects])
        assert together.to_py() == alone.to_py() and ex.spec_of(together) == ex.spec_of(alone), name
        some = [None if i % 3 == 0 else item for i, item in enumerate(objects)]
        wanted = [None if i % 3 == 0 else text for i, text in enumerate(together.to_py())]
        assert ex.constant(some).to_py() == wanted, name
        rows = [objects[i : i + i % 4] for i in range(0, 300, 3)]
        wanted = [together.to_py()[i : i + i % 4] for i in range(0, 300, 3)]
        assert ex.constant(rows).to_py() == wanted, name
        assert ex.to_py(ex.constant([{"t": item} for item in objects])["t"]) == together.to_py(), name


def test_moments_are_counted_from_their_offsets() -> None:
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    odd = dt.timezone(dt.timedelta(hours=-3, minutes=17, microseconds=5))
    twice = [dt.datetime(2024, 10, 27, 2, 30, tzinfo=zone, fold=fold) for fold in (0, 1)]
    moments = [*twice, dt.datetime(1, 1, 2, tzinfo=odd), dt.datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=odd)]
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
    counts = [(moment - epoch) // dt.timedelta(microseconds=1) for moment in moments]
    assert ex.constant(moments).values.tolist() == counts
    assert [ex.constant(moment).values.tolist() for moment in moments] == counts
