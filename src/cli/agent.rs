//! `carp agent`: the worker side.

use std::path::PathBuf;
use std::time::Duration;

use super::log::LogArgs;
use super::{Context, Error, Exit, args, engine};
use crate::agent::{AgentSettings, PublishTarget, ReportPace};
use crate::model::{Name, ProvidedKind};

/// Watch this worker's clusters and report them to the fleet's repository
///
/// Runs on the worker, or anywhere with a kubeconfig for it. Reports on change, and now and then to say
/// that it is alive: one commit on a branch of the worker's own, replaced in place. Also writes the
/// status of the ManagedCluster objects on the worker. On the control-plane cluster the same command
/// reports the clusters that the workers are; --worker is spec.controlPlane.name then.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The worker that this cluster is, or the name of the control-plane cluster
    #[arg(long, value_name = "NAME", value_parser = args::name)]
    worker: Name,
    /// The fleet's repository, as this worker reaches it
    #[arg(long, value_name = "URL")]
    repository: String,
    /// What the branches of reports begin with: spec.branches.observed of the fleet
    #[arg(long, value_name = "PREFIX", default_value = "carp/observed")]
    branch: String,
    /// The SSH key that signs the reports: one of those that spec.observed.allowedSigners has for the
    /// worker
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,
    /// A kind of a provider that the fleet's own templates declare, in JSON as its file has it in YAML
    #[arg(long, value_name = "KIND", value_parser = provided)]
    observe: Vec<ProvidedKind>,
    /// Report once and exit
    #[arg(long)]
    once: bool,
    /// The kubeconfig of the worker, where the agent does not run there
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The least time between two reports
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = args::interval)]
    #[arg(conflicts_with = "once")]
    interval: Duration,
    /// The most time between two reports; the worker's heartbeatTimeout must be longer
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = args::interval)]
    #[arg(conflicts_with = "once")]
    heartbeat: Duration,
    /// Leave the status of the ManagedCluster and Worker objects alone
    #[arg(long)]
    no_status: bool,
    /// A folder for what is in the making
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    log: LogArgs,
}

fn provided(text: &str) -> Result<ProvidedKind, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    args.log.begin(context.err_palette());
    if args.heartbeat < args.interval {
        return Err(Error::usage("--heartbeat is shorter than --interval"));
    }
    let settings = AgentSettings {
        worker: args.worker.clone(),
        target: PublishTarget {
            url: args.repository.clone(),
            prefix: args.branch.trim_matches('/').to_owned(),
            author: "carp".to_owned(),
            email: "carp@carp.dev".to_owned(),
            signing_key: args.signing_key.clone(),
            scratch: args.scratch.clone().unwrap_or_else(std::env::temp_dir),
        },
        pace: ReportPace {
            least: args.interval,
            heartbeat: args.heartbeat,
            ..ReportPace::default()
        },
        once: args.once,
        observe: args.observe.clone(),
        write_status: !args.no_status,
    };
    engine::agent(context, &settings, args.kubeconfig.as_deref(), args.context.as_deref())?;
    Ok(Exit::Fine)
}
