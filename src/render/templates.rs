//! The templates: the built-in ones, and what a fleet puts in their place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use minijinja::Environment;
use serde_json::{Value as Json, json};

use super::engine::Texts;
use super::object::Document;
use super::specialised::Renderer;
use super::{default_size, engine, unused};
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::{
    BUILT_IN_TEMPLATES, Catalogue, Digest, FaultPlace, Flavor, FlavorFault, FlavorKind,
    ObjectSchemas, cloud_of, declares, definitions_of, flavor_of,
};

/// The folder of a flavor's tests, below the flavor's.
pub(super) const TESTS: &str = "/tests/";

/// Built-in templates that stand elsewhere: the agent's rights are those of whoever installs it by hand.
const ELSEWHERE: &[(&str, &str)] =
    &[("components/agent-rbac.yaml", include_str!("../../deploy/agent/rbac.yaml"))];
/// What templates of every folder may include.
const SHARED: &str = "parts";

/// They are the same in every run.
static BUILT_IN: LazyLock<Templates> = LazyLock::new(|| {
    let all = BUILT_IN_TEMPLATES.iter().chain(ELSEWHERE);
    let texts = all.map(|(name, text)| ((*name).to_owned(), Arc::from(*text)));
    Templates::compile(texts.collect(), Catalogue::default(), &BTreeMap::new()).0
});

/// The templates of a run.
#[derive(Clone)]
pub struct Templates {
    loaded: Arc<LoadedTemplates>,
    /// What the objects that they make are held against.
    schemas: Option<Arc<dyn ObjectSchemas>>,
}

struct LoadedTemplates {
    texts: Texts,
    env: Environment<'static>,
    /// The environment that renders with marks, once it is needed.
    marking: OnceLock<Environment<'static>>,
    /// The templates that the fleet wrote.
    fleets: BTreeSet<String>,
    catalogue: Catalogue,
    /// Templates that did not compile, and why.
    broken: BTreeMap<String, Diagnostic>,
    /// By folder, each worked out when it is asked for.
    digests: BTreeMap<String, OnceLock<Digest>>,
}

impl Templates {
    /// The built-in templates.
    #[must_use]
    pub fn built_in() -> Self {
        BUILT_IN.clone()
    }

    /// The files of the built-in templates, by path below `templates/`.
    pub fn built_in_files() -> impl Iterator<Item = (&'static str, &'static str)> {
        BUILT_IN_TEMPLATES.iter().copied()
    }

    /// These templates with a fleet's own put in place of, or beside, those of the same path. A template
    /// that does not compile is a finding, and everything that needs it fails to render.
    #[must_use]
    pub fn with(self, overrides: &BTreeMap<String, String>) -> (Self, Diagnostics) {
        if overrides.is_empty() {
            return (self, Diagnostics::default());
        }
        let mut texts = self.loaded.texts.clone();
        // Tests lie beside what they test, and make nothing.
        let own = overrides.iter().filter(|(name, _)| !name.contains(TESTS));
        let own: BTreeMap<_, _> = own.collect();
        texts.extend(own.iter().map(|(name, text)| ((*name).clone(), Arc::from(text.as_str()))));
        let manifests = own.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let (compiled, mut findings) = Self::compile(texts, Catalogue::with(manifests), &own);
        let templates = Self { schemas: self.schemas, ..compiled };
        let known: Vec<_> =
            BUILT_IN_TEMPLATES.iter().chain(ELSEWHERE).map(|(name, _)| *name).collect();
        let LoadedTemplates { texts, catalogue, .. } = &*templates.loaded;
        findings.extend(unused::check(own.keys().copied(), texts, catalogue, &known));
        findings.extend(default_size::check(catalogue));
        (templates, findings)
    }

    /// These templates, and what every object that they make is held against.
    #[must_use]
    pub fn held_against(self, schemas: Arc<dyn ObjectSchemas>) -> Self {
        Self { schemas: Some(schemas), ..self }
    }

    /// What objects are held against; `None` where nothing is known of their kinds.
    pub(super) fn schemas(&self) -> Option<&dyn ObjectSchemas> {
        self.schemas.as_deref()
    }

