//! One record's findings taken into those of all, or left out whole.
//!
//! Invariant: findings that are refused leave no trace.

use super::{NAMED, Place, Record, Seen, Sign};

impl Seen {
    /// Takes in what one more record was seen to be, if it agrees with the others and its new fields have room.
    pub fn take_in(&mut self, one: &Seen, room: &mut usize) {
        if let Some(left) = room.checked_sub(self.new_fields(one)).filter(|_| self.agrees(one)) {
            *room = left;
            self.absorb(one);
        }
    }

    /// How many fields the records have, all levels together.
    fn fields(&self) -> usize {
        let own: usize = self.fields_below().map(|(_, seen)| 1 + seen.fields()).sum();
        own + self.item.as_ref().map_or(0, |item| item.fields())
    }

    fn agrees(&self, one: &Seen) -> bool {
        let named = |seen: &Seen| seen.at(Sign::Name).is_some();
        let kinds = match (self.kind(), one.kind()) {
            (Some((a, _)), Some((b, _))) => a == b,
            (Some((kind, _)), None) => !named(one) || NAMED.contains(&kind),
            (None, Some((kind, _))) => !named(self) || NAMED.contains(&kind),
            (None, None) => true,
        };
        let items = self.item.iter().zip(&one.item).all(|(a, b)| a.agrees(b));
        kinds && items && one.fields_below().all(|(name, b)| self.field_of(name).is_none_or(|a| a.agrees(b)))
    }

    fn new_fields(&self, one: &Seen) -> usize {
        let items = one.item.as_ref().map_or(0, |b| self.item.as_ref().map_or(b.fields(), |a| a.new_fields(b)));
        let new = |(name, b): (&str, &Seen)| self.field_of(name).map_or(1 + b.fields(), |a| a.new_fields(b));
        items + one.fields_below().map(new).sum::<usize>()
    }

    fn fields_below(&self) -> impl Iterator<Item = (&str, &Seen)> {
        self.record.iter().flat_map(|record| &record.fields).map(|field| (&*field.name, &field.seen))
    }

    fn field_of(&self, name: &str) -> Option<&Seen> {
        let record = self.record.as_ref()?;
        record.places.get(name).map(|place| &record.fields[*place].seen)
    }

    fn absorb(&mut self, one: &Seen) {
        let earlier = |a: Place, b: Place| if b.byte < a.byte { b } else { a };
        for (mine, other) in self.first.iter_mut().zip(one.first) {
            *mine = mine.zip(other).map(|(a, b)| earlier(a, b)).or(*mine).or(other);
        }
        if let Some(item) = &one.item {
            self.item().absorb(item);
        }
        if let Some(record) = &one.record {
            self.record().absorb(record);
        }
    }
}

impl Record {
    fn absorb(&mut self, one: &Record) {
        self.count += one.count;
        for field in &one.fields {
            let place = self.places.get(&field.name).copied().unwrap_or_else(|| {
                self.places.insert(field.name.clone(), self.fields.len());
                self.fields.push(super::Field { name: field.name.clone(), count: 0, last: 0, seen: Seen::default() });
                self.fields.len() - 1
            });
            let mine = &mut self.fields[place];
            mine.count += field.count;
            mine.seen.absorb(&field.seen);
        }
    }
}
