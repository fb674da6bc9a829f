//! `carp kind run`: the controller of KINDCluster objects.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::super::args::interval;
use super::super::log::LogArgs;
use super::super::{Context, Error, Exit, engine};
use super::HostArgs;
use crate::service::Election;

/// Keep the KINDCluster objects of a cluster and the local clusters of this machine the same
///
/// Runs on the machine that has docker, with a kubeconfig of the cluster that has the objects, until
/// it is stopped. `carp crds` prints the definition that the cluster needs.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The kubeconfig of the cluster that has the objects
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The namespace of the objects; without it, all are
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    host: HostArgs,
    /// How many clusters may be made at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=64))]
    concurrency: u8,
    /// How far two looks at a cluster that is well are apart
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = interval)]
    interval: Duration,
    /// How long creations may go on after the signal to stop
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = interval)]
    grace: Duration,
    /// Where to serve /healthz and /readyz, such as 127.0.0.1:8081
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Act only while holding a Lease in the cluster that has the objects
    #[arg(long)]
    leader_election: bool,
    /// The namespace of the Lease; without it, that of the credentials
    #[arg(long, value_name = "NAMESPACE", requires = "leader_election")]
    leader_election_namespace: Option<String>,
    /// The name of the Lease; without it, carp-kind- and the machine's name, for each has its own clusters
    #[arg(long, value_name = "NAME", requires = "leader_election")]
    leader_election_name: Option<String>,
    /// How long the lead lasts without being renewed; it is renewed three times as often
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = interval)]
    #[arg(requires = "leader_election")]
    lease_duration: Duration,
    #[command(flatten)]
    log: LogArgs,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    args.log.begin(context.err_palette());
    let host = args.host.host(context);
    let election = args.leader_election.then(|| Election {
        namespace: args.leader_election_namespace.clone(),
        name: args.leader_election_name.clone().unwrap_or_else(|| lease(&host.name)),
        identity: String::new(),
        duration: args.lease_duration,
    });
    let controller = engine::KindController {
        kubeconfig: (args.kubeconfig.clone(), args.context.clone()),
        namespace: args.namespace.clone(),
        host,
        creations: args.concurrency.into(),
        interval: args.interval,
        grace: args.grace,
        listen: args.listen,
        election,
    };
    engine::kind_run(controller)?;
    Ok(Exit::Fine)
}

/// The name of a machine's Lease, which has no letters or signs that Kubernetes does not take.
fn lease(host: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let host: String = host.to_ascii_lowercase().chars().map(plain).collect();
    format!("carp-kind-{}", host.trim_matches(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_has_a_name_that_kubernetes_takes() {
        assert_eq!(lease("My_Box.local"), "carp-kind-my-box.local");
    }
}
