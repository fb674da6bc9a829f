//! Acknowledgements: a person has seen what a guard holds, and means exactly that set.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, FieldPath, Place};
use crate::model::api::{AcknowledgementKind, Guards};
use crate::model::{
    AcknowledgementSpent, AllowedSigner, Digest, Fleet, FleetLock, HeldSet, Hold, Name, Signers,
    Unvouched, Vouching,
};

/// Whose things are held for being more than one run may do, by the set.
pub type Lasting = BTreeMap<(AcknowledgementKind, Digest), BTreeSet<String>>;

/// The acknowledgements that are still good: desired, and not spent by an earlier commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    good: Vec<Good>,
    /// What the last run held.
    held: Vec<HeldSet>,
    /// Whether one counts that came together with what it acknowledges.
    same_commit: bool,
    /// Who may sign them; empty where nobody's signature is asked for.
    signers: BTreeSet<String>,
}

/// One of them, with how many it says that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Good {
    entry: AcknowledgementSpent,
    count: usize,
    /// Why nobody who may vouches for it; it does not count then.
    unvouched: Option<Unvouched>,
}

impl Acknowledged {
    /// Reads them from the fleet, without those that the lock says are spent. Where the input or the lock asks for
    /// signatures only those count that somebody who may vouches for.
    #[must_use]
    pub fn new(fleet: &Fleet, lock: Option<&FleetLock>, vouching: &Vouching) -> Self {
        let signers = signers(fleet, lock);
        let spent = lock.map(|lock| lock.spent.as_slice()).unwrap_or_default();
        let good = fleet.acknowledgements.iter().filter_map(|(name, sourced)| {
            let digest: Digest = sourced.value.digest.parse().ok()?;
            let count = usize::try_from(sourced.value.count).ok()?;
            let of = sourced.value.of;
            let unvouched = (!signers.is_empty()).then(|| vouching.refuses(name)).flatten();
            let entry = AcknowledgementSpent { name: name.clone(), of, digest };
            Some(Good { entry, count, unvouched })
        });
        let good = good.filter(|a| !spent.contains(&a.entry)).collect();
        // Of the input's guards and the lock's the stricter holds.
        let allows = |guards: Guards| guards.same_commit.unwrap_or_default();
        let same_commit = allows(fleet.spec.guards.unwrap_or_default())
            && lock.is_none_or(|lock| allows(lock.guards));
        let held = lock.map(|lock| lock.held.clone()).unwrap_or_default();
        Self { good, held, same_commit, signers }
    }

    /// All of them as if they had been used.
    #[must_use]
    pub fn into_spent(self) -> Vec<AcknowledgementSpent> {
        let mut spent: Vec<_> = self.good.into_iter().map(|good| good.entry).collect();
        spent.sort();
        spent
    }

    /// The acknowledgement of exactly what is held, if there is one that counts.
    #[must_use]
    pub fn covers(&self, of: AcknowledgementKind, hold: &Hold) -> Option<Name> {
        let early = self.early(of, hold);
        let mut all = self.exactly(of, hold.names.len(), hold.digest());
        all.find(|a| a.counts() && !early.contains(&a.entry.name)).map(|a| a.entry.name.clone())
    }

    /// The acknowledgements of exactly what is held that do not count yet, whoever signed them: they were there when
    /// a run first held it, so whoever wrote them could not have seen that.
    #[must_use]
    pub fn early(&self, of: AcknowledgementKind, hold: &Hold) -> Vec<Name> {
        if self.same_commit || !of.answers_a_run() {
            return Vec::new();
        }
        let (count, digest) = (hold.names.len(), hold.digest());
        let before = self.held.iter().find(|h| (h.of, h.count, h.digest) == (of, count, digest));
        let all = self.exactly(of, count, digest).map(|a| &a.entry.name);
        let is_early = |name: &&Name| before.is_none_or(|held| held.early.contains(name));
        all.filter(is_early).cloned().collect()
    }

    /// What the next run is to know of what this one holds, of which `lasting` was too much for one run.
    #[must_use]
    pub fn held(&self, holds: &[Hold], lasting: &Lasting) -> Vec<HeldSet> {
        let kinds = holds.iter().filter_map(|hold| Some((hold, hold.kind.acknowledged_by()?)));
        let seen = kinds.filter(|(_, of)| of.answers_a_run());
        let set = |(hold, of): (&Hold, AcknowledgementKind)| HeldSet {
            of,
            count: hold.names.len(),
            digest: hold.digest(),
            early: self.early(of, hold),
            tenants: lasting.get(&(of, hold.digest())).cloned().unwrap_or_default(),
        };
        let mut all: Vec<_> = seen.map(set).collect();
        all.sort();
        all
    }

    /// Those of exactly the set of so many names with that digest, whether they count or not.
    fn exactly(
        &self,
        of: AcknowledgementKind,
        count: usize,
        digest: Digest,
    ) -> impl Iterator<Item = &Good> {
        let exactly =
            move |a: &&Good| a.entry.of == of && a.entry.digest == digest && a.count == count;
        self.good.iter().filter(exactly)
    }

    /// The acknowledgement of exactly the set of so many names with that digest.
    #[must_use]
    pub fn names(&self, of: AcknowledgementKind, count: usize, digest: Digest) -> Option<Name> {
        let mut all = self.exactly(of, count, digest).filter(|a| a.counts());
        all.next().map(|a| a.entry.name.clone())
    }

