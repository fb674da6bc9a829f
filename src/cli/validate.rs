//! `carp validate`: every finding.

use clap::ValueEnum;

use super::engine::{self, OpenedFleet, Validated};
use super::show::findings::{self, Finding, SeverityTally, TextSources};
use super::{AgainstArgs, Context, Error, Exit, FleetArgs, ObservedArgs};

/// Check the fleet and its policies, and show every finding at once
///
/// The tests beside the policies (`policies/tests/`) run, too. Nothing is written. Exits 1 if
/// anything is wrong enough that it has no effect; warnings alone are fine.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    #[command(flatten)]
    against: AgainstArgs,
    /// The form of the findings
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: ValidateForm,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ValidateForm {
    /// For people
    #[default]
    Text,
    /// For programs; has a schemaVersion
    Json,
    /// SARIF 2.1.0, which code hosts show beside the lines, with what each rule means; the variable
    /// `CARP_DOCS_URL` says where docs/errors.md can be read, for links to it
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let validated = engine::validate(context, &args.fleet, &args.observed, &args.against)?;
    let opened = &validated.opened;
    notes(opened, context)?;
    let audience = if matches!(args.output, ValidateForm::Text) {
        Audience::Person
    } else {
        Audience::Program
    };
    let findings = located(opened, audience);
    let text = match args.output {
        ValidateForm::Text => people(&validated, &findings, context),
        ValidateForm::Json => findings::json(&findings),
        ValidateForm::Sarif => {
            let version = env!("CARGO_PKG_VERSION");
            let said = context.io.env.get("CARP_DOCS_URL").filter(|url| !url.is_empty()).cloned();
            let own = || findings::published_page(env!("CARGO_PKG_REPOSITORY"), version);
            findings::sarif(&findings, version, said.or_else(own).as_deref())
        }
        ValidateForm::Github => findings::github(&findings),
    };
    context.print(&text)?;
    let has_errors = opened.proposal.diagnostics.has_errors();
    context.leave(validated);
    Ok(if has_errors { Exit::Findings } else { Exit::Fine })
}

fn people(validated: &Validated, findings: &[Finding], context: &Context<'_, '_>) -> String {
    let palette = context.palette();
    let verified = &validated.verified;
    let tally = SeverityTally::of(findings.iter().map(|f| f.severity));
    let of = super::show::count;
    let tests = of(verified.tests as u64, "policy test");
    let last = match findings::summary(tally, palette) {
        Some(found) if verified.left_out => {
            format!("{found}; no policy test ran, for something did not load")
        }
        Some(found) if verified.tests > 0 => format!("{found}; {tests} ran"),
        Some(found) => found,
        None => {
            let clusters = of(verified.clusters, "cluster");
            let workers = of(verified.workers, "worker");
            let tests = if verified.tests == 0 { String::new() } else { format!(", {tests}") };
            format!("no errors, no warnings: {clusters}, {workers}{tests}")
        }
    };
    let against = super::show::plan::against_text(validated.opened.against.as_ref(), palette);
    format!("{}{last}\n{against}", findings::text(findings, palette))
}

/// Who reads paths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Somebody at a terminal, which opens paths relative to the current folder.
    Person,
    /// A program, for which paths are relative to the repository.
    Program,
}

/// The findings of a proposal with their places found.
pub(super) fn located(opened: &OpenedFleet, audience: Audience) -> Vec<Finding> {
    let source = &opened.source;
    let prefix = match audience {
        Audience::Person => &source.shown_prefix,
        Audience::Program => &source.prefix,
    };
    let sources = TextSources { text: &source.text, locate: &engine::locator, prefix };
    let found = findings::resolve(&opened.proposal.diagnostics, &sources);
    findings::with_what_follows(found, &opened.proposal)
}

/// Prints what people should know before they read the output.
pub(super) fn notes(opened: &OpenedFleet, context: &mut Context<'_, '_>) -> Result<(), Error> {
    opened.source.notes.iter().try_for_each(|note| context.note(note))
}
