//! The policy tests: read like all that people write, each with the small fleet that it gives.

use std::sync::Arc;

use super::assemble;
use super::body::Body;
use super::check::{self, CheckContext};
use super::desired::DesiredDocuments;
use super::finding::{DocumentSource, Findings};
use super::item::Item;
use super::kind::{DocumentSpec, Kind};
use super::short::below;
use super::tree;
use crate::diag::{Diagnostic, Diagnostics, FieldPath};
use crate::model::api::{
    Credentials, Example, FleetSpec, ManagedClusterClassSpec, ManagedClusterSpec,
    PlacementPolicyTestSpec, TestMetadata, WorkerSpec,
};
use crate::model::{Digest, Dir, Fleet, Input, Previous, Store, StoreError};

/// A test of the policies, with what it gives.
#[derive(Clone, Debug)]
pub struct PolicyTest {
    /// Its name.
    pub name: String,
    /// The file it stands in.
    pub file: String,
    /// The document in that file, from 0.
    pub document: usize,
    /// What it says.
    pub spec: PlacementPolicyTestSpec,
    /// The clusters and workers that it gives, with the defaults of their classes and of the fleet.
    pub given: Fleet,
}

/// Reads the tests beside the policies of a fleet, as it loaded. A test that does not load is left out,
/// and nothing else is.
///
/// # Errors
/// The store failed.
pub fn policy_tests(
    input: &Input,
    store: &dyn Store,
    fleet: &Fleet,
) -> Result<(Vec<PolicyTest>, Diagnostics), StoreError> {
    let Some(root) = tree::dir_at(store, input.tree, &input.prefix)? else {
        return Ok((Vec::new(), Diagnostics::default()));
    };
    let roots = fleet.spec.roots.clone().unwrap_or_default();
    let read = DesiredDocuments::policy_tests(store, Dir::id(&root), &roots)?;
    let (mut tests, mut diagnostics) = (Vec::new(), read.diagnostics);
    for mut item in read.items {
        let body = item.body.take();
        let test = body.and_then(|body| test(body, &mut item.findings, fleet));
        let failed = item.findings.has_errors();
        diagnostics.extend(item.findings.list);
        tests.extend(test.filter(|_| !failed));
    }
    Ok((tests, diagnostics))
}

fn test(body: Body, out: &mut Findings, fleet: &Fleet) -> Option<PolicyTest> {
    let catalogue = fleet.catalogue.clone();
    let scene = CheckContext { fleet: Some(&fleet.spec), catalogue, ..CheckContext::default() };
    check::run(&body, &scene, out);
    let DocumentSpec::PlacementPolicyTest(spec) = body.spec else { return None };
    let given = given(&spec, out, fleet);
    let (file, document) = (out.source.file.to_string(), out.source.document);
    Some(PolicyTest { name: body.name, file, document, spec: *spec, given })
}

/// What a test gives goes the way of all documents of a fleet, with the fleet's own classes.
fn given(spec: &PlacementPolicyTestSpec, out: &mut Findings, fleet: &Fleet) -> Fleet {
    // A test places clusters and makes nothing, so credentials say nothing in it.
    let clusters = spec.clusters.iter().map(|cluster| {
        let spec = ManagedClusterSpec { credentials: None, ..cluster.spec.clone() };
        (&cluster.metadata, DocumentSpec::ManagedCluster(spec.into()), "clusters")
    });
    let workers = spec.workers.iter().map(|worker| {
        let spec = WorkerSpec { credentials: None, ..worker.spec.clone() };
        (&worker.metadata, DocumentSpec::Worker(spec.into()), "workers")
    });
    let numbered = clusters.enumerate().chain(workers.enumerate());
    let given = numbered.map(|(i, (metadata, spec, field))| {
        let parent = FieldPath::keys("spec").key(field).index(i);
        (source(&parent), parent, body(metadata, spec))
    });
    let given: Vec<_> = given.collect();
    let classes = fleet.classes.iter().map(|(name, class)| {
        let spec = ManagedClusterClassSpec { credentials: None, ..class.value.clone() };
        let spec = DocumentSpec::ManagedClusterClass(Box::new(spec));
        let metadata = TestMetadata { name: name.to_string(), ..TestMetadata::default() };
        item(DocumentSource { file: Arc::from(""), document: 0 }, body(&metadata, spec))
    });
    let own = given.iter().map(|(source, _, body)| item(source.clone(), body.clone()));
    let items = own.chain(classes).collect();
    let (fleet, found) = assemble::assemble(
        Some(&placing_only(&fleet.spec)),
        fleet.catalogue.clone(),
        items,
        Vec::new(),
        &Previous::default(),
    );
    for finding in found {
        let file = finding.place.as_ref().map(|place| place.file.clone());
        let of = given.iter().find(|(source, ..)| Some(&*source.file) == file.as_deref());
        // What is wrong elsewhere is found with what stands there.
        if let Some((_, parent, _)) = of {
            out.list.push(here(finding, parent, &out.source, &given));
        }
    }
    fleet
}

