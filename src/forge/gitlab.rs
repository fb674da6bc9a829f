//! GitLab's REST API, version 4.

use http::Method;
use serde_json::{Value, json};

use super::call::{COMMENTS, Call, Dialect, ForgeStanding, PAGE, elements, encoded, text};
use super::report::{ForgeReport, ReportState};
use crate::model::Id;

/// A project there.
pub(super) struct GitLab {
    /// `/projects/GROUP%2FNAME`.
    base: String,
}

impl GitLab {
    pub(super) fn new(repository: &str) -> Self {
        Self { base: format!("/projects/{}", encoded(repository)) }
    }
}

impl Dialect for GitLab {
    fn token(&self) -> (&'static str, &'static str) {
        ("private-token", "")
    }

    fn author(&self, made: &Value) -> Option<u64> {
        made["author"]["id"].as_u64()
    }

    /// Only words that end a pipeline: one that waits for a worker would never end, and GitLab refuses to set a
    /// status that has not ended to the word that it has.
    fn state(&self, report: &ForgeReport) -> &'static str {
        match report.state {
            ReportState::Fine | ReportState::Waits => "success",
            ReportState::Held | ReportState::Failed => "failed",
        }
    }

    fn statuses(&self, report: &ForgeReport) -> Call {
        let ForgeReport { commit, context, branch, .. } = report;
        let what = format!("reading the statuses of commit {}", commit.short());
        let asked = format!("name={}&ref={}&per_page={PAGE}", encoded(context), encoded(branch));
        Call::get(what, format!("{}/repository/commits/{commit}/statuses?{asked}", self.base))
    }

    fn standing(&self, answer: &Value, report: &ForgeReport) -> Option<ForgeStanding> {
        let ours = elements(answer).filter(|status| text(status, "name") == report.context);
        let status = ours.max_by_key(|status| status["id"].as_u64())?;
        let of = |field| text(status, field).to_owned();
        let author = self.author(status);
        Some(ForgeStanding { author, state: of("status"), description: of("description") })
    }

    fn set_status(&self, report: &ForgeReport) -> Call {
        let what = format!("setting the status of commit {}", report.commit.short());
        let path = format!("{}/statuses/{}", self.base, report.commit);
        let body = json!({
            "state": self.state(report),
            "description": report.description,
            "name": report.context,
            "ref": report.branch,
        });
        Call::put(Method::POST, what, path, body)
    }

    fn requests(&self, commit: Id) -> Call {
        let what = format!("looking for the merge request of commit {}", commit.short());
        Call::get(what, format!("{}/repository/commits/{commit}/merge_requests", self.base))
    }

    fn merged(&self, answer: &Value, report: &ForgeReport) -> Option<u64> {
        let commit = report.commit.to_string();
        let into = |request: &&Value| {
            text(request, "target_branch") == report.branch && text(request, "state") == "merged"
        };
        let is_its = |request: &&Value| {
            ["merge_commit_sha", "squash_commit_sha", "sha"]
                .iter()
                .any(|f| text(request, f) == commit)
        };
        let made = elements(answer).filter(into).find(is_its);
        made.or_else(|| elements(answer).find(into))?["iid"].as_u64()
    }

    fn comments(&self, number: u64, page: usize) -> Call {
        let what = format!("reading the notes of merge request {number}");
        let asked = format!("sort=asc&order_by=created_at&per_page={COMMENTS}&page={page}");
        Call::get(what, format!("{}/merge_requests/{number}/notes?{asked}", self.base))
    }

    fn comment(&self, number: u64, body: &str) -> Call {
        let what = format!("writing a note on merge request {number}");
        let path = format!("{}/merge_requests/{number}/notes", self.base);
        Call::make(what, path, json!({"body": body}))
    }

    fn edit(&self, number: u64, comment: u64, body: &str) -> Call {
        let what = format!("editing the note on merge request {number}");
        let path = format!("{}/merge_requests/{number}/notes/{comment}", self.base);
        Call::put(Method::PUT, what, path, json!({"body": body}))
    }
}
