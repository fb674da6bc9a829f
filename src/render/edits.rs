//! Objects that somebody changes after the templates made them: what came of it goes through the same checks. Only
//! documents that were changed are written anew, and each says who changed it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::job::Job;
use super::object::Object;
use super::{Files, rotation, yaml};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{EditedObject, Name, OVERRIDDEN_BY, ObjectEdits};

/// Fields of Cluster API's objects that the cluster's own document decides: versions go step by step, and a pause
/// holds a deletion.
const DECIDED: &[&str] =
    &["/spec/version", "/spec/template/spec/version", "/spec/topology/version", "/spec/paused"];
/// The groups that have them, beside all kinds of control planes.
const OF_GROUPS: [&str; 2] = ["cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"];
/// What takes an object from its controller, which is a pause too: Cluster API's `api/core/v1beta2/common_types.go`.
const TAKES_AWAY: &[&str] = &[
    "/metadata/annotations/cluster.x-k8s.io~1paused",
    "/metadata/annotations/cluster.x-k8s.io~1managed-by",
    "/metadata/labels/cluster.x-k8s.io~1watch-filter",
];

/// A field that no override changes.
pub(super) struct KeptField {
    /// The field, as a JSON pointer.
    pub(super) field: String,
    /// What it is, after its name and that of the object.
    pub(super) why: &'static str,
    /// What to do.
    pub(super) help: &'static str,
}

/// Who changed each object.
type Changers = Vec<Vec<Name>>;

/// The checks of a folder: the objects where they pass.
type Checks<'a> = &'a dyn Fn(Vec<Object>) -> Result<Vec<Object>, Diagnostics>;

/// Changes the objects of a job's folder, in its files too.
pub(super) fn apply(
    edits: &dyn ObjectEdits,
    files: &mut Files,
    rendered: Vec<Object>,
    job: &Job,
    checked: Checks<'_>,
) -> Result<Vec<Object>, Diagnostics> {
    let (seen, values): (Vec<usize>, Vec<&Value>) = rendered
        .iter()
        .enumerate()
        .filter(|(_, object)| job.is_reached(object))
        .map(|(at, object)| (at, &*object.value))
        .unzip();
    let edited: BTreeMap<usize, EditedObject> = seen
        .into_iter()
        .zip(edits.edit(&values)?)
        .filter_map(|(at, edited)| Some((at, edited?)))
        .collect();
    if edited.is_empty() {
        return checked(rendered);
    }
    let (mut objects, by) = changed(edits, &rendered, edited, job)?;
    if let Err(why) = rotation::follow(&mut objects, &rendered, job.templates.catalogue()) {
        let finding = Diagnostic::new(Code::OverrideFailed, why);
        let help = "let names that end in a hash name each other in one direction only";
        return Err(Diagnostics::from_iter([blamed(finding.help(help), edits, last(&by))]));
    }
    for ((object, before), by) in objects.iter_mut().zip(&rendered).zip(&by) {
        rewrite(object, before, by)
            .map_err(|finding| Diagnostics::from_iter([blamed(*finding, edits, by.last())]))?;
    }
    write(files, &objects);
    match checked(objects.clone()) {
        Ok(objects) => Ok(objects),
        Err(found) => Err(whose(found, checked(rendered).err(), (&objects, &by), edits)),
    }
}

/// The objects as they were changed, each with who did.
fn changed(
    edits: &dyn ObjectEdits,
    rendered: &[Object],
    mut edited: BTreeMap<usize, EditedObject>,
    job: &Job,
) -> Result<(Vec<Object>, Changers), Diagnostics> {
    let mut found = Diagnostics::default();
    let (mut objects, mut all) = (rendered.to_vec(), Changers::new());
    for (at, object) in objects.iter_mut().enumerate() {
        let Some(EditedObject { value, by }) = edited.remove(&at) else {
            all.push(Vec::new());
            continue;
        };
        let kept = decided(object, &value).or_else(|| job.kept_from_overrides(object, &value));
        if let Some(KeptField { field, why, help }) = kept {
            let message = format!("`{field}` of {object} {why}");
            let finding = Diagnostic::new(Code::OverrideRefused, message).help(help);
            found.push(blamed(finding, edits, by.last()));
        }
        let (mut value, names) = (value, by.iter().map(Name::as_str).collect::<Vec<_>>());
        value["metadata"]["annotations"][OVERRIDDEN_BY] = json!(names.join(", "));
        object.set_value(value);
        all.push(by);
    }
    if found.is_empty() { Ok((objects, all)) } else { Err(found) }
}

