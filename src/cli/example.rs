//! The example fleet, built into carp: what `carp demo` runs and what `carp init` starts from.

/// The files of `fleet-repo-example/`, by path.
pub const EXAMPLE: &[(&str, &str)] = &[
    ("README.md", include_str!("../../fleet-repo-example/README.md")),
    ("carp.yaml", include_str!("../../fleet-repo-example/carp.yaml")),
    ("fleet/classes.yaml", include_str!("../../fleet-repo-example/fleet/classes.yaml")),
    ("fleet/overlays/we-2.yaml", include_str!("../../fleet-repo-example/fleet/overlays/we-2.yaml")),
    (
        "fleet/payments/ledger-archive.yaml",
        include_str!("../../fleet-repo-example/fleet/payments/ledger-archive.yaml"),
    ),
    (
        "fleet/payments/payments.yaml",
        include_str!("../../fleet-repo-example/fleet/payments/payments.yaml"),
    ),
    (
        "fleet/shop/analytics.yaml",
        include_str!("../../fleet-repo-example/fleet/shop/analytics.yaml"),
    ),
    (
        "fleet/shop/non-production.yaml",
        include_str!("../../fleet-repo-example/fleet/shop/non-production.yaml"),
    ),
    (
        "fleet/shop/production.yaml",
        include_str!("../../fleet-repo-example/fleet/shop/production.yaml"),
    ),
    (
        "fleet/workers/eastus.yaml",
        include_str!("../../fleet-repo-example/fleet/workers/eastus.yaml"),
    ),
    (
        "fleet/workers/northeurope.yaml",
        include_str!("../../fleet-repo-example/fleet/workers/northeurope.yaml"),
    ),
    (
        "fleet/workers/us-more.yaml",
        include_str!("../../fleet-repo-example/fleet/workers/us-more.yaml"),
    ),
    (
        "fleet/workers/westeurope.yaml",
        include_str!("../../fleet-repo-example/fleet/workers/westeurope.yaml"),
    ),
    ("observed/ne-1.yaml", include_str!("../../fleet-repo-example/observed/ne-1.yaml")),
    ("observed/pci-1.yaml", include_str!("../../fleet-repo-example/observed/pci-1.yaml")),
    ("observed/us-2.yaml", include_str!("../../fleet-repo-example/observed/us-2.yaml")),
    ("observed/we-1.yaml", include_str!("../../fleet-repo-example/observed/we-1.yaml")),
    ("observed/we-2.yaml", include_str!("../../fleet-repo-example/observed/we-2.yaml")),
    ("policies/placement.yaml", include_str!("../../fleet-repo-example/policies/placement.yaml")),
    (
        "policies/tests/placement.yaml",
        include_str!("../../fleet-repo-example/policies/tests/placement.yaml"),
    ),
];

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the folder on disk is what is compared with")]

    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::model::Report;

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        entries.flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect()
    }

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fleet-repo-example");
        let on_disk: BTreeMap<_, _> = files(&root)
            .into_iter()
            .map(|path| {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .collect();
        let built_in: BTreeMap<_, _> =
            EXAMPLE.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
        assert_eq!(built_in, on_disk);
    }

    #[test]
    fn the_reports_are_reports_of_clusters_that_the_fleet_has() {
        let is_wanted = |name: &str| {
            let line = format!("  name: {name}\n");
            EXAMPLE.iter().any(|(path, text)| path.starts_with("fleet/") && text.contains(&line))
        };
        for (path, text) in EXAMPLE.iter().filter(|(path, _)| path.starts_with("observed/")) {
            let report: Report =
                serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(*path, format!("observed/{}.yaml", report.worker));
            for cluster in report.clusters {
                assert!(is_wanted(&cluster.name), "{path}: {}", cluster.name);
            }
        }
    }
}
