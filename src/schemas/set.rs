//! A set of definitions, each read when an object of its kind is there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::definition::{CrdName, Definition, definition_name};
use super::words;
use crate::model::{CrdFiles, Digest, ObjectSchemas, SchemaFault};

/// How deep objects may stand in objects.
const MOST_EMBEDDED: usize = 4;

/// Definitions, by the groups that they are of.
#[derive(Debug)]
pub struct CrdSet {
    digest: Digest,
    groups: BTreeMap<String, DefinedGroup>,
    unread: BTreeMap<String, String>,
}

/// The definitions of a group.
#[derive(Debug, Default)]
struct DefinedGroup {
    files: Vec<CrdFile>,
    /// Which file defines a kind that was asked for; `None` where none does. Texts are searched for it once.
    kinds: Mutex<BTreeMap<String, Option<usize>>>,
}

#[derive(Debug)]
struct CrdFile {
    path: String,
    name: CrdName,
    text: Result<Arc<str>, String>,
    read: OnceLock<Result<Definition, String>>,
}

impl CrdFile {
    fn definition(&self) -> Result<&Definition, &String> {
        let read = || Definition::read(self.text.as_ref().map_err(Clone::clone)?, &self.name);
        self.read.get_or_init(read).as_ref()
    }

    /// Whether it is called as a definition of a kind is: `clusters` for `Cluster`, `policies` for `Policy`.
    fn is_called(&self, kind: &str) -> bool {
        let kind = kind.to_ascii_lowercase();
        let of_y = kind.strip_suffix('y').map(|stem| format!("{stem}ies"));
        let plurals = [format!("{kind}s"), format!("{kind}es"), kind];
        plurals.iter().chain(&of_y).any(|plural| *plural == self.name.plural)
    }
}

impl CrdSet {
    /// The set of these files, which are below `root`; of those that hold a definition by their names, nothing is read yet.
    #[must_use]
    pub fn new(root: &str, files: &CrdFiles) -> Self {
        let mut set =
            Self { digest: digest(files), groups: BTreeMap::new(), unread: BTreeMap::new() };
        for (path, text) in files {
            let shown = if path.is_empty() { root.to_owned() } else { format!("{root}/{path}") };
            if let Err(why) = text {
                set.unread.insert(shown.clone(), why.clone());
            }
            let Some(name) = definition_name(path) else {
                let why = "it is not called `<plural>.<group>.yaml`, as its definition is";
                set.unread.entry(shown).or_insert_with(|| why.to_owned());
                continue;
            };
            let file = CrdFile {
                path: shown,
                name: name.clone(),
                text: text.clone(),
                read: OnceLock::new(),
            };
            set.groups.entry(name.group).or_default().files.push(file);
        }
        set
    }

    /// The files that nobody can read, by path from the fleet's root, and why: what is in the others is read when it is needed.
    pub fn unread(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unread.iter().map(|(path, why)| (path.as_str(), why.as_str()))
    }

    /// Whether it has definitions of an object's group and none of its kind, which so is not checked.
    #[must_use]
    pub fn lacks(&self, object: &Value) -> bool {
        let Some((group, _, kind)) = kind_of(object) else { return false };
        self.groups.get(group).is_some_and(|group| group.defining(kind).is_none())
    }

    fn checked(&self, object: &Value, depth: usize) -> Vec<SchemaFault> {
        let Some((group, version, kind)) = kind_of(object) else { return Vec::new() };
        let Some(group) = self.groups.get(group) else { return Vec::new() };
        let Some((file, definition)) = group.defining(kind) else {
            let unread = group.unread(kind);
            return unread.map(|(file, why)| file_fault(file, why)).into_iter().collect();
        };
        let schema = match definition.schema(version) {
            Some(Ok(schema)) => schema,
            Some(Err(why)) => return vec![file_fault(file, why)],
            None => {
                let served: Vec<_> = definition.served().collect();
                return vec![SchemaFault {
                    problem: format!("{kind} has no version `{}`", words::cut(version, 60)),
                    help: format!(
                        "{} serves {}; write one of these, or bring the definitions of the release that has it",
                        file.path,
                        served.join(", ")
                    ),
                }];
            }
        };
        let checked = schema.check(object);
        let help = format!("{} says what a {kind} of {version} may be", file.path);
        let fault = |problem| SchemaFault { problem, help: help.clone() };
        let mut faults: Vec<_> = checked.faults.into_iter().map(fault).collect();
        if depth < MOST_EMBEDDED {
            for (at, inner) in checked.embedded {
                let told = self.checked(inner, depth + 1).into_iter().map(|fault| SchemaFault {
                    problem: format!("in {}, {}", words::place(&at), fault.problem),
                    ..fault
                });
                faults.extend(told);
            }
        }
        faults
    }
}

