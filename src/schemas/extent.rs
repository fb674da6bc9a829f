//! How much a value holds at most, as far as the cost of a rule goes by it.

use serde_json::Value;

/// Bounds of a value and all that is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueExtent {
    /// How many items it has, where it is a list or a map.
    pub(super) len: u64,
    /// The most items of any list or map below it.
    pub(super) items: u64,
    /// The bytes of all its texts, with some for each value.
    pub(super) bytes: u64,
    /// The most bytes of any item below it.
    pub(super) largest: u64,
}

/// What each value counts.
const OF_A_VALUE: u64 = 8;

impl ValueExtent {
    /// That of a truth or a number.
    pub(super) const SMALL: Self = Self { len: 0, items: 0, bytes: OF_A_VALUE, largest: 0 };
    /// That of what nobody can bound.
    pub(super) const ENDLESS: Self =
        Self { len: u64::MAX, items: u64::MAX, bytes: u64::MAX, largest: u64::MAX };

    /// That of a value that is known.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(text.len()),
            Value::Array(all) => all.iter().map(Self::of).fold(Self::SMALL, Self::with),
            Value::Object(all) => {
                let entry = |(key, value): (&String, &Value)| {
                    let of = Self::of(value);
                    Self { bytes: of.bytes.saturating_add(key.len() as u64), ..of }
                };
                all.iter().map(entry).fold(Self::SMALL, Self::with)
            }
            _ => Self::SMALL,
        }
    }

    /// That of a text.
    pub(super) fn text(bytes: usize) -> Self {
        Self { bytes: OF_A_VALUE.saturating_add(bytes as u64), ..Self::SMALL }
    }

    /// That of a list or map with one item more.
    pub(super) fn with(self, item: Self) -> Self {
        Self {
            len: self.len.saturating_add(1),
            items: self.items.max(item.items).max(item.len),
            bytes: self.bytes.saturating_add(item.bytes),
            largest: self.largest.max(item.largest).max(item.bytes),
        }
    }

    /// That of an item.
    pub(super) fn item(self) -> Self {
        let bytes = self.largest.max(OF_A_VALUE);
        Self { len: self.items, items: self.items, bytes, largest: self.largest }
    }

    /// That of a field or an item, or of an item of a map that is called as a field.
    pub(super) fn part(self) -> Self {
        Self { len: self.items, ..self }
    }

    /// One behind the other: `a + b`.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            len: self.len.saturating_add(other.len),
            items: self.items.max(other.items),
            bytes: self.bytes.saturating_add(other.bytes),
            largest: self.largest.max(other.largest),
        }
    }

    /// As often as there are turns.
    pub(super) fn times(self, turns: u64) -> Self {
        Self {
            len: self.len.saturating_mul(turns),
            bytes: self.bytes.saturating_mul(turns),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_longest_list_and_all_bytes_count() {
        let value = json!({"a": [1, 2, 3], "b": {"c": "four"}});
        let inner = ValueExtent { len: 3, items: 0, bytes: 8 * 4, largest: 8 };
        assert_eq!(ValueExtent::of(&value["a"]), inner);
        let of = ValueExtent::of(&value);
        assert_eq!(of, ValueExtent { len: 2, items: 3, bytes: 8 * 7 + 7, largest: 33 });
        assert_eq!(of.item(), ValueExtent { len: 3, items: 3, bytes: 33, largest: 33 });
        let more = inner.plus(inner).times(2);
        assert_eq!(more, ValueExtent { len: 12, items: 0, bytes: 128, largest: 8 });
        assert_eq!(more.times(u64::MAX).bytes, u64::MAX);
    }
}
