//! `carp uncordon`: takes the cordon, and the drain, off a worker again.

use super::{Context, Error, Exit, FolderArgs, engine, object::WorkerArgs, overlay};

/// Take the cordon or the drain off a worker again
///
/// Removes `unschedulable` and `drain` from fleet/overlays/NAME.yaml, and the file where nothing
/// else is left in it.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    worker: WorkerArgs,
    #[command(flatten)]
    fleet: FolderArgs,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let worker = args.worker.name()?;
    let fleet = engine::writable(context, &args.fleet)?;
    let done = overlay::uncordon(&fleet, &worker)?;
    context.print(&format!("{done}\n"))?;
    Ok(Exit::Fine)
}
