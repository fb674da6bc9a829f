//! Matching taints with tolerations, as Kubernetes does (k8s.io/api, core/v1/toleration.go).

use jiff::Timestamp;

use super::clock::after;
use crate::model::api::{Taint, TaintEffect, Toleration, TolerationOperator};

/// The taints that keep something new away: those that no toleration covers for good. A toleration for
/// some seconds lets stay what is there; what it let in would have to leave again.
pub(super) fn untolerated<'a>(
    taints: &'a [Taint],
    tolerations: &'a [Toleration],
) -> impl Iterator<Item = &'a Taint> {
    let for_good = |t: &&Toleration| t.toleration_seconds.is_none();
    taints
        .iter()
        .filter(move |taint| !tolerations.iter().filter(for_good).any(|t| covers(t, taint)))
}

/// Whether a `NoExecute` taint drives out what is there: no toleration covers it, or the longest that does
/// has run out.
pub(super) fn drives_out(
    taint: &Taint,
    tolerations: &[Toleration],
    has_passed: impl Fn(Timestamp) -> bool,
) -> bool {
    if taint.effect != TaintEffect::NoExecute {
        return false;
    }
    let covering: Vec<_> = tolerations.iter().filter(|t| covers(t, taint)).collect();
    if covering.iter().any(|t| t.toleration_seconds.is_none()) {
        return false;
    }
    let ends: Vec<_> = covering.iter().map(|t| end(t, taint)).collect();
    ends.into_iter().all(|end| end.is_some_and(&has_passed))
}

/// The moment at which a toleration of a taint runs out; `None` where it covers it not at all, or without
/// end.
pub(super) fn end(toleration: &Toleration, taint: &Taint) -> Option<Timestamp> {
    let seconds = toleration.toleration_seconds.filter(|_| covers(toleration, taint))?;
    let added: Timestamp = taint.time_added.as_ref()?.parse().ok()?;
    Some(after(added, seconds))
}

/// Whether a toleration covers a taint. An empty key means every key, and needs `Exists`.
fn covers(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.is_none_or(|effect| effect == taint.effect);
    let key = toleration.key == taint.key;
    effect
        && match toleration.operator {
            TolerationOperator::Exists => key || toleration.key.is_empty(),
            TolerationOperator::Equal => {
                key && !toleration.key.is_empty() && toleration.value == taint.value
            }
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_key_needs_exists() {
        let taint = |key: &str| Taint {
            key: key.to_owned(),
            value: String::new(),
            effect: TaintEffect::NoSchedule,
            time_added: None,
        };
        let any = |operator| Toleration {
            key: String::new(),
            operator,
            value: String::new(),
            effect: None,
            toleration_seconds: None,
        };
        assert!(covers(&any(TolerationOperator::Exists), &taint("k")));
        assert!(!covers(&any(TolerationOperator::Equal), &taint("k")));
        assert!(!covers(&any(TolerationOperator::Equal), &taint("")));
    }

    #[test]
    fn a_taint_drives_out_what_does_not_tolerate_it_or_not_any_longer() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let taint = |added: Option<i64>| Taint {
            key: "k".to_owned(),
            value: String::new(),
            effect: TaintEffect::NoExecute,
            time_added: added.map(|second| at(second).to_string()),
        };
        let exists = |seconds| Toleration {
            key: "k".to_owned(),
            operator: TolerationOperator::Exists,
            value: String::new(),
            effect: Some(TaintEffect::NoExecute),
            toleration_seconds: seconds,
        };
        let now = at(1000);
        let driven = |taint: &Taint, all: &[Toleration]| drives_out(taint, all, |m| m <= now);
        assert!(driven(&taint(None), &[]), "nobody tolerates it");
        assert!(!driven(&taint(Some(900)), &[exists(None)]), "for ever");
        assert!(!driven(&taint(Some(900)), &[exists(Some(200))]), "not yet");
        assert!(driven(&taint(Some(900)), &[exists(Some(100))]), "the moment itself counts");
        assert!(!driven(&taint(Some(900)), &[exists(Some(1)), exists(Some(200))]), "the longest");
        assert!(!driven(&taint(None), &[exists(Some(1))]), "nothing dates it");
        let only_new = Taint { effect: TaintEffect::NoSchedule, ..taint(None) };
        assert!(!driven(&only_new, &[]));
        let timed = [exists(Some(200))];
        let tainted = [taint(Some(900))];
        assert_eq!(untolerated(&tainted, &timed).count(), 1, "nothing new comes for a while only");
    }
}
