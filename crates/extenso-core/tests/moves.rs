//! Elements that are moved come from where positions say, whatever their width, on any number of threads.

use extenso_core::attrs::Axes;
use extenso_core::{Arg, Tensor, Value, ops, with_threads};
use extenso_types::{DType, Result};

/// A number below `n`, and the next state.
fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    usize::try_from((*state >> 33) % n as u64).expect("small")
}

fn int(n: usize) -> i64 {
    i64::try_from(n).expect("small")
}

/// Elements that are told apart, of a dtype, as far as it has as many.
fn values(dtype: DType, dims: &[usize]) -> Value {
    let numbers: Vec<i64> = (0..int(dims.iter().product())).map(|i| i % 1999).collect();
    let numbers = Tensor::new(dims, &numbers).expect("as many");
    match dtype {
        DType::String => ops::as_string(numbers).expect("texts"),
        DType::Bool => {
            ops::cast(ops::remainder(ops::remainder(numbers, 7).expect("numbers"), 2).expect("numbers"), dtype)
                .expect("booleans")
        }
        DType::U8 => ops::cast(ops::remainder(numbers, 251).expect("numbers"), dtype).expect("bytes"),
        _ => ops::cast(numbers, dtype).expect("numbers"),
    }
}

/// The elements of `x` at positions of an axis, found one axis after the other and joined: the long way.
fn at(x: &Value, axis: usize, places: &[i64]) -> Result<Value> {
    let one = |place: &i64| ops::take(x, Tensor::from_vec(vec![*place]), int(axis));
    let parts: Vec<Value> = places.iter().map(one).collect::<Result<_>>()?;
    if parts.is_empty() {
        ops::take(x, Tensor::from_vec(Vec::<i64>::new()), int(axis))
    } else {
        ops::concat(parts, int(axis))
    }
}

fn same(x: &Value, y: &Value, what: &str) {
    let (x, y) = (x.tensor().expect("a tensor"), y.tensor().expect("a tensor"));
    assert_eq!(x.spec(), y.spec(), "{what}");
    assert!(x.to_string() == y.to_string(), "{what}: {x} is not {y}");
}

const DTYPES: [DType; 7] = [DType::U8, DType::F16, DType::F32, DType::I64, DType::F64, DType::Bool, DType::String];

#[test]
fn slices_flips_and_rolls_have_the_elements_of_their_positions() {
    let mut state = 7;
    for round in 0..400 {
        let dtype = DTYPES[round % DTYPES.len()];
        let dims: Vec<usize> = (0..=below(&mut state, 3)).map(|_| below(&mut state, 6)).collect();
        let (x, axis) = (values(dtype, &dims), below(&mut state, dims.len()));
        let n = int(dims[axis]);
        let (start, stop) = (int(below(&mut state, 15)) - 7, int(below(&mut state, 15)) - 7);
        let step = [1, 2, 3, -1, -2, -5][below(&mut state, 6)];
        let what = format!("{dtype}{dims:?} along {axis}: {start}, {stop}, {step}");
        // As Python chooses.
        let low = if step > 0 { 0 } else { -1 };
        let clamp = |place: i64| (if place < 0 { place + n } else { place }).clamp(low, n + low);
        let mut places = Vec::new();
        let mut place = clamp(start);
        while if step > 0 { place < clamp(stop) } else { place > clamp(stop) } {
            places.push(place);
            place += step;
        }
        let sliced = ops::slice(&x, int(axis), start, vec![stop], step).expect("sliced");
        same(&sliced, &at(&x, axis, &places).expect("taken"), &what);
        let backwards: Vec<i64> = (0..n).rev().collect();
        let flipped = ops::flip(&x, Axes::List(vec![int(axis)])).expect("flipped");
        same(&flipped, &at(&x, axis, &backwards).expect("taken"), &what);
        let rolled = ops::roll(&x, vec![start], Axes::List(vec![int(axis)])).expect("rolled");
        let from: Vec<i64> = (0..n).map(|i| (i - start).rem_euclid(n)).collect();
        same(&rolled, &at(&x, axis, &from).expect("taken"), &what);
        let times = below(&mut state, 4);
        let mut reps = vec![1; dims.len()];
        reps[axis] = int(times);
        let tiled = ops::tile(&x, reps).expect("tiled");
        let again: Vec<i64> = (0..times).flat_map(|_| 0..n).collect();
        same(&tiled, &at(&x, axis, &again).expect("taken"), &what);
        let mixed: Vec<i64> = (0..if n > 0 { 5 } else { 0 }).map(|_| int(below(&mut state, dims[axis])) - n).collect();
        let taken = ops::take(&x, Tensor::from_vec(mixed.clone()), int(axis)).expect("taken");
        same(&taken, &at(&x, axis, &mixed).expect("taken"), &what);
    }
}