impl ObjectSchemas for CrdSet {
    fn digest(&self) -> Digest {
        self.digest
    }

    fn faults(&self, object: &Value) -> Vec<SchemaFault> {
        self.checked(object, 0)
    }
}

/// The group, version and kind of an object; `None` for one of Kubernetes' core.
fn kind_of(object: &Value) -> Option<(&str, &str, &str)> {
    let (group, version) = object["apiVersion"].as_str()?.split_once('/')?;
    Some((group, version, object["kind"].as_str()?))
}

impl DefinedGroup {
    /// The file that defines a kind.
    fn defining(&self, kind: &str) -> Option<(&CrdFile, &Definition)> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kinds.get(kind).copied();
        let at = known.unwrap_or_else(|| {
            let at = self.search(kind);
            kinds.insert(kind.to_owned(), at);
            at
        });
        let file = &self.files[at?];
        Some((file, file.definition().ok()?))
    }

    /// Which file it is. Those whose names say so are read first, the shortest before: all others that have the word are
    /// there for a plural that nobody would guess.
    fn search(&self, kind: &str) -> Option<usize> {
        let says = |(_, file): &(usize, &CrdFile)| {
            file.text.as_ref().is_ok_and(|text| text.contains(kind))
        };
        let mut files: Vec<_> = self.files.iter().enumerate().filter(says).collect();
        files.sort_by_key(|(_, file)| (!file.is_called(kind), file.name.plural.len()));
        let defines =
            |(_, file): &(usize, &CrdFile)| file.definition().is_ok_and(|found| found.kind == kind);
        files.into_iter().find(defines).map(|(at, _)| at)
    }

    /// A file that cannot be read and, by its name or by a word in it, may define a kind: what is of that kind cannot be
    /// checked.
    fn unread(&self, kind: &str) -> Option<(&CrdFile, &String)> {
        let may_define = |file: &&CrdFile| {
            file.is_called(kind) || file.text.as_ref().is_ok_and(|text| text.contains(kind))
        };
        let mut files = self.files.iter().filter(may_define);
        files.find_map(|file| Some((file, file.definition().err()?)))
    }
}

fn file_fault(file: &CrdFile, why: &str) -> SchemaFault {
    SchemaFault {
        problem: format!("its definition {} cannot be read: {why}", file.path),
        help: "mend or remove that file; until then nobody knows whether a server takes the object"
            .to_owned(),
    }
}

