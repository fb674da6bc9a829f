//! `carp reconcile`: the controller.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::args::timeout;
use super::engine::supervise::{How, Output, Turn, asked_to_end, supervise};
use super::show::{self, findings};
use super::validate::{Audience, located, notes};
use super::{Context, Error, Exit, FleetArgs, ObservedArgs, engine, plan};

/// Reconcile the output and status branches with the fleet: plan, commit, push where there is a remote
///
/// Reads commits only; uncommitted edits are named and ignored. Without --once it goes on until it is
/// stopped.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    /// Do one turn and exit
    #[arg(long)]
    once: bool,
    /// How long to wait between turns, such as 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = interval)]
    #[arg(conflicts_with = "once")]
    interval: Duration,
    /// How long one turn may take; then it is ended
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = timeout)]
    turn_timeout: Duration,
    /// This process is a turn that another one supervises
    #[arg(long, hide = true)]
    turn: bool,
}

impl Args {
    /// Whether this process is a turn that another one supervises.
    pub(super) fn is_turn(&self) -> bool {
        self.turn
    }
}

fn interval(text: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    match Duration::try_from(duration) {
        Ok(duration) if duration >= Duration::from_secs(1) => Ok(duration),
        _ => Err("the shortest interval is 1s".to_owned()),
    }
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    if args.once
        && !args.turn
        && let Some(program) = context.io.program.clone()
    {
        return supervised(args, context, program);
    }
    if args.once || args.turn {
        return turn(args, context).map(|(exit, ..)| exit);
    }
    let mut failures = 0;
    loop {
        // A turn that fails is told and tried again: what failed is mostly the network.
        let pause = match turn(args, context) {
            Ok((_, valid_until, now)) => {
                failures = 0;
                crate::reconcile::pause(valid_until, now, args.interval)
            }
            Err(error) if error.exit == Exit::Findings => {
                context.note(&format!("error: {error}"))?;
                failures += 1;
                crate::reconcile::backoff(args.interval, failures)
            }
            Err(error) => return Err(error),
        };
        std::thread::sleep(pause);
    }
}

/// One turn in a process of its own.
fn supervised(args: &Args, context: &Context<'_, '_>, program: PathBuf) -> Result<Exit, Error> {
    let deadline = args.turn_timeout;
    let turn = Turn { program, args: context.args.clone(), deadline, output: Output::Inherit };
    let ended = supervise(&turn)
        .map_err(|error| Error::failed("failed to start a process for the turn").because(error))?;
    match ended.how {
        How::Exited(exit) => Ok(exit),
        how => Err(unusual(how, deadline)),
    }
}

/// A turn that did not end by itself.
fn unusual(how: How, deadline: Duration) -> Error {
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
        How::Hung | How::Exited(_) => Error::failed("reading the repository hung twice")
            .help("the notes above name the object; `git fsck` names all that is damaged"),
    }
}

/// One turn: how it ended, until when its plan is good, and the time that it used.
fn turn(
    args: &Args,
    context: &mut Context<'_, '_>,
) -> Result<(Exit, Option<Timestamp>, Timestamp), Error> {
    let turn = engine::reconcile_once(context, &args.fleet, &args.observed)?;
    notes(&turn.opened, context)?;
    let found = located(&turn.opened, Audience::Person);
    if !found.is_empty() {
        let palette = context.err_palette();
        context.note(findings::text(&found, palette).trim_end())?;
    }
    let palette = context.palette();
    context.print(&show::reconcile::text(&turn, palette))?;
    let proposal = &turn.opened.proposal;
    Ok((plan::exit_of(proposal), proposal.valid_until, turn.now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_at_least_a_second() {
        assert_eq!(interval("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["0s", "-5s", "x", "100ms"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
