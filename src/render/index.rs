//! The small files that list others: `clusters.yaml`, `workers.yaml`, `sentinel.yaml`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::appliers::Appliers;
use super::flux::{self, Applying, FLUX_SYSTEM, FleetRepository, ROOT, Removal, WORKER_APPLIER};
use super::job::KUSTOMIZATION;
use super::{Files, yaml};
use crate::model::{Digest, Fleet, Name, paths};

/// A cluster that has a folder on a worker.
#[derive(Clone, Copy, Debug)]
pub struct IndexedCluster<'a> {
    /// Its name.
    pub name: &'a Name,
    /// Its tenant, as whom its folder is applied where that has an account of its own.
    pub tenant: &'a str,
    /// What Flux does with its objects when its Kustomization goes.
    pub removal: Removal,
    /// Whether Flux applies its folder.
    pub applying: Applying,
}

/// `workers/<worker>/clusters.yaml`: one Flux Kustomization for each cluster, sorted; of one that is to be
/// left alone when it goes, Flux is told so. Without a cluster it is a comment, which kustomize takes for a
/// file without objects: so the first cluster and the last change no other file.
#[must_use]
pub fn clusters_index<'a>(
    fleet: &Fleet,
    worker: &Name,
    clusters: impl Iterator<Item = IndexedCluster<'a>>,
    appliers: &Appliers,
    prefix: &str,
) -> Vec<u8> {
    let repository = FleetRepository { spec: &fleet.spec, prefix };
    let listed = clusters.map(|cluster| {
        let shape = (appliers.of_tenant(cluster.tenant), cluster.removal, cluster.applying);
        (cluster.name, shape)
    });
    let entry = |name: &Name, (applier, removal, applying): &(&str, _, _)| {
        let path = repository.path(&paths::cluster(worker, name));
        flux::cluster(name, &path, applier, (*removal, *applying))
    };
    listing(listed, entry, "# No cluster is placed here.\n")
}

/// `control-plane/workers.yaml`: one Flux Kustomization for each worker that the control plane makes.
#[must_use]
pub fn control_plane_index<'a>(
    fleet: &Fleet,
    workers: impl Iterator<Item = &'a Name>,
    prefix: &str,
) -> Vec<u8> {
    let repository = FleetRepository { spec: &fleet.spec, prefix };
    let entry = |worker: &Name, (): &()| {
        let path = repository.path(&paths::control_plane(worker));
        flux::cluster(worker, &path, WORKER_APPLIER, (Removal::Prune, Applying::Active))
    };
    listing(workers.map(|worker| (worker, ())), entry, "# No worker is made here.\n")
}

/// The entries of these names, sorted. Those of one shape are the same but for the name.
fn listing<'a, S: Ord + Clone>(
    all: impl Iterator<Item = (&'a Name, S)>,
    entry: impl Fn(&Name, &S) -> Value,
    none: &str,
) -> Vec<u8> {
    let mut sorted = BTreeMap::new();
    for (name, shape) in all {
        sorted.entry(name).or_insert(shape);
    }
    if sorted.is_empty() {
        return none.as_bytes().to_vec();
    }
    let stand_in = Name::parse(STAND_IN).ok();
    let mut shapes: BTreeMap<S, Option<ListedEntry>> = BTreeMap::new();
    let texts = sorted.into_iter().map(|(name, shape)| {
        let emitted = || yaml::emit(&entry(name, &shape));
        let known = shapes
            .entry(shape.clone())
            .or_insert_with(|| ListedEntry::of(&yaml::emit(&entry(stand_in.as_ref()?, &shape))));
        let text = known.as_ref().map_or_else(emitted, |known| known.with(name));
        debug_assert_eq!(text, emitted(), "an entry is more than its name");
        text
    });
    texts.collect::<Vec<_>>().join("---\n").into_bytes()
}

/// What stands in an entry in the place of the name.
const STAND_IN: &str = "the-name-of-it";

/// The text of an entry around its name: that of its object, and that of the path.
struct ListedEntry([String; 3]);

