//! One rendered object and where it stands.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::Files;
use super::reader::{self, YamlError};
use super::text;
use crate::pattern::{KnownDocument, ReadDocument};

/// An object in a file of a folder.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The file, relative to the folder.
    pub(super) file: String,
    /// Its text.
    pub(super) text: String,
    /// Its value.
    pub(super) value: Rc<Value>,
    /// What it has in common with others, where that is known.
    pub(super) known: Option<KnownDocument>,
    /// What names it, once somebody has asked: rules ask again and again.
    names: OnceCell<ObjectNames>,
}

/// `apiVersion`, `kind`, namespace and name in one text, empty where there is none, and where each ends.
#[derive(Clone, Debug)]
struct ObjectNames {
    text: String,
    ends: [usize; 4],
    /// Where the group ends, with which the text begins.
    group: usize,
}

impl ObjectNames {
    fn of(value: &Value) -> Self {
        let mut text = String::with_capacity(128);
        let metadata = value.get("metadata").unwrap_or(&Value::Null);
        let names =
            [(value, "apiVersion"), (value, "kind"), (metadata, "namespace"), (metadata, "name")];
        let ends = names.map(|(of, key)| {
            text.push_str(of.get(key).and_then(Value::as_str).unwrap_or_default());
            text.len()
        });
        let group = text[..ends[0]].find('/').unwrap_or_default();
        Self { text, ends, group }
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, &self.text, &self.value) == (&other.file, &other.text, &other.value)
    }
}

impl Object {
    fn new(file: &str, text: String, value: Rc<Value>, known: Option<KnownDocument>) -> Self {
        Self { file: file.to_owned(), text, value, known, names: OnceCell::new() }
    }

    /// Its value, to be changed: then it may have nothing in common with others any more, and another name.
    pub(super) fn value_mut(&mut self) -> &mut Value {
        self.known = None;
        self.names.take();
        Rc::make_mut(&mut self.value)
    }

    /// Gives it another value.
    pub(super) fn set_value(&mut self, value: Value) {
        *self.value_mut() = value;
    }

    fn names(&self) -> &ObjectNames {
        self.names.get_or_init(|| ObjectNames::of(&self.value))
    }

    fn named(&self, nth: usize) -> &str {
        let ObjectNames { text, ends, .. } = self.names();
        let start = nth.checked_sub(1).map_or(0, |before| ends[before]);
        &text[start..ends[nth]]
    }

    /// Its `apiVersion`.
    pub(super) fn api_version(&self) -> &str {
        self.named(0)
    }

    /// Its API group: what stands before the `/` of `apiVersion`.
    pub(super) fn group(&self) -> &str {
        let names = self.names();
        &names.text[..names.group]
    }

    /// Its `kind`.
    pub(super) fn kind(&self) -> &str {
        self.named(1)
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        self.named(3)
    }

    /// Its namespace; empty where it has none.
    pub(super) fn namespace(&self) -> &str {
        self.named(2)
    }

    /// What makes it the same object over time.
    pub(super) fn identity(&self) -> (&str, &str, &str, &str) {
        (self.group(), self.kind(), self.namespace(), self.name())
    }

    /// Its identity as one text.
    pub(super) fn key(&self) -> String {
        let (group, kind, namespace, name) = self.identity();
        [group, kind, namespace, name].join("/")
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

/// A document of a file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) text: String,
    /// What it says, if it was read already.
    pub(super) read: Option<ReadDocument>,
}

impl Document {
    /// The documents of a text.
    pub(super) fn all(text: &str) -> impl Iterator<Item = Self> {
        text::documents(text).map(|text| Self { text: text.into_owned(), read: None })
    }

    /// The object that it is, in a file.
    fn object(self, file: &str) -> Result<Object, String> {
        let Self { text, read } = self;
        let read = match read {
            Some(read) => read,
            None => reader::parse(&text).map_err(|error| unreadable(&text, &error))?,
        };
        let object = Object::new(file, text, read.value, read.known);
        for (field, found) in [
            ("apiVersion", object.api_version()),
            ("kind", object.kind()),
            ("metadata.name", object.name()),
        ] {
            if found.is_empty() {
                return Err(format!("it has no {field}"));
            }
        }
        Ok(object)
    }
}

/// Why a text is no document. The key only: a value may be what nobody should read in a log.
fn unreadable(text: &str, error: &YamlError) -> String {
    let line = error.line.and_then(|line| text.lines().nth(line as usize - 1));
    match line.and_then(|line| line.split_once(':')) {
        Some((key, _)) => format!("at `{}:`, {}", key.trim(), error.message),
        None => error.message.clone(),
    }
}

/// A document that is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    /// The file, relative to the folder.
    pub(super) file: String,
    /// Which document of the file, from 1.
    nth: usize,
    why: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, nth, why } = self;
        write!(f, "document {nth} of {file} is no Kubernetes object: {why}")
    }
}

