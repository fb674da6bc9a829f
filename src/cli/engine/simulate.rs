//! What-ifs, for the command line.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::show::findings::{self, Finding};
use super::super::show::simulate::{
    ClusterStanding, Left, RoomView, RunwayCount, RunwayRow, SimulateView,
};
use super::super::{Context, Error, FleetArgs, ObservedArgs};
use super::left::left;
use super::open::{FleetLook, failed, look, text_at};
use crate::diag::Diagnostics;
use crate::model::api::Rebalance;
use crate::model::{Name, Proposal, Store, paths};
use crate::plan::{self, PlanInput};
use crate::reconcile::Keep;
use crate::simulate::{
    self as room, Clusters, MOST, Question, RebalanceOffer, Room, Runway, Simulated,
    SimulatedChange, SimulatedFleet,
};
use crate::store::Overlay;

/// The most clusters for which it is said in a line why they wait.
const MOST_SUMMARIES: usize = 10;

/// What was asked on the command line.
pub struct SimulateOptions {
    /// The changes, each with its words.
    pub changes: Vec<(SimulatedChange, String)>,
    /// The time of the run with the changes.
    pub at: Option<SimulatedTime>,
    /// The runway of which clusters; `None`: of none.
    pub runway: Option<Clusters>,
    /// The rebalance that is proposed, with its words; `None`: none.
    pub rebalance: Option<(Rebalance, String)>,
}

/// A time that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatedTime {
    /// That time.
    Time(Timestamp),
    /// So long after the time of the run.
    After(jiff::SignedDuration),
}

/// What would be otherwise.
pub struct WhatIf {
    before: Proposal,
    after: Proposal,
    changes: Vec<String>,
    later: Option<Timestamp>,
    added: Vec<(String, Vec<Name>)>,
    summaries: Vec<(Name, String)>,
    left: Vec<Left>,
    findings: Vec<Finding>,
    runway: Vec<RunwayRow>,
    request: Option<RebalanceOffer>,
    /// Lines that people should know before they read the output.
    pub notes: Vec<String>,
}

impl WhatIf {
    /// It, to be shown.
    #[must_use]
    pub fn view(&self) -> SimulateView<'_> {
        SimulateView {
            before: &self.before,
            after: &self.after,
            changes: &self.changes,
            later: self.later,
            added: &self.added,
            summaries: &self.summaries,
            left: &self.left,
            findings: &self.findings,
            runway: &self.runway,
            request: self.request.as_ref(),
        }
    }

    /// What a run would propose with the changes.
    #[must_use]
    pub fn after(&self) -> &Proposal {
        &self.after
    }
}

/// Works out what would be otherwise with some changes.
///
/// # Errors
/// The fleet cannot be read, or the changes name what is not there.
pub fn simulate(
    context: &mut Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    asked: SimulateOptions,
) -> Result<WhatIf, Error> {
    let _progress = context.progress("reading and placing the fleet");
    let look = look(context, fleet, observed, Keep::Ids)?;
    let answered = look.sources.with(|store| answer(&look, store, &asked));
    let (simulated, summaries, findings, runway) = answered.map_err(|error| failed(&error))??;
    let mut notes = look.opened.source.notes;
    notes.extend(simulated.notes);
    let now = simulated.snapshot.now;
    let later = (now != look.now).then_some(now);
    let left = left(asked.changes.iter().map(|(change, _)| change), &simulated.after);
    Ok(WhatIf {
        before: look.opened.proposal,
        after: simulated.after,
        added: lots(&asked.changes, simulated.added),
        changes: asked
            .changes
            .into_iter()
            .map(|(_, words)| words)
            .chain(asked.rebalance.map(|(_, words)| words))
            .collect(),
        later,
        summaries,
        left,
        findings,
        runway,
        request: simulated.request,
        notes,
    })
}

type Answer = (Simulated, Vec<(Name, String)>, Vec<Finding>, Vec<RunwayRow>);

fn answer(look: &FleetLook, store: &dyn Store, asked: &SimulateOptions) -> Result<Answer, Error> {
    let FleetLook { snapshot, memo, .. } = look;
    let before = &look.opened.proposal;
    if before.stopped {
        return Err(Error::failed("this fleet cannot be planned even as it is")
            .help("`carp validate` shows why"));
    }
    let scene = SimulatedFleet { snapshot, before, memo, store };
    let at = asked.at.map(|at| match at {
        SimulatedTime::Time(time) => Ok(time),
        SimulatedTime::After(duration) => snapshot
            .now
            .checked_add(duration)
            .map_err(|error| Error::usage("that is after the end of time").because(error)),
    });
    let changes = asked.changes.iter().map(|(change, _)| change.clone()).collect();
    let rebalance = asked.rebalance.as_ref().map(|(terms, _)| *terms);
    let question = Question { changes, at: at.transpose()?, rebalance };
    let simulated = room::simulate(&scene, &question).map_err(|error| told(&error))?;
    let edited = Overlay::new(&simulated.edits, store);
    let findings = new_findings(look, &simulated, &edited);
    let mut rows = Vec::new();
    if let Some(like) = &asked.runway {
        let (snapshot, before) = (&simulated.snapshot, &simulated.after);
        let after = SimulatedFleet { snapshot, before, memo, store: &edited };
        let then = (!asked.changes.is_empty() || question.at.is_some() || rebalance.is_some())
            .then_some(after);
        rows = runways(&scene, then.as_ref(), like)?;
    }
    let summaries = summaries(before, &simulated);
    Ok((simulated, summaries, findings, rows))
}

