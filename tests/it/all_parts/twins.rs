//! Twins of a report that would make a deletion's next step: each is like it but for one thing, and moves
//! nothing.

use serde_json::{Value, json};

use super::deleting::Going;
use super::story::Story;
use crate::support::keys::SshKey;

/// A change of a report.
type Change<'a> = &'a dyn Fn(&mut Value);

impl Story {
    /// The agent has made the report that the next step waits for, and carp never sees but its twins. The
    /// digest of the step before is what a stale one carries.
    pub(super) fn nothing_moves_on_twins(&self, going: &Going, stale: &str) {
        let good = self.worker.reported().unwrap();
        let row = |report: &mut Value, key: &str, value: Value| {
            let rows = report["clusters"].as_array_mut().unwrap();
            rows.iter_mut().find(|row| row["name"] == going.name).unwrap()[key] = value;
        };
        let also = |report: &mut Value, kind: &str| {
            let rows = report["clusters"].as_array_mut().unwrap();
            let row = rows.iter_mut().find(|row| row["name"] == going.name).unwrap();
            row["present"].as_array_mut().unwrap().push(json!(kind));
        };
        let refused: [(&str, Change<'_>, &str); 3] = [
            ("late", &|r| r["time"] = json!("2026-11-01T09:01:00Z"), "before a change"),
            (
                "of another cluster",
                &|r| r["workerUID"] = json!("another"),
                "it is from the cluster",
            ),
            ("of another worker", &|r| r["worker"] = json!("w-neu"), "it says that it is of"),
        ];
        for (what, change, why) in refused {
            let before = self.waits_for(going);
            let said = self.moves_nothing(what, &self.twin(&good, change), &self.key);
            assert!(said.contains(why), "{what}: {said}");
            assert_eq!(self.waits_for(going), before, "{what}");
        }
        let mallory = SshKey::new().unwrap();
        let said = self.moves_nothing("signed by another", &self.twin(&good, &|_| ()), &mallory);
        assert!(said.contains("key is that of no allowed signer"), "{said}");
        let heard: [(&str, Change<'_>, &str); 6] = [
            (
                "incomplete",
                &|r| (r["complete"], r["unlisted"]) = (json!(false), json!(["AzureMachine"])),
                "Incomplete",
            ),
            ("stale", &|r| row(r, "digest", json!(stale)), "NotApplied"),
            ("contradictory", &|r| row(r, "uid", json!("c-1")), "Contradictory"),
            ("not gone", &|r| also(r, "Cluster"), "StillThere"),
            ("of a cluster on machines still", &|r| also(r, "AzureMachine"), "StillThere"),
            (
                "silent about it",
                &|r| {
                    let rows = r["clusters"].as_array_mut().unwrap();
                    rows.retain(|row| row["name"] != going.name);
                },
                "NotApplied",
            ),
        ];
        for (what, change, reason) in heard {
            self.moves_nothing(what, &self.twin(&good, change), &self.key);
            assert_eq!(self.waits_for(going).1, reason, "{what}");
        }
        // And the good one itself, when it is heard of too late.
        let old = self.twin(&good, &|_| ());
        self.minutes_pass(61);
        self.moves_nothing("of long ago", &old, &self.key);
        assert_eq!(self.waits_for(going).1, "Silent");
    }

    /// A report as it was, but for one thing and for its time, which is now.
    fn twin(&self, good: &Value, change: Change<'_>) -> String {
        let mut report = good.clone();
        report["time"] = json!(self.now().to_string());
        change(&mut report);
        report.to_string()
    }

    #[track_caller]
    fn moves_nothing(&self, what: &str, text: &str, key: &SshKey) -> String {
        let before = self.output();
        self.somebody_reports(text, key.file());
        let said = self.carp_reconciles();
        assert_eq!(self.output(), before, "a report that is {what} moves nothing: {said}");
        said
    }
}