#[test]
fn axes_in_another_order_are_the_places_of_the_elements() {
    let mut state = 3;
    for round in 0..200 {
        let dtype = DTYPES[round % DTYPES.len()];
        let dims: Vec<usize> = (0..=below(&mut state, 4)).map(|_| 1 + below(&mut state, 20)).collect();
        let mut order: Vec<usize> = (0..dims.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, below(&mut state, i + 1));
        }
        let x = values(dtype, &dims);
        let turned = ops::transpose(&x, Some(order.iter().map(|a| int(*a)).collect::<Vec<_>>())).expect("transposed");
        let sizes: Vec<usize> = order.iter().map(|a| dims[*a]).collect();
        let places = (0..sizes.iter().product()).map(|mut i: usize| {
            let mut place = vec![0; dims.len()];
            for (size, axis) in sizes.iter().zip(&order).rev() {
                place[*axis] = i % size;
                i /= size;
            }
            int(place.iter().zip(&dims).fold(0, |at, (i, n)| at * n + i))
        });
        let flat = ops::reshape(&x, vec![-1_i64]).expect("flat");
        let wanted = ops::take(flat, Tensor::from_vec(places.collect::<Vec<_>>()), 0).expect("taken");
        let wanted = ops::reshape(wanted, sizes.iter().map(|n| int(*n)).collect::<Vec<_>>()).expect("shaped");
        same(&turned, &wanted, &format!("{dtype}{dims:?} in the order {order:?}"));
    }
}

#[test]
fn many_elements_are_moved_alike_on_any_number_of_threads() {
    let x = values(DType::F32, &[3, 700, 500]);
    let moved = || {
        let axis = |axis: i64| Axes::List(vec![axis]);
        vec![
            ops::transpose(&x, Some(vec![2, 0, 1])).expect("transposed"),
            ops::transpose(&x, Some(vec![1, 0, 2])).expect("transposed"),
            ops::flip(&x, axis(1)).expect("flipped"),
            ops::flip(&x, axis(2)).expect("flipped"),
            ops::slice(&x, 1, 690, vec![3], -7).expect("sliced"),
            ops::roll(&x, vec![100], axis(1)).expect("rolled"),
            ops::take(&x, Tensor::from_vec((0..900_i64).map(|i| i * 7 % 500).collect()), 2).expect("taken"),
            ops::tile(&x, vec![2, 1, 3]).expect("tiled"),
        ]
    };
    let alone = with_threads(1, moved);
    for threads in [2, 3, 5] {
        let together = with_threads(threads, moved);
        for (i, (x, y)) in alone.iter().zip(&together).enumerate() {
            let bytes = |v: &Value| v.tensor().and_then(Tensor::as_slice::<f32>).map(<[f32]>::to_vec).expect("numbers");
            assert!(bytes(x) == bytes(y), "result {i} on {threads} threads");
        }
    }
    let flipped = ops::flip(&alone[2], Axes::List(vec![1])).expect("flipped");
    same(&flipped, &x, "twice backwards");
    let back = ops::transpose(&alone[0], Some(vec![1, 2, 0])).expect("transposed");
    same(&back, &x, "there and back");
}

#[test]
fn booleans_are_folded_along_any_axes_as_numbers_are() {
    for dims in [vec![5, 70], vec![300, 3], vec![2, 130, 67], vec![0, 4], vec![3, 0], vec![600, 64]] {
        let x = values(DType::Bool, &dims);
        let numbers = ops::cast(&x, DType::I64).expect("numbers");
        for axis in 0..int(dims.len()) {
            let what = format!("{dims:?} along {axis}");
            let total = ops::sum(&numbers, axis, false).expect("summed");
            same(&ops::sum(&x, axis, false).expect("summed"), &total, &what);
            same(&ops::any(&x, axis, false).expect("folded"), &ops::greater(&total, 0).expect("compared"), &what);
            let n = int(dims[usize::try_from(axis).expect("small")]);
            same(&ops::all(&x, axis, false).expect("folded"), &ops::equal(&total, n).expect("compared"), &what);
        }
    }
}

type Move<'a> = &'a dyn Fn(&Value) -> Result<Value>;

#[test]
fn booleans_that_begin_inside_a_byte_are_moved_as_numbers_are() -> Result<()> {
    let mut state = 7;
    for (first, n) in [(0, 1), (1, 9), (3, 64), (5, 65), (13, 700)] {
        let all = values(DType::Bool, &[first + n + 3]);
        let bits = ops::slice(&all, 0, int(first), vec![int(first + n)], 1)?;
        let numbers = ops::cast(&bits, DType::I64)?;
        let places = Tensor::from_vec((0..2 * n).map(|_| int(below(&mut state, n))).collect::<Vec<i64>>());
        let moves: [Move<'_>; 5] = [
            &|x| ops::take(x, &places, 0),
            &|x| ops::concat(vec![x.clone(), ops::flip(x, 0)?, x.clone()], 0),
            &|x| ops::transpose(ops::stack(vec![Arg::from(x), Arg::from(ops::flip(x, 0)?)], 0)?, None),
            &|x| ops::boolean_mask(x, &bits, 0),
            &|x| ops::sort(x, 0, true),
        ];
        for made in moves {
            assert_eq!(ops::cast(made(&bits)?, DType::I64)?.to_string(), made(&numbers)?.to_string(), "{first} {n}");
        }
        let extremes = |x: &Value| -> Result<_> {
            Ok([ops::argmax(x, Axes::All, false)?, ops::argmin(x, Axes::All, false)?].map(|at| at.to_string()))
        };
        assert_eq!(extremes(&bits)?, extremes(&numbers)?);
    }
    Ok(())
}

#[test]
fn what_is_taken_of_nothing_is_nothing_however_large_its_sizes() {
    let x = Tensor::new::<f64>(&[0, 1, 1 << 60], &[]).expect("nothing");
    let taken = ops::take(x, Tensor::from_vec(vec![0_i64; 4]), 1).expect("nothing of it");
    assert_eq!(taken.tensor().and_then(|x| x.data()).expect("data").dims(), [0, 4, 1 << 60]);
}
