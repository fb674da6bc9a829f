//! `carp render`: the output tree as files.

use std::path::PathBuf;

use super::engine::{self, RenderPart};
use super::show::{count, findings};
use super::validate::{Audience, located, notes};
use super::{Context, Error, Exit, FleetArgs, ObservedArgs, args::name, plan};
use crate::model::Name;

/// Write the output tree as files, the same bytes as the commit would have
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    /// The folder to write to: a new or an empty one
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only the folders of this worker
    #[arg(long, value_name = "NAME", value_parser = name)]
    worker: Option<Name>,
    /// Only the folder and the record of this cluster
    #[arg(long, value_name = "NAME", value_parser = name)]
    cluster: Option<Name>,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let part = RenderPart { worker: args.worker.clone(), cluster: args.cluster.clone() };
    let rendered = engine::render(context, &args.fleet, &args.observed, &args.out, &part)?;
    notes(&rendered.opened, context)?;
    let found = located(&rendered.opened, Audience::Person);
    if !found.is_empty() {
        let palette = context.err_palette();
        context.note(findings::text(&found, palette).trim_end())?;
    }
    let proposal = &rendered.opened.proposal;
    let (files, out) = (count(rendered.files, "file"), args.out.display());
    context.print(&format!("wrote {files} to {out}\ntree {}\n", proposal.tree))?;
    Ok(plan::exit_of(proposal))
}
