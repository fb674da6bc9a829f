//! The agent, for the command line: what it tells goes to the log.

use std::path::Path;

use jiff::Timestamp;
use tracing::{info, warn};

use super::super::{Context, Error};
use crate::agent::{Settings, Told, serve};
use crate::model::count;
use crate::observe::Trouble;

/// Runs the agent until it is told to stop, or once.
///
/// # Errors
/// There is no cluster to observe; with `once`, the worker cannot be observed or the report does not
/// arrive.
pub fn agent(
    context: &Context<'_, '_>,
    settings: &Settings,
    kubeconfig: Option<&Path>,
    kube_context: Option<&str>,
) -> Result<(), Error> {
    let (clock, pinned) = (context.io.clock, context.pinned_now);
    let now = move || -> Timestamp { pinned.unwrap_or_else(clock) };
    let mut tell = |told: Told| match &told {
        Told::Reported { .. } => info!("{}", line(&told)),
        Told::Failed(_) | Told::Watch(..) => warn!("{}", line(&told)),
    };
    let connection = (kubeconfig, kube_context);
    serve(settings, connection, &now, &mut tell).map_err(|error| Error::failed(error.to_string()))
}

fn line(told: &Told) -> String {
    match told {
        Told::Reported { commit, clusters, unlisted } => {
            let clusters = count(*clusters as u64, "cluster");
            let missing = if unlisted.is_empty() {
                String::new()
            } else {
                format!("; incomplete, without {}", unlisted.join(", "))
            };
            format!("reported {clusters} as {}{missing}", commit.short())
        }
        Told::Failed(why) => format!("{why}; trying again"),
        Told::Watch(kind, Trouble::NotServed) => {
            format!("the API server knows no {}; trying again", kind.name())
        }
        Told::Watch(kind, Trouble::Denied(why) | Trouble::Broken(why)) => {
            format!("{} cannot be watched: {why}; trying again", kind.name())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Id;
    use crate::observe::Kind;

    #[test]
    fn what_is_told_reads_as_a_line() {
        let reported = |clusters, unlisted: &[&str]| Told::Reported {
            commit: Id::EMPTY_DIR,
            clusters,
            unlisted: unlisted.iter().map(|u| (*u).to_owned()).collect(),
        };
        assert_eq!(line(&reported(1, &[])), "reported 1 cluster as 4b825dc6");
        assert_eq!(
            line(&reported(3, &["Cluster"])),
            "reported 3 clusters as 4b825dc6; incomplete, without Cluster"
        );
        assert_eq!(
            line(&Told::Watch(Kind::Cluster, Trouble::NotServed)),
            "the API server knows no Cluster; trying again"
        );
    }
}
