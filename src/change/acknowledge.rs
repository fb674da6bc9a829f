//! Acknowledgements: a person has seen what a guard holds, and means exactly that set.

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::api::AcknowledgementKind;
use crate::model::{AcknowledgementSpent, Digest, Fleet, FleetLock, Hold, Name};

/// The acknowledgements that are still good: desired, and not spent by an earlier commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged(Vec<Good>);

/// One of them, with how many it says that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Good {
    entry: AcknowledgementSpent,
    count: usize,
}

impl Acknowledged {
    /// Reads them from the fleet, without those that the lock says are spent.
    #[must_use]
    pub fn new(fleet: &Fleet, lock: Option<&FleetLock>) -> Self {
        let spent = lock.map(|lock| lock.spent.as_slice()).unwrap_or_default();
        let good = fleet.acknowledgements.iter().filter_map(|(name, sourced)| {
            let digest: Digest = sourced.value.digest.parse().ok()?;
            let count = usize::try_from(sourced.value.count).ok()?;
            let of = sourced.value.of;
            Some(Good { entry: AcknowledgementSpent { name: name.clone(), of, digest }, count })
        });
        Self(good.filter(|a| !spent.contains(&a.entry)).collect())
    }

    /// All of them as if they had been used.
    #[must_use]
    pub fn into_spent(self) -> Vec<AcknowledgementSpent> {
        let mut spent: Vec<_> = self.0.into_iter().map(|good| good.entry).collect();
        spent.sort();
        spent
    }

    /// The acknowledgement of exactly what is held, if there is one.
    #[must_use]
    pub fn covers(&self, of: AcknowledgementKind, hold: &Hold) -> Option<Name> {
        self.names(of, hold.names.len(), hold.digest())
    }

    /// The acknowledgement of exactly the set of so many names with that digest.
    #[must_use]
    pub fn names(&self, of: AcknowledgementKind, count: usize, digest: Digest) -> Option<Name> {
        let exactly = |a: &&Good| a.entry.of == of && a.entry.digest == digest && a.count == count;
        self.0.iter().find(exactly).map(|a| a.entry.name.clone())
    }

    /// Whether the acknowledgement of that name is of exactly the set of so many names with that digest.
    #[must_use]
    pub fn is_of(&self, name: &Name, count: usize, digest: Digest) -> bool {
        let exactly =
            |a: &Good| a.entry.name == *name && a.entry.digest == digest && a.count == count;
        self.0.iter().any(exactly)
    }

    /// Those of a kind.
    pub fn of(&self, of: AcknowledgementKind) -> impl Iterator<Item = &Name> {
        self.0.iter().map(|a| &a.entry).filter(move |a| a.of == of).map(|a| &a.name)
    }

    /// The entry of that name, as a lock keeps it.
    fn entry(&self, name: &Name) -> Option<&AcknowledgementSpent> {
        self.0.iter().map(|a| &a.entry).find(|a| a.name == *name)
    }
}

/// The lock's list of spent acknowledgements after a run that used some: those that are still desired
/// stay listed, so that none is valid twice; those whose document is gone need not be remembered. While
/// something did not load no document counts as gone.
#[must_use]
pub fn spend(
    fleet: &Fleet,
    lock: Option<&FleetLock>,
    good: &Acknowledged,
    used: &[Name],
) -> Vec<AcknowledgementSpent> {
    let before = lock.map(|lock| lock.spent.as_slice()).unwrap_or_default();
    let all_loaded = !fleet.is_unsure();
    let stays =
        |a: &&AcknowledgementSpent| !all_loaded || fleet.acknowledgements.contains_key(&a.name);
    let still = before.iter().filter(stays).cloned();
    let mut all: Vec<_> =
        still.chain(used.iter().filter_map(|name| good.entry(name).cloned())).collect();
    all.sort();
    all.dedup();
    all
}

/// A warning for each good acknowledgement of a kind that is held now, where the set is another.
#[must_use]
pub fn mismatches(fleet: &Fleet, good: &Acknowledged, holds: &[Hold]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for acknowledgement in good.0.iter().map(|a| &a.entry) {
        let over = holds.iter().find(|h| h.kind.acknowledged_by() == Some(acknowledgement.of));
        let document = fleet.acknowledgements.get(&acknowledgement.name);
        let Some((hold, sourced)) = over.zip(document) else {
            continue;
        };
        found.push(
            Diagnostic::new(
                Code::AcknowledgementMismatch,
                format!(
                    "acknowledgement `{}` names another set than the {} {} that are held",
                    acknowledgement.name,
                    hold.names.len(),
                    acknowledgement.of
                ),
            )
            .at(Place::field(&sourced.file, sourced.document, FieldPath::keys("spec.digest")))
            .help(format!(
                "if the held set is meant, set `count: {}` and `digest: {}`",
                hold.names.len(),
                hold.digest()
            )),
        );
    }
    found
}
