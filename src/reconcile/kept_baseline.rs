//! The files of a baseline, in the Git directory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::caches::cache_file;
use super::reports::{ReportTips, Reporting};
use crate::git::Repository;
use crate::model::{Baseline, Digest, KnownDocuments, StoreError};
use crate::store::{DocumentDatabase, load_sealed, save_documents, save_sealed};

/// A baseline as it is kept.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptBaseline {
    /// The program that left it: another one may make other folders of the same documents.
    pub(super) program: Digest,
    /// The digest of the index of documents that belongs to it.
    pub(super) documents: Digest,
    pub(super) baseline: Baseline,
}

/// What the last run left standing, opened.
pub(super) struct OpenedBaseline {
    pub(super) baseline: Baseline,
    pub(super) index: DocumentDatabase,
    pub(super) documents: Digest,
    pub(super) paths: Paths,
}

impl OpenedBaseline {
    /// Opens what the last run of this program left; `None` where it left nothing.
    pub(super) fn open(
        repository: &Repository,
        prefix: &str,
        program: Option<Digest>,
    ) -> Option<Self> {
        let paths = Paths::of(repository, prefix);
        let kept = load_sealed::<KeptBaseline>(&paths.baseline);
        let KeptBaseline { baseline, documents, .. } =
            kept.filter(|kept| Some(kept.program) == program)?;
        let index = DocumentDatabase::open(&paths.documents, documents)?;
        Some(Self { baseline, index, documents, paths })
    }
}

/// What stands after a run that looked only at what is affected, and the index that it used.
pub(super) struct NextBaseline {
    pub(super) before: Baseline,
    pub(super) next: Baseline,
    pub(super) documents: Digest,
}

/// Where the files are.
pub(super) struct Paths {
    pub(super) baseline: PathBuf,
    documents: PathBuf,
    reports: PathBuf,
}

impl Paths {
    pub(super) fn of(repository: &Repository, prefix: &str) -> Self {
        let path = |file: &str| cache_file(repository, prefix, file);
        Self {
            baseline: path("baseline.json"),
            documents: path("documents.redb"),
            reports: path("reports.json"),
        }
    }

    /// The refs of the reports that were kept last, where these are they.
    pub(super) fn tips(&self, of: Digest) -> Option<ReportTips> {
        let tips = load_sealed::<ReportTips>(&self.reports);
        tips.filter(|tips| Reporting::digest_of(tips) == of)
    }

    /// The refs of the reports, which count only beside a baseline that has their digest.
    pub(super) fn save_tips(&self, tips: Option<&ReportTips>) -> Result<(), StoreError> {
        tips.map_or(Ok(()), |tips| save_sealed(&self.reports, tips))
    }

    /// The index goes first: a baseline never speaks of an index that is not there yet.
    pub(super) fn save(
        &self,
        program: Digest,
        baseline: Baseline,
        documents: &KnownDocuments,
    ) -> Result<(), StoreError> {
        let documents = save_documents(&self.documents, documents)?;
        save_sealed(&self.baseline, &KeptBaseline { program, documents, baseline })
    }
}
