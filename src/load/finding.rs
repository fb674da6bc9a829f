//! Findings of one document while it is read and checked.

use std::sync::Arc;

use crate::diag::{Code, Diagnostic, FieldPath, Place, Severity};

/// Where a document stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DocumentSource {
    /// The file, relative to the fleet's root.
    pub(super) file: Arc<str>,
    /// The document in it, from 0.
    pub(super) document: usize,
}

impl DocumentSource {
    /// A field of the document.
    pub(super) fn place(&self, path: FieldPath) -> Place {
        Place::field(&*self.file, self.document, path)
    }
}

/// The findings of one document.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) source: DocumentSource,
    pub(super) list: Vec<Diagnostic>,
}

impl Findings {
    pub(super) fn of(source: DocumentSource) -> Self {
        Self { source, list: Vec::new() }
    }

    /// A finding on a field's value.
    pub(super) fn add(
        &mut self,
        code: Code,
        path: FieldPath,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let place = self.source.place(path);
        self.list.push(Diagnostic::new(code, message).at(place).help(help));
    }

    /// A finding on a field's key.
    pub(super) fn add_on_key(
        &mut self,
        code: Code,
        path: FieldPath,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let place = self.source.place(path).at_key();
        self.list.push(Diagnostic::new(code, message).at(place).help(help));
    }

    /// Whether the document has no effect.
    pub(super) fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
}
