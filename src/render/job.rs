//! One folder to render: known by its key before anything is rendered.

use std::sync::Arc;

use serde_json::Value;

use super::crd::Crd;
use super::templates::Templates;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::FlavorKind;
use crate::model::{Digest, ObjectEdits, canonical_json, write_canonical, write_json};

/// The form of what jobs make beside their templates; part of every key.
const FORM: u32 = 1;
/// The file that says what of a folder is applied.
pub(super) const KUSTOMIZATION: &str = "kustomization.yaml";

/// What may stand in a job's folder.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    /// Objects of one cluster, in the namespace of its name and of its flavor's kinds. Files below
    /// `bootstrap/` go to the worker itself and are not bound to that.
    Cluster { name: String, flavor: String, makes: FlavorKind },
    /// Components: any namespace and kind.
    Components,
}

/// A folder to render.
#[derive(Clone, Debug)]
pub struct Job {
    pub(super) templates: Templates,
    /// The folder of templates.
    pub(super) folder: String,
    /// Templates and the files that they make.
    pub(super) rendered: Vec<(String, String)>,
    /// Exactly what the templates get.
    pub(super) context: Value,
    /// Objects that carp writes itself, by the file that they are appended to.
    pub(super) added: Vec<(String, Vec<Value>)>,
    /// Files of carp's own that are the same in every folder.
    pub(super) fixed: Vec<(String, &'static Crd)>,
    /// Folders (empty for the job's own) and what their `kustomization.yaml` lists.
    pub(super) listed: Vec<(String, Vec<String>)>,
    pub(super) scope: Scope,
    /// What changes the objects before they are checked.
    pub(super) edits: Option<Arc<dyn ObjectEdits>>,
    /// What keeps the job from rendering at all.
    pub(super) problems: Diagnostics,
}

impl Job {
    /// The digest of everything that the folder follows from: what the templates get, their text, and
    /// what carp adds itself. Equal keys make equal folders.
    #[must_use]
    pub fn key(&self) -> Digest {
        let added: Vec<_> = self
            .added
            .iter()
            .map(|(f, v)| (f, v.iter().map(canonical_json).collect::<Vec<_>>()))
            .collect();
        // The canonical form, its fields sorted, without a copy of the context.
        let mut text = Vec::with_capacity(8192);
        text.extend_from_slice(b"{\"added\":");
        write_json(&added, &mut text);
        text.extend_from_slice(b",\"context\":");
        write_canonical(&self.context, &mut text);
        if !self.fixed.is_empty() {
            let fixed = self.fixed.iter().map(|(file, crd)| (file, crd.digest));
            text.extend_from_slice(b",\"fixed\":");
            write_json(&fixed.collect::<Vec<_>>(), &mut text);
        }
        text.extend_from_slice(b",\"form\":");
        write_json(&FORM, &mut text);
        text.extend_from_slice(b",\"listed\":");
        write_json(&self.listed, &mut text);
        if let Some(edits) = &self.edits {
            text.extend_from_slice(b",\"overrides\":");
            write_canonical(&edits.facts(), &mut text);
        }
        text.extend_from_slice(b",\"rendered\":");
        write_json(&self.rendered, &mut text);
        if let Some(schemas) = self.templates.schemas() {
            text.extend_from_slice(b",\"schemas\":");
            write_json(&schemas.digest(), &mut text);
        }
        text.extend_from_slice(b",\"templates\":");
        write_json(&self.templates.flavor_digest(&self.folder), &mut text);
        text.push(b'}');
        Digest::of(&text)
    }

    /// The same folder, its objects changed before they are checked.
    #[must_use]
    pub fn with_edits(self, edits: Arc<dyn ObjectEdits>) -> Self {
        Self { edits: Some(edits), ..self }
    }

    /// What the templates get.
    #[must_use]
    pub fn context(&self) -> &Value {
        &self.context
    }