    /// The built-in templates are short, and bounded by what they get; `own` ones are measured.
    fn compile(
        texts: Texts,
        catalogue: Catalogue,
        own: &BTreeMap<&String, &String>,
    ) -> (Self, Diagnostics) {
        let mut env = engine::environment();
        let mut broken: BTreeMap<_, _> = catalogue.broken().map(unreadable).collect();
        let rendered = texts.clone().into_iter().filter(|(name, _)| !declares(name));
        let (fleets, carps): (Texts, Texts) =
            rendered.partition(|(name, _)| own.contains_key(name));
        engine::offer(&mut env, carps);
        for (name, text) in &fleets {
            if let Err(why) = engine::add(&mut env, name, text) {
                broken.insert(name.clone(), engine::not_added(&why, name, &texts));
            }
        }
        let findings = broken.values().cloned().collect();
        let digests = folders(&texts).map(|folder| (folder.to_owned(), OnceLock::new())).collect();
        let (marking, fleets) = (OnceLock::new(), fleets.into_keys().collect());
        let loaded =
            LoadedTemplates { texts, env, marking, fleets, catalogue, broken, digests }.into();
        (Self { loaded, schemas: None }, findings)
    }

    /// The digest of all texts that rendering from a folder can use: the folder's own and the shared
    /// parts. A folder without templates has the digest of the parts alone. Of a manifest only the kinds count
    /// that a folder may hold: its comments, and what the templates get of it anyway, change no key.
    #[must_use]
    pub fn flavor_digest(&self, folder: &str) -> Digest {
        let LoadedTemplates { texts, catalogue, digests, .. } = &*self.loaded;
        let digest = || digest_of(texts, catalogue, folder);
        digests.get(folder).map_or_else(digest, |known| *known.get_or_init(digest))
    }

    /// The flavors that there are.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.loaded.catalogue
    }

    /// The manifest of a flavor.
    #[must_use]
    pub fn flavor(&self, name: &str) -> Option<&Flavor> {
        self.loaded.catalogue.flavor(name)
    }

    /// The names of the flavors for a kind, sorted.
    pub fn flavors(&self, kind: FlavorKind) -> impl Iterator<Item = &str> {
        self.loaded.catalogue.names(kind)
    }

    /// What of a folder, or of what it may include, did not compile.
    pub(super) fn broken(&self, folder: &str) -> impl Iterator<Item = &Diagnostic> {
        self.loaded.broken.iter().filter(move |(name, _)| belongs(name, folder)).map(|(_, d)| d)
    }

    /// The manifests of flavors that cannot be read. What every flavor has a part in (which kinds a
    /// cluster's Flux may touch) cannot be made without them.
    pub(super) fn broken_manifests(&self) -> impl Iterator<Item = &Diagnostic> {
        // Where definitions are published makes no folder.
        let makes = |name: &str| declares(name) && definitions_of(name).is_none();
        self.loaded.broken.iter().filter(move |(name, _)| makes(name)).map(|(_, d)| d)
    }

    /// The documents that a template of a folder makes.
    pub(super) fn documents(
        &self,
        folder: &str,
        template: &str,
        context: &Json,
    ) -> Result<Vec<Document>, Box<Diagnostic>> {
        let LoadedTemplates { texts, env, marking, fleets, .. } = &*self.loaded;
        let is_own = |name: &str| !fleets.contains(name) && belongs(name, folder);
        let digest = self.flavor_digest(folder);
        let renderer = Renderer { env, marking, texts, is_own: &is_own, digest };
        renderer.documents(template, context)
    }
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.loaded.texts.keys()).finish()
    }
}

/// A file that declares something and cannot be read, by its path.
fn unreadable((name, fault): (&str, &FlavorFault)) -> (String, Diagnostic) {
    let (what, help) = if flavor_of(name).is_some() {
        (
            "the flavor's manifest",
            "write `kind`, `mobility` and `objects` as the built-in flavors do",
        )
    } else if cloud_of(name).is_some() {
        ("the cloud's tables", "write `locations`, each with `name` and `geography`, and `sizes`")
    } else if definitions_of(name).is_some() {
        ("where the definitions are published", "write `addresses`, and `version` or `only`")
    } else {
        ("the provider's manifest", "write it as those are that `carp templates list` names")
    };
    let file = format!("templates/{name}");
    let (place, fails, help) = match &fault.place {
        FaultPlace::Position(line, column) => {
            (Place::file(file).at(*line, *column), "cannot be read", help)
        }
        FaultPlace::Field(field) => {
            let help = "mend this field: docs/flavors.md says what each is for";
            (Place::field(file, 0, field.clone()), "cannot be as it is", help)
        }
    };
    let message = format!("{what} {fails}: {}", fault.message);
    (name.to_owned(), Diagnostic::new(Code::TemplateFailed, message).at(place).help(help))
}

