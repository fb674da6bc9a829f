//! Telling a forge: what stands there is read, and what says something else is written.

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

use super::address::ForgeTarget;
use super::call::{Dialect, PAGE, elements, text};
use super::client::{CallLimits, Session, Token};
use super::error::Error;
use super::gitea::Gitea;
use super::github::GitHub;
use super::gitlab::GitLab;
use super::report::ForgeReport;
use crate::model::api::ForgeKind;

/// How many pages of comments are looked through for carp's own.
const MOST_PAGES: usize = 20;

/// Sets the status and writes or edits the comment, as far as they do not say so already. Takes no longer than the
/// limits allow; the time now is used only to understand until when the forge asks to be left alone.
///
/// # Errors
/// The forge did not answer, or did not take it. What was told before that stays told.
pub fn tell(
    target: &ForgeTarget,
    token: &Token,
    report: &ForgeReport,
    limits: CallLimits,
    now: Timestamp,
) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::Down {
        what: "starting to tell the forge".to_owned(),
        detail: error.to_string(),
    })?;
    runtime.block_on(async {
        let dialect = dialect(target);
        let telling = async {
            let session = Session::open(target, token, limits, now)?;
            ForgeTeller { session, dialect: &*dialect, report }.all().await
        };
        let slow = || Error::Slow { host: target.host().to_owned(), whole: limits.whole };
        timeout(limits.whole, telling).await.unwrap_or_else(|_| Err(slow()))
    })
}

fn dialect(target: &ForgeTarget) -> Box<dyn Dialect> {
    let repository = &target.repository;
    match target.kind {
        ForgeKind::GitHub => Box::new(GitHub::new(repository)),
        ForgeKind::GitLab => Box::new(GitLab::new(repository)),
        ForgeKind::Gitea => Box::new(Gitea::new(repository)),
    }
}

struct ForgeTeller<'a> {
    session: Session<'a>,
    dialect: &'a dyn Dialect,
    report: &'a ForgeReport,
}

impl ForgeTeller<'_> {
    /// The one is told where the other is not allowed, too.
    async fn all(&self) -> Result<(), Error> {
        let status = self.status().await;
        if status.as_ref().is_err_and(Error::is_over) {
            return status;
        }
        let comment = self.comment().await;
        status.and(comment)
    }

    async fn status(&self) -> Result<(), Error> {
        let (dialect, report) = (self.dialect, self.report);
        let answer = self.call(&dialect.statuses(report)).await?;
        let says = |standing: super::call::ForgeStanding| {
            standing.state == dialect.state(report) && standing.description == report.description
        };
        // GitHub takes a thousand statuses of one name on a commit and no more.
        if dialect.standing(&answer, report).is_some_and(says) {
            return Ok(());
        }
        self.call(&dialect.set_status(report)).await.map(drop)
    }

    async fn comment(&self) -> Result<(), Error> {
        let (dialect, report) = (self.dialect, self.report);
        let Some(body) = report.body() else { return Ok(()) };
        let answer = self.call(&dialect.requests(report.commit)).await?;
        // A commit that was pushed by hand has none.
        let Some(number) = dialect.merged(&answer, report) else { return Ok(()) };
        match self.own_comment(number).await? {
            Some((_, there)) if there.trim_end() == body.trim_end() => Ok(()),
            Some((id, _)) => self.call(&dialect.edit(number, id, &body)).await.map(drop),
            None => self.call(&dialect.comment(number, &body)).await.map(drop),
        }
    }

    /// The comment that begins with the marker, and its text.
    async fn own_comment(&self, number: u64) -> Result<Option<(u64, String)>, Error> {
        for page in 1..=MOST_PAGES {
            let answer = self.call(&self.dialect.comments(number, page)).await?;
            let ours = |comment: &&Value| text(comment, "body").starts_with(&self.report.marker);
            if let Some(comment) = elements(&answer).find(ours) {
                let body = text(comment, "body").to_owned();
                return Ok(comment["id"].as_u64().map(|id| (id, body)));
            }
            if !self.dialect.has_pages() || elements(&answer).count() < PAGE {
                break;
            }
        }
        Ok(None)
    }

    async fn call(&self, call: &super::call::Call) -> Result<Value, Error> {
        self.session.call(self.dialect, call).await
    }
}