/// The runway of each class for each tenant, as it is and with the changes.
fn runways(
    now: &SimulatedFleet<'_>,
    then: Option<&SimulatedFleet<'_>>,
    like: &Clusters,
) -> Result<Vec<RunwayRow>, Error> {
    let fleet = &now.before.fleet;
    let classes: Vec<Option<Name>> = match &like.class {
        Some(class) => vec![Some(class.clone())],
        None if fleet.classes.is_empty() => vec![None],
        None => fleet.classes.keys().cloned().map(Some).collect(),
    };
    let tenants: Vec<Option<String>> = match &like.tenant {
        Some(tenant) => vec![Some(tenant.clone())],
        None if fleet.spec.tenants.is_empty() => vec![None],
        None => fleet.spec.tenants.iter().map(|tenant| Some(tenant.name.clone())).collect(),
    };
    let count = |scene: &SimulatedFleet<'_>, like: &Clusters| {
        room::runway(scene, like).map(count).map_err(|error| told(&error))
    };
    let mut rows = Vec::new();
    for class in &classes {
        for tenant in &tenants {
            let like = Clusters { class: class.clone(), tenant: tenant.clone(), ..like.clone() };
            rows.push(RunwayRow {
                class: class.as_ref().map(ToString::to_string),
                tenant: tenant.clone(),
                now: count(now, &like)?,
                then: then.map(|then| count(then, &like)).transpose()?,
            });
        }
    }
    Ok(rows)
}

fn count(runway: Runway) -> RunwayCount {
    let rooms = runway.rooms.into_iter();
    RunwayCount {
        fits: runway.fits,
        at_least: runway.fits >= MOST,
        rooms: rooms.map(room_view).collect(),
        reasons: runway.reasons,
        limit: runway.limit,
    }
}

fn room_view(Room { location, pool, fits, grown, made }: Room) -> RoomView {
    RoomView { location, pool, fits, grown, made }
}

/// The clusters that were added, by the change that added them.
fn lots(changes: &[(SimulatedChange, String)], added: Vec<Name>) -> Vec<(String, Vec<Name>)> {
    let mut added = added.into_iter();
    let mut lots = Vec::new();
    for (change, words) in changes {
        if let SimulatedChange::Add(clusters) = change {
            lots.push((words.clone(), (0..clusters.count).filter_map(|_| added.next()).collect()));
        }
    }
    lots
}

/// Why clusters wait that did not, or for other reasons.
fn summaries(before: &Proposal, simulated: &Simulated) -> Vec<(Name, String)> {
    let after = &simulated.after;
    let input = PlanInput::of(after);
    let mut told: Vec<(Name, String)> = Vec::new();
    let mut lines = BTreeSet::new();
    for (name, planned) in &after.plan.clusters {
        let standing = ClusterStanding::of(Some(planned));
        let same = ClusterStanding::of(before.plan.clusters.get(name)) == standing;
        if same || !matches!(standing, ClusterStanding::Waits(_)) || told.len() == MOST_SUMMARIES {
            continue;
        }
        // Of those that were added one speaks for its like.
        let is_added = simulated.added.contains(name);
        let summary = plan::explain_cluster(&input, name).and_then(|told| told.summary);
        if let Some(summary) = summary
            && (lines.insert(summary.clone()) || !is_added)
        {
            told.push((name.clone(), summary));
        }
    }
    told
}

/// What is found with the changes and is not without them.
fn new_findings(look: &FleetLook, simulated: &Simulated, store: &dyn Store) -> Vec<Finding> {
    let known = look.opened.proposal.diagnostics.sorted();
    let new = simulated.after.diagnostics.sorted().into_iter().filter(|d| !known.contains(d));
    let (source, tree) = (&look.opened.source, simulated.snapshot.input.tree);
    let text = |path: &str| text_at(store, tree, &paths::in_repository(&source.prefix, path));
    let prefix = &source.shown_prefix;
    let sources = findings::TextSources { text: &text, locate: &super::locator, prefix };
    findings::resolve(&new.collect::<Diagnostics>(), &sources)
}

fn told(error: &room::Error) -> Error {
    let told = Error::failed(error.to_string());
    match error {
        room::Error::Unknown { known, .. } if known.is_empty() => told.help("there are none"),
        room::Error::Unknown { known, kind, .. } => {
            let first: Vec<_> = known.iter().take(8).map(String::as_str).collect();
            let more = if known.len() > first.len() { ", …" } else { "" };
            told.help(format!("each {kind} that there is: {}{more}", first.join(", ")))
        }
        room::Error::NoLocation => told.help("name it: `--add 3@westeurope`"),
        room::Error::Past { .. } => told.help("`carp replay` looks at what was"),
        _ => told,
    }
}
