//! `carp render`: the output tree as files.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use super::args::{interval, name};
use super::engine::{self, RenderPart, Rendered, Watching};
use super::show::{count, findings};
use super::validate::{Audience, located, notes};
use super::{Context, Error, Exit, FleetArgs, ObservedArgs};
use crate::model::Name;

/// Write the output tree as files, the same bytes as the commit would have
///
/// With `--watch` it is written again on every save, until it is interrupted: only the files that differ, and what is
/// not made any more is removed from the folder.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
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
    /// Write it again whenever a file of the fleet or its templates is saved, until it is interrupted
    #[arg(long, short = 'w')]
    watch: bool,
    /// How long to wait between two looks at the files
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval, requires = "watch")]
    interval: Duration,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let part = RenderPart { worker: args.worker.clone(), cluster: args.cluster.clone() };
    let begin = |context: &Context<'_, '_>| {
        Watching::begin(context, &args.fleet, &args.observed, &args.out, &part)
    };
    let watching = if args.watch { Some(begin(context)?) } else { None };
    let rendered = engine::render(context, &args.fleet, &args.observed, &args.out, &part)?;
    notes(&rendered.opened, context)?;
    found(&rendered, context)?;
    let proposal = &rendered.opened.proposal;
    let (files, out) = (count(rendered.files, "file"), args.out.display());
    context.print(&format!("wrote {files} to {out}\ntree {}\n", proposal.tree))?;
    let Some(mut watching) = watching else { return Ok(Exit::of_proposal(proposal)) };
    loop {
        std::thread::sleep(args.interval);
        match watching.turn(context) {
            Ok(Some(rendered)) => again(&rendered, context)?,
            Ok(None) => {}
            // What is half saved or away now may be whole at the next look.
            Err(error) => context.note(&format!("note: {error}"))?,
        }
    }
}

fn found(rendered: &Rendered, context: &mut Context<'_, '_>) -> Result<(), Error> {
    let found = located(&rendered.opened, Audience::Person);
    if found.is_empty() {
        return Ok(());
    }
    let palette = context.err_palette();
    context.note(findings::text(&found, palette).trim_end())
}

/// How many paths of one sort are shown of a save.
const SHOWN: usize = 10;

/// What a save changed.
fn again(rendered: &Rendered, context: &mut Context<'_, '_>) -> Result<(), Error> {
    found(rendered, context)?;
    let proposal = &rendered.opened.proposal;
    if proposal.stopped {
        return context.note("nothing is written until that is mended");
    }
    let (written, removed) = (&rendered.changed.written, &rendered.changed.removed);
    let wrote = format!("wrote {}", count(written.len() as u64, "file"));
    // With a folder goes what is in it.
    let mut out = match (written.is_empty(), removed.len()) {
        (true, 0) => "saved, and nothing is another".to_owned(),
        (_, 0) => wrote,
        (_, paths) => format!("{wrote}, removed {}", count(paths as u64, "path")),
    };
    let _ = writeln!(out, "; tree {}", proposal.tree);
    for (sign, paths) in [('~', written), ('-', removed)] {
        for path in paths.iter().take(SHOWN) {
            let _ = writeln!(out, "  {sign} {path}");
        }
        if let Some(more) = paths.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let _ = writeln!(out, "  {sign} and {more} more");
        }
    }
    context.print(&out)
}
