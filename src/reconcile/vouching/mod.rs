//! Who vouches for acknowledgements, where the fleet asks for that: the commit that brought one is signed by
//! somebody who may and, for `twoPerson`, by nobody who signed what brought the set that it lets through.
//!
//! No run reads a history itself. What one says is an input of it, so a proposal is made first; where it shows
//! acknowledgements that need a signature the history is asked, and the proposal is made once more.

mod change;

use std::collections::BTreeMap;

use super::Error;
use crate::change::entry_at;
use crate::git::{self, BroughtBy, Repository, Signed};
use crate::load;
use crate::model::api::AcknowledgementSpec;
use crate::model::{
    Allowed, Digest, EntryKind, FleetLock, Id, Name, Proposal, Signers, Snapshot, Sourced, Store,
    StoreError, Unvouched, Vouching, count, paths,
};

/// How many commits are looked at for the one that brought an acknowledgement.
const MOST: usize = 10_000;

/// The history that is asked.
#[derive(Default)]
pub(super) struct History<'a> {
    /// Where it is; `None`: there is none.
    pub(super) repository: Option<&'a Repository>,
    /// What the input was made from: its commit, or those that are merged to it.
    pub(super) made_from: Vec<Id>,
    /// The tip of the output branch.
    pub(super) output: Option<Id>,
}

/// Proposes; where that shows acknowledgements that need a signature, looks who signed them and proposes again.
pub(super) fn propose_vouched(
    history: &History<'_>,
    snapshot: &mut Snapshot,
    store: &dyn Store,
    mut propose: impl FnMut(&Snapshot) -> Result<Proposal, Error>,
) -> Result<Proposal, Error> {
    let proposal = propose(snapshot)?;
    let Some(vouching) = history.vouch(snapshot, &proposal, store)? else { return Ok(proposal) };
    snapshot.input.vouching = vouching;
    propose(snapshot)
}

impl History<'_> {
    /// Who vouches for what a proposal read; `None` where that is not asked.
    fn vouch(
        &self,
        snapshot: &Snapshot,
        proposal: &Proposal,
        store: &dyn Store,
    ) -> Result<Option<Vouching>, Error> {
        let (fleet, lock) = (&proposal.fleet, proposal.previous.fleet.as_ref());
        let keys = KnownKeys::of(Signers::of(&fleet.spec), lock);
        let Some(repository) = self.repository.filter(|_| keys.anybody()) else { return Ok(None) };
        let spent = lock.map(|lock| lock.spent.as_slice()).unwrap_or_default();
        let is_spent = |name: &Name| spent.iter().any(|spent| spent.name == *name);
        let open: BTreeMap<_, _> =
            fleet.acknowledgements.iter().filter(|(name, _)| !is_spent(name)).collect();
        if open.is_empty() {
            return Ok(None);
        }
        // What merges come to is looked at and kept nowhere.
        let repository = repository.in_memory()?;
        let objects = repository.store()?;
        let store = crate::store::Overlay::new(store, &objects);
        let ask = Ask { history: self, repository: &repository, store: &store, snapshot, keys };
        let roots = [fleet.spec.roots.clone().unwrap_or_default()].into_iter();
        let roots: Vec<_> = roots.chain(lock.map(|lock| lock.roots.clone())).collect();
        let mut all = BTreeMap::new();
        for (name, sourced) in open {
            let said = match ask.who_signed(name, sourced)? {
                Ok(who) if ask.keys.two_person => {
                    change::another(&ask, &roots, &who, &sourced.value)?
                }
                said => said.map(|_| ()),
            };
            all.insert(name.clone(), said);
        }
        Ok(Some(Vouching(all)))
    }
}

/// Who may acknowledge, and who is known by a key.
pub(super) struct KnownKeys {
    /// Those of the input and those in force. A signature must be good by each list that is there.
    lists: Vec<Allowed>,
    /// Everybody whose key is known.
    known: Allowed,
    /// Whether whoever acknowledges must be another than whoever brought what is acknowledged.
    two_person: bool,
}

