//! `carp cordon`: nothing new goes to a worker.

use super::{Context, Error, Exit, FolderArgs, engine, object::WorkerArgs, overlay};

/// Cordon a worker: nothing new is placed there, and what is there stays
///
/// Writes `unschedulable: true` to fleet/overlays/NAME.yaml and keeps what else the file says.
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
    let done = overlay::cordon(&fleet, &worker)?;
    context.print(&format!("{done}\n"))?;
    Ok(Exit::Fine)
}
