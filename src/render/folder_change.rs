//! A folder before and after: what is asked of both is asked of objects that were read once.

use super::Files;
use super::object::{Object, objects, objects_beside};

/// The objects of a folder, before and after. A folder that cannot be read has none here; other rules say so.
#[derive(Debug, Default)]
pub struct FolderChange {
    pub(super) last: Vec<Object>,
    pub(super) new: Vec<Object>,
}

impl FolderChange {
    /// The change from the last good files to new ones.
    #[must_use]
    pub fn between(last: &Files, new: &Files) -> Self {
        let last = objects(last).unwrap_or_default();
        let new = objects_beside(new, &last).unwrap_or_default();
        Self { last, new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(documents: &[&str]) -> Files {
        let text = documents.join("---\n");
        Files::from([("a.yaml".to_owned(), text.into_bytes())])
    }

    fn document(name: &str, words: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: {words}\n")
    }

    #[test]
    fn what_has_the_same_text_is_the_same_object() {
        let [one, two, other] = [document("one", "1"), document("two", "2"), document("two", "3")];
        let change = FolderChange::between(&folder(&[&one, &two]), &folder(&[&other, &one]));
        assert_eq!(change.last, objects(&folder(&[&one, &two])).unwrap());
        assert_eq!(change.new, objects(&folder(&[&other, &one])).unwrap());
        let broken = FolderChange::between(&folder(&[&one]), &folder(&[&one, "kind: {\n"]));
        assert!(broken.new.is_empty() && broken.last.len() == 1);
    }
}
