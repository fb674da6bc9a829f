//! Explaining one policy.

use std::collections::BTreeMap;

use super::PolicyExplanation;
use crate::model::Name;
use crate::plan::PlanInput;
use crate::plan::policy::{Policies, precedence};

/// Explains to which desired clusters a policy applies; `None` where there is no such policy.
#[must_use]
pub fn explain_policy(input: &PlanInput<'_>, name: &Name) -> Option<PolicyExplanation> {
    let policy = input.fleet.policies.get(name)?;
    let policies = Policies::of(input.fleet);
    let mut applies_to = Vec::new();
    let mut lost = BTreeMap::new();
    for cluster in input.fleet.clusters.values() {
        if !policy.spec.cluster_selector.selects(&cluster.name, &cluster.labels) {
            continue;
        }
        match policies.select(cluster) {
            Some(winner) if winner.name != *name => {
                let by = (winner.name.clone(), precedence(winner, policy));
                lost.insert(cluster.name.clone(), by);
            }
            _ => applies_to.push(cluster.name.clone()),
        }
    }
    Some(PolicyExplanation { policy: name.clone(), applies_to, lost })
}

#[cfg(test)]
mod tests {
    use crate::plan::Precedence;
    use crate::plan::world::{World, name};

    #[test]
    fn a_policy_tells_to_whom_it_applies_and_where_it_lost() {
        let world = World::read(
            "policy p for:env=prod; policy q for:team=x priority=1;
             cluster a label:env=prod; cluster b label:env=prod label:team=x; cluster c",
        );
        let told = world.explain_policy("p").expect("it is there");
        assert_eq!(told.applies_to, [name("a")]);
        assert_eq!(told.lost, [(name("b"), (name("q"), Precedence::Priority))].into());
        assert_eq!(world.explain_policy("z"), None);
    }
}
