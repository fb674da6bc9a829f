//! A plan with the rebalance that somebody requested.

use crate::change::{self, Acknowledged};
use crate::diag::Diagnostic;
use crate::model::Name;
use crate::model::api::Rebalance;
use crate::plan::{self, PlanInput, Planning};

/// The decisions, and what became of the requests.
pub(super) struct RebalancedPlan {
    pub(super) planning: Planning,
    /// The rebalance that begins.
    pub(super) terms: Option<Rebalance>,
    /// The acknowledgement that let the moves through.
    pub(super) spent: Option<Name>,
    /// The acknowledgements of other moves than there are.
    pub(super) mismatches: Vec<Diagnostic>,
}

/// Plans with the first request whose moves are, now, exactly those that were acknowledged; without any
/// where there is none. A second one is looked at once the first is spent.
pub(super) fn plan(input: &PlanInput<'_>, good: &Acknowledged) -> RebalancedPlan {
    let mut mismatches = Vec::new();
    for request in change::rebalances(input.fleet, good) {
        let planning = plan::plan(&PlanInput { rebalance: Some(request.terms), ..*input });
        if request.is_of(&planning.rebalanced, good) {
            let (terms, spent) = (Some(request.terms), Some(request.name));
            return RebalancedPlan { planning, terms, spent, mismatches };
        }
        let told = change::rebalance_mismatch(input.fleet, &request, &planning.rebalanced);
        mismatches.extend(told);
    }
    RebalancedPlan { planning: plan::plan(input), terms: None, spent: None, mismatches }
}
