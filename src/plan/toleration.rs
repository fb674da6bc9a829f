//! Matching taints with tolerations, as Kubernetes does (k8s.io/api, core/v1/toleration.go).

use crate::model::api::{Taint, Toleration, TolerationOperator};

/// The taints that no toleration covers.
pub(super) fn untolerated<'a>(
    taints: &'a [Taint],
    tolerations: &'a [Toleration],
) -> impl Iterator<Item = &'a Taint> {
    taints.iter().filter(|taint| !tolerations.iter().any(|t| covers(t, taint)))
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
    use crate::model::api::TaintEffect;

    #[test]
    fn an_empty_key_needs_exists() {
        let taint = |key: &str| Taint {
            key: key.to_owned(),
            value: String::new(),
            effect: TaintEffect::NoSchedule,
        };
        let any = |operator| Toleration {
            key: String::new(),
            operator,
            value: String::new(),
            effect: None,
        };
        assert!(covers(&any(TolerationOperator::Exists), &taint("k")));
        assert!(!covers(&any(TolerationOperator::Equal), &taint("k")));
        assert!(!covers(&any(TolerationOperator::Equal), &taint("")));
    }
}
