//! `MachineHealthCheck` (cluster-api v1.13.5, `internal/webhooks/machinehealthcheck.go`; the range is read by
//! `internal/controllers/machinehealthcheck`, `getUnhealthyRange`).

use super::rules;
use super::value::{at, bad_selector, no_share, number, text};

/// The shortest time that a node has to come up, in seconds; 0 turns the check off.
const SHORTEST_STARTUP: i64 = 30;

rules! {
    "selects no machine", "spec: {selector: {matchLabels: null}}" =>
        |o| bad_selector(o, "/spec/selector");
    "selects the machines of another cluster",
        "spec: {selector: {matchLabels: {cluster.x-k8s.io/cluster-name: b}}}" =>
        |o| at(o, "/spec/selector/matchLabels")
            .and_then(|labels| labels.get("cluster.x-k8s.io/cluster-name"))
            .is_some_and(|name| Some(name) != at(o, "/spec/clusterName"));
    "gives a node less than 30 seconds to come up", "spec: {checks: {nodeStartupTimeoutSeconds: 20}}" =>
        |o| number(o, "/spec/checks/nodeStartupTimeoutSeconds")
            .is_some_and(|seconds| seconds != 0 && seconds < SHORTEST_STARTUP);
    "has a limit of broken machines that is neither a number nor a percentage",
        "spec: {remediation: {triggerIf: {unhealthyLessThanOrEqualTo: some}}}" =>
        |o| no_share(o, "/spec/remediation/triggerIf/unhealthyLessThanOrEqualTo");
    "has a range of broken machines that is none",
        "spec: {remediation: {triggerIf: {unhealthyInRange: '[3-1]'}}}" =>
        |o| no_range(text(o, "/spec/remediation/triggerIf/unhealthyInRange"));
}

fn no_range(range: &str) -> bool {
    let Some(inner) = range.strip_prefix('[').and_then(|r| r.strip_suffix(']')) else {
        return !range.is_empty();
    };
    let bounds = inner.split_once('-').map(|(a, b)| (a.parse::<u32>(), b.parse::<u32>()));
    !matches!(bounds, Some((Ok(least), Ok(most))) if least <= most)
}

#[cfg(test)]
pub(super) const GOOD: &str = r"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: a-np0, namespace: a}
spec:
  clusterName: a
  selector: {matchLabels: {pool: np0}}
  checks: {nodeStartupTimeoutSeconds: 1200}
  remediation: {triggerIf: {unhealthyLessThanOrEqualTo: 40%}}
";
