//! The controller, for the command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum as _;

use super::super::memory::{OUT_OF_STACK, TurnMemory, out_of_memory};
use super::super::{Context, Error, process};
use super::TurnArgs;
use super::open::cache;
use super::reconcile::turn;
use super::supervise::{self, How, TurnOutputs};
use crate::controller::{self, SecretFile, Service, Setup, Shared, Turns, Watch};
use crate::model::{FailureKind, Turn, TurnConstraints};
use crate::reconcile::FleetPlace;
use crate::service::Election;

/// How the controller is to run.
pub struct Control {
    /// How far turns are apart.
    pub interval: Duration,
    /// How long a turn may go on after the first signal.
    pub grace: Duration,
    /// How long one turn may take.
    pub turn_timeout: Duration,
    /// How many bytes of memory one turn may have.
    pub turn_memory: Option<u64>,
    /// Where to listen.
    pub listen: Option<SocketAddr>,
    /// The file with the webhook's secret.
    pub secret_file: Option<PathBuf>,
    /// The arguments by which a turn logs as the controller does.
    pub log: Vec<OsString>,
    /// The election to stand in; its identity is given when the controller starts.
    pub election: Option<Election>,
}

/// Makes turns until the process is told to stop.
pub(super) fn control(
    context: &Context<'_, '_>,
    args: &TurnArgs<'_>,
    control: Control,
) -> Result<(), Error> {
    let failed = |error: controller::Error| Error::failed(error.to_string());
    let shared = Arc::new(Shared::default());
    let secret = control.secret_file.map(SecretFile::new).transpose().map_err(failed)?;
    let election = control.election.map(|election| named(election, context));
    let setup = Setup {
        listen: control.listen,
        secret,
        election,
        clock: process::now,
        grace: control.grace,
        leave: process::leave,
    };
    let service = Service::start(setup, &shared).map_err(failed)?;
    if let Some(address) = service.address {
        tracing::info!("listening on {address}");
    }
    // A fleet that is not found now is reported by its first turn.
    let place = FleetPlace::find(&args.fleet.fleet, &cache(context)).ok();
    let folder = place.as_ref().and_then(FleetPlace::watched);
    let _watch = folder.and_then(|folder| Watch::refs(&folder, &shared));
    drop(place);
    let child = context.io.program.clone();
    let make = |orders: &TurnConstraints| match &child {
        Some(program) => {
            let mut args = arguments(context, args, orders, &control.log);
            let (deadline, memory) = (control.turn_timeout, control.turn_memory);
            let bound = TurnMemory::exactly(memory).to_string();
            args.extend(["--turn-memory".into(), bound.into()]);
            let (program, output) = (program.clone(), TurnOutputs::Capture);
            Ok(elsewhere(&supervise::SupervisedTurn { program, args, deadline, memory, output }))
        }
        // In a test that runs a command in its own process there is no program to start.
        None => turn(context, args, orders.clone()).map(|done| done.0),
    };
    let clock = || (context.io.clock)();
    let turns = Turns::new(Arc::clone(&shared), &clock, control.interval, process::number());
    let ran = turns.run(make);
    service.stop();
    ran
}

/// The command line of one turn in a process of its own.
fn arguments(
    context: &Context<'_, '_>,
    told: &TurnArgs<'_>,
    orders: &TurnConstraints,
    log: &[OsString],
) -> Vec<OsString> {
    let TurnArgs { fleet, observed, forge } = told;
    let mut args: Vec<OsString> =
        ["reconcile", "--once", "--output", "json", "--fleet", &fleet.fleet].map(Into::into).into();
    if let Some(folder) = &observed.observed {
        args.extend(["--observed".into(), folder.into()]);
    }
    if observed.first_run {
        args.push("--first-run".into());
    }
    if let Some(name) = forge.forge.and_then(|forge| forge.to_possible_value()) {
        args.extend(["--forge".into(), name.get_name().into()]);
    }
    if let Some(url) = &forge.forge_url {
        args.extend(["--forge-url".into(), url.into()]);
    }
    if let Some(now) = context.pinned_now {
        args.extend(["--now".into(), now.to_string().into()]);
    }
    let limit = format!("{}ms", context.read_timeout.as_millis());
    args.extend(["--read-timeout".into(), limit.into()]);
    args.extend_from_slice(log);
    // Its standard error is handed on by this process, which knows where that goes.
    let color = if context.err_palette().paints() { "always" } else { "never" };
    args.extend(["--color".into(), color.into()]);
    // Orders are plain data; without them the turn holds nothing back.
    let orders = serde_json::to_string(orders).unwrap_or_else(|_| "{}".to_owned());
    args.extend(["--orders".into(), orders.into()]);
    args
}

