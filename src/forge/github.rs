//! GitHub's REST API, version 2022-11-28.

use http::Method;
use serde_json::{Value, json};

use super::call::{COMMENTS, Call, Dialect, ForgeStanding, PAGE, elements, encoded, text};
use super::report::{ForgeReport, ReportState};
use crate::model::Id;

/// A repository there.
pub(super) struct GitHub {
    /// `/repos/OWNER/NAME`.
    base: String,
}

impl GitHub {
    pub(super) fn new(repository: &str) -> Self {
        let parts: Vec<_> = repository.split('/').map(encoded).collect();
        Self { base: format!("/repos/{}", parts.join("/")) }
    }
}

impl Dialect for GitHub {
    fn token(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn author(&self, made: &Value) -> Option<u64> {
        ["creator", "user"].iter().find_map(|field| made[field]["id"].as_u64())
    }

    fn state(&self, report: &ForgeReport) -> &'static str {
        match report.state {
            ReportState::Fine => "success",
            ReportState::Waits => "pending",
            ReportState::Held => "failure",
            ReportState::Failed => "error",
        }
    }

    fn statuses(&self, report: &ForgeReport) -> Call {
        let (base, commit) = (&self.base, report.commit);
        let what = format!("reading the statuses of commit {}", commit.short());
        Call::get(what, format!("{base}/commits/{commit}/statuses?per_page={PAGE}"))
    }

    /// The latest one comes first; names differ by more than their case.
    fn standing(&self, answer: &Value, report: &ForgeReport) -> Option<ForgeStanding> {
        let ours = |status: &&Value| text(status, "context").eq_ignore_ascii_case(&report.context);
        let status = elements(answer).find(ours)?;
        let of = |field| text(status, field).to_owned();
        let author = self.author(status);
        Some(ForgeStanding { author, state: of("state"), description: of("description") })
    }

    fn set_status(&self, report: &ForgeReport) -> Call {
        let what = format!("setting the status of commit {}", report.commit.short());
        let path = format!("{}/statuses/{}", self.base, report.commit);
        let body = json!({
            "state": self.state(report),
            "description": report.description,
            "context": report.context,
        });
        Call::put(Method::POST, what, path, body)
    }

    fn requests(&self, commit: Id) -> Call {
        let what = format!("looking for the pull request of commit {}", commit.short());
        Call::get(what, format!("{}/commits/{commit}/pulls?per_page={PAGE}", self.base))
    }

    fn merged(&self, answer: &Value, report: &ForgeReport) -> Option<u64> {
        let commit = report.commit.to_string();
        let into = |pull: &&Value| {
            text(&pull["base"], "ref") == report.branch && pull["merged_at"].is_string()
        };
        let made = elements(answer).filter(into).find(|p| text(p, "merge_commit_sha") == commit);
        made.or_else(|| elements(answer).find(into))?["number"].as_u64()
    }

    fn comments(&self, number: u64, page: usize) -> Call {
        let what = format!("reading the comments of pull request {number}");
        let path =
            format!("{}/issues/{number}/comments?per_page={COMMENTS}&page={page}", self.base);
        Call::get(what, path)
    }

    fn comment(&self, number: u64, body: &str) -> Call {
        let what = format!("commenting on pull request {number}");
        Call::make(what, format!("{}/issues/{number}/comments", self.base), json!({"body": body}))
    }

    fn edit(&self, number: u64, comment: u64, body: &str) -> Call {
        let what = format!("editing the comment on pull request {number}");
        let path = format!("{}/issues/comments/{comment}", self.base);
        Call::put(Method::PATCH, what, path, json!({"body": body}))
    }
}