/// A field of an object that only the cluster's document decides, and that has another value.
fn decided(object: &Object, after: &Value) -> Option<KeptField> {
    let differs = |at: &&&str| object.value.pointer(at) != after.pointer(at);
    let has_them = OF_GROUPS.contains(&object.group()) || object.kind().ends_with("ControlPlane");
    let decided = has_them.then(|| DECIDED.iter().find(differs)).flatten();
    let field = decided.or_else(|| TAKES_AWAY.iter().find(differs))?;
    Some(KeptField {
        field: (*field).to_owned(),
        why: "is what the cluster's document says",
        help: "change it there: versions go step by step, and a pause holds a deletion",
    })
}

/// Writes the text of an object anew. Where nobody changed it and only a name in it is another, that alone.
fn rewrite(object: &mut Object, before: &Object, by: &[Name]) -> Result<(), Box<Diagnostic>> {
    if object.value == before.value {
        return Ok(());
    }
    let says = |text: &str, value: &Value| yaml::parse(text).is_ok_and(|read| read == *value);
    if !by.is_empty() || !says(&object.text, &object.value) {
        object.text = yaml::emit(&object.value);
    }
    if says(&object.text, &object.value) {
        return Ok(());
    }
    let message = format!("{object} cannot be written as YAML that says the same");
    Err(Box::new(Diagnostic::new(Code::RenderedInvalid, message).help("change less of it")))
}

/// Puts the texts of objects into their files.
fn write(files: &mut Files, objects: &[Object]) {
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for object in objects {
        texts.entry(&object.file).or_default().push(&object.text);
    }
    for (file, texts) in texts {
        files.insert(file.to_owned(), texts.join("---\n").into_bytes());
    }
}

fn last(by: &Changers) -> Option<&Name> {
    by.iter().flatten().last()
}

/// The findings on what was changed: those that were there before are the templates', the others whose change it was.
fn whose(
    found: Diagnostics,
    before: Option<Diagnostics>,
    (objects, by): (&[Object], &Changers),
    edits: &dyn ObjectEdits,
) -> Diagnostics {
    let before = before.unwrap_or_default();
    let told = |finding: Diagnostic| {
        if before.iter().any(|known| *known == finding) {
            return finding;
        }
        let about = objects.iter().zip(by).filter(|(_, by)| !by.is_empty());
        let about = about.into_iter().find(|(o, _)| finding.message.contains(&o.to_string()));
        blamed(finding, edits, about.map_or_else(|| last(by), |(_, by)| by.last()))
    };
    found.into_iter().map(told).collect()
}

