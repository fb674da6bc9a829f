//! `invalid-version`: `vMAJOR.MINOR.PATCH`, and one that the providers support. Cluster API wants the
//! leading `v` and the patch; the range is in carp's table of versions, and in the manifest of the flavor.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::habits::{TEMPLATED, is_templated};
use crate::load::kind::DocumentSpec;
use crate::model::KubeVersion;
use crate::model::api::SupportedVersion;
use crate::model::tables::{VersionRange, managed_versions, version_between, worker_versions};

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let (text, range, what) = match &subject.body.spec {
        DocumentSpec::ManagedCluster(c) => (&c.version, managed_versions(), "a managed cluster"),
        DocumentSpec::Worker(w) => (&w.version, worker_versions(), "a worker"),
        _ => return,
    };
    let path = FieldPath::keys("spec.version");
    match text.parse::<KubeVersion>() {
        Err(error) => {
            let known = scene.fleet.map_or(&[][..], |fleet| &fleet.supported_versions);
            out.add(Code::InvalidVersion, path, error.to_string(), help(text, known));
        }
        Ok(version) if !range.contains(version) => {
            let message = format!("`{text}` is not a version that {what} may have");
            out.add(Code::InvalidVersion, path, message, supported(range));
        }
        Ok(version) => made(subject, scene, version, out),
    }
}

/// A version that the flavor's templates do not make.
fn made(subject: &Subject<'_>, scene: &CheckContext<'_>, version: KubeVersion, out: &mut Findings) {
    let (Some(name), Some(flavor)) = (subject.flavor(), subject.manifest(scene)) else { return };
    if let Some(only) = flavor.makes_only(version) {
        let message = format!("`{version}` is not a version that the flavor `{name}` makes");
        let help = format!("it makes {only}");
        out.add(Code::InvalidVersion, FieldPath::keys("spec.version"), message, help);
    }
}

/// What to write instead. For a minor version it is the newest of its patches that `carp.yaml` offers, or else that
/// carp knows.
fn help(text: &str, offered: &[SupportedVersion]) -> String {
    if is_templated(text) {
        return TEMPLATED.to_owned();
    }
    let with_v = format!("v{}", text.trim_start_matches(['v', 'V']));
    let with_patch = format!("{with_v}.0");
    let patches = offered.iter().filter_map(|row| row.version.parse::<KubeVersion>().ok());
    let of_minor = patches.filter(|version| version.to_string().starts_with(&format!("{with_v}.")));
    if let Some(newest) = of_minor.max() {
        return format!("write `version: {newest}`, the newest that carp.yaml offers");
    }
    let whole = |text: &str| text.parse::<KubeVersion>().ok();
    let of_minor = whole(&with_patch).and_then(|v| version_between(v.major, v.minor));
    match (whole(&with_v).or(of_minor), whole(&with_patch)) {
        (Some(version), None) => format!("write `version: {version}`"),
        (Some(known), Some(_)) => format!("write `version: {known}`, the newest that carp knows"),
        (None, Some(first)) => format!("write `version: {first}`, or a later patch"),
        (None, None) => "write it as vMAJOR.MINOR.PATCH, such as v1.34.2".to_owned(),
    }
}

fn supported(range: VersionRange) -> String {
    let (min, max) = (range.min, range.max);
    format!("supported: v{}.{} to v{}.{}", min.major, min.minor, max.major, max.minor)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, class, cluster, files_find, finds, finds_nothing, load_files, worker,
    };
    use super::*;

    #[test]
    fn a_version_has_a_v_and_a_patch() {
        for (bad, good) in [("1.34.2", "v1.34.2"), ("V1.34.2", "v1.34.2")] {
            let text = cluster("").replace("v1.34.2", bad);
            let found = finds(text, Code::InvalidVersion, "spec.version");
            assert_eq!(found.help, Some(format!("write `version: {good}`")));
        }
        finds(cluster("").replace("v1.34.2", "latest"), Code::InvalidVersion, "spec.version");
    }

    #[test]
    fn of_a_minor_version_the_newest_patch_that_carp_knows_is_told() {
        let help = |bad: &str| {
            let text = cluster("").replace("v1.34.2", bad);
            finds(text, Code::InvalidVersion, "spec.version").help.unwrap()
        };
        let known = version_between(1, 34).unwrap();
        assert_eq!(help("v1.34"), format!("write `version: {known}`, the newest that carp knows"));
        assert_eq!(help("V1.34"), help("v1.34"));
        assert_eq!(help("v1.36"), "write `version: v1.36.0`, or a later patch");
    }

    #[test]
    fn a_minor_version_is_told_its_newest_patch_that_is_offered() {
        let offered =
            "  supportedVersions: [{version: v1.33.4}, {version: v1.33.10}, {version: v1.34}]\n";
        let text = cluster("").replace("v1.34.2", "v1.33");
        let carp = format!("{CARP}{offered}");
        let files = [("carp.yaml", &*carp), ("fleet/x.yaml", &*text)];
        let found = load_files(&files).diagnostics;
        let helps: Vec<_> = found.iter().filter_map(|d| d.help.as_deref()).collect();
        assert_eq!(helps, ["write `version: v1.33.10`, the newest that carp.yaml offers"]);
    }

    #[test]
    fn a_version_is_one_that_the_flavor_makes() {
        let flavor = "kind: [ManagedCluster, Worker]\nmobility: None\nobjects: []\nversions: {min: v1.33, max: v1.34}\n";
        let told = |text: &str, field: &str| {
            let files = [("fleet/x.yaml", text), ("templates/moon/flavor.yaml", flavor)];
            let found = files_find(&files, Code::InvalidVersion, field);
            assert!(found.message.ends_with("is not a version that the flavor `moon` makes"));
            assert_eq!(found.help.as_deref(), Some("it makes v1.33 to v1.34"));
        };
        for other in ["v1.32.5", "v1.35.0"] {
            let of = |text: String| text.replace("v1.34.2", other);
            told(&of(cluster("flavor: moon\n  ")), "spec.version");
            told(&of(worker("flavor: moon\n  ")), "spec.version");
            let class =
                format!("{}---\n{}", class("small", "flavor: moon"), cluster("class: small\n  "));
            told(&of(class), "spec.version");
            let pool = "apiVersion: carp.dev/v1alpha1\nkind: WorkerPool\nmetadata: {name: eu}\nspec:\n  max: 1\n  \
                        template:\n    spec: {flavor: moon, version: v1.34.2, location: westeurope}\n";
            told(&of(pool.to_owned()), "spec.template.spec.version");
        }
        let fine = cluster("flavor: moon\n  ");
        let files =
            [("carp.yaml", CARP), ("fleet/x.yaml", &*fine), ("templates/moon/flavor.yaml", flavor)];
        let found = load_files(&files).diagnostics;
        assert!(found.iter().all(|d| d.code != Code::InvalidVersion), "{found:?}");
    }

    #[test]
    fn a_version_is_one_that_is_supported() {
        finds(cluster("").replace("v1.34.2", "v1.29.9"), Code::InvalidVersion, "spec.version");
        finds(cluster("").replace("v1.34.2", "v1.99.0"), Code::InvalidVersion, "spec.version");
        finds(worker("").replace("v1.34.2", "v1.31.0"), Code::InvalidVersion, "spec.version");
        finds_nothing(cluster("").replace("v1.34.2", "v1.31.0"));
    }
}
