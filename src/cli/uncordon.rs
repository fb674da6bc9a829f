//! `carp uncordon`: takes the cordon, and the drain, off a worker again.

use super::{Context, Error, Exit, FolderArgs, args::name, engine, overlay};
use crate::model::Name;

/// Take the cordon or the drain off a worker again
///
/// Removes `unschedulable` and `drain` from fleet/overlays/NAME.yaml, and the file where nothing
/// else is left in it.
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
    let done = overlay::uncordon(&fleet, &args.worker)?;
    context.print(&format!("{done}\n"))?;
    Ok(Exit::Fine)
}
