//! From a field path back to line and column, by reading the document again.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::read::without_bom;
use super::split::{Chunk, split};
use super::structure::WrittenScalar;
use super::yaml;
use crate::diag::{FieldPath, Place, Position, Step};

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// Where it begins.
    pub position: Position,
    /// How many characters of that line to underline; at least 1.
    pub length: usize,
}

/// Finds the line, the column and the length of a [`Place`] in the text of its file.
///
/// A field that is not there is found at its nearest parent that is: at that parent's key. A short
/// form is found for the field that it stands for. `None` where the text has no such document.
#[must_use]
pub fn locate(text: &str, place: &Place) -> Option<Located> {
    FileLocator::default().locate(text, place)
}

/// Finds places in one file. The document that was asked for last is kept: a thousand mistakes in one are not a thousand
/// readings of it.
#[derive(Debug, Default)]
pub struct FileLocator {
    last: Option<LocatedDocument>,
}

/// A document that was read for the places in it.
#[derive(Debug)]
struct LocatedDocument {
    /// Its place among the documents of the file, from 0.
    nth: usize,
    text: String,
    lines_before: u32,
    /// `None` where it cannot be read.
    root: Option<Node>,
}

impl FileLocator {
    /// As [`locate`]; `text` is that of the one file.
    pub fn locate(&mut self, text: &str, place: &Place) -> Option<Located> {
        let text = without_bom(text);
        if let Some(position) = place.position {
            return Some(Located { position, length: word_length(text, position) });
        }
        let Some(field) = &place.field else {
            return Some(Located { position: Position { line: 1, column: 1 }, length: 1 });
        };
        let document = match self.last.take().filter(|last| last.nth == place.document) {
            Some(last) => last,
            None => LocatedDocument::read(*split(text).get(place.document)?, place.document),
        };
        let LocatedDocument { text, lines_before, root, .. } = self.last.insert(document);
        let chunk = Chunk { text, lines_before: *lines_before };
        let found = root.as_ref().map(|root| find(root, field, place.on_key));
        Some(found.map_or_else(|| first_line(chunk), |target| target.located(chunk)))
    }
}

impl LocatedDocument {
    fn read(chunk: Chunk<'_>, nth: usize) -> Self {
        let Chunk { text, lines_before } = chunk;
        Self { nth, text: text.to_owned(), lines_before, root: Node::of(chunk) }
    }
}

/// What stands in a document at a path, as it was written.
pub(super) fn written(chunk: Chunk<'_>, root: &Node, path: &FieldPath) -> Option<WrittenScalar> {
    let target = find(root, path, false);
    (target.exact && target.scalar).then(|| {
        let text = target.text(chunk.text).to_owned();
        let plain = !text.starts_with(['"', '\'', '|', '>']);
        WrittenScalar { text, plain }
    })
}

/// A value with the places of everything in it.
#[derive(Debug)]
pub(super) struct Node(Spanned<Tree>);

impl Node {
    /// All that a document says; `None` where it cannot be read.
    pub(super) fn of(chunk: Chunk<'_>) -> Option<Self> {
        yaml::parse(chunk.text).ok()
    }
}

#[derive(Debug)]
enum Tree {
    Scalar,
    List(Vec<Node>),
    Map(Vec<(Spanned<String>, Node)>),
}

/// What a path leads to.
struct PathTarget {
    location: Location,
    scalar: bool,
    /// Whether the whole path was there.
    exact: bool,
}

/// Follows a path as far as it goes, and points at a scalar itself or at the key of anything else.
fn find(root: &Node, path: &FieldPath, on_key: bool) -> PathTarget {
    let mut node = root;
    let mut key = None;
    let mut exact = true;
    for step in &path.0 {
        let next = match (step, &node.0.value) {
            (Step::Key(wanted), Tree::Map(fields)) => child(fields, wanted),
            (Step::Index(i), Tree::List(items)) => items.get(*i).map(|item| (None, item)),
            _ => None,
        };
        let Some((its_key, value)) = next else {
            exact = false;
            break;
        };
        // An item that is a mapping is shown by its first key.
        key = its_key.or_else(|| first_key(value));
        node = value;
    }
    let scalar = matches!(node.0.value, Tree::Scalar);
    match key.or_else(|| first_key(node)) {
        Some(key) if (on_key && exact) || !scalar => {
            PathTarget { location: key.referenced, scalar: false, exact }
        }
        _ => PathTarget { location: node.0.referenced, scalar, exact },
    }
}

fn child<'a>(
    fields: &'a [(Spanned<String>, Node)],
    wanted: &str,
) -> Option<(Option<&'a Spanned<String>>, &'a Node)> {
    let named = |name: &str| fields.iter().find(|(key, _)| key.value == name);
    let found = named(wanted).or_else(|| match wanted {
        "nodePools" => named("replicas"),
        _ => None,
    })?;
    Some((Some(&found.0), &found.1))
}

fn first_key(node: &Node) -> Option<&Spanned<String>> {
    match &node.0.value {
        Tree::Map(fields) => fields.first().map(|(key, _)| key),
        _ => None,
    }
}

