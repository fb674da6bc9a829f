//! The API of Gitea and Forgejo: GitHub's in most, with other words for statuses and requests.

use serde_json::Value;

use super::call::{COMMENTS, Call, Dialect, ForgeStanding, PAGE, elements, text};
use super::github::GitHub;
use super::report::{ForgeReport, ReportState};
use crate::model::Id;

/// A repository there.
pub(super) struct Gitea {
    /// `/repos/OWNER/NAME`.
    base: String,
    alike: GitHub,
}

impl Gitea {
    pub(super) fn new(repository: &str) -> Self {
        let parts: Vec<_> = repository.split('/').map(super::call::encoded).collect();
        Self { base: format!("/repos/{}", parts.join("/")), alike: GitHub::new(repository) }
    }
}

impl Dialect for Gitea {
    fn token(&self) -> (&'static str, &'static str) {
        ("authorization", "token ")
    }

    fn author(&self, made: &Value) -> Option<u64> {
        self.alike.author(made)
    }

    fn state(&self, report: &ForgeReport) -> &'static str {
        match report.state {
            ReportState::Held => "warning",
            ReportState::Failed => "failure",
            ReportState::Fine | ReportState::Waits => self.alike.state(report),
        }
    }

    fn statuses(&self, report: &ForgeReport) -> Call {
        let (base, commit) = (&self.base, report.commit);
        let path = format!("{base}/commits/{commit}/statuses?sort=highestindex&limit={PAGE}");
        Call { path, ..self.alike.statuses(report) }
    }

    /// The field is `status`, and names differ by their case.
    fn standing(&self, answer: &Value, report: &ForgeReport) -> Option<ForgeStanding> {
        let status = elements(answer).find(|status| text(status, "context") == report.context)?;
        let of = |field| text(status, field).to_owned();
        let author = self.author(status);
        Some(ForgeStanding { author, state: of("status"), description: of("description") })
    }

    fn set_status(&self, report: &ForgeReport) -> Call {
        let mut call = self.alike.set_status(report);
        if let Some(body) = &mut call.body {
            body["state"] = self.state(report).into();
        }
        call
    }

    /// One request, or 404.
    fn requests(&self, commit: Id) -> Call {
        let path = format!("{}/commits/{commit}/pull", self.base);
        Call { path, may_be_absent: true, ..self.alike.requests(commit) }
    }

    fn merged(&self, answer: &Value, report: &ForgeReport) -> Option<u64> {
        let into = text(&answer["base"], "ref") == report.branch;
        answer["number"].as_u64().filter(|_| into && answer["merged"] == true)
    }

    /// All of them at once, whichever page is asked for, until Gitea has pages here too
    /// (<https://github.com/go-gitea/gitea/issues/6132>), as it has in other lists: `limit`, not `per_page`.
    fn comments(&self, number: u64, page: usize) -> Call {
        let path = format!("{}/issues/{number}/comments?limit={COMMENTS}&page={page}", self.base);
        Call { path, ..self.alike.comments(number, page) }
    }

    fn comment(&self, number: u64, body: &str) -> Call {
        self.alike.comment(number, body)
    }

    fn edit(&self, number: u64, comment: u64, body: &str) -> Call {
        self.alike.edit(number, comment, body)
    }
}
