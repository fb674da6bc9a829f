//! `carp kind`: local clusters, made by kind.

mod apply;
mod run;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

use super::args::interval;
use super::{Context, Error, Exit, engine};

/// Make local clusters with kind, as KINDCluster objects ask for them
///
/// Either as a controller of a cluster that has the objects (run), or once over the output branch of
/// a fleet, without any cluster (apply). Both need kind, and docker or what stands in for it, on this
/// machine.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(subcommand)]
    command: KindCommand,
}

#[derive(Subcommand)]
enum KindCommand {
    Run(Box<run::Args>),
    Apply(Box<apply::Args>),
}

/// The machine that has the nodes.
#[derive(clap::Args)]
struct HostArgs {
    /// The kind program
    #[arg(long, value_name = "PROGRAM", default_value = "kind")]
    kind: OsString,
    /// What this machine is called in status.providerID; without it, its own name
    #[arg(long, value_name = "NAME", value_parser = host)]
    host: Option<String>,
    /// carp's folder on this machine; without it, carp/kind in `XDG_STATE_HOME` or ~/.local/state
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// How long the creation of a cluster may take; then it is ended
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = interval)]
    create_timeout: Duration,
}

impl HostArgs {
    fn host(&self, context: &Context<'_, '_>) -> engine::KindHost {
        engine::KindHost {
            program: self.kind.clone(),
            name: self.host.clone().unwrap_or_else(super::process::host_name),
            state: self.state.clone().unwrap_or_else(|| engine::state_folder(context).join("kind")),
            limit: self.create_timeout,
        }
    }
}

/// A name of a machine has no `/`: it stands in `kind://<host>/<name>`.
fn host(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !text.is_empty() && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Err("a machine's name has letters, digits, `.`, `-` and `_`".to_owned())
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    match &args.command {
        KindCommand::Run(args) => run::run(args, context),
        KindCommand::Apply(args) => apply::run(args, context),
    }
}
