//! Kubernetes quantities, exact.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SharedMap;

/// An amount of a resource in thousandths of its unit: `50`, `1500m`, `16Gi`. Never a float, so sums
/// and comparisons are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(i128);

/// Amounts by the name of the resource; `clusters` is always among a worker's.
pub type Resources = SharedMap<Quantity>;

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// That many whole units.
    #[must_use]
    pub const fn units(units: i64) -> Self {
        Self(units as i128 * 1000)
    }

    /// That many thousandths.
    #[must_use]
    pub const fn from_thousandths(thousandths: i128) -> Self {
        Self(thousandths)
    }

    /// The amount in thousandths.
    #[must_use]
    pub const fn thousandths(self) -> i128 {
        self.0
    }

    /// The sum; an amount beyond what fits stays at the largest.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, which may be negative (an overcommitted worker).
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many times as much; an amount beyond what fits stays at the largest.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count.into()))
    }

    /// Whether it is less than nothing.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

/// A text is not a quantity that carp reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a Kubernetes quantity such as 50, 1500m or 16Gi")]
pub struct QuantityError(pub String);

/// Suffixes and what they multiply by, in thousandths
/// (k8s.io/apimachinery, pkg/api/resource/quantity.go).
const SUFFIXES: [(&str, i128); 13] = [
    ("m", 1),
    ("", 1000),
    ("k", 1_000_000),
    ("M", 1_000_000_000),
    ("G", 1_000_000_000_000),
    ("T", 1_000_000_000_000_000),
    ("P", 1_000_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000_000),
    ("Ki", 1000 << 10),
    ("Mi", 1000 << 20),
    ("Gi", 1000 << 30),
    ("Ti", 1000 << 40),
    ("Pi", 1000 << 50),
];

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || QuantityError(text.to_owned());
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let factor = SUFFIXES.iter().find(|(s, _)| *s == suffix).ok_or_else(wrong)?.1;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || whole.len() > 15 || fraction.len() > 9 || number.ends_with('.') {
            return Err(wrong());
        }
        let digits = |part: &str| part.parse::<u64>().map(i128::from).map_err(|_| wrong());
        let scale = 10_i128.pow(u32::try_from(fraction.len()).map_err(|_| wrong())?);
        let fraction = if fraction.is_empty() { 0 } else { digits(fraction)? };
        let number = digits(whole)? * scale + fraction;
        let thousandths = number.checked_mul(factor).ok_or_else(wrong)?;
        if thousandths % scale != 0 {
            return Err(wrong());
        }
        Ok(Self(sign * thousandths / scale))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % 1000 != 0 {
            return write!(f, "{}m", self.0);
        }
        let units = self.0 / 1000;
        // Counts of clusters stay plain numbers; a binary suffix begins where bytes are meant.
        let binary = [("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20)];
        match binary.iter().find(|(_, shift)| units != 0 && units % (1_i128 << shift) == 0) {
            Some((suffix, shift)) => write!(f, "{}{suffix}", units >> shift),
            None => write!(f, "{units}"),
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenQuantity)
    }
}

/// A quantity as it is written: a whole number or text. It is asked for what stands there, for of each cluster there are some.
struct WrittenQuantity;

impl de::Visitor<'_> for WrittenQuantity {
    type Value = Quantity;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a Kubernetes quantity: a whole number or text")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
        Ok(Quantity::units(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity, E> {
        let small = i64::try_from(number);
        small
            .map(Quantity::units)
            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.parse().map_err(E::custom)
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_written_as_a_whole_number_or_as_text() {
        let read = |json: &str| serde_json::from_str::<Quantity>(json).ok();
        for (written, text) in
            [("3", "3"), ("-3", "-3"), ("\"1.5\"", "1500m"), ("\"16Gi\"", "16Gi")]
        {
            assert_eq!(read(written), text.parse().ok(), "{written}");
        }
        assert_eq!(read("9223372036854775807"), Some(Quantity::units(i64::MAX)));
        for wrong in ["9223372036854775808", "1.5", "true", "null", "[]", "{}", "\"1,5\""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn quantities_are_exact_and_canonical() {
        for (written, canonical) in
            [("50", "50"), ("1.5", "1500m"), ("1500m", "1500m"), ("16Gi", "16Gi"), ("1k", "1000")]
        {
            assert_eq!(written.parse::<Quantity>().unwrap().to_string(), canonical);
        }
        assert_eq!("1024".parse::<Quantity>().unwrap(), "1Ki".parse().unwrap());
        assert_eq!("0.000000001G".parse::<Quantity>().unwrap(), Quantity::units(1));
        assert_eq!("00010.50k".parse::<Quantity>().unwrap(), Quantity::units(10_500));
        for bad in ["", "x", "1.", ".5", "1e3", "5 Gi", "0.0001", "--1", "+1", "1.2.3", "1.+2"] {
            assert!(bad.parse::<Quantity>().is_err(), "{bad}");
        }
        assert!("-1".parse::<Quantity>().unwrap().is_negative());
    }
}
