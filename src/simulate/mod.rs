//! What if: several changes at once are made to what a run would see, and the same planner says what it
//! would do then. Nothing is written.
//!
//! A change becomes an edit of the input tree (`edit`): the document that a person would write, change or
//! remove. A worker that is lost, and a later time, become reports and a time (`later`). `propose` then
//! runs on that, so what is said is what a plan says once the edit is really made. [`runway`] asks the
//! planner how much more fits. A rebalance is worked out with all changes made, and requested besides.

mod add;
mod edit;
mod later;
mod rebalance;
mod runway;

use jiff::Timestamp;

use crate::model::api::Rebalance;
use crate::model::{Input, Memo, Name, Proposal, Quantity, Snapshot, Store, StoreError};
use crate::pipeline;
use crate::store::{HashingStore, MemoryStore, Overlay};

pub use rebalance::RebalanceOffer;
pub use runway::{MOST, Room, Runway, runway};

/// What is there: a snapshot, and what a run proposes from it.
#[derive(Clone, Copy)]
pub struct SimulatedFleet<'a> {
    /// What a run sees.
    pub snapshot: &'a Snapshot,
    /// What it proposes.
    pub before: &'a Proposal,
    /// What is known of the files already.
    pub memo: &'a Memo,
    /// Where both are read from.
    pub store: &'a dyn Store,
}

/// What is to be different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The changes.
    pub changes: Vec<SimulatedChange>,
    /// The time of the run; `None`: as it is, or the moment at which lost workers are found out.
    pub at: Option<Timestamp>,
    /// The rebalance that is worked out with all that, and requested; `None`: none.
    pub rebalance: Option<Rebalance>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulatedChange {
    /// The worker's reports stop.
    Lose(Name),
    /// Nothing new goes to the worker.
    Cordon(Name),
    /// New clusters go to the worker again.
    Uncordon(Name),
    /// The worker is emptied, as far as what is on it may move; so many may be away at a time, where that
    /// is given.
    Drain(Name, Option<u32>),
    /// The worker has another capacity.
    Capacity(Name, Vec<Amount>),
    /// There are more clusters.
    Add(Clusters),
    /// The worker's document is removed.
    Remove(Name),
    /// The policy's document is removed.
    RemovePolicy(Name),
}

/// Another amount of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The resource.
    pub resource: String,
    /// How much.
    pub by: By,
}

/// How an amount becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// It is that.
    To(Quantity),
    /// It is that much more; less where that is negative.
    Plus(Quantity),
}

/// Clusters that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clusters {
    /// How many.
    pub count: u32,
    /// Their class.
    pub class: Option<Name>,
    /// Their location; `None`: where most of their like are.
    pub location: Option<String>,
    /// Their tenant; `None`: the fleet's first that may use what their class names, or `default` where
    /// it lists none.
    pub tenant: Option<String>,
    /// Their labels.
    pub labels: Vec<(String, String)>,
}

/// What comes of a question.
pub struct Simulated {
    /// What a run proposes then.
    pub after: Proposal,
    /// What that run sees.
    pub snapshot: Snapshot,
    /// The objects of that which are nowhere else.
    pub edits: MemoryStore,
    /// The clusters that were added.
    pub added: Vec<Name>,
    /// The rebalance that was asked for.
    pub request: Option<RebalanceOffer>,
    /// What was assumed, a line each.
    pub notes: Vec<String>,
}

/// A question that cannot be asked, or a failure of the world.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such worker, policy, class or tenant.
    #[error("there is no {kind} `{name}` in this fleet")]
    Unknown {
        /// What it would be.
        kind: &'static str,
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The policy is carp's own.
    #[error("the policy `{0}` is built in, so it cannot be removed")]
    BuiltIn(Name),
    /// A capacity below nothing.
    #[error("{worker} would have {amount} {resource}")]
    Negative {
        /// The worker.
        worker: Name,
        /// The resource.
        resource: String,
        /// The amount.
        amount: Quantity,
    },
    /// A time before the run's.
    #[error("{at} is before the time of the run, {now}")]
    Past {
        /// What was asked for.
        at: Timestamp,
        /// The time of the run.
        now: Timestamp,
    },
    /// Nobody says where the clusters are to be.
    #[error(
        "the fleet has neither a cluster nor a worker, so the location of new ones is not known"
    )]
    NoLocation,
    /// An object could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Works out what a run would do.
///
/// # Errors
/// The question names what is not there, or the store failed.
pub fn simulate(scene: &SimulatedFleet<'_>, question: &Question) -> Result<Simulated, Error> {
    let mut notes = Vec::new();
    let edits = MemoryStore::new();
    let edited = Overlay::new(&edits, scene.store);
    let scene = &SimulatedFleet { store: &edited, ..*scene };
    let (tree, added) = edit::input(scene, &question.changes, &mut notes)?;
    let later = later::later(scene, question, &mut notes)?;
    let mut snapshot = Snapshot {
        input: Input { tree, ..scene.snapshot.input.clone() },
        status: later.status,
        reports: later.reports,
        now: later.now,
        ..scene.snapshot.clone()
    };
    let propose = |snapshot: &Snapshot| {
        let (mut memo, made) = (scene.memo.clone(), HashingStore::new());
        pipeline::propose(snapshot, &Overlay::new(&made, &edited), &mut memo)
    };
    let mut after = propose(&snapshot)?;
    let request = question.rebalance.map(|terms| rebalance::request(&after, terms));
    if let Some(request) = request.as_ref().filter(|request| !request.moves.is_empty()) {
        let scene = SimulatedFleet { snapshot: &snapshot, before: &after, ..*scene };
        let tree = edit::write(&scene, request.document())?;
        snapshot.input.tree = tree;
        after = propose(&snapshot)?;
    }
    Ok(Simulated { after, snapshot, edits, added, request, notes })
}

impl Error {
    /// Something that is not among those that there are.
    fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a (impl ToString + 'a)>,
    ) -> Self {
        Self::Unknown {
            kind,
            name: name.to_owned(),
            known: known.map(ToString::to_string).collect(),
        }
    }
}
