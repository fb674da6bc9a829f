//! `fleet.yaml`: the one document that names the output commit it speaks of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::STATUS_SCHEMA;
use crate::diag::Diagnostics;
use crate::model::{Digest, FleetCounts, Hold, Id};

/// The fleet as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FleetStatus {
    /// [`STATUS_SCHEMA`].
    pub schema_version: u32,
    /// `Fleet`.
    pub kind: String,
    /// The fleet's name.
    pub name: String,
    /// The output commit that this branch speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Id>,
    /// The input commit that this document was made from. A later one that changes nothing here does not
    /// change this either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Id>,
    /// How many clusters are in which phase.
    pub clusters: BTreeMap<String, u64>,
    /// How many workers there are.
    pub workers: u64,
    /// What guards hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldStatus>,
    /// How many findings there are, by severity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub findings: BTreeMap<String, u64>,
}

/// Phases that people should hear of at once.
const BAD: [&str; 2] = ["Degraded", "Unknown"];

impl FleetStatus {
    /// Names the input commit of an earlier document where nothing else differs from that.
    pub fn keep_input_of(&mut self, before: &Self) {
        if (Self { input: before.input, ..self.clone() }) == *before {
            self.input = before.input;
        }
    }

    /// Whether this says something, compared with an earlier document, that should not wait: what guards
    /// hold, findings, clusters that are not well.
    #[must_use]
    pub fn is_urgent_after(&self, before: &Self) -> bool {
        let bad = |status: &Self| BAD.map(|phase| status.clusters.get(phase).copied());
        self.held != before.held || self.findings != before.findings || bad(self) != bad(before)
    }
}

/// Something that a guard holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeldStatus {
    /// Which guard.
    pub guard: String,
    /// How many.
    pub count: u64,
    /// The digest of the set, for an Acknowledgement.
    pub digest: Digest,
}

/// What the fleet's status is made from.
#[derive(Clone, Copy, Debug)]
pub struct FleetInput<'a> {
    /// The fleet's name.
    pub name: &'a str,
    /// What there is.
    pub counts: &'a FleetCounts,
    /// What guards hold.
    pub holds: &'a [Hold],
    /// Every finding.
    pub findings: &'a Diagnostics,
}

/// The fleet's status, which speaks of this output commit and was made from this input commit.
#[must_use]
pub fn fleet_status(
    from: FleetInput<'_>,
    output: Option<Id>,
    input_commit: Option<Id>,
) -> FleetStatus {
    let mut by_severity = BTreeMap::new();
    for finding in from.findings {
        *by_severity.entry(finding.severity.to_string()).or_default() += 1;
    }
    let held = from.holds.iter().map(|hold| HeldStatus {
        guard: hold.kind.name().to_owned(),
        count: hold.names.len() as u64,
        digest: hold.digest(),
    });
    FleetStatus {
        schema_version: STATUS_SCHEMA,
        kind: "Fleet".to_owned(),
        name: from.name.to_owned(),
        output,
        input: input_commit,
        clusters: from.counts.clusters.clone(),
        workers: from.counts.workers.values().sum(),
        held: held.collect(),
        findings: by_severity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(input: u8) -> FleetStatus {
        FleetStatus {
            schema_version: STATUS_SCHEMA,
            kind: "Fleet".to_owned(),
            name: "f".to_owned(),
            output: None,
            input: Some(Id::from_bytes([input; 20])),
            clusters: BTreeMap::from([("Running".to_owned(), 2)]),
            workers: 1,
            held: Vec::new(),
            findings: BTreeMap::new(),
        }
    }

    #[test]
    fn an_input_commit_alone_is_no_news() {
        let before = status(1);
        let mut after = status(2);
        after.keep_input_of(&before);
        assert_eq!(after, before);
        let mut after = FleetStatus { workers: 2, ..status(2) };
        after.keep_input_of(&before);
        assert_eq!(after.input, status(2).input);
    }

    #[test]
    fn what_is_held_wrong_or_unwell_does_not_wait() {
        let before = status(1);
        let with = |phase: &str| FleetStatus {
            clusters: BTreeMap::from([(phase.to_owned(), 1), ("Running".to_owned(), 1)]),
            ..status(1)
        };
        assert!(!with("Updating").is_urgent_after(&before));
        for bad in ["Degraded", "Unknown"] {
            assert!(with(bad).is_urgent_after(&before), "{bad}");
            assert!(before.is_urgent_after(&with(bad)), "{bad}: that it is well again, too");
            assert!(!with(bad).is_urgent_after(&with(bad)), "{bad}: as it was");
            let mut more = with(bad);
            more.clusters.insert(bad.to_owned(), 2);
            assert!(more.is_urgent_after(&with(bad)), "{bad}: one more");
        }
        let findings = BTreeMap::from([("error".to_owned(), 1)]);
        assert!(FleetStatus { findings, ..status(1) }.is_urgent_after(&before));
    }
}
