//! One turn of the reconciler, for the command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::show::forge;
use super::super::show::plan::{PlanView, markdown};
use super::super::{Context, Error, Exit, FleetArgs, ForgeArgs, ForgeName, ObservedArgs};
use super::open::{build, cache, clock, failed, program, shown, text_of};
use super::{FleetSource, OpenedFleet, Reconciled, Turned};
use crate::forge::{ProxySettings, Token};
use crate::model::{Name, Proposal, Turn, TurnConstraints};
use crate::pipeline::Update;
use crate::reconcile::{
    self, FleetPlace, ForgeChoice, ForgeOptions, Keep, Observing, Options, ReconcileResult,
    SourceStores,
};

/// How long a look for news may take. One that takes longer, on a slow disk say, is left to a turn.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// What a turn of the reconciler is told.
#[derive(Clone, Copy)]
pub struct TurnArgs<'a> {
    /// The fleet.
    pub fleet: &'a FleetArgs,
    /// Where reports come from.
    pub observed: &'a ObservedArgs,
    /// What the forge is told.
    pub forge: &'a ForgeArgs,
}

/// Runs once.
pub(super) fn once(context: &Context<'_, '_>, args: &TurnArgs<'_>) -> Result<Turned, Error> {
    let (place, ran) =
        attempt(context, args, TurnConstraints::default()).map_err(|error| failed(&error))?;
    Ok(match ran {
        ReconcileResult::Settled(turn) => Turned::Settled(turn),
        ReconcileResult::Through(outcome) => {
            Turned::Through(Box::new(opened(place, args.fleet, *outcome)))
        }
    })
}

/// Reconciles once and tells it as a document; a failure of the world, too. It comes with how the command exits.
///
/// # Errors
/// The command line names what cannot be reconciled.
pub fn turn(
    context: &Context<'_, '_>,
    args: &TurnArgs<'_>,
    orders: TurnConstraints,
) -> Result<(Turn, Exit), Error> {
    let begun = (context.io.clock)();
    let (mut turn, exit) = match attempt(context, args, orders) {
        Ok((_, ReconcileResult::Settled(turn))) => (*turn, Exit::Fine),
        Ok((place, ReconcileResult::Through(outcome))) => {
            let mut turn = outcome.turn();
            // A clone that could not be tidied is as good as before.
            turn.notes.extend(place.tidy(begun).err().map(|error| error.to_string()));
            let exit = Exit::of_proposal(&outcome.proposal);
            context.leave((place, outcome));
            (turn, exit)
        }
        Err(error) => match failed(&error) {
            error if error.exit == Exit::Usage => return Err(error),
            told => (error.turn(begun), told.exit),
        },
    };
    let took = (context.io.clock)().duration_since(begun).as_millis();
    turn.milliseconds = u64::try_from(took).unwrap_or_default();
    Ok((turn, exit))
}

fn attempt(
    context: &Context<'_, '_>,
    args: &TurnArgs<'_>,
    orders: TurnConstraints,
) -> Result<(FleetPlace, ReconcileResult), reconcile::Error> {
    let mut place = FleetPlace::find(&args.fleet.fleet, &cache(context))?;
    if let Some(revision) = place.revision {
        return Err(reconcile::Error::Revision { revision });
    }
    let options = options(context, args, orders);
    let ran = reconcile::once_on_a_sound_clone(&mut place, &options)?;
    Ok((place, ran))
}

/// What a turn comes to that a look at a few files shows to have no news; `None` where there is something to be done or
/// told. A read that hangs is left behind, for this process supervises turns and reads nothing else.
#[must_use]
pub fn without_news(context: &Context<'_, '_>, args: &TurnArgs<'_>) -> Option<Turn> {
    let (send, receive) = channel();
    let options = options(context, args, TurnConstraints::default());
    let fleet = args.fleet.fleet.clone();
    let look = move || drop(send.send(reconcile::without_news(&fleet, &options)));
    std::thread::Builder::new().name("news".to_owned()).spawn(look).ok()?;
    receive.recv_timeout(LONGEST_LOOK).ok()?
}

fn options(context: &Context<'_, '_>, args: &TurnArgs<'_>, orders: TurnConstraints) -> Options {
    let TurnArgs { fleet: _, observed, forge } = args;
    Options {
        clock: clock(context),
        observing: Observing {
            folder: observed.observed.clone(),
            first_run: observed.first_run,
            signed: true,
            ..Observing::default()
        },
        build: build(context),
        describe,
        wait: jitter,
        orders,
        program: program(context),
        forge: forge_options(context, forge),
        watched: context.io.err_is_terminal,
    }
}

/// The token stands in the environment: everybody on the machine can read a command line.
fn forge_options(context: &Context<'_, '_>, args: &ForgeArgs) -> ForgeOptions {
    let token = context.io.env.get("CARP_FORGE_TOKEN").map_or("", String::as_str);
    ForgeOptions {
        choice: args.forge.map_or(ForgeChoice::Fleet, ForgeName::choice),
        url: args.forge_url.clone(),
        token: Token::new(token),
        proxies: ProxySettings::of(|name| context.io.env.get(name).map(String::as_str)),
        report: forge::report,
    }
}

/// The plan as a pull request shows it. The diffs are its own to show.
fn describe(proposal: &Proposal, prefix: &str, updates: &BTreeMap<Name, Update>) -> String {
    let view = PlanView::told(proposal, "", prefix, &[], updates);
    markdown(&view, &[], env!("CARGO_PKG_VERSION"))
}

/// How long to wait after the n-th lost race: up to 0.2 s times 2ⁿ, 10 s at most. The process id keeps
/// two writers on two machines, or two on one, from waiting alike.
fn jitter(races: u32) -> Duration {
    let most = (200_u64 << races.min(6)).min(10_000);
    let seed = u64::from(std::process::id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    Duration::from_millis(most / 4 + seed.wrapping_add(u64::from(races) * 7919) % most)
}

fn opened(place: FleetPlace, fleet: &FleetArgs, outcome: reconcile::Outcome) -> Reconciled {
    let shown_prefix = place.folder.as_deref().map(shown).unwrap_or_default();
    let upper = Keep::Ids.store();
    let repository = place.repository;
    let sources = Rc::new(SourceStores { upper, folder: None, beside: None, repository });
    let source = FleetSource {
        label: crate::git::Redacted::new(&fleet.fleet).to_string(),
        prefix: outcome.prefix.clone(),
        shown_prefix,
        notes: outcome.notes,
        text: text_of(sources, outcome.input, outcome.prefix),
    };
    Reconciled {
        opened: OpenedFleet {
            proposal: outcome.proposal,
            source,
            diffs: Vec::new(),
            telling: 0,
            updates: std::collections::BTreeMap::new(),
            certificate: Vec::new(),
            against: None,
        },
        verdict: outcome.verdict,
        status: outcome.status,
        forge: outcome.forge,
        races: outcome.races,
        now: outcome.now,
    }
}

/// The folder as a `--fleet` argument.
pub(super) fn argument(folder: &Path) -> FleetArgs {
    FleetArgs { fleet: folder.display().to_string() }
}
