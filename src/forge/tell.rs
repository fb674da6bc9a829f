//! Telling a forge: what stands there is read, and what says something else is written.

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

use super::address::ForgeTarget;
use super::call::{COMMENTS, Dialect, elements, text};
use super::client::{CallLimits, Session, Token};
use super::error::Error;
use super::gitea::Gitea;
use super::github::GitHub;
use super::gitlab::GitLab;
use super::report::ForgeReport;
use crate::model::api::ForgeKind;

/// How many pages of comments are looked through for carp's own.
const MOST_PAGES: usize = 50;

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
        let slow = || {
            let (host, way) = (target.host().to_owned(), target.way());
            Error::Slow { host, whole: limits.whole, way }
        };
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

/// Who set the status.
#[derive(Clone, Copy, Default)]
struct StatusAuthor {
    /// `None` where the forge does not say, or shows no status.
    id: Option<u64>,
    /// Whether it was set just now: then it is who has the token. A status that stood there may be of another account.
    is_carp: bool,
}

/// A comment that begins with the marker, whoever wrote it.
struct MarkedComment {
    id: u64,
    author: Option<u64>,
    body: String,
}

impl ForgeTeller<'_> {
    /// The one is told where the other is not allowed, too.
    async fn all(&self) -> Result<(), Error> {
        let status = self.status().await;
        if status.as_ref().is_err_and(Error::is_over) {
            return status.map(drop);
        }
        let comment = match self.comment(status.clone().unwrap_or_default()).await {
            // The next turn would not get further.
            Err(error @ Error::TooLarge { .. }) if status.is_ok() => {
                tracing::warn!("no comment was written: {error}");
                Ok(())
            }
            comment => comment,
        };
        status.and(comment)
    }

    async fn status(&self) -> Result<StatusAuthor, Error> {
        let (dialect, report) = (self.dialect, self.report);
        let answer = self.call(&dialect.statuses(report)).await?;
        let says = |standing: &super::call::ForgeStanding| {
            standing.state == dialect.state(report) && standing.description == report.description
        };
        // GitHub takes a thousand statuses of one name on a commit and no more.
        match dialect.standing(&answer, report).filter(says) {
            Some(standing) => Ok(StatusAuthor { id: standing.author, is_carp: false }),
            None => self.set_status().await,
        }
    }

    async fn set_status(&self) -> Result<StatusAuthor, Error> {
        let answer = self.call(&self.dialect.set_status(self.report)).await?;
        Ok(StatusAuthor { id: self.dialect.author(&answer), is_carp: true })
    }

    async fn comment(&self, author: StatusAuthor) -> Result<(), Error> {
        let (dialect, report) = (self.dialect, self.report);
        let Some(body) = report.body() else { return Ok(()) };
        let answer = self.call(&dialect.requests(report.commit)).await?;
        // A commit that was pushed by hand has none.
        let Some(number) = dialect.merged(&answer, report) else { return Ok(()) };
        let marked = self.marked_comments(number, author.id).await?;
        match own(&marked, author.id) {
            Some(comment) => match self.edit(number, comment, &body).await {
                Err(Error::NotAllowed { .. }) if !author.is_carp => {}
                told => return told,
            },
            None if author.is_carp || marked.is_empty() => return self.write(number, &body).await,
            None => {}
        }
        // Whoever set the status was another account. Setting it tells who has the token; no API does so for all tokens.
        let author = self.set_status().await?;
        match own(&marked, author.id) {
            Some(comment) => self.edit(number, comment, &body).await,
            None => self.write(number, &body).await,
        }
    }

    async fn edit(&self, number: u64, comment: &MarkedComment, body: &str) -> Result<(), Error> {
        if comment.body.trim_end() == body.trim_end() {
            return Ok(());
        }
        self.call(&self.dialect.edit(number, comment.id, body)).await.map(drop)
    }

    async fn write(&self, number: u64, body: &str) -> Result<(), Error> {
        self.call(&self.dialect.comment(number, body)).await.map(drop)
    }

    /// The comments that begin with the marker, as far as the one of `author`. Anybody can write the marker.
    async fn marked_comments(
        &self,
        number: u64,
        author: Option<u64>,
    ) -> Result<Vec<MarkedComment>, Error> {
        let (mut marked, mut before) = (Vec::new(), None);
        for page in 1..=MOST_PAGES {
            let answer = self.call(&self.dialect.comments(number, page)).await?;
            let first = elements(&answer).next().map(|comment| comment["id"].clone());
            // A forge without pages answers each of them with all comments.
            if page > 1 && first == before {
                break;
            }
            before = first;
            marked.extend(elements(&answer).filter_map(|comment| self.marked(comment)));
            let is_last = elements(&answer).count() < COMMENTS;
            if is_last || own(&marked, author).is_some() {
                break;
            }
        }
        Ok(marked)
    }

    fn marked(&self, comment: &Value) -> Option<MarkedComment> {
        let body = text(comment, "body");
        let (id, author) = (comment["id"].as_u64()?, self.dialect.author(comment));
        body.starts_with(&self.report.marker).then(|| MarkedComment {
            id,
            author,
            body: body.to_owned(),
        })
    }

    async fn call(&self, call: &super::call::Call) -> Result<Value, Error> {
        self.session.call(self.dialect, call).await
    }
}

/// The comment of an account; the first one where nobody says whose it is.
fn own(marked: &[MarkedComment], author: Option<u64>) -> Option<&MarkedComment> {
    marked.iter().find(|comment| author.is_none() || comment.author == author)
}
