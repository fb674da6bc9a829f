//! `carp kind apply`: the same without a cluster, over Git.

use std::path::PathBuf;

use super::super::args::name;
use super::super::{Context, Error, Exit, engine, show};
use super::HostArgs;
use crate::model::Name;

/// Make the local clusters that a fleet's output branch asks for, once, without any cluster
///
/// Reads the KINDCluster objects below the folder of a worker, makes, checks and deletes clusters of
/// this machine, and writes what became of them to a branch of its own: one file for each, with what
/// the object's status would say. A file stays until its cluster is gone. Kubeconfigs go to files
/// here, never into Git.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The fleet's repository, as this machine reaches it: a path or a URL
    #[arg(long, value_name = "REPOSITORY")]
    repository: String,
    /// The worker whose folder is read
    #[arg(long, value_name = "NAME", value_parser = name)]
    #[arg(required_unless_present = "control_plane", conflicts_with = "control_plane")]
    worker: Option<Name>,
    /// Read the folder of the control plane, which has the workers that are clusters of kind
    #[arg(long)]
    control_plane: bool,
    /// The output branch: spec.branches.output of the fleet
    #[arg(long, value_name = "BRANCH", default_value = "carp/rendered")]
    output_branch: String,
    /// The fleet's folder in its repository, where it is not the root
    #[arg(long, value_name = "PATH", default_value = "")]
    prefix: String,
    /// What the status branch begins with; the worker's name follows
    #[arg(long, value_name = "PREFIX", default_value = "carp/kind")]
    status_branch: String,
    /// Where kubeconfigs go; without it, carp/kubeconfigs in `XDG_STATE_HOME` or ~/.local/state
    #[arg(long, value_name = "DIR")]
    kubeconfigs: Option<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let kubeconfigs = args.kubeconfigs.clone();
    let tree = engine::KindTree {
        url: args.repository.clone(),
        branch: args.output_branch.clone(),
        prefix: args.prefix.trim_matches('/').to_owned(),
        worker: args.worker.clone(),
        status: args.status_branch.trim_matches('/').to_owned(),
        kubeconfigs: kubeconfigs
            .unwrap_or_else(|| engine::state_folder(context).join("kubeconfigs")),
        host: args.host.host(context),
    };
    let progress = context.progress("making clusters");
    let applied = engine::kind_apply(context, tree);
    drop(progress);
    let applied = applied?;
    let palette = context.palette();
    context.print(&show::kind::text(&applied, palette))?;
    Ok(if applied.is_fine() { Exit::Fine } else { Exit::Findings })
}
