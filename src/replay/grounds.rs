//! What a commit stands on: the output before it.

use super::{Error, Past};
use crate::git::Provenance;
use crate::load;
use crate::model::Id;
use crate::model::api::WriteMode;

/// How many proposals are followed back to the output that they stand on. A proposal that nobody merges
/// or closes for longer than that has no proof in what came before.
const MOST_PROPOSALS: usize = 32;

/// The outputs that a commit may stand on.
pub(super) enum OutputBases {
    /// One of these, the likeliest first; `None` is an output that has nothing yet.
    Of(Vec<Option<Id>>),
    /// The history before this commit was cut off.
    CutOff(Id),
}

impl Past<'_> {
    /// What a commit stands on that says where it is from. Where carp writes by itself that is its
    /// parent. A proposal has the proposal before it as its parent, and which of those were merged when it
    /// was made cannot be told from the commits: so each is looked at in turn.
    pub(super) fn grounds(&self, commit: Id, said: &Provenance) -> Result<OutputBases, Error> {
        let mut all = Vec::new();
        let mut here = commit;
        while all.len() < MOST_PROPOSALS {
            if self.repository.is_cut_off(here)? {
                return Ok(if all.is_empty() {
                    OutputBases::CutOff(here)
                } else {
                    OutputBases::Of(all)
                });
            }
            match *self.repository.parents(here)? {
                [] => {
                    all.push(None);
                    break;
                }
                [parent] => {
                    let before = self.repository.provenance(parent)?;
                    // The form was committed first, by the same run.
                    if before.as_ref() == Some(said) && here == commit {
                        return self.grounds(parent, said);
                    }
                    all.push(Some(parent));
                    if before.is_none() || !self.proposes(said)? {
                        break;
                    }
                    here = parent;
                }
                // A proposal that was brought up to date has the output's tip as its second parent; a merge
                // whose message repeats the proposal's has it as its first.
                [first, second, ..] => {
                    all.extend([Some(second), Some(first)]);
                    break;
                }
            }
        }
        Ok(OutputBases::Of(all))
    }

    /// Whether carp proposed at that time, by the fleet's own `carp.yaml` of then.
    fn proposes(&self, said: &Provenance) -> Result<bool, Error> {
        let store = self.repository.store()?;
        let tree = self.repository.commit_tree(said.input)?;
        let spec = load::readable_fleet_spec(&store, tree, self.prefix)?;
        let git = spec.and_then(|spec| spec.git);
        Ok(git.is_some_and(|git| git.write == WriteMode::PullRequest))
    }
}
