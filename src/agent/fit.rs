//! A report within the size that carp reads.
//!
//! A worker all of whose clusters fail has the most to say, and must not fall silent over it: what is for
//! people is cut first, and what carp decides by never.

use super::Error;
use crate::load::emit_yaml;
use crate::model::{MAX_REPORT_BYTES, Report};

/// What is cut, one after the other: the characters that stay of each message.
const MESSAGES: [usize; 3] = [80, 24, 0];

/// The text of a report.
///
/// # Errors
/// It is too large without all that can be left out.
pub(super) fn text(report: &Report) -> Result<String, Error> {
    within(report, usize::try_from(MAX_REPORT_BYTES).unwrap_or(usize::MAX))
}

fn within(report: &Report, most: usize) -> Result<String, Error> {
    let mut text = emit_yaml(report);
    if text.len() <= most {
        return Ok(text);
    }
    let mut report = report.clone();
    for characters in MESSAGES {
        cut_messages(&mut report, characters);
        text = emit_yaml(&report);
        if text.len() <= most {
            return Ok(text);
        }
    }
    report.clusters.iter_mut().for_each(|cluster| cluster.conditions.clear());
    text = emit_yaml(&report);
    if text.len() > most {
        return Err(Error::TooLarge { bytes: text.len(), clusters: report.clusters.len() });
    }
    Ok(text)
}

fn cut_messages(report: &mut Report, characters: usize) {
    for cluster in &mut report.clusters {
        let conditions = cluster.conditions.iter_mut().map(|c| &mut c.message);
        for message in conditions.chain(cluster.errors.iter_mut().map(|e| &mut e.message)) {
            if let Some((at, _)) = message.char_indices().nth(characters) {
                message.truncate(at);
                if characters > 0 {
                    message.push('…');
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Condition, ConditionStatus, Digest, Name, ReportedCluster, ReportedError, ReportedMachines,
        fixture,
    };

    /// A worker whose clusters all say as much as the agent lets one say.
    fn all_fail(clusters: usize) -> Report {
        let message = || "ä".repeat(256);
        let condition = |kind: usize| Condition {
            kind: format!("WorkersAvailable{kind}"),
            status: ConditionStatus::False,
            reason: "NotAvailable".to_owned(),
            message: message(),
            last_transition_time: Some("2026-11-01T08:00:00Z".to_owned()),
            observed_generation: Some(1),
        };
        let error = |code: usize| ReportedError {
            code: format!("SizeNotAvailable{code}"),
            message: message(),
            user_error: true,
        };
        let cluster = |number: usize| ReportedCluster {
            name: Name::parse(&format!("a-cluster-with-a-long-name-{number}")).unwrap(),
            uid: Some("123e4567-e89b-42d3-a456-426614174000".to_owned()),
            digest: Some(Digest::of(b"x")),
            phase: "Provisioning".to_owned(),
            since: Some("2026-11-01T07:00:00Z".parse().unwrap()),
            version: Some("v1.34.2".to_owned()),
            control_plane_version: Some("v1.34.2".to_owned()),
            pool_version: Some("v1.34.2".to_owned()),
            endpoint: Some("https://a-cluster.westeurope.cloudapp.azure.com:6443".to_owned()),
            nodes: None,
            machines: Some(ReportedMachines { count: 100, digest: Digest::of(b"m") }),
            suspended: true,
            conditions: (0..9).map(condition).collect(),
            errors: (0..5).map(error).collect(),
            present: ["Cluster", "AzureCluster", "MachineDeployment"].map(str::to_owned).into(),
        };
        Report {
            clusters: (0..clusters).map(cluster).collect(),
            ..fixture::report("we-1", "2026-11-01T08:00:00Z".parse().unwrap())
        }
    }

    #[test]
    fn a_worker_of_a_thousand_clusters_that_all_fail_is_still_heard() {
        let report = all_fail(1000);
        assert!(emit_yaml(&report).len() > 2 << 20, "it would be too large");
        let text = text(&report).unwrap();
        assert!(text.len() as u64 <= MAX_REPORT_BYTES, "{}", text.len());
        let read: Report = crate::load::read_yaml(text.as_bytes()).unwrap();
        assert_eq!(read.clusters.len(), 1000);
        for (whole, cut) in report.clusters.iter().zip(&read.clusters) {
            assert_eq!(
                (&cut.digest, &cut.uid, &cut.phase),
                (&whole.digest, &whole.uid, &whole.phase)
            );
            assert_eq!(cut.present, whole.present);
            assert_eq!(cut.errors.len(), whole.errors.len(), "every code is told");
        }
    }

    #[test]
    fn what_fits_is_not_cut() {
        let report = all_fail(2);
        assert_eq!(text(&report).unwrap(), emit_yaml(&report));
        let some = within(&report, emit_yaml(&report).len() - 1).unwrap();
        assert!(some.contains(&format!("{}…", "ä".repeat(80))), "{some}");
    }

    #[test]
    fn what_cannot_be_cut_any_more_is_told() {
        let error = within(&all_fail(3), 500).unwrap_err().to_string();
        assert!(error.contains("3 clusters"), "{error}");
    }
}
