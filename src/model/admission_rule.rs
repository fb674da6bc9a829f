//! What a provider's webhook refuses of an object although the schema lets it pass, as the provider's file declares it.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;

/// One thing that a webhook refuses. Fields are JSON pointers; one is there if it has a value that is not empty, as the
/// provider's own types see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionRule {
    /// What is wrong, after the object's name: `has two files at one path`.
    pub says: String,
    /// The list of which each item is looked at; the object itself where none is named.
    #[serde(default)]
    pub each: Option<String>,
    /// Fields that are all there.
    #[serde(default)]
    pub has: Vec<String>,
    /// Fields of which none is there.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Fields whose texts have what a regular expression finds, all of them.
    #[serde(default)]
    pub matches: BTreeMap<String, String>,
    /// A field whose text two of the items share.
    #[serde(default)]
    pub repeats: Option<String>,
}

impl AdmissionRule {
    /// Whether an object is refused.
    #[must_use]
    pub fn refuses(&self, object: &Value) -> bool {
        let items: Vec<&Value> = match &self.each {
            None => vec![object],
            Some(list) => {
                object.pointer(list).and_then(Value::as_array).into_iter().flatten().collect()
            }
        };
        let Some(field) = &self.repeats else { return items.iter().any(|item| self.fits(item)) };
        let mut seen = BTreeSet::new();
        let mut texts = items.iter().filter_map(|item| item.pointer(field)?.as_str());
        texts.any(|text| !seen.insert(text))
    }

    fn fits(&self, item: &Value) -> bool {
        let is_there = |field: &String| item.pointer(field).is_some_and(|value| !is_empty(value));
        let found = |(field, pattern): (&String, &String)| {
            let text = item.pointer(field).and_then(Value::as_str);
            text.is_some_and(|text| Regex::new(pattern).is_ok_and(|p| p.is_match(text)))
        };
        self.has.iter().all(is_there)
            && !self.lacks.iter().any(is_there)
            && self.matches.iter().all(found)
    }

    /// What in it can mean nothing, for its author.
    pub(super) fn nonsense(&self) -> Option<String> {
        let Self { says, each, has, lacks, matches, repeats } = self;
        let asks = !(has.is_empty() && lacks.is_empty() && matches.is_empty());
        let fields = [each, repeats].into_iter().flatten().chain(has).chain(lacks);
        if says.trim().is_empty() {
            return Some("a refusal does not say what is wrong".to_owned());
        }
        if let Some(field) = fields.chain(matches.keys()).find(|field| !field.starts_with('/')) {
            return Some(format!("`{field}` is no JSON pointer: it begins with `/`"));
        }
        if let Some(pattern) = matches.values().find(|pattern| Regex::new(pattern).is_err()) {
            return Some(format!("`{pattern}` is no regular expression"));
        }
        match repeats {
            None if !asks => Some(format!(
                "`{says}` asks for nothing: write `has`, `lacks`, `matches` or `repeats`"
            )),
            Some(_) if asks || each.is_none() => Some(format!(
                "`{says}` has `repeats`, which goes with `each` and with nothing else"
            )),
            _ => None,
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> AdmissionRule {
        serde_saphyr::from_str(text).unwrap()
    }

    #[test]
    fn it_is_what_its_questions_find_together() {
        let both = of("{says: x, each: /files, has: [/content, /contentFrom]}");
        let files = |files: Value| json!({"files": files});
        assert!(
            both.refuses(&files(json!([{"content": "a"}, {"content": "a", "contentFrom": {}}])))
        );
        assert!(
            !both.refuses(&files(json!([{"content": "", "contentFrom": {}}, {"content": "a"}])))
        );
        assert!(!both.refuses(&json!({})), "a list that is not there has no item");
        let neither = of("{says: x, each: /files, lacks: [/content, /contentFrom]}");
        assert!(neither.refuses(&files(json!([{"path": "/a"}, {"content": "a"}]))));
        assert!(!neither.refuses(&files(json!([{"content": "a"}]))));
        let windows = of("{says: x, matches: {/version: '-k0s\\.'}, lacks: [/plain]}");
        assert!(windows.refuses(&json!({"version": "v1.34.2-k0s.0"})));
        assert!(!windows.refuses(&json!({"version": "v1.34.2+k0s.0"})));
        assert!(!windows.refuses(&json!({"version": "v1.34.2-k0s.0", "plain": true})));
        let twice = of("{says: x, each: /files, repeats: /path}");
        assert!(twice.refuses(&files(json!([{"path": "/a"}, {"path": "/b"}, {"path": "/a"}]))));
        assert!(!twice.refuses(&files(json!([{"path": "/a"}, {"path": "/b"}, {}, {}]))));
    }

    #[test]
    fn one_that_asks_for_nothing_is_told() {
        let said = |text: &str| of(text).nonsense().unwrap_or_default();
        for (text, wrong) in [
            ("{says: ' ', has: [/a]}", "does not say"),
            ("{says: x}", "asks for nothing"),
            ("{says: x, has: [a]}", "`a` is no JSON pointer"),
            ("{says: x, matches: {/a: '('}}", "`(` is no regular expression"),
            ("{says: x, repeats: /a}", "goes with `each`"),
            ("{says: x, each: /l, has: [/b], repeats: /a}", "with nothing else"),
        ] {
            assert!(said(text).contains(wrong), "{text}: {}", said(text));
        }
        assert_eq!(said("{says: x, each: /l, repeats: /a}"), "");
    }
}