fn belongs(name: &str, folder: &str) -> bool {
    let within = |folder| name.strip_prefix(folder).is_some_and(|rest: &str| rest.starts_with('/'));
    within(folder) || within(SHARED)
}

/// The folders of templates, each once.
fn folders(texts: &Texts) -> impl Iterator<Item = &str> {
    let mut folders: Vec<_> =
        texts.keys().filter_map(|n| n.rsplit_once('/')).map(|f| f.0).collect();
    folders.dedup();
    folders.into_iter()
}

fn digest_of(texts: &Texts, catalogue: &Catalogue, folder: &str) -> Digest {
    let used = texts.iter().filter(|(name, _)| belongs(name, folder));
    let used: BTreeMap<_, _> = used
        .map(|(name, text)| match flavor_of(name) {
            None => (name, Json::from(&**text)),
            // What else a manifest says of a folder is in what its templates get.
            Some(flavor) => (name, json!(catalogue.flavor(flavor).map(|flavor| &flavor.objects))),
        })
        .collect();
    Digest::of_value(&used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_template_can_be_read() {
        let templates = Templates::built_in();
        for (name, _) in Templates::built_in_files().filter(|(name, _)| !declares(name)) {
            assert!(templates.loaded.env.get_template(name).is_ok(), "{name}");
        }
    }

    fn overrides(name: &str, text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(name.to_owned(), text.to_owned())])
    }

    #[test]
    fn the_built_in_templates_compile() {
        let templates = Templates::built_in();
        assert!(templates.loaded.broken.is_empty(), "{:?}", templates.loaded.broken);
        assert_eq!(
            templates.flavors(FlavorKind::ManagedCluster).collect::<Vec<_>>(),
            ["aks", "capz", "kamaji-capz", "kind"]
        );
        assert_eq!(
            templates.flavors(FlavorKind::Worker).collect::<Vec<_>>(),
            ["aks", "attached", "capz", "kind"]
        );
    }

    #[test]
    fn every_file_below_templates_is_built_in() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut files = Vec::new();
        for folder in root.read_dir().unwrap().map(|f| f.unwrap().path()) {
            for file in folder.read_dir().unwrap().map(|f| f.unwrap().path()) {
                files.push(file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
            }
        }
        files.sort();
        assert_eq!(files, BUILT_IN_TEMPLATES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn a_digest_changes_with_its_folder_and_the_parts_only() {
        let before = Templates::built_in();
        let digest = |t: &Templates, folder| t.flavor_digest(folder);
        let (after, _) = before.clone().with(&overrides("capz/cluster.yaml", "a: 1\n"));
        assert_ne!(digest(&before, "capz"), digest(&after, "capz"));
        assert_eq!(digest(&before, "kamaji-capz"), digest(&after, "kamaji-capz"));
        let (after, _) = before.clone().with(&overrides("parts/pools.yaml", "a: 1\n"));
        assert_ne!(digest(&before, "kamaji-capz"), digest(&after, "kamaji-capz"));
    }

    #[test]
    fn a_template_or_manifest_that_does_not_compile_is_a_finding() {
        let (templates, findings) =
            Templates::built_in().with(&overrides("capz/cluster.yaml", "a: 1\n{% if %}\n"));
        let finding = findings.iter().next().unwrap();
        assert_eq!(finding.code, Code::TemplateFailed);
        assert_eq!(finding.place.as_ref().unwrap().position.unwrap().line, 2);
        assert_eq!(templates.broken("capz").count(), 1);
        assert_eq!(templates.broken("kamaji-capz").count(), 0);
        let (_, findings) =
            Templates::built_in().with(&overrides("own/flavor.yaml", "kind: Pod\n"));
        assert_eq!(findings.iter().count(), 1);
    }
}
