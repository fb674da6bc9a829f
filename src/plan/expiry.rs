//! Expiry: which of the versions that the fleet offers have come to their end. Times are compared here, so
//! that a plan reads facts; what is ahead is a deadline.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::Clock;
use super::clock::before;
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::api::{Classification, SupportedVersion};
use crate::model::paths::FLEET_FILE;
use crate::model::{Fleet, KubeVersion, offered_entry};

/// How long before its end the clusters that have a version are told of, in seconds: 30 days.
const NOTICE: i64 = 30 * 24 * 60 * 60;

/// How many clusters are named.
const NAMED: usize = 3;

/// What the time of a run makes of the versions that the fleet offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expiry {
    /// The entries of `supportedVersions` whose time has come, by their `version`.
    pub expired: BTreeSet<String>,
    /// The clusters that have a version which expires soon, has expired or is deprecated.
    pub diagnostics: Diagnostics,
    /// Until when that stays as it is; `None`: for ever.
    pub valid_until: Option<Timestamp>,
}

/// Compares the ends of the versions with the time.
#[must_use]
pub fn expire(fleet: &Fleet, now: Timestamp) -> Expiry {
    let listed = &fleet.spec.supported_versions;
    let mut clock = Clock::new(now);
    let mut expiry = Expiry::default();
    let users = users(fleet, listed);
    for (at, version) in listed.iter().enumerate() {
        let ends = version.expires.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
        let over = ends.is_some_and(|ends| clock.reached(ends));
        let soon = ends.is_some_and(|ends| clock.reached(before(ends, NOTICE)));
        if over {
            expiry.expired.insert(version.version.clone());
        }
        let names = users.get(&at).map_or(&[][..], Vec::as_slice);
        if !names.is_empty() {
            expiry.diagnostics.extend(told(version, at, (over, soon), names));
        }
    }
    expiry.valid_until = clock.valid_until();
    expiry
}

/// The clusters of each entry.
fn users<'f>(fleet: &'f Fleet, listed: &[SupportedVersion]) -> BTreeMap<usize, Vec<&'f str>> {
    let mut users: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    if listed.is_empty() {
        return users;
    }
    for cluster in fleet.clusters.values() {
        let version = cluster.spec.version.parse::<KubeVersion>().ok();
        let entry = version.and_then(|version| offered_entry(listed, version));
        let at = entry.and_then(|entry| listed.iter().position(|v| v.version == entry.version));
        if let Some(at) = at {
            users.entry(at).or_default().push(cluster.name.as_str());
        }
    }
    users
}

fn told(
    version: &SupportedVersion,
    at: usize,
    (over, soon): (bool, bool),
    names: &[&str],
) -> Option<Diagnostic> {
    let name = &version.version;
    let ends = version.expires.as_deref().unwrap_or_default();
    let path = FieldPath::keys("spec.supportedVersions").index(at);
    let (path, what) = if over {
        (path.key("expires"), format!("{name} has expired on {ends}"))
    } else if soon {
        (path.key("expires"), format!("{name} expires on {ends}"))
    } else if version.classification == Classification::Deprecated {
        (path.key("classification"), format!("{name} is deprecated"))
    } else {
        return None;
    };
    let first = names[..names.len().min(NAMED)].join(", ");
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("{what}, and clusters have it: {first}{more}");
    let help = "upgrade them; they go on running, and no new cluster gets an expired version";
    let place = Place::field(FLEET_FILE, 0, path);
    Some(Diagnostic::new(Code::VersionExpires, message).at(place).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::world::World;

    fn at(world: &str, now: &str) -> (Vec<String>, Vec<String>, Option<String>) {
        let fleet = World::read(world).fleet;
        let expiry = expire(&fleet, now.parse().unwrap());
        let told = expiry.diagnostics.iter().map(|d| d.message.clone()).collect();
        let until = expiry.valid_until.map(|until| until.to_string());
        (expiry.expired.into_iter().collect(), told, until)
    }

    const WORLD: &str = "offers v1.33 until=2027-03-31T00:00:00Z; offers v1.34; cluster a version=v1.33.4; cluster b";

    #[test]
    fn a_version_expires_at_its_moment_and_its_clusters_are_told_of_thirty_days_before() {
        let notice = Some("2027-03-01T00:00:00Z".to_owned());
        let end = Some("2027-03-31T00:00:00Z".to_owned());
        let soon =
            vec!["v1.33 expires on 2027-03-31T00:00:00Z, and clusters have it: a".to_owned()];
        assert_eq!(at(WORLD, "2027-02-28T23:59:59Z"), (vec![], vec![], notice));
        assert_eq!(at(WORLD, "2027-03-01T00:00:00Z"), (vec![], soon.clone(), end.clone()));
        assert_eq!(at(WORLD, "2027-03-30T23:59:59Z"), (vec![], soon, end));
        let over =
            vec!["v1.33 has expired on 2027-03-31T00:00:00Z, and clusters have it: a".to_owned()];
        assert_eq!(at(WORLD, "2027-03-31T00:00:00Z"), (vec!["v1.33".to_owned()], over, None));
    }

    #[test]
    fn a_version_that_nobody_has_expires_in_silence() {
        let world = "offers v1.33 until=2027-03-31T00:00:00Z; cluster b";
        let (expired, told, _) = at(world, "2028-01-01T00:00:00Z");
        assert_eq!((expired, told), (vec!["v1.33".to_owned()], vec![]));
    }

    #[test]
    fn the_clusters_of_a_deprecated_version_are_told_of_and_few_are_named() {
        let world =
            "offers v1.34 deprecated; cluster a; cluster b; cluster c; cluster d; cluster e";
        let (_, told, until) = at(world, "2027-01-01T00:00:00Z");
        assert_eq!(told, ["v1.34 is deprecated, and clusters have it: a, b, c and 2 more"]);
        assert_eq!(until, None);
    }
}
