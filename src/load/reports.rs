//! The agents' reports, and what carp has folded of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tree;
use super::yaml;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::paths::{OBSERVED, POOLS, in_repository};
use crate::model::{
    EntryKind, FOLDED_SCHEMA, FoldedReport, Id, MAX_REPORT_BYTES, Name, POOL_FOLD_SCHEMA, PoolFact,
    PoolFold, REPORT_SCHEMA, Report, Store, StoreError, UNSIGNED_REPORT,
};

/// The largest fold that carp reads, in bytes: some 20,000 clusters.
const MAX_REPORT: usize = 32 << 20;

/// Why a document that carp or an agent wrote cannot be read.
enum Refusal {
    Newer(u64),
    Unreadable(String),
}

/// Reads the agents' reports, given as YAML by worker; no bytes stand for a report that is too large to
/// be read. One that cannot be used is a warning: the fold of its worker stays as it is.
#[must_use]
pub fn reports<'a>(
    raw: impl IntoIterator<Item = (&'a Name, &'a Vec<u8>)>,
) -> (BTreeMap<Name, Report>, Diagnostics) {
    known_reports(raw, |_| true)
}

/// Reads the reports of the workers that are known. The report of any other is named and not looked into: whoever
/// may push under a name that nobody declared costs no more than that.
#[must_use]
pub fn known_reports<'a>(
    raw: impl IntoIterator<Item = (&'a Name, &'a Vec<u8>)>,
    is_known: impl Fn(&Name) -> bool,
) -> (BTreeMap<Name, Report>, Diagnostics) {
    let mut reports = BTreeMap::new();
    let mut diagnostics = Diagnostics::default();
    for (worker, bytes) in raw.into_iter().filter(|(_, bytes)| *bytes != UNSIGNED_REPORT) {
        if !is_known(worker) {
            let message = format!(
                "the report of worker {worker} is not used: no such worker is desired, and none was known"
            );
            let help = "declare the worker, or stop the agent that reports under this name";
            diagnostics.push(Diagnostic::new(Code::ReportRefused, message).help(help));
            continue;
        }
        match report(worker, bytes) {
            Ok(report) => {
                reports.insert(worker.clone(), report);
            }
            Err(why) => {
                let message = format!("the report of `{worker}` cannot be used: {why}");
                let help = "see that the agent on the worker runs and is of this carp's version";
                diagnostics.push(Diagnostic::new(Code::ReportRefused, message).help(help));
            }
        }
    }
    (reports, diagnostics)
}

fn report(worker: &Name, bytes: &[u8]) -> Result<Report, String> {
    if bytes.is_empty() {
        return Err(format!(
            "it is empty, larger than {} MiB, or of more than are read",
            MAX_REPORT_BYTES >> 20
        ));
    }
    let report: Report = written(bytes, REPORT_SCHEMA).map_err(|refusal| match refusal {
        Refusal::Newer(found) => newer(found, REPORT_SCHEMA),
        Refusal::Unreadable(why) => why,
    })?;
    if report.worker != *worker {
        return Err(format!("it says that it is of `{}`", report.worker));
    }
    let mut names: Vec<_> = report.clusters.iter().map(|c| &c.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("it names the cluster `{}` twice", pair[0])),
        None => Ok(report),
    }
}

/// Reads `observed/*.yaml` of a status tree: the folded reports by worker, all or `only` of these. One that cannot be read is an
/// error, and the caller stops: it would be taken for a worker that never reported.
///
/// # Errors
/// The store failed.
pub fn folded(
    store: &dyn Store,
    status: Option<Id>,
    prefix: &str,
    only: Option<&BTreeSet<Name>>,
) -> Result<(BTreeMap<Name, FoldedReport>, Diagnostics), StoreError> {
    let mut found = BTreeMap::new();
    let mut diagnostics = Diagnostics::default();
    let Some(status) = status else { return Ok((found, diagnostics)) };
    let Some(dir) = tree::dir_at(store, status, &in_repository(prefix, OBSERVED))? else {
        return Ok((found, diagnostics));
    };
    for (file, entry) in dir.iter() {
        let Some(worker) = file.strip_suffix(".yaml").and_then(|n| Name::parse(n).ok()) else {
            continue;
        };
        if entry.kind != EntryKind::File || only.is_some_and(|only| !only.contains(&worker)) {
            continue;
        }
        let bytes = store.blob(entry.id)?;
        match written::<FoldedReport>(&bytes, FOLDED_SCHEMA) {
            Ok(report) if report.worker == worker => {
                found.insert(worker, report);
            }
            Ok(report) => {
                let why = format!("it is of `{}`", report.worker);
                diagnostics.push(not_folded(file, Refusal::Unreadable(why)));
            }
            Err(refusal) => diagnostics.push(not_folded(file, refusal)),
        }
    }
    Ok((found, diagnostics))
}

