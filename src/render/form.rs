//! Whether two folders say the same in another form: another order, other quotes, other comments.

use std::borrow::Cow;

use serde_json::Value;

use super::Files;
use super::folder::DIGEST_ANNOTATION;
use super::{text, yaml};
use crate::model::canonical_json;

/// Whether two folders have the same files with the same objects in them. The order of the objects in a
/// file does not count, nor does the digest of the folder, which follows its bytes. What cannot be read
/// is the same only byte for byte.
#[must_use]
pub fn same_objects(last: &Files, new: &Files) -> bool {
    let paths = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    paths(last) == paths(new) && last.iter().all(|(path, bytes)| same_file(bytes, &new[path]))
}

/// Whether two texts of one file say the same.
#[must_use]
pub fn same_file(last: &[u8], new: &[u8]) -> bool {
    if last == new {
        return true;
    }
    let (Some(mut last), Some(mut new)) = (documents(last), documents(new)) else { return false };
    // What is the same to the letter need not be read.
    last.retain(|document| match new.iter().position(|other| other == document) {
        Some(at) => {
            new.swap_remove(at);
            false
        }
        None => true,
    });
    values(&last).is_some_and(|values| Some(values) == self::values(&new))
}

/// The documents of a file; `None` where it is no text.
fn documents(bytes: &[u8]) -> Option<Vec<String>> {
    Some(text::documents(std::str::from_utf8(bytes).ok()?).map(Cow::into_owned).collect())
}

/// What documents say, in one order; `None` where one says nothing.
fn values(documents: &[String]) -> Option<Vec<String>> {
    let value = |document: &String| {
        let mut value = yaml::parse(document).ok()?;
        without_digest(&mut value);
        Some(canonical_json(&value))
    };
    let mut values = documents.iter().map(value).collect::<Option<Vec<_>>>()?;
    values.sort_unstable();
    Some(values)
}

fn without_digest(value: &mut Value) {
    let annotations = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove(DIGEST_ANNOTATION);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str =
        "kind: A\nmetadata:\n  name: a\n  annotations:\n    carp.dev/digest: sha256:1\n";

    fn same(last: &str, new: &str) -> bool {
        same_file(last.as_bytes(), new.as_bytes())
    }

    #[test]
    fn another_form_of_the_same_is_the_same() {
        let other = "# new\nmetadata:\n  annotations: {carp.dev/digest: \"sha256:2\"}\n  name: 'a'\nkind: A\n";
        assert!(same(ONE, other));
        assert!(
            same(&format!("{ONE}---\nb: 1\n"), &format!("b: 1\n---\n{other}")),
            "another order"
        );
        assert!(same("# nothing\n", "# nothing at all\n"));
    }

    #[test]
    fn another_value_or_another_document_is_not() {
        assert!(!same(ONE, &ONE.replace("kind: A", "kind: B")));
        assert!(!same("a: 1\n", "a: \"1\"\n"), "a number is no text");
        assert!(!same("a: [1, 2]\n", "a: [2, 1]\n"), "the order of a list counts");
        assert!(!same(ONE, &format!("{ONE}---\n{ONE}")));
        assert!(!same("a: {\n", "a:  {\n"), "what cannot be read");
    }

    #[test]
    fn a_file_more_is_not_the_same_folder() {
        let folder = |paths: &[&str]| -> Files {
            paths.iter().map(|path| ((*path).to_owned(), b"a: 1\n".to_vec())).collect()
        };
        assert!(same_objects(&folder(&["a"]), &folder(&["a"])));
        assert!(!same_objects(&folder(&["a"]), &folder(&["a", "b"])));
        assert!(!same_objects(&folder(&["a"]), &folder(&["b"])));
    }
}
