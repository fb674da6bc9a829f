//! `carp drain`: a worker is emptied, as far as what is on it may move.

use super::{Context, Error, Exit, FolderArgs, engine, object::WorkerArgs, overlay, show};

/// Drain a worker: nothing new is placed there, and what may move, moves
///
/// Writes `drain: true` to fleet/overlays/NAME.yaml and keeps what else the file says. Clusters
/// that manage themselves are handed over as they are. Of the others only those with
/// `onWorkerLoss: Rebuild` move: each is deleted on the worker and made anew, and empty, on
/// another one. All else stays; which clusters, and why, is said at once.
/// `carp uncordon NAME` takes the drain off again.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    worker: WorkerArgs,
    /// How many clusters may be away at a time: on the move, or not yet running where they went
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_unavailable: Option<u32>,
    #[command(flatten)]
    fleet: FolderArgs,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let worker = args.worker.name()?;
    let fleet = engine::writable(context, &args.fleet)?;
    let done = overlay::drain(&fleet, &worker, args.max_unavailable)?;
    let drained = engine::drained(context, &args.fleet, &worker)?;
    context.print(&format!("{done}\n{}", show::drain::text(&drained)))?;
    Ok(Exit::Fine)
}
