//! Clusters and workers that say the same but for their names: what a text says that many of them have is read once, and is
//! one value for all of them.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::body::{Body, Canonical};
use super::kind::{DocumentSpec, Kind};
use crate::model::api::{ManagedClusterSpec, WorkerSpec};
use crate::model::{CloneOnWrite, Digest, SharedMap};

/// How many texts are remembered of each sort: a fleet has few sorts of clusters and workers, and where each is one of its
/// own there is nothing to share.
const MOST: usize = 1_000;

/// What was read of documents, by its text.
#[derive(Default)]
pub(super) struct AlikeDocuments {
    labels: BTreeMap<String, SharedMap<String>>,
    clusters: BTreeMap<String, CloneOnWrite<ManagedClusterSpec>>,
    workers: BTreeMap<String, CloneOnWrite<WorkerSpec>>,
}

impl AlikeDocuments {
    /// What a canonical form says; `None` where it cannot be read back.
    pub(super) fn body(&mut self, kind: Kind, canonical: &str, digest: Digest) -> Option<Body> {
        let Self { labels, clusters, workers } = self;
        match kind {
            Kind::ManagedCluster => of_text(canonical, digest, labels, |spec| {
                shared(clusters, spec).map(DocumentSpec::ManagedCluster)
            }),
            Kind::Worker => of_text(canonical, digest, labels, |spec| {
                shared(workers, spec).map(DocumentSpec::Worker)
            }),
            _ => {
                let mut from = serde_json::Deserializer::from_str(canonical);
                let body = Body::from_canonical(kind, &mut from, digest)?;
                from.end().ok().map(|()| body)
            }
        }
    }
}

/// What a canonical form says, of which only what differs is read at once.
fn of_text(
    canonical: &str,
    digest: Digest,
    known: &mut BTreeMap<String, SharedMap<String>>,
    spec: impl FnOnce(&str) -> Option<DocumentSpec>,
) -> Option<Body> {
    let text: Canonical<&RawValue, &RawValue> = serde_json::from_str(canonical).ok()?;
    let labels = shared(known, text.labels.map_or("{}", RawValue::get))?;
    let spec = spec(text.spec.map_or("{}", RawValue::get))?;
    let Canonical { name, namespace, annotations, .. } = text;
    Some(Body { name, namespace, labels, annotations, spec, digest })
}

/// What the document of a cluster says but for its name, labels and annotations: of two that say the same, `spec` becomes the
/// same.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpecOfTenant<'c> {
    namespace: Option<String>,
    spec: Option<&'c str>,
}

impl<'c> SpecOfTenant<'c> {
    /// What a canonical form says; `None` where it cannot be read back.
    #[must_use]
    pub fn of(canonical: &'c str) -> Option<Self> {
        let text: Canonical<&RawValue, &RawValue> = serde_json::from_str(canonical).ok()?;
        Some(Self { namespace: text.namespace, spec: text.spec.map(RawValue::get) })
    }
}

/// What a text says, which is remembered for others that have it.
fn shared<T: Clone + DeserializeOwned>(
    known: &mut BTreeMap<String, CloneOnWrite<T>>,
    text: &str,
) -> Option<CloneOnWrite<T>> {
    if let Some(value) = known.get(text) {
        return Some(value.clone());
    }
    let value = CloneOnWrite::from(serde_json::from_str::<T>(text).ok()?);
    if known.len() < MOST {
        known.insert(text.to_owned(), value.clone());
    }
    Some(value)
}

/// What became of specs that documents share: it is made once for each tenant, and shared as they are.
pub(super) struct ResolvedSpecs<T>(BTreeMap<*const T, ResolvedSpec<T>>);

/// A spec, and what became of it for tenants. As long as it is kept, no other can have its place in memory.
type ResolvedSpec<T> = (CloneOnWrite<T>, BTreeMap<String, CloneOnWrite<T>>);

