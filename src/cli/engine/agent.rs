//! The agent, for the command line: what it tells goes to the log.

use std::path::Path;

use jiff::Timestamp;
use tracing::{info, warn};

use super::super::{Context, Error};
use crate::agent::{AgentSettings, AgentTurn, serve};
use crate::model::count;
use crate::observe::WatchTrouble;

/// Runs the agent until it is told to stop, or once.
///
/// # Errors
/// There is no cluster to observe; with `once`, the worker cannot be observed or the report does not
/// arrive.
pub fn agent(
    context: &Context<'_, '_>,
    settings: &AgentSettings,
    kubeconfig: Option<&Path>,
    kube_context: Option<&str>,
) -> Result<(), Error> {
    let (clock, pinned) = (context.io.clock, context.pinned_now);
    let now = move || -> Timestamp { pinned.unwrap_or_else(clock) };
    let mut tell = |told: AgentTurn| match &told {
        AgentTurn::Reported { .. } => info!("{}", line(&told)),
        AgentTurn::Failed(_) | AgentTurn::Watch(..) => warn!("{}", line(&told)),
    };
    let connection = (kubeconfig, kube_context);
    serve(settings, connection, &now, &mut tell).map_err(|error| Error::failed(error.to_string()))
}

fn line(told: &AgentTurn) -> String {
    match told {
        AgentTurn::Reported { commit, clusters, unlisted } => {
            let clusters = count(*clusters as u64, "cluster");
            let missing = if unlisted.is_empty() {
                String::new()
            } else {
                format!("; incomplete, without {}", unlisted.join(", "))
            };
            format!("reported {clusters} as {}{missing}", commit.short())
        }
        AgentTurn::Failed(why) => format!("{why}; trying again"),
        AgentTurn::Watch(kind, WatchTrouble::NotServed) => {
            format!("the API server knows no {}; trying again", kind.name())
        }
        AgentTurn::Watch(kind, WatchTrouble::Denied(why) | WatchTrouble::Broken(why)) => {
            format!("{} cannot be watched: {why}; trying again", kind.name())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Id;
    use crate::observe::ObservedKind;

    #[test]
    fn what_is_told_reads_as_a_line() {
        let reported = |clusters, unlisted: &[&str]| AgentTurn::Reported {
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
            line(&AgentTurn::Watch(ObservedKind::Cluster, WatchTrouble::NotServed)),
            "the API server knows no Cluster; trying again"
        );
    }
}