/// A finding at the place of who caused it.
pub(super) fn blamed(
    mut finding: Diagnostic,
    edits: &dyn ObjectEdits,
    by: Option<&Name>,
) -> Diagnostic {
    let Some((by, place)) = by.and_then(|by| Some((by, edits.place(by)?))) else { return finding };
    finding.message = format!("{}, as `{by}` changes it", finding.message);
    if let Some(template) = finding.place.take() {
        finding = finding.related(template, "this makes it");
    }
    finding.at(place)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{fleet, kinds, objects_of, text};
    use super::super::{FolderChange, Templates, cluster_job, forbidden_changes, losses};
    use super::*;
    use crate::diag::Place;
    use crate::model::{Catalogue, Fleet};

    /// Somebody who changes the objects of a kind.
    struct One<F> {
        kind: &'static str,
        change: F,
    }

    type Change = fn(&mut Value, &str);

    impl<F> std::fmt::Debug for One<F> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.kind)
        }
    }

    impl<F: Fn(&mut Value) + Send + Sync> ObjectEdits for One<F> {
        fn facts(&self) -> Value {
            json!(self.kind)
        }

        fn edit(&self, objects: &[&Value]) -> Result<Vec<Option<EditedObject>>, Diagnostics> {
            let one = |object: &&Value| {
                (object["kind"] == self.kind).then(|| {
                    let mut value = (*object).clone();
                    (self.change)(&mut value);
                    EditedObject { value, by: vec![Name::parse("one").unwrap()] }
                })
            };
            Ok(objects.iter().map(one).collect())
        }

        fn place(&self, _: &Name) -> Option<Place> {
            Some(Place::file("policies/one.yaml"))
        }
    }

    fn render(
        kind: &'static str,
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Result<Files, Diagnostics> {
        render_of(&fleet(), kind, change)
    }

    fn render_of(
        fleet: &Fleet,
        kind: &'static str,
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Result<Files, Diagnostics> {
        let cluster = fleet.clusters.values().next().unwrap();
        let job =
            cluster_job(fleet, cluster, &Name::parse("wk-1").unwrap(), &Templates::built_in());
        job.with_edits(Arc::new(One { kind, change })).render()
    }

    fn plain() -> Files {
        render("None", |_| ()).unwrap()
    }

    fn name_of(files: &Files, kind: &str) -> String {
        objects_of(files, kind)[0]["metadata"]["name"].as_str().unwrap().to_owned()
    }

    fn documents(files: &Files) -> Vec<String> {
        let text = String::from_utf8(files["cluster.yaml"].clone()).unwrap();
        text.split("---\n").map(str::to_owned).collect()
    }

    #[test]
    fn only_a_document_that_was_changed_is_written_anew() {
        let after = render("NetworkPolicy", |o| o["spec"]["ingress"] = json!([{}])).unwrap();
        let (old, new) = (documents(&plain()), documents(&after));
        let differ: Vec<_> = old.iter().zip(&new).filter(|(old, new)| old != new).collect();
        // The ManagedCluster has the digest of the folder.
        assert_eq!((old.len(), differ.len()), (new.len(), 2), "{differ:?}");
        let policy = &objects_of(&after, "NetworkPolicy")[0];
        assert_eq!(policy["metadata"]["annotations"][OVERRIDDEN_BY], "one");
        assert_eq!(text(&after).matches(OVERRIDDEN_BY).count(), 1);
        assert!(
            text(&plain()).contains("policyTypes: [Ingress]") && kinds(&plain()) == kinds(&after)
        );
    }

    #[test]
    fn a_changed_machine_gets_another_name_and_so_does_all_that_names_it() {
        let (before, after) = (
            plain(),
            render("AzureMachineTemplate", |o| {
                o["spec"]["template"]["spec"]["osDisk"]["diskSizeGB"] = json!(64);
            })
            .unwrap(),
        );
        for kind in ["AzureMachineTemplate", "KubeadmConfigTemplate"] {
            assert_ne!(name_of(&before, kind), name_of(&after, kind), "{kind}");
        }
        let machine = name_of(&after, "AzureMachineTemplate");
        let pool = &objects_of(&after, "MachineDeployment")[0]["spec"]["template"]["spec"];
        assert_eq!(pool["infrastructureRef"]["name"], machine.as_str());
        assert_eq!(
            pool["bootstrap"]["configRef"]["name"],
            name_of(&after, "KubeadmConfigTemplate")
        );
        assert!(text(&after).contains(&format!("{machine}-azure-json")));
        assert!(!text(&after).contains(&name_of(&before, "AzureMachineTemplate")));
        let change = FolderChange::between(&before, &after);
        assert!(forbidden_changes(&change, &Catalogue::default()).is_empty());
        let replaced = losses(&change, crate::render::OwnChange::default()).replaced;
        assert_eq!(replaced.len(), 1, "the machines of the pool");
        assert_eq!(replaced[0].machines, 3);
        let pool = documents(&after).into_iter().find(|d| d.contains("kind: MachineDeployment"));
        assert!(!pool.unwrap().contains(OVERRIDDEN_BY), "only names in it are others");
    }

    #[test]
    fn what_only_the_clusters_document_decides_stays() {
        let refused = |kind, change: fn(&mut Value)| {
            let found = render(kind, change).unwrap_err();
            let first = found.iter().next().unwrap();
            assert_eq!(first.code, Code::OverrideRefused, "{first:?}");
            first.message.clone()
        };
        let version = refused("KamajiControlPlane", |o| o["spec"]["version"] = json!("1.35.0"));
        assert!(version.starts_with("`/spec/version` of KamajiControlPlane pay-eu"), "{version}");
        refused("MachineDeployment", |o| {
            o["spec"]["template"]["spec"]["version"] = json!("v1.35.0");
        });
        refused("Cluster", |o| o["spec"]["paused"] = json!(true));
        // The same by what takes an object from its controller.
        let annotation =
            |o: &mut Value| o["metadata"]["annotations"]["cluster.x-k8s.io/paused"] = json!("true");
        refused("Cluster", annotation);
        refused("AzureCluster", annotation);
        refused("MachineDeployment", |o| {
            o["metadata"]["labels"]["cluster.x-k8s.io/watch-filter"] = json!("nobody");
        });
    }

    #[test]
    fn the_version_of_an_aks_control_plane_is_the_documents_too() {
        let mut fleet = fleet();
        fleet.clusters.values_mut().for_each(|c| c.spec.flavor = Some("aks".into()));
        let kind = "AzureASOManagedControlPlane";
        let after = |at: &'static str, value: Value| {
            render_of(&fleet, kind, move |o| *o.pointer_mut(at).unwrap() = value.clone())
        };
        let found = after("/spec/version", json!("v1.35.0")).unwrap_err();
        let first = found.iter().next().unwrap();
        assert_eq!(first.code, Code::OverrideRefused, "{first:?}");
        assert!(first.message.starts_with("`/spec/version` of AzureASOManagedControlPlane pay-eu"));
        // Whatever else is found: the rest of it is free.
        let found = after("/spec/resources/0/spec/sku/tier", json!("Free")).err();
        assert!(found.into_iter().flatten().all(|finding| finding.code != Code::OverrideRefused));
    }

    #[test]
    fn what_a_check_finds_is_at_the_policy_that_caused_it() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        let all: [(&'static str, Code, Change); 5] = [
            ("AzureMachineTemplate", Code::RenderedInvalid, |o, _| {
                o["spec"]["template"]["spec"]["identity"] = json!("None");
            }),
            ("ConfigMap", Code::SecretInOutput, |o, key| o["data"]["x"] = json!(key)),
            ("AzureCluster", Code::RenderedRefused, |o, _| {
                o["metadata"]["namespace"] = json!("other");
            }),
            ("NetworkPolicy", Code::RenderedRefused, |o, _| o["kind"] = json!("Pod")),
            ("AzureCluster", Code::RenderedInvalid, |o, _| o["spec"]["location"] = json!("")),
        ];
        for (kind, code, change) in all {
            assert!(kinds(&plain()).contains(&kind.to_owned()), "{kind}");
            let found = render(kind, move |o| change(o, key)).unwrap_err();
            let of_code = found.iter().find(|d| d.code == code);
            let of_code = of_code.unwrap_or_else(|| panic!("{kind}: {found:?}"));
            assert_eq!(of_code.place.as_ref().unwrap().file, "policies/one.yaml", "{of_code:?}");
            assert!(of_code.message.ends_with("as `one` changes it"), "{}", of_code.message);
        }
    }
}