impl<T> Default for ResolvedSpecs<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Clone> ResolvedSpecs<T> {
    /// The spec as `resolve` makes it, which makes the same of a spec for the same tenant each time.
    pub(super) fn of(
        &mut self,
        mut spec: CloneOnWrite<T>,
        tenant: &str,
        resolve: impl FnOnce(&mut T),
    ) -> CloneOnWrite<T> {
        if !spec.is_shared() {
            resolve(&mut spec);
            return spec;
        }
        let known = self.0.entry(&raw const *spec);
        let (spec, resolved) = known.or_insert_with(|| (spec, BTreeMap::new()));
        if let Some(resolved) = resolved.get(tenant) {
            return resolved.clone();
        }
        let mut made = spec.clone();
        resolve(&mut made);
        resolved.insert(tenant.to_owned(), made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TWO_CREDENTIALS, cluster, load_files};
    use super::*;

    fn canonical(name: &str, tier: &str, clusters: u32) -> String {
        format!(
            r#"{{"kind":"Worker","labels":{{"tier":"{tier}"}},"name":"{name}","spec":{{"capacity":{{"clusters":"{clusters}"}},"location":"westeurope","version":"v1.34.2"}}}}"#
        )
    }

    fn read(alike: &mut AlikeDocuments, canonical: &str) -> Option<Body> {
        alike.body(Kind::Worker, canonical, Digest::of(canonical.as_bytes()))
    }

    fn spec(body: Body) -> CloneOnWrite<WorkerSpec> {
        let DocumentSpec::Worker(spec) = body.spec else { panic!("{body:?}") };
        spec
    }

    #[test]
    fn what_is_read_is_what_the_whole_text_says() {
        let mut alike = AlikeDocuments::default();
        for (name, tier, clusters) in [("a", "x", 1), ("b", "x", 1), ("c", "x", 2), ("d", "y", 1)] {
            let text = canonical(name, tier, clusters);
            let digest = Digest::of(text.as_bytes());
            let from = &mut serde_json::Deserializer::from_str(&text);
            let whole = Body::from_canonical(Kind::Worker, from, digest);
            let read = read(&mut alike, &text);
            assert_eq!(format!("{read:?}"), format!("{whole:?}"));
        }
        assert_eq!((alike.labels.len(), alike.workers.len()), (2, 2));
        let bare = r#"{"kind":"Worker","name":"a","spec":{"location":"x","version":"v1.34.2"}}"#;
        assert!(read(&mut alike, bare).unwrap().labels.is_empty());
        for damaged in [r#"{"name":"a"}"#, &bare[..bare.len() - 1], &format!("{bare}x")] {
            assert!(read(&mut alike, damaged).is_none(), "{damaged}");
        }
    }

    #[test]
    fn a_spec_of_a_tenant_has_no_name_and_no_labels() {
        let of = |text: &str| format!("{:?}", SpecOfTenant::of(text));
        let one = canonical("a", "x", 1);
        assert_eq!(of(&one), of(&canonical("b", "y", 1)));
        assert_ne!(of(&one), of(&canonical("a", "x", 2)));
        assert_ne!(of(&one), of(&one.replacen('{', r#"{"namespace":"shop","#, 1)));
        assert_eq!(SpecOfTenant::of(&one[1..]), None);
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let mut alike = AlikeDocuments::default();
        let of = |clusters| canonical("w", "x", clusters);
        let most = u32::try_from(MOST).unwrap() + 1;
        for clusters in 0..most {
            assert!(read(&mut alike, &of(clusters)).is_some());
        }
        assert_eq!(alike.workers.len(), MOST);
        assert!(!spec(read(&mut alike, &of(most)).unwrap()).is_shared());
    }

    #[test]
    fn what_is_shared_is_resolved_once_and_what_is_not_where_it_is() {
        let mut alike = AlikeDocuments::default();
        let [one, other] = ["a", "b"].map(|name| canonical(name, "x", 1));
        let [one, other] = [one, other].map(|text| spec(read(&mut alike, &text).unwrap()));
        let (mut resolved, mut times) = (ResolvedSpecs::default(), 0);
        let mut resolve = |spec: &mut WorkerSpec| {
            times += 1;
            spec.flavor = Some("kind".to_owned());
        };
        let made = [one, other].map(|spec| resolved.of(spec, "", &mut resolve));
        assert!(made.iter().all(|spec| spec.flavor.as_deref() == Some("kind") && spec.is_shared()));
        let own = resolved.of(WorkerSpec::default().into(), "", &mut resolve);
        assert_eq!((own.flavor.as_deref(), own.is_shared(), times), (Some("kind"), false, 2));
        let read = spec(read(&mut alike, &canonical("c", "x", 1)).unwrap());
        assert_eq!(read.flavor, None, "what was read stays as it was");
    }

    #[test]
    fn tenants_whose_clusters_say_the_same_have_each_their_own_credentials() {
        let tenants =
            "  tenants: [{name: shop, credentials: [main]}, {name: pay, credentials: [other]}]\n";
        let other = cluster("").replace("pay-eu", "other").replace("shop", "pay");
        let file = format!("{}---\n{other}", cluster(""));
        let carp = format!("{TWO_CREDENTIALS}{tenants}");
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/a.yaml", &file)]);
        let of = |name: &str| loaded.fleet.clusters[name].spec.credentials.as_deref();
        assert_eq!([of("pay-eu"), of("other")], [Some("main"), Some("other")]);
    }
}
