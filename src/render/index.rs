//! The small files that list others: `clusters.yaml`, `workers.yaml`, `sentinel.yaml`.

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
    let entry = |cluster: &IndexedCluster<'_>| {
        let path = repository.path(&paths::cluster(worker, cluster.name));
        let applier = appliers.of_tenant(cluster.tenant);
        flux::cluster(cluster.name, &path, applier, (cluster.removal, cluster.applying))
    };
    listing(clusters, |cluster| cluster.name, entry, "# No cluster is placed here.\n")
}

/// `control-plane/workers.yaml`: one Flux Kustomization for each worker that the control plane makes.
#[must_use]
pub fn control_plane_index<'a>(
    fleet: &Fleet,
    workers: impl Iterator<Item = &'a Name>,
    prefix: &str,
) -> Vec<u8> {
    let repository = FleetRepository { spec: &fleet.spec, prefix };
    let entry = |worker: &&Name| {
        let path = repository.path(&paths::control_plane(worker));
        flux::cluster(worker, &path, WORKER_APPLIER, (Removal::Prune, Applying::Active))
    };
    listing(workers, |worker| *worker, entry, "# No worker is made here.\n")
}

fn listing<'a, T>(
    all: impl Iterator<Item = T>,
    name: impl Fn(&T) -> &'a Name,
    entry: impl Fn(&T) -> Value,
    none: &str,
) -> Vec<u8> {
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by_key(&name);
    all.dedup_by_key(|one| name(one));
    if all.is_empty() {
        return none.as_bytes().to_vec();
    }
    let entries: Vec<_> = all.iter().map(entry).collect();
    yaml::emit_all(&entries).into_bytes()
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
    fn the_sentinel_names_its_worker_and_digest() {
        let text = String::from_utf8(sentinel(&name("w"), &Digest::of(b"x"))).unwrap();
        assert!(text.contains("  worker: w\n"), "{text}");
        assert!(text.contains(&format!("carp.dev/digest: sha256:{}", Digest::of(b"x"))), "{text}");
    }
}