/// Reads `pools.yaml` of a status tree: what time did to the workers of pools. One that cannot be read is
/// an error, and the caller stops.
///
/// # Errors
/// The store failed.
pub fn folded_pools(
    store: &dyn Store,
    status: Option<Id>,
    prefix: &str,
) -> Result<(BTreeMap<Name, PoolFact>, Diagnostics), StoreError> {
    let mut diagnostics = Diagnostics::default();
    let none = BTreeMap::new();
    let Some(status) = status else { return Ok((none, diagnostics)) };
    let dir = tree::dir_at(store, status, prefix)?;
    let entry = dir.and_then(|dir| dir.get(POOLS)).filter(|entry| entry.kind == EntryKind::File);
    let Some(entry) = entry else { return Ok((none, diagnostics)) };
    Ok(match written::<PoolFold>(&store.blob(entry.id)?, POOL_FOLD_SCHEMA) {
        Ok(fold) => (fold.workers, diagnostics),
        Err(refusal) => {
            diagnostics.push(unfolded(POOLS.to_owned(), refusal));
            (none, diagnostics)
        }
    })
}

fn not_folded(file: &str, refusal: Refusal) -> Diagnostic {
    unfolded(format!("{OBSERVED}/{file}"), refusal)
}

fn unfolded(path: String, refusal: Refusal) -> Diagnostic {
    let finding = match refusal {
        Refusal::Newer(found) => {
            let message = format!("`{path}`: {}", newer(found, FOLDED_SCHEMA));
            Diagnostic::new(Code::NewerFormat, message).help("use the carp that wrote it")
        }
        Refusal::Unreadable(why) => {
            let message = format!("`{path}` of the status branch cannot be read: {why}");
            let help = "bring back its last good version with `git revert` on the status branch";
            Diagnostic::new(Code::RecordUnreadable, message).help(help)
        }
    };
    finding.at(Place::file(path))
}

pub(super) fn newer(found: u64, known: u32) -> String {
    format!("it has schemaVersion {found}; this carp reads up to {known}")
}

