//! What carp writes of its own types is nearly all plain words in maps and lists. Those are written here, byte for byte as the
//! writer of YAML does, which is asked for all else.

use std::fmt::{self, Write as _};

use serde::ser::{self, Impossible, Serialize, Serializer};

use crate::model::{is_plain_line, is_plain_word};

/// The text of a document; `None` where there is something in it that is not plain. `scalar` writes a text that is no plain
/// word.
pub(super) fn write(document: &impl Serialize, scalar: &dyn Fn(&str) -> String) -> Option<String> {
    let mut out = PlainText { text: String::with_capacity(1024), scalar };
    document.serialize(PlainValue { out: &mut out, place: ValuePlace::Document }).ok()?;
    Some(out.text)
}

/// The text so far.
struct PlainText<'a> {
    text: String,
    scalar: &'a dyn Fn(&str) -> String,
}

impl PlainText<'_> {
    fn indent(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
    }
}

/// The methods that write a number.
macro_rules! numbers {
    ($($method:ident: $number:ty,)*) => {
        $(fn $method(self, value: $number) -> Result<(), NotPlain> {
            self.line(&value.to_string())
        })*
    };
}

/// The methods for what is left to the writer of YAML.
macro_rules! refused {
    ($($method:ident($($argument:ty),*) -> $made:ty;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$made, NotPlain> {
            Err(NotPlain)
        })*
    };
}

/// Something that is left to the writer of YAML.
#[derive(Debug)]
struct NotPlain;

impl fmt::Display for NotPlain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not plain")
    }
}

impl std::error::Error for NotPlain {}

impl ser::Error for NotPlain {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValuePlace {
    /// It is the document.
    Document,
    /// Behind a key that is indented so far.
    OfKey(usize),
    /// Behind a dash that is indented so far.
    OfItem(usize),
}

/// A value that is to be written.
struct PlainValue<'o, 'a> {
    out: &'o mut PlainText<'a>,
    place: ValuePlace,
}

impl PlainValue<'_, '_> {
    fn line(self, text: &str) -> Result<(), NotPlain> {
        match self.place {
            ValuePlace::Document => return Err(NotPlain),
            ValuePlace::OfKey(_) => self.out.text.push(' '),
            ValuePlace::OfItem(_) => {}
        }
        self.out.text.push_str(text);
        self.out.text.push('\n');
        Ok(())
    }
}

impl<'o, 'a> Serializer for PlainValue<'o, 'a> {
    type Ok = ();
    type Error = NotPlain;
    type SerializeSeq = PlainList<'o, 'a>;
    type SerializeTuple = Impossible<(), NotPlain>;
    type SerializeTupleStruct = Impossible<(), NotPlain>;
    type SerializeTupleVariant = Impossible<(), NotPlain>;
    type SerializeMap = PlainMap<'o, 'a>;
    type SerializeStruct = PlainMap<'o, 'a>;
    type SerializeStructVariant = Impossible<(), NotPlain>;

    fn serialize_bool(self, value: bool) -> Result<(), NotPlain> {
        self.line(if value { "true" } else { "false" })
    }

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
    }

    refused! {
        serialize_f32(f32) -> (); serialize_f64(f64) -> (); serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> (); serialize_none() -> (); serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_str(self, text: &str) -> Result<(), NotPlain> {
        if is_plain_word(text) {
            return self.line(text);
        }
        if is_plain_line(text) {
            let written = (self.out.scalar)(text);
            return self.line(written.trim_end());
        }
        Err(NotPlain)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotPlain> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), NotPlain> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotPlain> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), NotPlain> {
        Err(NotPlain)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<PlainList<'o, 'a>, NotPlain> {
        match self.place {
            ValuePlace::OfKey(indent) => Ok(PlainList { out: self.out, indent, any: false }),
            ValuePlace::Document | ValuePlace::OfItem(_) => Err(NotPlain),
        }
    }

    fn serialize_map(self, _: Option<usize>) -> Result<PlainMap<'o, 'a>, NotPlain> {
        let indent = match self.place {
            ValuePlace::Document => 0,
            ValuePlace::OfKey(indent) | ValuePlace::OfItem(indent) => indent + 2,
        };
        Ok(PlainMap { out: self.out, place: self.place, indent, any: false })
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<PlainMap<'o, 'a>, NotPlain> {
        self.serialize_map(Some(len))
    }
}

/// The text of a key; an error where it is none.
struct KeyText<'k, T: ?Sized>(&'k T);

impl<T: Serialize + ?Sized> fmt::Display for KeyText<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

/// A list behind a key.
struct PlainList<'o, 'a> {
    out: &'o mut PlainText<'a>,
    indent: usize,
    any: bool,
}

impl ser::SerializeSeq for PlainList<'_, '_> {
    type Ok = ();
    type Error = NotPlain;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotPlain> {
        if !std::mem::replace(&mut self.any, true) {
            self.out.text.push('\n');
        }
        self.out.indent(self.indent);
        self.out.text.push_str("- ");
        let place = ValuePlace::OfItem(self.indent);
        value.serialize(PlainValue { out: self.out, place })
    }

    fn end(self) -> Result<(), NotPlain> {
        if self.any { Ok(()) } else { Err(NotPlain) }
    }
}

/// A map, whose first entry stands behind the dash of an item.
struct PlainMap<'o, 'a> {
    out: &'o mut PlainText<'a>,
    place: ValuePlace,
    indent: usize,
    any: bool,
}

impl PlainMap<'_, '_> {
    fn key(&mut self, key: &str) -> Result<(), NotPlain> {
        if !is_plain_word(key) || key.contains(':') {
            return Err(NotPlain);
        }
        let is_first = !std::mem::replace(&mut self.any, true);
        match self.place {
            ValuePlace::OfItem(_) if is_first => {}
            ValuePlace::OfKey(_) if is_first => {
                self.out.text.push('\n');
                self.out.indent(self.indent);
            }
            _ => self.out.indent(self.indent),
        }
        self.out.text.push_str(key);
        self.out.text.push(':');
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotPlain> {
        let place = ValuePlace::OfKey(self.indent);
        value.serialize(PlainValue { out: self.out, place })
    }

    fn close(&self) -> Result<(), NotPlain> {
        if self.any { Ok(()) } else { Err(NotPlain) }
    }
}

impl ser::SerializeMap for PlainMap<'_, '_> {
    type Ok = ();
    type Error = NotPlain;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotPlain> {
        let mut text = String::new();
        write!(text, "{}", KeyText(key)).map_err(|_| NotPlain)?;
        self.key(&text)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotPlain> {
        self.value(value)
    }

    fn end(self) -> Result<(), NotPlain> {
        self.close()
    }
}

impl ser::SerializeStruct for PlainMap<'_, '_> {
    type Ok = ();
    type Error = NotPlain;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), NotPlain> {
        self.key(key)?;
        self.value(value)
    }

    fn end(self) -> Result<(), NotPlain> {
        self.close()
    }
}

#[cfg(test)]
mod tests;
