//! A placed cluster wants a version that its worker's components do not support, or that the fleet does not offer
//! or offers no longer.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::{Cluster, Fleet, KubeVersion, Name, NotOffered, Offer, Reason, Versions};

/// The versions of a placed cluster before and after a run.
#[derive(Clone, Copy, Debug)]
pub struct VersionChange<'a> {
    /// The cluster, as its document wants it.
    pub cluster: &'a Cluster,
    /// The worker that it is on.
    pub worker: &'a Name,
    /// The version that its document wanted when its last good folder was made.
    pub wanted_before: &'a str,
    /// Those that its last good folder has.
    pub from: &'a Versions,
    /// Those that its new folder gets.
    pub to: &'a Versions,
}

/// Why a placed cluster may not change to the version that it wants: a finding for [`forbidden_change`](
/// super::forbidden_change). One that changes nothing of its version is asked nothing: what runs goes on running.
/// `expired` are the entries of `supportedVersions` whose time has come.
#[must_use]
pub fn version_refused(
    fleet: &Fleet,
    expired: &BTreeSet<String>,
    change: VersionChange<'_>,
) -> Option<Diagnostic> {
    let VersionChange { cluster, worker, wanted_before, from, to } = change;
    if let Some(found) = not_made(change) {
        return Some(found);
    }
    let wanted = cluster.spec.version.as_str();
    let stays = from == to || wanted_before == wanted;
    let version = wanted.parse::<KubeVersion>().ok().filter(|_| !stays)?;
    let document = fleet.workers.get(worker);
    let by = document.and_then(|w| w.unsupported(cluster.flavor(), version).into_iter().next());
    let offer = Offer { listed: &fleet.spec.supported_versions, expired };
    let why = match (by, offer.refuses(version)) {
        (Some(by), _) => Reason::Version { version, by },
        (None, Some(NotOffered::NotListed)) => Reason::VersionNotOffered { version },
        (None, Some(NotOffered::Expired(entry))) => {
            let since = entry.expires.as_deref().unwrap_or_default().into();
            Reason::VersionExpired { version, since }
        }
        (None, None) => return None,
    };
    let message = format!("{} cannot change to {version} on {worker}: {why}", cluster.name);
    let place = Place::field(&cluster.file, cluster.document, FieldPath::keys("spec.version"));
    let help = "take a version that the worker supports and the fleet offers";
    Some(Diagnostic::new(Code::VersionRefused, message).at(place).help(help))
}

/// A version on the way that the templates of the flavor do not make, whatever was allowed when it began: what they
/// would make of it is nothing that anybody has tried. The one at its end is a finding of the document.
fn not_made(
    VersionChange { cluster, worker, from, to, .. }: VersionChange<'_>,
) -> Option<Diagnostic> {
    let flavor = cluster.manifest()?;
    let parts = [(&from.control_plane, &to.control_plane), (&from.pools, &to.pools)];
    let next = parts.into_iter().filter(|(from, to)| from != to);
    let (version, only) = next
        .filter_map(|(_, to)| to.parse::<KubeVersion>().ok())
        .find_map(|version| Some((version, flavor.makes_only(version)?)))?;
    let message = format!(
        "{} cannot change to {version} on {worker}: the flavor `{}` makes {only}",
        cluster.name,
        cluster.flavor()
    );
    let place = Place::field(&cluster.file, cluster.document, FieldPath::keys("spec.version"));
    let help =
        "take the templates that make it, until the cluster has a version that these make too";
    Some(Diagnostic::new(Code::VersionRefused, message).at(place).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::{FleetSpec, ManagedClusterSpec, SupportedVersion};
    use crate::model::{Catalogue, Digest};

    /// What a cluster at v1.34.2 is told that wants `wanted`, where v1.34 and v1.35 are offered and v1.35 has
    /// expired.
    fn told(wanted: &str, wanted_before: &str, to: &str) -> Option<String> {
        told_with(Catalogue::default(), wanted, wanted_before, to)
    }

    fn told_with(
        catalogue: Catalogue,
        wanted: &str,
        wanted_before: &str,
        to: &str,
    ) -> Option<String> {
        let entry = |version: &str| SupportedVersion {
            version: version.to_owned(),
            ..SupportedVersion::default()
        };
        let spec = FleetSpec {
            supported_versions: vec![entry("v1.34"), entry("v1.35")],
            ..FleetSpec::default()
        };
        let fleet = Fleet { spec, ..Fleet::default() };
        let cluster = Cluster {
            name: Name::parse("a").unwrap(),
            tenant: "shop".to_owned(),
            labels: [].into(),
            facts: Digest::of(b"a"),
            file: "fleet/a.yaml".to_owned(),
            document: 0,
            spec: ManagedClusterSpec {
                version: wanted.to_owned(),
                ..ManagedClusterSpec::default()
            }
            .into(),
            catalogue,
            demand: crate::model::Resources::new(),
        };
        let change = VersionChange {
            cluster: &cluster,
            worker: &Name::parse("w").unwrap(),
            wanted_before,
            from: &Versions::both("v1.34.2"),
            to: &Versions::both(to),
        };
        version_refused(&fleet, &["v1.35".to_owned()].into(), change).map(|d| d.message)
    }

    #[test]
    fn what_is_not_offered_is_refused_and_says_why() {
        assert_eq!(told("v1.34.3", "v1.34.2", "v1.34.3"), None);
        let expired = told("v1.35.1", "v1.34.2", "v1.35.1").unwrap();
        assert!(expired.starts_with("a cannot change to v1.35.1 on w: "), "{expired}");
        let unlisted = told("v1.36.0", "v1.34.2", "v1.36.0").unwrap();
        assert_ne!(expired.rsplit(": ").next(), unlisted.rsplit(": ").next());
    }

    #[test]
    fn no_step_is_taken_that_the_templates_do_not_make() {
        let moon = |versions: &str| {
            let text = format!(
                "kind: ManagedCluster\nmobility: None\nobjects: []\nversions: {versions}\n"
            );
            Catalogue::with([("kamaji-capz/flavor.yaml", text.as_str())])
        };
        let told = |versions: &str, wanted_before: &str, to: &str| {
            told_with(moon(versions), "v1.36.0", wanted_before, to)
        };
        let said =
            "a cannot change to v1.35.1 on w: the flavor `kamaji-capz` makes v1.36 and newer";
        let after = told("{min: v1.36}", "v1.36.0", "v1.35.1");
        assert_eq!(
            after.as_deref(),
            Some(said),
            "on its way since it was allowed, with other templates"
        );
        assert_eq!(told("{min: v1.36}", "v1.34.2", "v1.35.1").as_deref(), Some(said));
        assert_eq!(told("{max: v1.34}", "v1.36.0", "v1.34.2"), None, "it goes nowhere");
        assert_eq!(told("{min: v1.34}", "v1.36.0", "v1.35.1"), None);
    }

    #[test]
    fn what_runs_goes_on_running_whatever_is_offered() {
        assert_eq!(told("v1.36.0", "v1.36.0", "v1.35.1"), None, "on its way since it was allowed");
        assert_eq!(told("v1.36.0", "v1.35.1", "v1.34.2"), None, "its folder does not change");
        assert_eq!(
            told("none", "v1.34.2", "v1.35.1"),
            None,
            "what is no version is found elsewhere"
        );
    }
}
