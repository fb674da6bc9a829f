//! Arguments that several commands have.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;

use crate::model::{Name, NameError};

/// Which fleet a command reads.
#[derive(Clone, Debug, clap::Args)]
pub struct FleetArgs {
    /// The fleet: a folder as it stands, FOLDER@REV, or a Git URL
    #[arg(long, value_name = "FLEET", default_value = ".")]
    pub fleet: String,
}

/// Which fleet a command writes to: it must be a folder.
#[derive(Clone, Debug, clap::Args)]
pub struct FolderArgs {
    /// The folder of the fleet
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub fleet: PathBuf,
}

/// Where a command finds the workers' reports.
#[derive(Clone, Debug, clap::Args)]
pub struct ObservedArgs {
    /// A folder with the workers' reports, one WORKER.yaml each, instead of those in the repository
    #[arg(long, value_name = "DIR")]
    pub observed: Option<PathBuf>,
}

/// `KIND/NAME`, or `NAME` alone: names are unique over clusters and workers, and a policy of the same
/// name comes after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// The kind, where one was given.
    pub kind: Option<ObjectKind>,
    /// The name.
    pub name: Name,
}

/// A kind that commands speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A `ManagedCluster`.
    Cluster,
    /// A `Worker`.
    Worker,
    /// A `PlacementPolicy`.
    Policy,
}

impl FromStr for ObjectRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = match text.split_once('/') {
            None => (None, text),
            Some((kind, name)) => (Some(kind_of(kind)?), name),
        };
        Ok(Self { kind, name: Name::parse(name).map_err(|e| e.to_string())? })
    }
}

fn kind_of(text: &str) -> Result<ObjectKind, String> {
    match text.to_ascii_lowercase().as_str() {
        "cluster" | "clusters" | "managedcluster" | "managedclusters" | "mc" => {
            Ok(ObjectKind::Cluster)
        }
        "worker" | "workers" | "wk" => Ok(ObjectKind::Worker),
        "policy" | "policies" | "placementpolicy" | "placementpolicies" | "pp" => {
            Ok(ObjectKind::Policy)
        }
        _ => Err(format!("`{text}` is not a kind; the kinds are `cluster`, `worker` and `policy`")),
    }
}

/// Reads a time that something may take.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    at_least(text, Duration::from_millis(10), "10ms")
}

/// Reads a time between two things that are done again and again.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    at_least(text, Duration::from_secs(1), "1s")
}

fn at_least(text: &str, shortest: Duration, shown: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    match Duration::try_from(duration) {
        Ok(duration) if duration >= shortest => Ok(duration),
        _ => Err(format!("the shortest time is {shown}")),
    }
}

/// Reads a name from the command line.
pub(super) fn name(text: &str) -> Result<Name, NameError> {
    Name::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_shortest() {
        assert_eq!(interval("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["0s", "-5s", "x", "100ms"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
        assert_eq!(timeout("100ms"), Ok(Duration::from_millis(100)));
        assert!(timeout("9ms").is_err());
    }

    #[test]
    fn an_object_is_a_kind_and_a_name_or_a_name_alone() {
        let parse = |text: &str| text.parse::<ObjectRef>();
        assert_eq!(parse("cluster/pay-eu").unwrap().kind, Some(ObjectKind::Cluster));
        assert_eq!(parse("wk/w1").unwrap().kind, Some(ObjectKind::Worker));
        assert_eq!(parse("pay-eu").unwrap().kind, None);
        assert_eq!(
            parse("pod/x").unwrap_err(),
            "`pod` is not a kind; the kinds are `cluster`, `worker` and `policy`"
        );
        assert!(parse("cluster/A").is_err());
    }
}
