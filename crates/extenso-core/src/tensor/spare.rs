//! What the next tensors of a thread are made in: the places of tensors that nobody reads any more.
//!
//! Invariant: a place that is kept has one owner, and holds no memory but its own. A thread keeps a few.

use super::{Dense, Repr, Storage, Tensor};
use crate::kernels::elements::Elements;
use std::cell::RefCell;
use std::sync::Arc;

/// So many are kept: more than a program of one record has at a time.
const MOST: usize = 64;

thread_local! {
    static SPARE: RefCell<Vec<Arc<Dense>>> = const { RefCell::new(Vec::new()) };
}

/// A place for the data of a tensor.
pub(super) fn placed(data: Dense) -> Arc<Dense> {
    // A thread that ends keeps none.
    let kept = SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.pop());
    if let Ok(Some(mut place)) = kept
        && let Some(before) = Arc::get_mut(&mut place)
    {
        *before = data;
        return place;
    }
    Arc::new(data)
}

impl Tensor {
    /// Drops the tensor. Its place is for the next tensor of this thread, if nobody else has it.
    pub(crate) fn give_back(self) {
        let Repr::Data(mut place) = self.0 else { return };
        if Arc::strong_count(&place) > 1 {
            return;
        }
        if !place.is_in_place() {
            let Some(data) = Arc::get_mut(&mut place) else { return };
            data.storage = Storage::Fixed(Elements::copy_of(&[]));
            data.derived.take();
        }
        let keep = |spare: &RefCell<Vec<Arc<Dense>>>| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < MOST
            {
                spare.push(place);
            }
        };
        // A thread that ends drops it.
        let _ = SPARE.try_with(keep);
    }
}

impl Dense {
    /// Whether it has no memory but its own, so that it may wait as it is.
    fn is_in_place(&self) -> bool {
        let few = matches!(&self.storage, Storage::Fixed(elements) if elements.are_few());
        few && self.derived.get().is_none() && !self.dims.spilled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(x: &Tensor) -> *const Dense {
        x.data().expect("data")
    }

    #[test]
    fn the_place_of_a_tensor_that_nobody_has_is_the_next_ones() {
        for n in [2, 2000] {
            let x = Tensor::from_vec(vec![1.5; n]);
            let (place, other) = (address(&x), x.clone());
            x.give_back();
            let y = Tensor::scalar(1_i64);
            assert_ne!(address(&y), place);
            assert_eq!(other.as_slice::<f64>().expect("floats"), vec![1.5; n]);
            other.give_back();
            let z = Tensor::scalar(2_i64);
            assert_eq!((address(&z), z.to_string()), (place, "2".to_string()));
        }
    }

    #[test]
    fn what_a_tensor_held_goes_when_it_is_given_back() {
        let held = Tensor::boxed(&[1], vec![Tensor::scalar(1.5).into()]).expect("a box");
        let Storage::Boxed(values) = held.data().expect("data").storage() else { panic!("a box is boxed") };
        let inner = Arc::downgrade(values);
        held.give_back();
        assert!(inner.upgrade().is_none());
    }
}