/// The objects of a folder, `kustomization.yaml` files apart.
pub(super) fn objects(files: &Files) -> Result<Vec<Object>, Vec<Malformed>> {
    objects_beside(files, &[])
}

/// The objects that the documents of files are, `kustomization.yaml` files apart.
pub(super) fn objects_in(
    documents: BTreeMap<&str, Vec<Document>>,
) -> Result<Vec<Object>, Vec<Malformed>> {
    let mut found = Vec::new();
    let mut malformed = Vec::new();
    for (file, documents) in documents.into_iter().filter(|(file, _)| holds_objects(file)) {
        for (nth, document) in (1..).zip(documents) {
            match document.object(file) {
                Ok(object) => found.push(object),
                Err(why) => malformed.push(Malformed { file: file.to_owned(), nth, why }),
            }
        }
    }
    if malformed.is_empty() { Ok(found) } else { Err(malformed) }
}

fn holds_objects(file: &str) -> bool {
    !file.ends_with("kustomization.yaml")
}

/// The objects of a folder. What has the same text as one of `known` says what that says, and is not read again.
pub(super) fn objects_beside(
    files: &Files,
    known: &[Object],
) -> Result<Vec<Object>, Vec<Malformed>> {
    let known: BTreeMap<&str, &Rc<Value>> =
        known.iter().map(|object| (object.text.as_str(), &object.value)).collect();
    let read_before = |document: Document| {
        let value = known.get(document.text.as_str()).map(|value| Rc::clone(value));
        Document { read: value.map(|value| ReadDocument { value, known: None }), ..document }
    };
    let documents = files.iter().filter(|(file, _)| holds_objects(file)).map(|(file, bytes)| {
        let documents = Document::all(&text::of(bytes)).map(read_before).collect();
        (file.as_str(), documents)
    });
    objects_in(documents.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Files {
        Files::from([("cluster.yaml".to_owned(), text.as_bytes().to_vec())])
    }

    #[test]
    fn each_document_is_an_object() {
        let text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: g/v1\nkind: B\n\
                    metadata:\n  name: b\n  namespace: ns\n";
        let objects = objects(&files(text)).unwrap();
        assert_eq!(objects[0].identity(), ("", "A", "", "a"));
        assert_eq!(objects[1].identity(), ("g", "B", "ns", "b"));
    }

    #[test]
    fn a_changed_object_has_its_new_name() {
        let text = "apiVersion: g/v1\nkind: A\nmetadata:\n  name: a\n  namespace: ns\n";
        let mut object = objects(&files(text)).unwrap().remove(0);
        assert_eq!(object.identity(), ("g", "A", "ns", "a"));
        object.value_mut()["metadata"]["name"] = "b".into();
        assert_eq!(object.identity(), ("g", "A", "ns", "b"));
        object.set_value(serde_json::json!({"apiVersion": "v1", "kind": "C"}));
        assert_eq!(object.identity(), ("", "C", "", ""));
    }

    #[test]
    fn what_is_no_object_is_named_with_its_document() {
        for (text, why) in [
            ("kind: A\nmetadata: {name: a}\n", "no apiVersion"),
            ("apiVersion: v1\nkind: A\nmetadata: {}\n", "no metadata.name"),
            ("apiVersion: v1\nkind: \"a\"\"b\"\n", "no Kubernetes object"),
            ("apiVersion: v1\nkind: A\nkind: B\nmetadata: {name: a}\n", "no Kubernetes object"),
        ] {
            let told = objects(&files(text)).unwrap_err()[0].to_string();
            assert!(told.contains(why), "{told}");
            assert!(told.contains("document 1 of cluster.yaml"), "{told}");
        }
    }
}