fn written<T: DeserializeOwned>(bytes: &[u8], schema: u32) -> Result<T, Refusal> {
    if bytes.len() > MAX_REPORT {
        let why = format!("it has {} bytes; carp reads up to {MAX_REPORT}", bytes.len());
        return Err(Refusal::Unreadable(why));
    }
    let unreadable = |why: String| Refusal::Unreadable(why);
    let text = std::str::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    let value: Value = yaml::parse_written(text)
        .map_err(|f| unreadable(format!("line {}: {}", f.line, f.message)))?;
    match value.get("schemaVersion").and_then(Value::as_u64) {
        Some(found) if found > u64::from(schema) => Err(Refusal::Newer(found)),
        Some(found) if found == u64::from(schema) => {
            serde_json::from_value(value).map_err(|e| unreadable(e.to_string()))
        }
        Some(found) => Err(unreadable(format!("there is no schemaVersion {found}"))),
        None => Err(unreadable("it has no schemaVersion".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::emit_yaml;
    use super::super::tests::Memory;
    use super::*;
    use crate::model::{Ahead, Entry, Freshness};

    const REPORT: &str = "schemaVersion: 1\nworker: w1\nworkerUID: u\ntime: 2026-01-31T12:00:00Z\n\
                          complete: true\nhealthy: true\nclusters:\n- name: a\n  phase: Running\n";

    fn one(text: &str) -> Result<Report, String> {
        let w1 = Name::parse("w1").unwrap();
        let (mut found, diagnostics) = reports([(&w1, &text.as_bytes().to_vec())]);
        found.remove(&w1).ok_or_else(|| {
            let only = diagnostics.iter().next().unwrap();
            assert_eq!(only.code, Code::ReportRefused);
            only.message.clone()
        })
    }

    #[test]
    fn a_report_is_read() {
        let report = one(REPORT).unwrap();
        assert!(report.complete && report.clusters[0].phase == "Running");
    }

    #[test]
    fn what_an_older_agent_does_not_say_is_not_known_and_what_a_newer_one_adds_is_not_read() {
        assert_eq!(one(REPORT).unwrap().foreign_namespaces, []);
        let said = one(&REPORT.replace("clusters:", "foreignNamespaces: [billing]\nclusters:"));
        assert_eq!(said.unwrap().foreign_namespaces, [Name::parse("billing").unwrap()]);
        let newer =
            REPORT.replace("healthy: true", "healthy: true\ncolour: red") + "  shape: round\n";
        assert_eq!(one(&newer).unwrap(), one(REPORT).unwrap());
    }

    #[test]
    fn a_report_that_cannot_be_used_is_refused_with_the_reason() {
        for (text, why) in [
            (String::new(), "larger than 2 MiB"),
            (REPORT.replace("schemaVersion: 1", "schemaVersion: 2"), "reads up to 1"),
            (REPORT.replace("schemaVersion: 1", "schemaVersion: 0"), "no schemaVersion 0"),
            (REPORT.replace("schemaVersion: 1\n", ""), "no schemaVersion"),
            (REPORT.replace("worker: w1", "worker: w2"), "of `w2`"),
            (REPORT.replace("healthy: true", "healthy: [").clone(), "line"),
            (REPORT.replace("healthy: true", "colour: red").clone(), "healthy"),
            (format!("{REPORT}- name: a\n  phase: Running\n"), "twice"),
        ] {
            let said = one(&text).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn what_a_worker_that_nobody_knows_reports_is_not_looked_into() {
        let (w1, w2) = (Name::parse("w1").unwrap(), Name::parse("w2").unwrap());
        let (of_w1, of_w2) = (REPORT.into(), b"{[ no YAML".to_vec());
        let raw = [(&w1, &of_w1), (&w2, &of_w2)];
        let (found, diagnostics) = known_reports(raw, |name| *name == w1);
        assert_eq!(found.keys().collect::<Vec<_>>(), [&w1]);
        let told: Vec<_> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(told.len(), 1);
        assert!(told[0].ends_with("no such worker is desired, and none was known"), "{told:?}");
    }

    #[test]
    fn one_that_nobody_signed_was_told_already() {
        let w1 = Name::parse("w1").unwrap();
        let (found, diagnostics) = reports([(&w1, &UNSIGNED_REPORT.to_vec())]);
        assert!(found.is_empty() && diagnostics.is_empty());
    }

    #[test]
    fn a_fold_reads_back_what_was_written() {
        let fold = FoldedReport {
            schema_version: FOLDED_SCHEMA,
            worker: Name::parse("w1").unwrap(),
            worker_uid: "123e4567".to_owned(),
            freshness: Freshness::Fresh,
            freshness_since: "2026-01-31T12:00:00Z".parse().unwrap(),
            healthy: false,
            healthy_since: "2026-01-31T12:00:00Z".parse().unwrap(),
            reason: Some("No".to_owned()),
            message: Some("two\nlines: yes".to_owned()),
            complete: true,
            applied_revision: Some("1e10".to_owned()),
            applied_digest: None,
            ahead: Some(Ahead {
                time: "2099-01-31T12:00:00Z".parse().unwrap(),
                seen: "2026-01-31T12:00:00Z".parse().unwrap(),
            }),
            components: [("flux".to_owned(), "2.10".to_owned())].into(),
            foreign_namespaces: [Name::parse("billing").unwrap()].into(),
            clusters: BTreeMap::new(),
        };
        let read = |text: &str| {
            let store = Memory::default();
            let id = store.put_blob(text.as_bytes()).unwrap();
            let entry = Entry { kind: EntryKind::File, id };
            let tree = store.tree(&[("teams/a/observed/w1.yaml", entry)]);
            folded(&store, Some(tree), "teams/a", None).unwrap()
        };
        let text = emit_yaml(&fold);
        let (found, diagnostics) = read(&text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(found.values().next(), Some(&fold));
        let newer = text.replace("healthy: false", "healthy: false\ncolour: red");
        assert_eq!(read(&newer).0, found, "what a newer carp adds is not read");
        let older = text.replace("foreignNamespaces:\n- billing\n", "");
        assert_ne!(older, text);
        assert!(read(&older).0.values().all(|fold| fold.foreign_namespaces.is_empty()));
        let code = |text: &str| read(text).1.iter().next().unwrap().code;
        assert_eq!(code(&text.replace("schemaVersion: 1", "schemaVersion: 9")), Code::NewerFormat);
        assert_eq!(code(&text.replace("worker: w1", "worker: w9")), Code::RecordUnreadable);
        assert_eq!(code("a: ["), Code::RecordUnreadable);
    }

    #[test]
    fn without_a_status_branch_nothing_is_folded() {
        let store = Memory::default();
        assert!(folded(&store, None, "", None).unwrap().0.is_empty());
        let empty = store.tree(&[]);
        assert!(folded(&store, Some(empty), "", None).unwrap().0.is_empty());
    }
}
