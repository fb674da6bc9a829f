//! A folder before and after: what is asked of both is asked of objects that were read once.

use serde::de::DeserializeOwned;

use super::Files;
use super::object::{Object, objects, objects_beside};
use crate::model::api::GROUP;

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

    /// The change from the same last good files to others.
    #[must_use]
    pub fn to(&self, others: &Files) -> Self {
        let new = objects_beside(others, &self.last).unwrap_or_default();
        Self { last: self.last.clone(), new }
    }

    /// What the owner's document said when the last folder was made, with the defaults of that time; `None` where
    /// nobody can tell.
    #[must_use]
    pub fn last_spec<T: DeserializeOwned>(&self) -> Option<T> {
        let owner = self.last.iter().find(|object| object.group() == GROUP)?;
        serde_json::from_value(owner.value.get("spec")?.clone()).ok()
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