fn digest(files: &CrdFiles) -> Digest {
    let said = |text: &Result<Arc<str>, String>| match text {
        Ok(text) => Digest::of(text.as_bytes()),
        Err(why) => Digest::of_value(&[why]),
    };
    let all: BTreeMap<_, _> = files.iter().map(|(path, text)| (path, said(text))).collect();
    Digest::of_value(&all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(plural: &str, kind: &str) -> String {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.x.io")},
            "spec": {"group": "x.io", "names": {"kind": kind, "plural": plural}, "scope": "Namespaced",
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"},
                        "resources": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}},
                }}}]},
        })
        .to_string()
    }

    fn set(files: &[(&str, &str)]) -> CrdSet {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Ok(Arc::from(*text))));
        CrdSet::new("crds", &files.collect())
    }

    fn said(set: &CrdSet, api_version: &str, kind: &str, spec: Value) -> Vec<String> {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {}, "spec": spec});
        set.faults(&object).into_iter().map(|fault| fault.problem).collect()
    }

    #[test]
    fn an_object_is_held_against_the_definition_of_its_kind() {
        let (one, templates) = (crd("fools", "Fool"), crd("fooltemplates", "FoolTemplate"));
        let set = set(&[("fools.x.io.yaml", &one), ("fooltemplates.x.io.yaml", &templates)]);
        assert_eq!(said(&set, "x.io/v1", "Fool", json!({"a": 1})), [""; 0]);
        assert_eq!(
            said(&set, "x.io/v1", "FoolTemplate", json!({"b": 1})),
            ["it has no field `spec.b`"]
        );
        assert_eq!(said(&set, "x.io/v2", "Fool", json!({})), ["Fool has no version `v2`"]);
        let fault = set.faults(&json!({"apiVersion": "x.io/v1", "kind": "Fool", "b": 1})).remove(0);
        assert_eq!(fault.help, "crds/fools.x.io.yaml says what a Fool of v1 may be");
        assert_eq!(said(&set, "y.io/v1", "Fool", json!({"b": 1})), [""; 0], "a group of others");
        assert_eq!(said(&set, "v1", "ConfigMap", json!({"b": 1})), [""; 0]);
        let other = json!({"apiVersion": "x.io/v1", "kind": "Other"});
        assert!(set.lacks(&other) && set.faults(&other).is_empty());
    }

    #[test]
    fn a_kind_with_a_plural_of_its_own_is_found() {
        let set = set(&[("sheep.x.io.yaml", &crd("sheep", "Ewe"))]);
        assert_eq!(said(&set, "x.io/v1", "Ewe", json!({"b": 1})), ["it has no field `spec.b`"]);
    }

    #[test]
    fn objects_in_objects_are_checked() {
        let set = set(&[("fools.x.io.yaml", &crd("fools", "Fool"))]);
        let inner = json!({"apiVersion": "x.io/v1", "kind": "Fool", "spec": {"a": "x"}});
        let found = said(&set, "x.io/v1", "Fool", json!({"resources": [inner]}));
        assert_eq!(found, ["in `spec.resources[0]`, `spec.a`: \"x\" is not of type \"integer\""]);
    }

    #[test]
    fn what_cannot_be_read_holds_its_kind_and_no_other() {
        let fine = crd("others", "Other");
        let set =
            set(&[("fools.x.io.yaml", "a: ["), ("others.x.io.yaml", &fine), ("notes.yaml", "")]);
        let found = said(&set, "x.io/v1", "Fool", json!({}));
        assert!(
            found[0].starts_with("its definition crds/fools.x.io.yaml cannot be read: "),
            "{found:?}"
        );
        assert_eq!(said(&set, "x.io/v1", "Other", json!({})), [""; 0]);
        assert_eq!(set.unread().map(|(file, _)| file).collect::<Vec<_>>(), ["crds/notes.yaml"]);
    }

    #[test]
    fn what_cannot_be_read_holds_its_kind_whatever_its_plural_is() {
        let torn = format!("{}: [", crd("sheep", "Ewe"));
        let set = set(&[("gateways.x.io.yaml", "a: ["), ("sheep.x.io.yaml", &torn)]);
        for kind in ["Gateway", "Ewe"] {
            assert_eq!(said(&set, "x.io/v1", kind, json!({})).len(), 1, "{kind}");
        }
    }

    #[test]
    fn the_digest_is_of_what_is_said() {
        let (one, other) = (crd("fools", "Fool"), crd("fools", "Fol"));
        let of = |path, text: &str| set(&[(path, text)]).digest();
        assert_eq!(of("fools.x.io.yaml", &one), of("fools.x.io.yaml", &one));
        assert_ne!(of("fools.x.io.yaml", &one), of("fools.x.io.yaml", &other));
        assert_ne!(of("fools.x.io.yaml", &one), of("x/fools.x.io.yaml", &one));
    }
}
