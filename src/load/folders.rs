//! The tenants' folders: whose a file is. Below a tenant's `paths` stand clusters of that tenant and nothing
//! else, so whoever may write there can do nothing to anybody else.

use std::collections::BTreeMap;

use super::item::Item;
use super::kind::Kind;
use crate::model::api::{FleetSpec, Tenant};
use crate::model::{Previous, Unloaded};

/// The tenants by their folders.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders<'a> {
    input: ByFolder<'a>,
    /// Those that the last output says; `None` where nothing is in force.
    in_force: Option<ByFolder<'a>>,
}

/// Tenants by folder.
type ByFolder<'a> = BTreeMap<&'a str, Vec<&'a str>>;

impl<'a> Folders<'a> {
    /// As `carp.yaml` has them.
    pub(super) fn of(spec: Option<&'a FleetSpec>) -> Self {
        let tenants = spec.map(|spec| spec.tenants.as_slice()).unwrap_or_default();
        Self { input: by_folder(tenants), in_force: None }
    }

    /// These folders beside those that are in force. What breaks in a folder that a commit gives to a tenant is the
    /// platform's still: by that commit it would hold nobody's deletions any more.
    pub(super) fn beside(self, previous: &'a Previous) -> Self {
        let in_force = previous.fleet.as_ref().map(|lock| by_folder(&lock.tenants));
        Self { in_force, ..self }
    }

    /// The tenants in whose folder a file stands: those of the innermost one. None: it is the platform's.
    pub(super) fn tenants_of(&self, file: &str) -> &[&'a str] {
        innermost(&self.input, file)
    }

    /// Whether a document stands in no tenant's folder.
    pub(super) fn is_platforms(&self, item: &Item) -> bool {
        self.tenants_of(&item.findings.source.file).is_empty()
    }

    /// The first folder of these tenants.
    pub(super) fn folder_of(&self, tenants: &[&str]) -> Option<&'a str> {
        self.input.iter().find(|(_, of)| *of == tenants).map(|(folder, _)| *folder)
    }

    /// What did not load, with whose it is. In a tenant's folder it can be nothing but a cluster.
    pub(super) fn whose(&self, unloaded: Unloaded) -> Unloaded {
        let tenants = self.tenants_of(&unloaded.file);
        let is_in_force = self.in_force.as_ref().is_none_or(|in_force| {
            innermost(in_force, &unloaded.file).iter().any(|tenant| tenants.contains(tenant))
        });
        if tenants.is_empty() || !is_in_force {
            return unloaded;
        }
        Unloaded {
            kind: Some(Kind::ManagedCluster.name().to_owned()),
            blocks_placements: false,
            tenants: tenants.iter().map(|&tenant| tenant.to_owned()).collect(),
            ..unloaded
        }
    }
}

fn by_folder(tenants: &[Tenant]) -> ByFolder<'_> {
    let mut folders = ByFolder::new();
    for tenant in tenants {
        for folder in &tenant.paths {
            let of = folders.entry(folder).or_default();
            if !of.contains(&tenant.name.as_str()) {
                of.push(&tenant.name);
            }
        }
    }
    folders
}

fn innermost<'f, 'a>(folders: &'f ByFolder<'a>, file: &str) -> &'f [&'a str] {
    if folders.is_empty() {
        return &[];
    }
    // A folder itself may be a link or a submodule, which is a file here.
    let mut at = Some(file);
    while let Some(path) = at {
        if let Some(tenants) = folders.get(path) {
            return tenants;
        }
        at = path.rsplit_once('/').map(|(above, _)| above);
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, cluster, load_files};
    use super::*;

    fn tenants(yaml: &str) -> FleetSpec {
        let carp = format!("{CARP}  tenants: {yaml}\n");
        load_files(&[("carp.yaml", &carp)]).fleet.spec
    }

    #[test]
    fn a_file_is_the_tenants_of_the_innermost_folder() {
        let spec = tenants(
            "[{name: a, paths: [fleet/a, fleet/both]}, {name: b, paths: [fleet/a/b, fleet/both]}, {name: c}]",
        );
        let folders = Folders::of(Some(&spec));
        for (file, tenants) in [
            ("fleet/a/x.yaml", &["a"][..]),
            ("fleet/a/deep/er/x.yaml", &["a"]),
            ("fleet/a/b/x.yaml", &["b"]),
            ("fleet/a", &["a"]),
            ("fleet/both/x.yaml", &["a", "b"]),
            ("fleet/ab/x.yaml", &[]),
            ("fleet/x.yaml", &[]),
            ("policies/fleet/a/x.yaml", &[]),
        ] {
            assert_eq!(folders.tenants_of(file), tenants, "{file}");
        }
    }

    #[test]
    fn what_does_not_load_in_a_tenants_folder_is_a_cluster_of_theirs() {
        let carp = format!("{CARP}  tenants: [{{name: shop, paths: [fleet/shop]}}]\n");
        let broken = cluster("").replace("ManagedCluster", "PlacementPolicy");
        for text in ["kind: [\n", "", &broken, &"x".repeat(2 << 20)] {
            let files = [("carp.yaml", &*carp), ("fleet/shop/x.yaml", text)];
            let loaded = load_files(&files);
            let [unloaded] = &loaded.fleet.unloaded[..] else { panic!("{text:.20}") };
            assert_eq!(unloaded.kind.as_deref(), Some("ManagedCluster"));
            assert_eq!(unloaded.tenants, ["shop"]);
            assert!(!loaded.fleet.holds_placements() && !loaded.fleet.is_unsure());
            assert!(loaded.fleet.is_unsure_of("shop") && !loaded.fleet.is_unsure_of("pay"));
        }
    }
}
