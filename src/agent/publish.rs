//! A report becomes the commit on the worker's own ref.

use std::path::PathBuf;

use super::{Error, fit};
use crate::git::{self, CommitDraft, PushOutcome, Repository};
use crate::model::api::{Signing, SigningFormat};
use crate::model::{Dir, Entry, EntryKind, Id, Report, Store as _, paths};

/// How often a lost race is looked at again. Only another agent of the same worker can win one: for a
/// moment there are two while a new version rolls out.
const ATTEMPTS: u32 = 3;

/// Where reports go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishTarget {
    /// The fleet's repository, as this worker reaches it.
    pub url: String,
    /// The prefix of the report branches: `spec.branches.observed` of the fleet.
    pub prefix: String,
    /// Author and committer.
    pub author: String,
    /// Their address.
    pub email: String,
    /// The file with the SSH key that signs reports; without one they are not signed. It is read by
    /// `ssh-keygen` for each report, so that it can be exchanged at any time.
    pub signing_key: Option<PathBuf>,
    /// A folder for what is in the making.
    pub scratch: PathBuf,
}

impl PublishTarget {
    /// The ref of a worker's reports.
    fn name(&self, report: &Report) -> String {
        format!("refs/heads/{}/{}", self.prefix, report.worker)
    }

    /// Puts the report in the place of the last one. The commit is made in a repository that exists for
    /// this moment only, so nothing grows.
    ///
    /// # Errors
    /// The disk failed, or the remote cannot be reached or refuses.
    pub fn publish(&self, report: &Report) -> Result<Id, Error> {
        let folder = tempfile::Builder::new().prefix("report-").tempdir_in(&self.scratch);
        let folder = folder
            .map_err(|e| Error::Folder { folder: self.scratch.clone(), detail: e.to_string() })?;
        let repository = Repository::init_bare(folder.path(), "report")?;
        let commit = self.commit(&repository, report)?;
        let name = self.name(report);
        let mut lost = String::new();
        for _ in 0..ATTEMPTS {
            let expected = repository.remote_ref(&self.url, &name)?;
            match repository.replace(&self.url, commit, &name, expected)? {
                PushOutcome::Done => return Ok(commit),
                PushOutcome::Raced { text } => lost = text.to_string(),
                PushOutcome::Unknown { text } => {
                    if repository.remote_ref(&self.url, &name)? == Some(commit) {
                        return Ok(commit);
                    }
                    lost = text.to_string();
                }
                PushOutcome::Refused { text } | PushOutcome::Auth { text } => {
                    return Err(Error::Refused { name, detail: text.to_string() });
                }
            }
        }
        Err(Error::Refused { name, detail: lost })
    }

    fn commit(&self, repository: &Repository, report: &Report) -> Result<Id, Error> {
        let store = repository.store()?;
        let file = store.put_blob(fit::text(report)?.as_bytes())?;
        let mut dir = Dir::default();
        dir.insert(paths::REPORT_FILE, Entry { kind: EntryKind::File, id: file });
        let tree = store.put_dir(&dir)?;
        let draft = CommitDraft {
            tree,
            parents: Vec::new(),
            message: format!("carp: report of {}\n", report.worker),
            name: self.author.clone(),
            email: self.email.clone(),
            time: report.time,
        };
        let commit = match &self.signing_key {
            None => store.commit(&draft),
            Some(key) => {
                let key = Some(key.display().to_string());
                let signing = Signing { format: SigningFormat::Ssh, key };
                store.signed_commit(&draft, &repository.sign(&draft, &signing).map_err(unsigned)?)
            }
        };
        store.flush()?;
        Ok(commit)
    }
}

/// A failed signature in the words of who runs an agent.
fn unsigned(error: git::Error) -> Error {
    match error {
        git::Error::Signing { tried, detail } => {
            Error::Unsigned { tried: tried.to_string(), detail: detail.to_string() }
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::{Name, REPORT_SCHEMA};
    use crate::observe::{Listing, Reporter, report};

    fn target(remote: &Path, scratch: &Path) -> PublishTarget {
        PublishTarget {
            url: remote.display().to_string(),
            prefix: "carp/observed".to_owned(),
            author: "carp".to_owned(),
            email: "carp@example.com".to_owned(),
            signing_key: None,
            scratch: scratch.to_owned(),
        }
    }

    fn said(second: i64) -> Report {
        let reporter = Reporter {
            worker: Name::parse("we-1").unwrap(),
            worker_uid: "u".to_owned(),
            applied_digest: None,
        };
        report(&reporter, &Listing::default(), jiff::Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn a_report_replaces_the_last_one_and_has_no_history() {
        let (remote, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let there = Repository::init_bare(remote.path(), "main").unwrap();
        let target = target(remote.path(), scratch.path());
        let first = target.publish(&said(0)).unwrap();
        let second = target.publish(&said(60)).unwrap();
        assert_ne!(first, second);
        let there = there.again().unwrap();
        assert_eq!(there.resolve("refs/heads/carp/observed/we-1").unwrap(), Some(second));
        assert_eq!(there.parents(second).unwrap(), []);
        let store = there.store().unwrap();
        let entry = store.dir(there.commit_tree(second).unwrap()).unwrap().get("report.yaml");
        let bytes = store.blob(entry.unwrap().id).unwrap();
        let read: Report = crate::load::read_yaml(&bytes).unwrap();
        assert_eq!((read.schema_version, read.time), (REPORT_SCHEMA, said(60).time));
        assert_eq!(scratch.path().read_dir().unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn without_its_key_a_report_that_is_to_be_signed_is_not_pushed() {
        let (remote, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let there = Repository::init_bare(remote.path(), "main").unwrap();
        let key = Some("/no/such/key".into());
        let target = PublishTarget { signing_key: key, ..target(remote.path(), scratch.path()) };
        let error = target.publish(&said(0)).unwrap_err().to_string();
        assert!(error.contains("`/no/such/key`") && error.contains("--signing-key"), "{error}");
        assert!(!error.contains("carp.yaml"), "an agent has none: {error}");
        assert_eq!(there.list_refs("refs/").unwrap(), []);
    }

    #[test]
    fn a_remote_that_is_not_there_is_told() {
        let scratch = tempfile::tempdir().unwrap();
        let error = target(Path::new("/no/such/remote"), scratch.path()).publish(&said(0));
        assert!(matches!(error, Err(Error::Git(_))));
    }
}
