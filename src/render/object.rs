//! One rendered object and where it stands.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::Files;
use super::path::at;
use super::pattern::{self, KnownDocument, ReadDocument};
use super::text;

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
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, &self.text, &self.value) == (&other.file, &other.text, &other.value)
    }
}

impl Object {
    /// Its value, to be changed: then it may have nothing in common with others any more.
    pub(super) fn value_mut(&mut self) -> &mut Value {
        self.known = None;
        Rc::make_mut(&mut self.value)
    }

    /// Gives it another value.
    pub(super) fn set_value(&mut self, value: Value) {
        (self.value, self.known) = (value.into(), None);
    }

    fn text_at(&self, pointer: &str) -> &str {
        at(&self.value, pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Its `apiVersion`.
    pub(super) fn api_version(&self) -> &str {
        self.text_at("/apiVersion")
    }

    /// Its API group: what stands before the `/` of `apiVersion`.
    pub(super) fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// Its `kind`.
    pub(super) fn kind(&self) -> &str {
        self.text_at("/kind")
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        self.text_at("/metadata/name")
    }

    /// Its namespace; empty where it has none.
    pub(super) fn namespace(&self) -> &str {
        self.text_at("/metadata/namespace")
    }

    /// What makes it the same object over time.
    pub(super) fn identity(&self) -> (&str, &str, &str, &str) {
        (self.group(), self.kind(), self.namespace(), self.name())
    }

    /// The same as one text.
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

/// The objects of a folder. What has the same text as one of `known` says what that says, and is not read again.
pub(super) fn objects_beside(
    files: &Files,
    known: &[Object],
) -> Result<Vec<Object>, Vec<Malformed>> {
    let known: BTreeMap<&str, &Rc<Value>> =
        known.iter().map(|object| (object.text.as_str(), &object.value)).collect();
    let mut found = Vec::new();
    let mut malformed = Vec::new();
    for (file, bytes) in files.iter().filter(|(file, _)| !file.ends_with("kustomization.yaml")) {
        let content = text::of(bytes);
        for (nth, document) in (1..).zip(text::documents(&content)) {
            if let Some(value) = known.get(&*document) {
                let (text, value) = (document.into_owned(), Rc::clone(value));
                found.push(Object { file: file.clone(), text, value, known: None });
                continue;
            }
            match object(file, document.into_owned()) {
                Ok(object) => found.push(object),
                Err(why) => malformed.push(Malformed { file: file.clone(), nth, why }),
            }
        }
    }
    if malformed.is_empty() { Ok(found) } else { Err(malformed) }
}

fn object(file: &str, text: String) -> Result<Object, String> {
    let ReadDocument { value, known } = pattern::parse(&text).map_err(|error| {
        // The key only: a value may be what nobody should read in a log.
        let line = error.line.and_then(|line| text.lines().nth(line as usize - 1));
        match line.and_then(|line| line.split_once(':')) {
            Some((key, _)) => format!("at `{}:`, {}", key.trim(), error.message),
            None => error.message,
        }
    })?;
    let object = Object { file: file.to_owned(), text, value, known };
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
