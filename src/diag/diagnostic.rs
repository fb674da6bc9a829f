//! The finding itself.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Code, Severity};

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The value under a key of a mapping. Most are named by a rule, and no text of their own.
    Key(Cow<'static, str>),
    /// An item of a sequence, from 0.
    Index(usize),
}

/// Where in a document: `spec.nodePools[1].vmSize`. The empty path is the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FieldPath(pub Vec<Step>);

impl FieldPath {
    /// A path of keys alone, written with dots: `metadata.name`.
    #[must_use]
    pub fn keys(dotted: &'static str) -> Self {
        Self(dotted.split('.').filter(|k| !k.is_empty()).map(|k| Step::Key(k.into())).collect())
    }

    /// As [`keys`](Self::keys), for what somebody wrote.
    #[must_use]
    pub fn of_written(dotted: &str) -> Self {
        let keys = dotted.split('.').filter(|k| !k.is_empty());
        Self(keys.map(|k| Step::Key(k.to_owned().into())).collect())
    }

    /// This path with a key appended.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned().into()))
    }

    /// This path with an index appended.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A position in a file as people count it: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file, relative to the fleet's root, with `/`.
    pub file: String,
    /// The YAML document in that file, from 0.
    pub document: usize,
    /// The field in that document; `None` where the text could not be read that far.
    pub field: Option<FieldPath>,
    /// Whether the key itself is meant (an unknown field) and not its value.
    pub on_key: bool,
    /// Known at once where the text itself is wrong; otherwise found when the finding is shown.
    pub position: Option<Position>,
}

impl Place {
    /// A whole file.
    #[must_use]
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), document: 0, field: None, on_key: false, position: None }
    }

    /// A field's value in a document of a file.
    #[must_use]
    pub fn field(file: impl Into<String>, document: usize, field: FieldPath) -> Self {
        Self { file: file.into(), document, field: Some(field), on_key: false, position: None }
    }

    /// The same place, on the field's key.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.on_key = true;
        self
    }

    /// The same place, with the position that a parser reported.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.position = Some(Position { line, column });
        self
    }
}

/// A user's mistake, or something a user should know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stable name of the rule; its page is the section of that name in `docs/errors.md`.
    pub code: Code,
    /// Where it is; `None` where no file is to blame (a missing `carp.yaml`).
    pub place: Option<Place>,
    /// One sentence without a final full stop: what is wrong.
    pub message: String,
    /// Other places that matter (the first of two equal names), each with a word on it.
    pub related: Vec<(Place, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding with the severity that its code has by default.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: code.severity(),
            code,
            place: None,
            message: message.into(),
            related: Vec::new(),
            help: None,
        }
    }

    /// The same finding, at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same finding, with another place that matters.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// The same finding, with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// All findings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all findings of another collection.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(others);
    }

    /// Whether anything is wrong enough that something has no effect.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The findings as they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// The findings in the order of display: by file and document, errors first there, without
    /// repetitions.
    #[must_use]
    pub fn sorted(&self) -> Vec<Diagnostic> {
        let mut all = self.0.clone();
        all.sort_by(|a, b| {
            let key = |d: &Diagnostic| d.place.clone();
            (key(a), a).cmp(&(key(b), b))
        });
        all.dedup();
        all
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(iter: T) -> Self {
        Self(iter.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_path_reads_as_people_write_it() {
        let path = FieldPath::keys("spec.nodePools").index(1).key("vmSize");
        assert_eq!(path.to_string(), "spec.nodePools[1].vmSize");
        assert_eq!(FieldPath::default().to_string(), "");
    }

    #[test]
    fn findings_are_shown_by_file_and_once() {
        let at = |file: &str| Diagnostic::new(Code::UnknownField, "m").at(Place::file(file));
        let all: Diagnostics = [at("b.yaml"), at("a.yaml"), at("b.yaml")].into_iter().collect();
        let files: Vec<_> =
            all.sorted().into_iter().filter_map(|d| d.place).map(|p| p.file).collect();
        assert_eq!(files, ["a.yaml", "b.yaml"]);
    }
}
