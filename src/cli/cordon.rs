//! `carp cordon`: nothing new goes to a worker.

use super::{Context, Error, Exit, FolderArgs, args::name, engine, overlay};
use crate::model::Name;

/// Cordon a worker: nothing new is placed there, and what is there stays
///
/// Writes `unschedulable: true` to fleet/overlays/NAME.yaml and keeps what else the file says.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The worker
    #[arg(value_name = "NAME", value_parser = name)]
    worker: Name,
    #[command(flatten)]
    fleet: FolderArgs,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let fleet = engine::writable(context, &args.fleet)?;
    let done = overlay::cordon(&fleet, &args.worker)?;
    context.print(&format!("{done}\n"))?;
    Ok(Exit::Fine)
}
