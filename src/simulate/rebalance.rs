//! A rebalance that is proposed: the moves that the planner would begin, and the request as it is written.

use serde_json::{Value, json};

use crate::change::rebalance_digest;
use crate::model::api::{API_VERSION, AcknowledgementKind, Rebalance};
use crate::model::{Digest, Name, Proposal, Rebalanced};
use crate::plan::{self, PlanInput};

/// A rebalance that could be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebalanceOffer {
    /// The numbers that were asked for.
    pub terms: Rebalance,
    /// The moves, in the order in which they were chosen; none where none gains as much.
    pub moves: Vec<Rebalanced>,
    /// The digest of exactly this set.
    pub digest: Digest,
    /// The name of its Acknowledgement, and whether `carp ack` would choose it by itself.
    pub name: (String, bool),
}

/// What could be requested in the fleet of a proposal.
pub(super) fn request(proposal: &Proposal, terms: Rebalance) -> RebalanceOffer {
    let moves = if proposal.stopped {
        Vec::new()
    } else {
        plan::plan(&PlanInput { rebalance: Some(terms), ..PlanInput::of(proposal) }).rebalanced
    };
    let digest = rebalance_digest(&moves);
    let name = free_name(proposal, digest);
    RebalanceOffer { terms, moves, digest, name }
}

/// The name that `carp ack` gives, or the first like it that is free.
fn free_name(proposal: &Proposal, digest: Digest) -> (String, bool) {
    let first = format!("{}-{}", AcknowledgementKind::Rebalance, digest.short(8));
    let taken = |name: &str| {
        let all = &proposal.fleet.acknowledgements;
        Name::parse(name).is_ok_and(|name| all.contains_key(&name))
    };
    if !taken(&first) {
        return (first, true);
    }
    let mut others = (2_u64..).map(|number| format!("{first}-{number}"));
    let other = others.find(|name| !taken(name));
    (other.unwrap_or(first), false)
}

impl RebalanceOffer {
    /// The document that requests it.
    pub(super) fn document(&self) -> Value {
        json!({
            "apiVersion": API_VERSION,
            "kind": "Acknowledgement",
            "metadata": {"name": self.name.0},
            "spec": {
                "of": AcknowledgementKind::Rebalance,
                "count": self.moves.len(),
                "digest": format!("sha256:{}", self.digest),
                "rebalance": self.terms,
            },
        })
    }

    /// The command that writes it; `None` where nothing would move.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let Rebalance { most, gain } = self.terms;
        let name = if self.name.1 { String::new() } else { format!(" --name {}", self.name.0) };
        (!self.moves.is_empty()).then(|| {
            format!(
                "carp ack rebalance --most {most} --gain {gain} --count {} --digest sha256:{}{name}",
                self.moves.len(),
                self.digest
            )
        })
    }
}