    /// A finding about this job's output, on the template that made the file.
    pub(super) fn finding(&self, code: Code, file: &str, message: &str, help: &str) -> Diagnostic {
        let finding = Diagnostic::new(code, message).help(help);
        match self.rendered.iter().find(|(_, made)| made == file) {
            Some((template, _)) => {
                finding.at(crate::diag::Place::file(format!("templates/{template}")))
            }
            None => finding,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::Files;
    use super::*;
    use crate::diag::Place;
    use crate::model::{EditedObject, Name};

    const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: x\n";

    fn job(template: &str) -> Job {
        let overrides = BTreeMap::from([("own/cluster.yaml".to_owned(), template.to_owned())]);
        Job {
            templates: Templates::built_in().with(&overrides).0,
            folder: "own".to_owned(),
            rendered: vec![("own/cluster.yaml".to_owned(), "cluster.yaml".to_owned())],
            context: json!({"name": "x"}),
            added: Vec::new(),
            fixed: Vec::new(),
            listed: Vec::new(),
            scope: Scope::Components,
            edits: None,
            problems: Diagnostics::default(),
        }
    }

    /// Edits that change nothing.
    #[derive(Debug)]
    struct NoEdits;

    impl ObjectEdits for NoEdits {
        fn facts(&self) -> Value {
            json!(["facts"])
        }

        fn edit(&self, objects: &[&Value]) -> Result<Vec<Option<EditedObject>>, Diagnostics> {
            Ok(vec![None; objects.len()])
        }

        fn place(&self, _: &Name) -> Option<Place> {
            None
        }
    }

    fn text(files: &Files) -> String {
        String::from_utf8(files["cluster.yaml"].clone()).unwrap()
    }

    #[test]
    fn text_is_committed_as_the_template_wrote_it() {
        let own = format!("---\n# why\n{CONFIG}data: {{a:   1}}  \r\n\n\n");
        let expected = format!("# why\n{CONFIG}data: {{a:   1}}\n");
        // Comments and the author's own spacing stay; only line ends and blanks are made uniform.
        assert_eq!(
            text(&job(&own.replace("{a", "{ a")).render().unwrap()),
            expected.replace("{a", "{ a")
        );
    }

    #[test]
    fn the_key_follows_the_context_and_the_templates() {
        let before = job(CONFIG);
        let mut other = before.clone();
        other.context = json!({"name": "y"});
        assert_ne!(before.key(), other.key());
        assert_ne!(before.key(), job("# new\n").key());
        assert_eq!(before.key(), job(CONFIG).key());
    }

    #[test]
    fn the_key_is_the_digest_of_the_canonical_form() {
        let mut job = job(CONFIG);
        job.context = json!({"b": [1, {"z": null, "a": "\u{e9}\n"}], "a": true});
        job.added = vec![("x.yaml".to_owned(), vec![json!({"kind": "B", "a": 1})])];
        job.listed = vec![(String::new(), vec!["x.yaml".to_owned()])];
        let whole = json!({
            "form": FORM,
            "templates": job.templates.flavor_digest(&job.folder),
            "rendered": job.rendered,
            "context": job.context,
            "added": [["x.yaml", [r#"{"a":1,"kind":"B"}"#]]],
            "listed": job.listed,
        });
        assert_eq!(job.key(), Digest::of_value(&whole));
        let mut edited = whole;
        edited["overrides"] = json!(["facts"]);
        assert_eq!(job.with_edits(Arc::new(NoEdits)).key(), Digest::of_value(&edited));
    }

    #[test]
    fn an_object_in_which_flux_would_see_a_variable_is_marked() {
        let files = job(&format!(
            "{CONFIG}data:\n  a: ${{HOME}}\n---\n{}",
            CONFIG.replace("name: a", "name: b")
        ));
        let files = text(&files.render().unwrap());
        assert_eq!(files.matches("kustomize.toolkit.fluxcd.io/substitute: disabled").count(), 1);
        assert!(files.contains("a: ${HOME}"), "{files}");
    }

    #[test]
    fn a_job_with_a_problem_does_not_render() {
        let mut job = job(CONFIG);
        job.problems.push(Diagnostic::new(Code::UnknownCredentials, "no"));
        assert_eq!(job.render().unwrap_err().iter().count(), 1);
        let broken = self::job("{% if %}");
        assert!(broken.render().unwrap_err().has_errors());
    }
}
