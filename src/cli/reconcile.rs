//! `carp reconcile`: the controller.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;

use super::args::{interval, timeout};
use super::engine::Turned;
use super::engine::supervise::{self, How, TurnOutputs, asked_to_end};
use super::log::LogArgs;
use super::memory::{OUT_OF_STACK, TurnMemory, out_of_memory};
use super::show::{self, findings};
use super::validate::{Audience, located, notes};
use super::{Context, Error, Exit, FleetArgs, ForgeArgs, ObservedArgs, engine, process};
use crate::model::{Turn, TurnConstraints};
use crate::service::Election;

/// Reconcile the output and status branches with the fleet: plan, commit, push where there is a remote
///
/// Reads commits only; uncommitted edits are named and ignored. Without --once it goes on until it is
/// stopped: a turn every --interval, sooner when a webhook, a changed ref on this machine or a deadline
/// of the plan asks for it.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    #[command(flatten)]
    forge: ForgeArgs,
    /// Do one turn and exit
    #[arg(long)]
    once: bool,
    /// The form of what the one turn did
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM", requires = "once")]
    output: ReconcileForm,
    /// What the turn is to hold back, as the controller tells it
    #[arg(long, value_name = "JSON", hide = true, requires = "once", value_parser = orders)]
    orders: Option<TurnConstraints>,
    /// How long one turn may take; then it is ended
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = timeout)]
    turn_timeout: Duration,
    /// How much memory one turn may have, such as 768Mi, or none; then it is ended
    ///
    /// auto is three quarters of what the container or the machine has. Only Linux bounds it.
    #[arg(long, value_name = "SIZE", default_value_t = TurnMemory::Auto)]
    turn_memory: TurnMemory,
    /// This process is a turn that another one supervises
    #[arg(long, hide = true, requires = "once")]
    turn: bool,
    #[command(flatten)]
    controller: ControllerArgs,
    #[command(flatten)]
    log: LogArgs,
}

impl Args {
    /// What a turn is told.
    fn told(&self) -> engine::TurnArgs<'_> {
        engine::TurnArgs { fleet: &self.fleet, observed: &self.observed, forge: &self.forge }
    }

    /// Whether this process is a turn that another one supervises.
    pub(super) fn is_turn(&self) -> bool {
        self.turn
    }

    /// Whether this process supervises one turn.
    pub(super) fn supervises_one(&self) -> bool {
        self.once && !self.turn
    }

    /// The bytes of memory that a turn may have.
    pub(super) fn turn_memory(&self) -> Option<u64> {
        self.turn_memory.bytes(process::memory_of_the_machine())
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ReconcileForm {
    /// For people
    #[default]
    Text,
    /// For programs; has a schemaVersion
    Json,
}

#[derive(clap::Args)]
struct ControllerArgs {
    /// How long to wait between turns, such as 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = interval)]
    #[arg(conflicts_with = "once")]
    interval: Duration,
    /// How long a turn may go on after the signal to stop
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = interval)]
    #[arg(conflicts_with = "once")]
    grace: Duration,
    /// Where to serve /healthz, /readyz, /metrics and the webhook, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", conflicts_with = "once")]
    listen: Option<SocketAddr>,
    /// The file with the secret of the webhook, /hook/github, /hook/gitlab or /hook/generic
    #[arg(long, value_name = "FILE", requires = "listen")]
    webhook_secret_file: Option<PathBuf>,
    /// Act only while holding a Lease in the cluster that this runs in, or that of the kubeconfig
    #[arg(long, conflicts_with = "once")]
    leader_election: bool,
    /// The namespace of the Lease; without it, that of the credentials
    #[arg(long, value_name = "NAMESPACE", requires = "leader_election")]
    leader_election_namespace: Option<String>,
    /// The name of the Lease
    #[arg(long, value_name = "NAME", default_value = "carp", requires = "leader_election")]
    leader_election_name: String,
    /// How long the lead lasts without being renewed; it is renewed three times as often
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = interval)]
    #[arg(requires = "leader_election")]
    lease_duration: Duration,
}

impl ControllerArgs {
    fn control(&self, args: &Args) -> engine::Control {
        let election = self.leader_election.then(|| Election {
            namespace: self.leader_election_namespace.clone(),
            name: self.leader_election_name.clone(),
            identity: String::new(),
            duration: self.lease_duration,
        });
        engine::Control {
            interval: self.interval,
            grace: self.grace,
            turn_timeout: args.turn_timeout,
            turn_memory: args.turn_memory(),
            listen: self.listen,
            secret_file: self.webhook_secret_file.clone(),
            log: args.log.as_args(),
            election,
        }
    }
}

