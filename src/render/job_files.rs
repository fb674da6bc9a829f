//! The files of a job's folder: rendered, changed, checked, and closed with their digest.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::check;
use super::edits;
use super::flux::kustomization_file;
use super::folder::with_digest;
use super::job::{Job, KUSTOMIZATION};
use super::object::{Document, Malformed, Object, objects_in};
use super::{Files, text, yaml};
use crate::diag::{Code, Diagnostics};

/// The annotation that keeps Flux from replacing `${…}` in an object.
const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

impl Job {
    /// The files of the folder.
    ///
    /// # Errors
    /// What the job lacks, what its templates did wrong, or what may not be committed.
    pub fn render(&self) -> Result<Files, Diagnostics> {
        self.ready()?;
        let mut files = Files::new();
        let mut documents = BTreeMap::new();
        let mut findings = Diagnostics::default();
        for (template, file) in &self.rendered {
            match self.templates.documents(&self.folder, template, &self.context) {
                Ok(made) => drop(documents.insert(file.as_str(), made)),
                Err(finding) => findings.push(*finding),
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        for (file, made) in &documents {
            files.insert((*file).to_owned(), text::joined(made.iter().map(|d| &*d.text)).into());
        }
        for (file, values) in &self.added {
            let text = yaml::emit_all(values);
            documents.entry(file).or_default().extend(Document::all(&text));
            append(files.entry(file.clone()).or_default(), &text);
        }
        let objects = objects_in(documents).map_err(|all| self.malformed(&all))?;
        let objects = match &self.edits {
            None => self.checked(objects)?,
            Some(edits) => {
                let checked = |all| self.checked(all);
                edits::apply(&**edits, &mut files, objects, self, &checked)?
            }
        };
        guard_substitution(&mut files, &objects);
        let fixed = self.fixed.iter().map(|(file, crd)| (file.clone(), crd.text.into()));
        files.extend(fixed);
        for (folder, resources) in &self.listed {
            let path = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let content = kustomization_file(resources.iter().map(String::as_str));
            files.insert(format!("{path}{KUSTOMIZATION}"), content);
        }
        Ok(with_digest(files))
    }

    /// The objects, if they pass every check.
    fn checked(&self, objects: Vec<Object>) -> Result<Vec<Object>, Diagnostics> {
        let findings = check::all(&objects, self);
        if findings.has_errors() { Err(findings) } else { Ok(objects) }
    }

    fn ready(&self) -> Result<(), Diagnostics> {
        let problems: Diagnostics =
            self.problems.iter().chain(self.templates.broken(&self.folder)).cloned().collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn malformed(&self, all: &[Malformed]) -> Diagnostics {
        let help = "mend the template: each document has apiVersion, kind and metadata.name; print \
                    values with {{ … }} alone, and join texts with `~` inside";
        let finding =
            |m: &Malformed| self.finding(Code::RenderedInvalid, &m.file, &m.to_string(), help);
        all.iter().map(finding).collect()
    }
}

fn append(file: &mut Vec<u8>, text: &str) {
    if !file.is_empty() {
        file.extend_from_slice(b"---\n");
    }
    file.extend_from_slice(text.as_bytes());
}

/// Marks the objects in which Flux would see a variable. Only such a document is written anew.
fn guard_substitution(files: &mut Files, objects: &[Object]) {
    let open = |o: &&Object| {
        o.text.contains("${")
            && o.value.pointer("/metadata/annotations").and_then(|a| a.get(SUBSTITUTE)).is_none()
    };
    for object in objects.iter().filter(open) {
        let mut value = (*object.value).clone();
        if let Some(annotations) = annotations(&mut value) {
            annotations.insert(SUBSTITUTE.to_owned(), json!("disabled"));
        }
        if let Some(bytes) = files.get_mut(&object.file) {
            let text =
                String::from_utf8_lossy(bytes).replacen(&object.text, &yaml::emit(&value), 1);
            *bytes = text.into_bytes();
        }
    }
}

fn annotations(value: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    let metadata = value.get_mut("metadata")?.as_object_mut()?;
    metadata.entry("annotations").or_insert_with(|| json!({})).as_object_mut()
}