/// The fleet with one entry of credentials, which everybody may use and nobody needs.
fn placing_only(spec: &FleetSpec) -> FleetSpec {
    let mut spec = spec.clone();
    spec.example = Some(Example { now: String::new(), observed: None });
    spec.credentials = vec![Credentials { name: "any".to_owned(), ..Credentials::default() }];
    for tenant in &mut spec.tenants {
        // What a test gives stands in no tenant's folder.
        (tenant.credentials, tenant.paths) = (None, Vec::new());
    }
    spec
}

/// A file that there is not, so that what is found in an object of a test can be told apart.
fn source(parent: &FieldPath) -> DocumentSource {
    DocumentSource { file: Arc::from(format!("{parent}")), document: 0 }
}

/// A finding on an object, as one on the test that it stands in.
fn here(
    finding: Diagnostic,
    parent: &FieldPath,
    source: &DocumentSource,
    given: &[(DocumentSource, FieldPath, Body)],
) -> Diagnostic {
    let mut finding = below(finding, parent);
    let test = |place: &mut crate::diag::Place| {
        place.file = source.file.to_string();
        place.document = source.document;
    };
    finding.place.iter_mut().for_each(test);
    for (place, _) in &mut finding.related {
        if let Some((_, parent, _)) = given.iter().find(|(s, ..)| *s.file == *place.file) {
            let inner = place.field.take().unwrap_or_default();
            place.field = Some(FieldPath(parent.0.iter().cloned().chain(inner.0).collect()));
            test(place);
        }
    }
    finding
}

fn body(metadata: &TestMetadata, spec: DocumentSpec) -> Body {
    let mut body = Body {
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        labels: metadata.labels.clone().into(),
        annotations: std::collections::BTreeMap::new(),
        spec,
        digest: Digest::of(b""),
    };
    body.digest = body.canonical_digest();
    body
}