impl ListedEntry {
    /// `None` where something else in the entry is called so.
    fn of(text: &str) -> Option<Self> {
        let parts: Vec<_> = text.split(STAND_IN).map(str::to_owned).collect();
        parts.try_into().ok().map(Self)
    }

    fn with(&self, name: &str) -> String {
        self.0.join(name)
    }
}

/// `workers/<worker>/sentinel.yaml`: a ConfigMap that is always there, so that the path is never empty
/// (Flux does not prune a path that became empty), and that says on the worker what was applied.
#[must_use]
pub fn sentinel(worker: &Name, digest: &Digest) -> Vec<u8> {
    let digest = format!("sha256:{digest}");
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": ROOT,
            "namespace": FLUX_SYSTEM,
            "annotations": {super::folder::DIGEST_ANNOTATION: digest},
        },
        "data": {"worker": worker.as_str(), "digest": digest},
    });
    yaml::emit(&object).into_bytes()
}

/// The files of a folder whose own templates never rendered: a `kustomization.yaml` that lists these
/// files and nothing else. Without it Flux would apply everything that lies below the path.
#[must_use]
pub fn bare_folder(listed: &[&str]) -> Files {
    let file = flux::kustomization_file(listed.iter().copied());
    Files::from([(KUSTOMIZATION.to_owned(), file)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn clusters_stand_sorted_and_once() {
        let (a, b) = (name("a"), name("b"));
        let fleet = Fleet::default();
        let list = |names: Vec<&Name>| {
            String::from_utf8(clusters_index(
                &fleet,
                &name("w"),
                names.into_iter().map(|name| IndexedCluster {
                    name,
                    tenant: "pay",
                    removal: Removal::Prune,
                    applying: Applying::Active,
                }),
                &Appliers::default(),
                "p",
            ))
            .unwrap()
        };
        assert_eq!(list(vec![&b, &a, &b]), list(vec![&a, &b]));
        assert!(list(vec![&a]).contains("path: ./p/workers/w/clusters/a\n"), "{}", list(vec![&a]));
        assert_eq!(list(vec![]), "# No cluster is placed here.\n");
    }

    #[test]
    fn an_entry_says_what_its_kustomization_says() {
        let (fleet, repository) = (Fleet::default(), |spec| FleetRepository { spec, prefix: "" });
        let own = Appliers::default();
        // One of them is called as what stands in the place of names.
        for worker in [name("w"), name(STAND_IN)] {
            let names = [name("a"), name("b"), name("true"), name("1"), name(STAND_IN)];
            let listed = |nth: usize| IndexedCluster {
                name: &names[nth],
                tenant: "pay",
                removal: if nth.is_multiple_of(2) { Removal::Prune } else { Removal::Orphan },
                applying: if nth < 2 { Applying::Active } else { Applying::Suspended },
            };
            let text = clusters_index(&fleet, &worker, (0..names.len()).map(listed), &own, "");
            let mut wanted: Vec<_> = (0..names.len()).map(listed).collect();
            wanted.sort_unstable_by_key(|cluster| cluster.name);
            let entry = |cluster: IndexedCluster<'_>| {
                let path = repository(&fleet.spec).path(&paths::cluster(&worker, cluster.name));
                let applier = own.of_tenant("pay");
                flux::cluster(cluster.name, &path, applier, (cluster.removal, cluster.applying))
            };
            let wanted: Vec<_> = wanted.into_iter().map(entry).collect();
            assert_eq!(String::from_utf8(text).unwrap(), yaml::emit_all(&wanted), "{worker}");
        }
    }

    #[test]
    fn the_sentinel_names_its_worker_and_digest() {
        let text = String::from_utf8(sentinel(&name("w"), &Digest::of(b"x"))).unwrap();
        assert!(text.contains("  worker: w\n"), "{text}");
        assert!(text.contains(&format!("carp.dev/digest: sha256:{}", Digest::of(b"x"))), "{text}");
    }
}