fn orders(text: &str) -> Result<TurnConstraints, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    args.log.begin(context.err_palette());
    if !args.once {
        let control = args.controller.control(args);
        engine::reconcile_for_ever(context, &args.told(), control)?;
        return Ok(Exit::Fine);
    }
    if !args.turn
        && let Some(program) = context.io.program.clone()
    {
        let begun = (context.io.clock)();
        return match engine::without_news(context, &args.told()) {
            Some(turn) => without_news(args, context, turn, begun),
            None => supervised(args, context, program),
        };
    }
    match args.output {
        ReconcileForm::Text => text(args, context),
        ReconcileForm::Json => {
            let orders = args.orders.clone().unwrap_or_default();
            let (turn, exit) = engine::turn(context, &args.told(), orders)?;
            context.print(&show::reconcile::json(&turn))?;
            Ok(exit)
        }
    }
}

/// Tells of a turn without news as the turn itself would.
fn without_news(
    args: &Args,
    context: &mut Context<'_, '_>,
    turn: Turn,
    begun: Timestamp,
) -> Result<Exit, Error> {
    match args.output {
        ReconcileForm::Text => settled(&turn, context),
        ReconcileForm::Json => {
            let took = (context.io.clock)().duration_since(begun).as_millis();
            let milliseconds = u64::try_from(took).unwrap_or_default();
            context.print(&show::reconcile::json(&Turn { milliseconds, ..turn }))?;
            Ok(Exit::Fine)
        }
    }
}

fn settled(turn: &Turn, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    turn.notes.iter().try_for_each(|note| context.note(note))?;
    let palette = context.palette();
    context.print(&show::reconcile::settled(turn, palette))?;
    Ok(Exit::Fine)
}

/// One turn in a process of its own.
fn supervised(args: &Args, context: &Context<'_, '_>, program: PathBuf) -> Result<Exit, Error> {
    let (deadline, memory) = (args.turn_timeout, args.turn_memory());
    let (args, output) = (context.args.clone(), TurnOutputs::Inherit);
    let turn = supervise::SupervisedTurn { program, args, deadline, memory, output };
    let ended = supervise::supervise(&turn)
        .map_err(|error| Error::failed("failed to start a process for the turn").because(error))?;
    match ended.how {
        How::Exited(exit) => Ok(exit),
        how => Err(unusual(how, &turn)),
    }
}

/// A turn that did not end by itself.
fn unusual(how: How, turn: &supervise::SupervisedTurn) -> Error {
    let deadline = turn.deadline;
    let next = "nothing is lost: the next run begins with what the repository has";
    match how {
        How::Killed(signal) if asked_to_end().is_some() => {
            Error { exit: Exit::Killed(signal), ..Error::failed("") }
        }
        How::Killed(signal) => {
            let error = Error::failed(format!("the turn was ended by signal {signal}")).help(next);
            Error { exit: Exit::Killed(signal), ..error }
        }
        How::TimedOut => {
            Error::failed(format!("the turn did not end within {deadline:?}, so it was ended"))
                .help(format!("{next}; --turn-timeout gives it longer"))
        }
        How::OutOfMemory => Error::failed(out_of_memory(turn.memory))
            .help(format!("{next}; what it lacked, memory or stack, is told above; --turn-memory gives it more memory")),
        How::OutOfStack => Error::failed(OUT_OF_STACK).help(format!(
            "{next}; this is a defect of carp: take back what was merged last, and report it with that file"
        )),
        How::Hung | How::Exited(_) => Error::failed("reading the repository hung twice")
            .help("the notes above name the object; `git fsck` names all that is damaged"),
    }
}

/// One turn, for people.
fn text(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let turn = match engine::reconcile_once(context, &args.told())? {
        Turned::Through(turn) => turn,
        Turned::Settled(turn) => return settled(&turn, context),
    };
    notes(&turn.opened, context)?;
    let found = located(&turn.opened, Audience::Person);
    if !found.is_empty() {
        let palette = context.err_palette();
        context.note(findings::text(&found, palette).trim_end())?;
    }
    let palette = context.palette();
    context.print(&show::reconcile::text(&turn.view(), &found, palette))?;
    let exit = Exit::of_proposal(&turn.opened.proposal);
    context.leave(turn);
    Ok(exit)
}