fn item(source: DocumentSource, body: Body) -> Item {
    let kind: Kind = body.spec.kind();
    Item {
        findings: Findings::of(source),
        kind: Some(kind.name().to_owned()),
        name: Some(body.name.clone()),
        steers_placement: kind.steers_placement(),
        may_override: false,
        body: Some(body),
        fact: None,
        is_remembered: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, Memory, POLICY, class, cluster, load_files, worker};
    use super::*;
    use crate::diag::Code;
    use crate::model::{Entry, EntryKind, Vouching};

    const TEST: &str = "\
apiVersion: carp.dev/v1alpha1
kind: PlacementPolicyTest
metadata: {name: near}
spec:
  workers:
  - metadata: {name: t1, labels: {zone: a}}
    spec: {version: v1.34.2, location: westeurope, replicas: 2, capacity: 3}
  clusters:
  - metadata: {name: new, namespace: shop}
    spec: {version: v1.34.2, location: westeurope, class: small}
  expect:
  - {cluster: new, worker: t1}
";

    fn read(test: &str) -> (Vec<PolicyTest>, Vec<Diagnostic>) {
        let class = class("small", "demand: {memory: 2Gi}\n  ");
        let files = [
            ("carp.yaml", CARP),
            ("fleet/a.yaml", &*cluster("")),
            ("fleet/w.yaml", &*worker("")),
            ("fleet/c.yaml", &*class),
            ("policies/p.yaml", POLICY),
            ("policies/tests/t.yaml", test),
        ];
        let loaded = load_files(&files);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        assert!(!loaded.fleet.holds_placements(), "a test holds nothing");
        let store = Memory::default();
        let entry = |text: &str| Entry {
            kind: EntryKind::File,
            id: store.put_blob(text.as_bytes()).unwrap(),
        };
        let entries: Vec<_> = files.iter().map(|(path, text)| (*path, entry(text))).collect();
        let tree = store.tree(&entries);
        let input = Input {
            tree,
            prefix: String::new(),
            commit: None,
            rewound_from: None,
            vouching: Vouching::default(),
        };
        let (tests, found) = policy_tests(&input, &store, &loaded.fleet).unwrap();
        (tests, found.into_iter().collect())
    }

    #[test]
    fn a_test_brings_clusters_and_workers_with_their_defaults() {
        let (tests, found) = read(TEST);
        assert_eq!(found, []);
        let [test] = &tests[..] else { panic!("{tests:?}") };
        assert_eq!((test.name.as_str(), &*test.file), ("near", "policies/tests/t.yaml"));
        let given = &test.given;
        let amounts: Vec<_> =
            given.clusters["new"].demand.iter().map(|(r, n)| format!("{r}={n}")).collect();
        assert_eq!(amounts, ["clusters=1", "memory=2Gi"], "of the fleet's class");
        assert_eq!(given.workers["t1"].spec.node_pools[0].name, "np0", "short forms are read");
        assert_eq!(given.workers["t1"].spec.capacity["clusters"].to_string(), "3");
    }

    #[test]
    fn credentials_say_nothing_in_a_test() {
        let named = TEST.replace("replicas: 2", "credentials: nobodys");
        assert_eq!((read(&named).0.len(), read(&named).1), (1, Vec::new()));
    }

    #[test]
    fn a_mistake_is_found_where_it_stands_and_holds_nothing() {
        for (from, to, code, path) in [
            ("expect:", "expct:", Code::UnknownField, "spec.expct"),
            ("class: small", "class: smal", Code::UnknownClass, "spec.clusters[0].spec.class"),
            ("name: t1", "name: T1", Code::InvalidName, "spec.workers[0].metadata.name"),
            ("zone: a", "z: \"a b\"", Code::InvalidValue, "spec.workers[0].metadata.labels.z"),
            ("name: new", "name: t1", Code::DuplicateName, "spec.workers[0].metadata.name"),
            ("worker: t1}", "pending: maybe}", Code::WrongType, "spec.expect[0].pending"),
            ("worker: t1}", "reasons: [Tant]}", Code::InvalidValue, "spec.expect[0].reasons[0]"),
            ("kind: PlacementPolicyTest", "kind: PlacementPolicy", Code::UnknownKind, "kind"),
        ] {
            let (_, found) = read(&TEST.replace(from, to));
            let place = |d: &&Diagnostic| {
                let place = d.place.as_ref().unwrap();
                assert_eq!(place.file, "policies/tests/t.yaml");
                d.code == code && place.field.as_ref().is_some_and(|f| f.to_string() == path)
            };
            assert!(found.iter().any(|d| place(&d)), "{path}: {found:#?}");
        }
        assert_eq!(read("kind: [").0.len(), 0);
    }

    #[test]
    fn a_test_among_the_policies_is_told_where_it_belongs() {
        let loaded = load_files(&[("carp.yaml", CARP), ("policies/t.yaml", TEST)]);
        let found: Vec<_> = loaded.diagnostics.iter().collect();
        assert_eq!(found[0].code, Code::UnknownKind);
        let help = found[0].help.as_deref();
        assert_eq!(help, Some("move it to the folder `tests` of the root `policies`"));
        assert!(!loaded.fleet.holds_placements(), "it steers nothing");
    }
}
