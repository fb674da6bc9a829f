//! Label selectors as kubectl reads them: `env=prod,tier!=gold,region in (eu,us),!canary`.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Requirements on labels, all of which must hold. None: everything is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    /// Holds too where the label is missing.
    NotIn(String, Vec<String>),
    Exists(String),
    DoesNotExist(String),
}

impl Selector {
    /// Whether an object with these labels is selected.
    #[must_use]
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => labels.get(key).is_some_and(|v| values.contains(v)),
            Requirement::NotIn(key, values) => labels.get(key).is_none_or(|v| !values.contains(v)),
            Requirement::Exists(key) => labels.contains_key(key),
            Requirement::DoesNotExist(key) => !labels.contains_key(key),
        })
    }

    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parts(text)?.into_iter().map(requirement).collect::<Result<_, _>>().map(Self)
    }
}

/// The requirements, parted by the commas that stand in no parentheses.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let (mut found, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if !inside => inside = true,
            ')' if inside => inside = false,
            '(' | ')' => return Err("the parentheses do not match".to_owned()),
            ',' if !inside => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err("a `(` is not closed".to_owned());
    }
    found.push(&text[start..]);
    Ok(found)
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let text = text.trim();
    if let Some((key, values)) = text.split_once("!=") {
        return Ok(Requirement::NotIn(label_key(key)?, vec![values.trim().to_owned()]));
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(Requirement::In(label_key(key)?, vec![value.trim().to_owned()]));
    }
    if let Some((before, values)) = text.split_once('(') {
        let values = values.trim_end_matches(')').split(',').map(|v| v.trim().to_owned()).collect();
        let before = before.trim_end();
        if let Some(key) = before.strip_suffix(" notin") {
            return Ok(Requirement::NotIn(label_key(key)?, values));
        }
        if let Some(key) = before.strip_suffix(" in") {
            return Ok(Requirement::In(label_key(key)?, values));
        }
        return Err(format!("`{before}` is neither `KEY in` nor `KEY notin`"));
    }
    match text.strip_prefix('!') {
        Some(key) => Ok(Requirement::DoesNotExist(label_key(key)?)),
        None => Ok(Requirement::Exists(label_key(text)?)),
    }
}

fn label_key(text: &str) -> Result<String, String> {
    let key = text.trim();
    if crate::model::is_label_key(key) {
        Ok(key.to_owned())
    } else {
        Err(format!("`{key}` cannot be the key of a label"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        selector.parse::<Selector>().unwrap().selects(&labels)
    }

    #[test]
    fn requirements_mean_what_they_mean_to_kubectl() {
        let prod = [("env", "prod"), ("region", "eu")];
        for yes in [
            "env=prod",
            "env==prod",
            "env != dev",
            "tier!=gold",
            "region in (eu, us)",
            "env=prod,region notin (us)",
            "env,!tier",
            "tier notin (gold)",
        ] {
            assert!(selects(yes, &prod), "{yes}");
        }
        for no in ["env=dev", "env!=prod", "tier=gold", "region in (us,ap)", "!env", "tier,env"] {
            assert!(!selects(no, &prod), "{no}");
        }
    }

    #[test]
    fn what_is_no_selector_says_why() {
        for (text, why) in [
            ("", "`` cannot be the key of a label"),
            ("a=b,", "`` cannot be the key of a label"),
            ("env in (a", "a `(` is not closed"),
            ("env within (a)", "`env within` is neither `KEY in` nor `KEY notin`"),
            ("a b", "`a b` cannot be the key of a label"),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap_err(), why, "{text}");
        }
    }
}
