//! `carp demo`: the newcomer's minute.

use std::path::PathBuf;

use super::{Context, Error, Exit, engine, show};

/// Show everything in a minute: place, render and commit an example fleet; no cluster, no network
///
/// Makes DIR/remote.git, a bare repository, and DIR/fleet, a clone of it with the example fleet in it;
/// reconciles once; shows what was placed and committed, and what to try next. An existing DIR is
/// replaced only if the demonstration made it.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The folder to make
    #[arg(value_name = "DIR", default_value = "carp-demo")]
    folder: PathBuf,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let view = engine::demo(context, &args.folder)?;
    let palette = context.palette();
    context.print(&show::demo::text(&view, palette))?;
    Ok(Exit::Fine)
}
