//! Words of spread, anti-affinity and quota.

use super::read::{list, number};
use crate::model::api::{
    AntiAffinity, LabelSelector, Quota, SpreadConstraint, TenantSelector, WhenUnsatisfiable,
};
use crate::model::topology;

/// The rules of a policy or of a cluster.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) spread: Vec<SpreadConstraint>,
    pub(super) anti_affinity: Vec<AntiAffinity>,
}

impl Rules {
    pub(super) fn is_empty(&self) -> bool {
        self.spread.is_empty() && self.anti_affinity.is_empty()
    }

    /// Reads a word; whether it is one of these.
    pub(super) fn read(&mut self, word: &str) -> bool {
        let (soft, word) = match word.strip_prefix("soft-") {
            Some(rest) => (WhenUnsatisfiable::ScheduleAnyway, rest),
            None => (WhenUnsatisfiable::DoNotSchedule, word),
        };
        let Some((rule, rest)) = word.split_once(':') else { return false };
        let (key, rest) = rest.split_once('=').unwrap_or((rest, ""));
        let (rest, tenants) = rest.split_once('~').map_or((rest, None), |(r, t)| (r, Some(t)));
        let names = |tenants| if tenants == "*" { Vec::new() } else { list(tenants) };
        let tenant_selector = tenants.map(|tenants| TenantSelector { names: names(tenants) });
        let (rest, keys) = rest.split_once('#').unwrap_or((rest, ""));
        let (amount, selector) = rest.split_once('@').map_or((rest, None), |(a, s)| (a, Some(s)));
        let topology_key = Some(format!("{}{key}", topology::PREFIX));
        let topology_key = topology_key.filter(|key| topology::KEYS.contains(&key.as_str()));
        let topology_key = topology_key.unwrap_or_else(|| key.to_owned());
        let label_selector = selector.map(selecting);
        let match_label_keys = if keys.is_empty() { Vec::new() } else { list(keys) };
        let when_unsatisfiable = soft;
        match rule {
            "spread" => self.spread.push(SpreadConstraint {
                topology_key,
                max_skew: u32::try_from(number(amount)).unwrap(),
                when_unsatisfiable,
                label_selector,
                match_label_keys,
                tenant_selector,
            }),
            "apart" => self.anti_affinity.push(AntiAffinity {
                topology_key,
                when_unsatisfiable,
                label_selector,
                match_label_keys,
                tenant_selector,
            }),
            _ => return false,
        }
        true
    }
}

/// `k=v,l=w`; nothing selects all.
fn selecting(text: &str) -> LabelSelector {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    let match_labels = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    LabelSelector { match_labels, ..LabelSelector::default() }
}

/// `quota=3 quota:mem=4 quota@westeurope=2 quota@westeurope:mem=1`.
pub(super) fn quota(words: &[&str]) -> Option<Quota> {
    let mut quota = Quota::default();
    for word in words.iter().filter_map(|word| word.strip_prefix("quota")) {
        let (of, amount) = word.split_once('=').expect("quota=N");
        let (location, resource) = of.split_once(':').unwrap_or((of, "clusters"));
        let limits = match location.strip_prefix('@') {
            Some(location) => quota.locations.entry(location.to_owned()).or_default(),
            None => &mut quota.total,
        };
        limits.insert(resource.to_owned(), crate::model::Quantity::units(number(amount)));
    }
    Some(quota).filter(|quota| *quota != Quota::default())
}