/// One turn in a process of its own: what hangs or breaks there ends that turn, and not the controller.
fn elsewhere(turn: &supervise::SupervisedTurn) -> Turn {
    let failed = |kind, message: String| Turn::failed(kind, message, process::now());
    let ended = match supervise::supervise(turn) {
        Ok(ended) => ended,
        Err(error) => {
            return failed(FailureKind::Crashed, format!("the turn could not be started: {error}"));
        }
    };
    match ended.how {
        How::TimedOut => {
            let message = format!("the turn did not end within {:?}", turn.deadline);
            failed(FailureKind::Deadline, message)
        }
        How::OutOfMemory => {
            let message = format!("{}; --turn-memory gives it more", out_of_memory(turn.memory));
            failed(FailureKind::Memory, message)
        }
        How::OutOfStack => failed(FailureKind::Crashed, OUT_OF_STACK.to_owned()),
        How::Hung => failed(FailureKind::Crashed, "reading the repository hung twice".to_owned()),
        How::Killed(signal) => {
            failed(FailureKind::Crashed, format!("the turn was ended by signal {signal}"))
        }
        How::Exited(_) => serde_json::from_str(&ended.stdout).unwrap_or_else(|_| {
            failed(FailureKind::Crashed, "the turn ended without saying how it went".to_owned())
        }),
    }
}

/// An identity that no other candidate has: the machine's name, and a number of this process.
fn named(election: Election, context: &Context<'_, '_>) -> Election {
    let host = context.io.env.get("HOSTNAME").map_or("carp", String::as_str);
    Election { identity: format!("{host}_{:016x}", process::number()), ..election }
}

#[cfg(test)]
mod tests {
    use super::super::super::{ColorChoice, FleetArgs, ForgeArgs, ForgeName, Io, ObservedArgs};
    use super::*;

    #[test]
    fn a_turn_is_told_what_the_controller_was_told() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io { err_is_terminal: true, ..Io::of_nobody(&mut out, &mut err) };
        let context = Context {
            io: &mut io,
            pinned_now: Some(jiff::Timestamp::UNIX_EPOCH),
            color: ColorChoice::Never,
            program: "carp".to_owned(),
            args: Vec::new(),
            read_timeout: Duration::from_millis(1500),
            work: crate::model::LongWork::default(),
            left: std::cell::RefCell::default(),
        };
        let (fleet, observed) = (
            FleetArgs { fleet: "f".to_owned() },
            ObservedArgs { observed: Some("o".into()), first_run: true },
        );
        let log = ["--log-format", "json", "--log-level", "debug"].map(OsString::from);
        let url = "https://git.example.com/org/fleet".to_owned();
        let forge = ForgeArgs { forge: Some(ForgeName::Gitea), forge_url: Some(url) };
        let told = TurnArgs { fleet: &fleet, observed: &observed, forge: &forge };
        let args = arguments(&context, &told, &TurnConstraints::default(), &log);
        let args: Vec<_> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
        for pair in [
            ["--fleet", "f"],
            ["--observed", "o"],
            ["--forge", "gitea"],
            ["--forge-url", "https://git.example.com/org/fleet"],
            ["--now", "1970-01-01T00:00:00Z"],
            ["--read-timeout", "1500ms"],
            ["--log-format", "json"],
            ["--log-level", "debug"],
            ["--color", "never"],
        ] {
            assert!(args.windows(2).any(|two| two == pair), "{pair:?}: {args:?}");
        }
        assert!(args.contains(&"--first-run"), "{args:?}");
        let whole = ["carp"].into_iter().chain(args).chain(["--turn"]);
        super::super::super::command().try_get_matches_from(whole).unwrap();
    }
}