    /// Whether the acknowledgement of that name is of exactly the set of so many names with that digest.
    #[must_use]
    pub fn is_of(&self, name: &Name, count: usize, digest: Digest) -> bool {
        let exactly =
            |a: &Good| a.entry.name == *name && a.entry.digest == digest && a.count == count;
        self.good.iter().filter(|a| a.counts()).any(exactly)
    }

    /// Those of a kind that count.
    pub fn of(&self, of: AcknowledgementKind) -> impl Iterator<Item = &Name> {
        let counting = self.good.iter().filter(|a| a.counts()).map(|a| &a.entry);
        counting.filter(move |a| a.of == of).map(|a| &a.name)
    }

    /// The entry of that name, as a lock keeps it.
    fn entry(&self, name: &Name) -> Option<&AcknowledgementSpent> {
        self.good.iter().map(|a| &a.entry).find(|a| a.name == *name)
    }
}

impl Good {
    fn counts(&self) -> bool {
        self.unvouched.is_none()
    }
}

/// Who may sign acknowledgements: of the input's and the lock's those who stand in both, where both ask for somebody.
fn signers(fleet: &Fleet, lock: Option<&FleetLock>) -> BTreeSet<String> {
    let principals = |signers: &Signers| -> BTreeSet<String> {
        let lines = signers.acknowledgements.iter();
        lines.filter_map(|l| AllowedSigner::parse(l).ok()).flat_map(|s| s.principals).collect()
    };
    let (input, in_force) = (Signers::of(&fleet.spec), lock.map(|lock| &lock.signers));
    let (input, in_force) = (principals(&input), in_force.map(principals).unwrap_or_default());
    match (input.is_empty(), in_force.is_empty()) {
        (true, _) => in_force,
        (_, true) => input,
        // Where nobody stands in both nobody may sign; whoever is asked to is told of all of them.
        _ if input.is_disjoint(&in_force) => input.into_iter().chain(in_force).collect(),
        _ => input.intersection(&in_force).cloned().collect(),
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

/// A warning for each acknowledgement that nobody who may has signed, and for each good one of a kind that is held
/// now: the set is another, or nobody could have seen it held.
#[must_use]
pub fn mismatches(
    fleet: &Fleet,
    good: &Acknowledged,
    holds: &[Hold],
    used: &[Name],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // What this run uses let its own set through; another tenant's may be held all the same.
    let left = good.good.iter().filter(|good| !used.contains(&good.entry.name));
    for Good { entry: acknowledgement, unvouched, .. } in left {
        if let Some((why, sourced)) =
            unvouched.as_ref().zip(fleet.acknowledgements.get(&acknowledgement.name))
        {
            let place = Place::field(&sourced.file, sourced.document, FieldPath::keys("metadata"));
            found.push(not_vouched(&acknowledgement.name, why, &good.signers).at(place));
            continue;
        }
        let over: Vec<_> =
            holds.iter().filter(|h| h.kind.acknowledged_by() == Some(acknowledgement.of)).collect();
        let Some(sourced) = fleet.acknowledgements.get(&acknowledgement.name) else { continue };
        let place = Place::field(&sourced.file, sourced.document, FieldPath::keys("spec.digest"));
        let of = acknowledgement.of;
        if over.iter().any(|hold| good.early(of, hold).contains(&acknowledgement.name)) {
            found.push(too_early(&acknowledgement.name).at(place));
        } else if !over.is_empty() {
            found.push(of_another_set(acknowledgement, &over).at(place));
        }
    }
    found
}

/// What is said of one that names none of the sets of its kind that are held.
fn of_another_set(acknowledgement: &AcknowledgementSpent, over: &[&Hold]) -> Diagnostic {
    let AcknowledgementSpent { name, of, .. } = acknowledgement;
    let counts: Vec<_> = over.iter().map(|hold| hold.names.len().to_string()).collect();
    let sets = over
        .iter()
        .map(|hold| format!("`count: {}` and `digest: {}`", hold.names.len(), hold.digest()));
    let message = format!(
        "acknowledgement `{name}` names another set than the {} {of} that are held",
        counts.join(" and ")
    );
    Diagnostic::new(Code::AcknowledgementMismatch, message)
        .help(format!("if the held set is meant, set {}", sets.collect::<Vec<_>>().join(", or ")))
}

fn not_vouched(name: &Name, why: &Unvouched, signers: &BTreeSet<String>) -> Diagnostic {
    let message = format!("acknowledgement `{name}` does not count: {why}");
    let who: Vec<&str> = signers.iter().map(String::as_str).collect();
    let others = match why {
        Unvouched::OwnChange { .. } => "another of",
        _ => "one of",
    };
    let help = match why {
        Unvouched::ChangeNotKnown { .. } => {
            "`acknowledgements.twoPerson` asks for the signature of a listed person on every commit that \
             brought a part of it; take the change back and commit it anew, signed"
                .to_owned()
        }
        _ => format!(
            "let {others} those who may acknowledge commit it under another name, signed (`git commit -S`): {}",
            who.join(", ")
        ),
    };
    Diagnostic::new(Code::AcknowledgementNotVouched, message).help(help)
}

fn too_early(name: &Name) -> Diagnostic {
    let message = format!(
        "acknowledgement `{name}` came with what it acknowledges: it was there before a run had held that"
    );
    Diagnostic::new(Code::AcknowledgementTooEarly, message).help(
        "let a run hold the set first, and commit the acknowledgement after that, under another name; \
         `guards.sameCommit: true` allows both at once",
    )
}
