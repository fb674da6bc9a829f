//! `carp status`: workers, pools and clusters as they are known to be.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::ValueEnum;

use super::args::{interval, name};
use super::engine::{self, Query};
use super::show::{Extent, StatusView};
use super::{Context, Error, Exit, FleetArgs, ObservedArgs, Selector, Target, show};
use crate::diag::suggest;
use crate::model::{ClusterPhase, Name, WorkerPhase};

/// Show workers and clusters with phase, capacity, conditions and age (also `carp get`)
///
/// AGE is how long ago the condition Ready last changed. With an object its conditions and errors are
/// shown in full. On a terminal the tables fit its width, and the last line names what was left out.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Only this: `KIND`, `KIND/NAME`, `KIND NAME` or the name alone; kinds are cluster, worker and pool
    #[arg(value_name = "KIND/NAME", num_args = 0..=2)]
    object: Vec<String>,
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    /// Only what has these labels, as kubectl reads them: `env=prod,tier!=gold,region in (eu,us),!canary`
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    selector: Option<Selector>,
    /// Only the clusters of this tenant
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
    /// Only this worker and the clusters on it
    #[arg(long, value_name = "NAME", value_parser = name)]
    worker: Option<Name>,
    /// Only what is in this phase; several are parted by commas
    #[arg(long, value_name = "PHASE", value_delimiter = ',', value_parser = phase)]
    phase: Vec<String>,
    /// The form of the status
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: StatusForm,
    /// Look again and again, and show what has changed, until it is interrupted
    #[arg(long, short = 'w')]
    watch: bool,
    /// How long to wait between two looks
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = interval, requires = "watch")]
    interval: Duration,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum StatusForm {
    /// For people
    #[default]
    Text,
    /// For people, with more columns and no line cut
    Wide,
    /// For programs; has a schemaVersion
    Json,
    /// Each object with its spec, defaults filled in, and its status
    Yaml,
    /// `KIND/NAME`, a line each
    Name,
}

/// The phases that there are, of clusters and of workers.
fn phases() -> BTreeSet<&'static str> {
    let clusters = ClusterPhase::ALL.iter().map(|phase| phase.name());
    clusters.chain(WorkerPhase::ALL.iter().map(|phase| phase.name())).collect()
}

/// What a terminal does on this: it is cleared, and writing begins at its top.
const CLEAR: &str = "\x1b[H\x1b[2J";

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let query = args.query()?;
    let mut last = look(args, &query, context)?;
    last.warnings.iter().try_for_each(|warning| context.note(warning))?;
    show(args, &query, &last, context)?;
    if !args.watch {
        return Ok(Exit::Fine);
    }
    loop {
        std::thread::sleep(args.interval);
        match look(args, &query, context) {
            Ok(view) if view.says_the_same(&last) => {}
            Ok(view) => {
                show(args, &query, &view, context)?;
                last = view;
            }
            // What is away now may be there at the next look.
            Err(error) => context.note(&format!("note: {error}"))?,
        }
    }
}

fn look(args: &Args, query: &Query, context: &mut Context<'_, '_>) -> Result<StatusView, Error> {
    engine::status(context, &args.fleet, &args.observed, query)
}

fn show(
    args: &Args,
    query: &Query,
    view: &StatusView,
    context: &mut Context<'_, '_>,
) -> Result<(), Error> {
    let extent = Extent { wide: args.output == StatusForm::Wide, width: context.width() };
    let palette = context.palette();
    let text = match args.output {
        StatusForm::Json => show::status::json(view),
        StatusForm::Yaml => show::status_forms::yaml(view),
        StatusForm::Name => show::status_forms::names(view),
        StatusForm::Text | StatusForm::Wide if matches!(query.target, Target::Object(_)) => {
            show::status::detail(view, extent, palette)
        }
        StatusForm::Text | StatusForm::Wide => show::status::text(view, extent, palette),
    };
    if args.watch && context.io.out_is_terminal {
        context.clear(CLEAR)?;
    }
    context.print(&text)
}

impl Args {
    fn query(&self) -> Result<Query, Error> {
        Ok(Query {
            target: Target::of(&self.object)?,
            labels: self.selector.clone().unwrap_or_default(),
            tenant: self.tenant.clone(),
            worker: self.worker.clone(),
            phases: self.phase.clone(),
            specs: self.output == StatusForm::Yaml,
        })
    }
}

/// Reads a phase, in upper or lower case.
fn phase(text: &str) -> Result<String, String> {
    match phases().iter().find(|phase| phase.eq_ignore_ascii_case(text)) {
        Some(phase) => Ok((*phase).to_owned()),
        None => Err(suggest::help(text, phases(), "the phases are")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_known_in_any_case_and_a_slip_is_told() {
        assert_eq!(phase("running"), Ok("Running".to_owned()));
        assert_eq!(phase("TERMINATING"), Ok("Terminating".to_owned()));
        assert_eq!(phase("Runing").unwrap_err(), "did you mean `Running`?");
    }
}
