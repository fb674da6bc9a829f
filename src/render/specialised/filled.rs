//! A text with slots in it, and what comes out where these are filled.

use std::borrow::Cow;

use super::marks::{self, Marked};
use crate::model::Digest;
use crate::pattern::words;
use crate::render::object::Document;
use crate::render::{reader, text};

/// What a template makes of all contexts of a shape.
#[derive(Debug)]
pub(super) struct SpecialisedText {
    /// What the hashes in it are of; each may have those before it in it.
    hashes: Vec<TextWithSlots>,
    documents: Vec<DocumentWithSlots>,
}

/// A document with slots.
#[derive(Debug)]
struct DocumentWithSlots {
    text: TextWithSlots,
    words: Vec<TextWithSlots>,
    /// The rest of the text.
    rest: String,
}

impl SpecialisedText {
    /// A text with marks in its words, and what the hashes among them are of. `None` where a document has no words.
    pub(super) fn of(text: &str, of_hashes: &[String]) -> Option<Self> {
        let documents = text::documents(text).map(|document| {
            let (words, rest) = words(&document)?;
            let words = words.into_iter().map(|(_, word)| TextWithSlots::of(word)).collect();
            Some(DocumentWithSlots { text: TextWithSlots::of(&document), words, rest })
        });
        let documents = documents.collect::<Option<_>>()?;
        let hashes = of_hashes.iter().map(|text| TextWithSlots::of(text)).collect();
        Some(Self { hashes, documents })
    }

    /// The documents with values in the slots. `None` where there is no value for one of them, or a document is not YAML.
    pub(super) fn with(&self, values: &[Cow<'_, str>]) -> Option<Vec<Document>> {
        let mut hashes = Vec::with_capacity(self.hashes.len());
        for hashed in &self.hashes {
            let text = hashed.with(values, &hashes)?;
            hashes.push(Digest::of(text.as_bytes()).short(8));
        }
        self.documents.iter().map(|document| document.with(values, &hashes)).collect()
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let documents = self.documents.iter();
        let texts = documents.flat_map(|document| document.words.iter().chain([&document.text]));
        let rests = self.documents.iter().map(|document| document.rest.len());
        self.hashes.iter().chain(texts).map(|text| text.bytes).chain(rests).sum()
    }
}

impl DocumentWithSlots {
    fn with(&self, values: &[Cow<'_, str>], hashes: &[String]) -> Option<Document> {
        let words = self.words.iter().map(|word| word.with(values, hashes));
        let words: Vec<_> = words.collect::<Option<_>>()?;
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let text = self.text.with(values, hashes)?.into_owned();
        let read = reader::parse_words(&text, &words, &self.rest).ok()?;
        Some(Document { text, read: Some(read) })
    }
}

#[derive(Debug)]
struct TextWithSlots {
    parts: Vec<TextPart>,
    bytes: usize,
}

#[derive(Debug)]
enum TextPart {
    Same(String),
    Marked(Marked),
}

impl TextWithSlots {
    fn of(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, mark, behind)) = marks::first(rest) {
            parts.extend((!before.is_empty()).then(|| TextPart::Same(before.to_owned())));
            parts.push(TextPart::Marked(mark.of));
            rest = behind;
        }
        parts.extend((!rest.is_empty()).then(|| TextPart::Same(rest.to_owned())));
        let bytes = text.len() + parts.len() * size_of::<TextPart>();
        Self { parts, bytes }
    }

    fn with<'a>(
        &'a self,
        values: &'a [Cow<'_, str>],
        hashes: &'a [String],
    ) -> Option<Cow<'a, str>> {
        match self.parts.as_slice() {
            [part] => return part.with(values, hashes).map(Cow::Borrowed),
            [] => return Some(Cow::Borrowed("")),
            _ => {}
        }
        let mut text = String::with_capacity(self.bytes);
        for part in &self.parts {
            text.push_str(part.with(values, hashes)?);
        }
        Some(text.into())
    }
}

impl TextPart {
    fn with<'a>(&'a self, values: &'a [Cow<'_, str>], hashes: &'a [String]) -> Option<&'a str> {
        match self {
            Self::Same(same) => Some(same),
            Self::Marked(Marked::Slot(slot)) => values.get(*slot).map(|value| &**value),
            Self::Marked(Marked::Hash(nth)) => hashes.get(*nth).map(String::as_str),
        }
    }
}
