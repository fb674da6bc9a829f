//! Hexadecimal digits of digests and object ids: the hottest text that there is, so by table and without a
//! formatter.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserializer, Serializer};

const DIGITS: &[u8; 16] = b"0123456789abcdef";
/// The longest text: that of a SHA-256.
const LONGEST: usize = 64;

/// The digits of bytes, in a buffer of the caller's.
fn encode<'a>(bytes: &[u8], buffer: &'a mut [u8; LONGEST]) -> &'a str {
    for (pair, byte) in buffer.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    std::str::from_utf8(&buffer[..bytes.len() * 2]).expect("digits are ASCII")
}

/// Writes the digits of at most 32 bytes.
pub(super) fn show(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(encode(bytes, &mut [0; LONGEST]))
}

/// Serialises at most 32 bytes as their digits.
pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(encode(bytes, &mut [0; LONGEST]))
}

/// The bytes of a text with exactly their digits, in either case.
pub(super) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    Some(VALUES[usize::from(digit)]).filter(|value| *value < 16)
}

/// What each byte is worth as a digit; 16 for one that is none.
const VALUES: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0;
    while value < 16 {
        let digit = DIGITS[value as usize];
        values[digit as usize] = value;
        values[digit.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    values
};

/// Reads what has its text form, without a copy of the text.
pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: std::str::FromStr<Err = String>,
    D: Deserializer<'de>,
{
    struct Text<T>(std::marker::PhantomData<T>);
    impl<T: std::str::FromStr<Err = String>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("hexadecimal digits")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_str(Text(std::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let bytes: [u8; 32] = std::array::from_fn(|i| u8::try_from(i * 8).unwrap_or(255));
        let text = encode(&bytes, &mut [0; LONGEST]).to_owned();
        assert_eq!(text, bytes.map(|byte| format!("{byte:02x}")).concat());
        assert_eq!(decode(&text), Some(bytes));
        assert_eq!(decode(&text.to_uppercase()), Some(bytes));
        assert_eq!(encode(&[0x0f, 0xa0], &mut [0; LONGEST]), "0fa0");
    }

    #[test]
    fn what_is_no_digit_or_too_short_is_refused() {
        for text in ["", "0", "0g", "é", "000", "+1", " 1"] {
            assert_eq!(decode::<1>(text), None, "{text}");
        }
    }
}