impl KnownKeys {
    fn of(input: Signers, lock: Option<&FleetLock>) -> Self {
        let both = [Some(input), lock.map(|lock| lock.signers.clone())];
        let both: Vec<Signers> = both.into_iter().flatten().collect();
        let mut lists: Vec<_> = both.iter().map(Signers::of_acknowledgements).collect();
        lists.retain(|list| !list.is_empty());
        lists.dedup();
        let mut known = Allowed::default();
        for Allowed { ssh, openpgp } in
            lists.iter().cloned().chain(both.iter().map(Signers::of_input))
        {
            known.ssh.extend(ssh);
            known.openpgp.extend(openpgp);
        }
        Self { lists, known, two_person: both.iter().any(|signers| signers.two_person) }
    }

    const fn anybody(&self) -> bool {
        !self.lists.is_empty()
    }
}

/// What is asked of a history.
pub(super) struct Ask<'a> {
    pub(super) history: &'a History<'a>,
    /// The repository once more, where what is made stays in memory.
    pub(super) repository: &'a Repository,
    pub(super) store: &'a dyn Store,
    pub(super) snapshot: &'a Snapshot,
    keys: KnownKeys,
}

impl Ask<'_> {
    /// Who signed the commit that brought an acknowledgement as it is now, of those who may.
    fn who_signed(
        &self,
        name: &Name,
        sourced: &Sourced<AcknowledgementSpec>,
    ) -> Result<Result<String, Unvouched>, Error> {
        let commit = match or_not_here(self.brought(name, &sourced.file))? {
            Ok(BroughtBy::Commit(commit)) => commit,
            Ok(BroughtBy::Uncommitted) => return Ok(Err(Unvouched::Uncommitted)),
            Ok(BroughtBy::CutOff(at)) => {
                let why = format!("this clone is shallow and ends at commit {}", at.short());
                return Ok(Err(Unvouched::NotKnown { why }));
            }
            Ok(BroughtBy::TooLongAgo) => {
                let why = format!("it was there before the last {}", count(MOST as u64, "commit"));
                return Ok(Err(Unvouched::NotKnown { why }));
            }
            Err(why) => return Ok(Err(Unvouched::NotKnown { why })),
        };
        let mut signer = String::new();
        for allowed in &self.keys.lists {
            match self.repository.signed(commit, allowed)? {
                Signed::By(who) | Signed::ByKey(who) => signer = who,
                Signed::NotByAllowed(why) => {
                    return Ok(Err(match self.known_signer(commit)? {
                        Ok(who) => Unvouched::ByAnother { commit, who },
                        Err(_) => Unvouched::NotSigned { commit, why: why.to_string() },
                    }));
                }
            }
        }
        Ok(Ok(signer))
    }

    /// Who signed a commit, of everybody whose key is known; else what is wrong with its signature.
    pub(super) fn known_signer(&self, commit: Id) -> Result<Result<String, String>, Error> {
        Ok(match self.repository.signed(commit, &self.keys.known)? {
            Signed::By(who) | Signed::ByKey(who) => Ok(who),
            Signed::NotByAllowed(why) => Err(why.to_string()),
        })
    }

    fn brought(&self, name: &Name, file: &str) -> Result<BroughtBy, git::Error> {
        let path = paths::in_repository(&self.snapshot.input.prefix, file);
        let mut read: BTreeMap<Id, Option<Digest>> = BTreeMap::new();
        let mut at = |tree: Id| -> Result<Option<Digest>, StoreError> {
            let entry = entry_at(self.store, tree, &path)?;
            let Some(entry) = entry.filter(|entry| entry.kind == EntryKind::File) else {
                return Ok(None);
            };
            if let Some(known) = read.get(&entry.id) {
                return Ok(*known);
            }
            let all = load::acknowledgements(&self.store.blob(entry.id)?).by_name;
            let said = all.get(name.as_str()).copied();
            read.insert(entry.id, said);
            Ok(said)
        };
        let tree = self.snapshot.input.tree;
        self.repository.brought(tree, &self.history.made_from, MOST, &mut at)
    }
}

/// What a history says, or why it does not: a shallow or partial clone does not have all of it.
pub(super) fn or_not_here<T>(said: Result<T, git::Error>) -> Result<Result<T, String>, Error> {
    match said {
        Ok(said) => Ok(Ok(said)),
        Err(git::Error::Shallow { what }) => Ok(Err(format!("this clone is too shallow: {what}"))),
        Err(git::Error::Object(StoreError::Absent { id, .. })) => {
            Ok(Err(format!("object {id} is not in this clone")))
        }
        Err(error) => Err(error.into()),
    }
}