impl PathTarget {
    fn located(&self, chunk: Chunk<'_>) -> Located {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        let position = Position {
            line: number(self.location.line()).saturating_add(chunk.lines_before),
            column: number(self.location.column()),
        };
        let first = self.text(chunk.text).lines().next().unwrap_or_default().trim_end();
        Located { position, length: first.chars().count().max(1) }
    }

    fn text<'t>(&self, text: &'t str) -> &'t str {
        let span = self.location.span();
        let bounds = span.byte_offset().zip(span.byte_len()).and_then(|(from, length)| {
            let from = usize::try_from(from).ok()?;
            Some(from..from.checked_add(usize::try_from(length).ok()?)?)
        });
        bounds.and_then(|range| text.get(range)).unwrap_or_default()
    }
}

fn first_line(chunk: Chunk<'_>) -> Located {
    let position = Position { line: chunk.lines_before + 1, column: 1 };
    let length = chunk.text.lines().next().unwrap_or_default().trim_end().chars().count().max(1);
    Located { position, length }
}

/// The rest of the word that begins at a position.
fn word_length(text: &str, position: Position) -> usize {
    let line = text.lines().nth(position.line.saturating_sub(1) as usize).unwrap_or_default();
    let rest = line.chars().skip(position.column.saturating_sub(1) as usize);
    rest.take_while(|c| !c.is_whitespace()).count().max(1)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Tree::Map(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# a comment
kind: Worker
---
kind: ManagedCluster
spec:
  replicas: 3
  class: \"größe\"
  pools:
    - name: a
      zones: [\"1\", \"2\"]
";

    fn at(
        field: &'static str,
        index: Option<usize>,
        rest: &str,
        on_key: bool,
    ) -> (u32, u32, usize) {
        let mut path = FieldPath::keys(field);
        if let Some(index) = index {
            path = path.index(index);
        }
        for key in rest.split('.').filter(|k| !k.is_empty()) {
            path = path.key(key);
        }
        let mut place = Place::field("a.yaml", 1, path);
        place.on_key = on_key;
        let found = locate(TEXT, &place).unwrap();
        (found.position.line, found.position.column, found.length)
    }

    #[test]
    fn a_place_is_the_same_whatever_was_asked_for_before() {
        let mut file = FileLocator::default();
        let fields = ["kind", "spec.class", "spec.none"].map(FieldPath::keys);
        for (document, field) in [(1, 0), (0, 0), (1, 1), (1, 2), (2, 0), (1, 1), (0, 2)] {
            let place = Place::field("a.yaml", document, fields[field].clone());
            assert_eq!(file.locate(TEXT, &place), locate(TEXT, &place), "{document}: {field}");
        }
    }

    #[test]
    fn values_and_keys_are_found() {
        assert_eq!(at("kind", None, "", false), (4, 7, 14));
        assert_eq!(at("kind", None, "", true), (4, 1, 4));
        assert_eq!(at("spec.class", None, "", false), (7, 10, 7));
        assert_eq!(at("spec.pools", Some(0), "name", false), (9, 13, 1));
        assert_eq!(at("spec.pools", Some(0), "name", true), (9, 7, 4));
        let path = FieldPath::keys("spec.pools").index(0).key("zones").index(1);
        let found = locate(TEXT, &Place::field("a.yaml", 1, path)).unwrap();
        assert_eq!((found.position.line, found.position.column, found.length), (10, 20, 3));
    }

    #[test]
    fn what_is_no_scalar_is_shown_by_its_key() {
        assert_eq!(at("spec", None, "", false), (5, 1, 4));
        assert_eq!(at("spec.pools", None, "", false), (8, 3, 5));
        assert_eq!(at("spec.pools", Some(0), "", false), (9, 7, 4));
        assert_eq!(at("", None, "", false), (4, 1, 4));
    }

    #[test]
    fn what_is_missing_is_shown_at_its_parent() {
        assert_eq!(at("spec.version", None, "", false), (5, 1, 4));
        assert_eq!(at("metadata.name", None, "", false), (4, 1, 4));
        assert_eq!(at("spec.pools", Some(7), "", false), (8, 3, 5));
    }

    #[test]
    fn a_short_form_is_shown_for_what_it_stands_for() {
        assert_eq!(at("spec.nodePools", Some(0), "replicas", false), (6, 13, 1));
        assert_eq!(at("spec.replicas.clusters", None, "", false), (6, 13, 1));
    }

    #[test]
    fn a_position_that_is_known_stays() {
        let place = Place::file("a.yaml").at(6, 3);
        let found = locate(TEXT, &place).unwrap();
        assert_eq!((found.position.line, found.position.column, found.length), (6, 3, 9));
    }

    #[test]
    fn a_document_that_cannot_be_read_is_shown_by_its_first_line() {
        let place = Place::field("a.yaml", 1, FieldPath::keys("spec"));
        let found = locate("a: 1\n---\nb: [\n", &place).unwrap();
        assert_eq!(found.position, Position { line: 2, column: 1 });
        assert_eq!(locate("a: 1\n", &place), None);
    }
}
