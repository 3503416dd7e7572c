//! The fields of a message, found by number.

/// Numbers below this are found in one step.
const LOW: u32 = 128;

/// The places of fields by their numbers.
#[derive(Clone, Default, Debug)]
pub struct Numbers {
    /// Places, one added; zero is none.
    low: Vec<usize>,
    /// The others, in order.
    high: Vec<(u32, usize)>,
}

impl Numbers {
    /// The places of these numbers, which are distinct.
    pub fn new(fields: impl IntoIterator<Item = (u32, usize)>) -> Numbers {
        let mut numbers = Numbers::default();
        for (number, place) in fields {
            if number < LOW {
                let at = number as usize;
                numbers.low.resize(numbers.low.len().max(at + 1), 0);
                numbers.low[at] = place + 1;
            } else {
                numbers.high.push((number, place));
            }
        }
        numbers.high.sort_unstable();
        numbers
    }

    /// The place of a number.
    #[inline]
    pub fn find(&self, number: u32) -> Option<usize> {
        if number < LOW {
            return self.low.get(number as usize)?.checked_sub(1);
        }
        let at = self.high.binary_search_by_key(&number, |(high, _)| *high).ok()?;
        Some(self.high[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_found_and_no_other() {
        let given = [1, 3, 127, 128, 129, 5000, (1 << 29) - 1];
        let numbers = Numbers::new(given.iter().rev().enumerate().map(|(place, number)| (*number, place)));
        for (place, number) in given.iter().rev().enumerate() {
            assert_eq!(numbers.find(*number), Some(place), "{number}");
        }
        assert!([0, 2, 4, 126, 130, 1 << 28].iter().all(|number| numbers.find(*number).is_none()));
    }
}
