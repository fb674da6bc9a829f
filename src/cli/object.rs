//! What commands speak of, as people write it: `KIND/NAME`, `KIND NAME`, `NAME` or `KIND`.

use super::{Error, args};
use crate::diag::suggest;
use crate::model::Name;
use crate::model::words::words;

/// `KIND/NAME`, or `NAME` alone: names are unique over clusters and workers, and a policy of the same
/// name comes after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// The kind, where one was given.
    pub kind: Option<ObjectKind>,
    /// The name.
    pub name: Name,
}

words! {
    /// A kind that commands speak of.
    pub ObjectKind:
    /// A `ManagedCluster`.
    Cluster = "cluster",
    /// A `Worker`.
    Worker = "worker",
    /// A `WorkerPool`.
    Pool = "pool",
    /// A `PlacementPolicy`.
    Policy = "policy",
}

/// What the words after a command name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing was named: everything.
    All,
    /// Everything of a kind.
    Kind(ObjectKind),
    /// One object.
    Object(ObjectRef),
}

/// The words that each kind has: its short one, its plural, its kind in the API and that one's plural, and
/// the short name that kubectl knows.
const WORDS: &[(ObjectKind, &[&str])] = &[
    (ObjectKind::Cluster, &["cluster", "clusters", "managedcluster", "managedclusters", "mc"]),
    (ObjectKind::Worker, &["worker", "workers", "wk"]),
    (ObjectKind::Pool, &["pool", "pools", "workerpool", "workerpools", "wp"]),
    (ObjectKind::Policy, &["policy", "policies", "placementpolicy", "placementpolicies", "pp"]),
];

impl ObjectKind {
    /// The kind that a word stands for, in upper or lower case.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let row = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()))?;
        Some(row.0)
    }

    /// All words that stand for a kind.
    pub(super) fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().flat_map(|(_, words)| words.iter().copied())
    }
}

impl Target {
    /// Reads the words after a command: none, `KIND`, `NAME`, `KIND/NAME` or `KIND NAME`.
    ///
    /// # Errors
    /// A word is no kind, or a name that nothing can have; there are too many words.
    pub fn of(words: &[String]) -> Result<Self, Error> {
        Self::among(words, ObjectKind::ALL)
    }

    /// Reads the words of a command that speaks of `kinds` alone: where a word is no kind, these are offered.
    fn among(words: &[String], kinds: &[ObjectKind]) -> Result<Self, Error> {
        match words {
            [] => Ok(Self::All),
            [word] => match word.split_once('/') {
                Some((kind, name)) => Self::object(kind, name, kinds),
                None => match ObjectKind::of_word(word) {
                    Some(kind) => Ok(Self::Kind(kind)),
                    None => Ok(Self::Object(ObjectRef { kind: None, name: name(word)? })),
                },
            },
            [kind, name] if !kind.contains('/') && !name.contains('/') => {
                Self::object(kind, name, kinds)
            }
            [first, .., last] => Err(Error::usage(format!("`{first} {last}` are two objects"))
                .help("name one: `KIND/NAME` or `KIND NAME`")),
        }
    }

    fn object(kind: &str, named: &str, kinds: &[ObjectKind]) -> Result<Self, Error> {
        Ok(Self::Object(ObjectRef { kind: Some(kind_of(kind, kinds)?), name: name(named)? }))
    }
}

impl ObjectRef {
    /// Reads the words that name one object, for a command that speaks of `kinds`. Another kind is read too: the command
    /// knows best what to say of it.
    ///
    /// # Errors
    /// As for [`Target::of`]; only a kind was named, or nothing.
    pub fn of(words: &[String], kinds: &[ObjectKind]) -> Result<Self, Error> {
        match Target::among(words, kinds)? {
            Target::Object(object) => Ok(object),
            // Names and kinds are of one form, so a cluster may be called `worker`.
            Target::Kind(_) => {
                Ok(Self { kind: None, name: name(words.first().map_or("", String::as_str))? })
            }
            Target::All => Err(Error::usage("nothing is named").help("write `KIND/NAME`")),
        }
    }
}

/// The worker that words name: `NAME`, `worker/NAME` or `worker NAME`.
///
/// # Errors
/// They name something else.
pub(super) fn worker(words: &[String]) -> Result<Name, Error> {
    let object = ObjectRef::of(words, &[ObjectKind::Worker])?;
    match object.kind {
        None | Some(ObjectKind::Worker) => Ok(object.name),
        Some(kind) => Err(Error::usage(format!("{}/{} is no worker", kind.name(), object.name))
            .help("write the worker's name")),
    }
}

/// One worker, as commands that write its overlay take it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WorkerArgs {
    /// The worker: `NAME`, `worker/NAME` or `worker NAME`
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
}

impl WorkerArgs {
    /// The worker's name.
    ///
    /// # Errors
    /// The words name no worker.
    pub(super) fn name(&self) -> Result<Name, Error> {
        worker(&self.words)
    }
}

fn kind_of(text: &str, kinds: &[ObjectKind]) -> Result<ObjectKind, Error> {
    ObjectKind::of_word(text).ok_or_else(|| {
        let known = WORDS.iter().filter(|(kind, _)| kinds.contains(kind));
        let known = known.flat_map(|(_, words)| words.iter().copied());
        let help = suggest::nearest(text, known)
            .map_or_else(|| offered(kinds), |near| format!("did you mean `{near}`?"));
        Error::usage(format!("`{text}` is not a kind")).help(help)
    })
}

/// The kinds of a command: ``the kinds are `cluster`, `worker` and `policy` ``.
fn offered(kinds: &[ObjectKind]) -> String {
    let words: Vec<_> = kinds.iter().map(|kind| format!("`{}`", kind.name())).collect();
    match words.as_slice() {
        [] => "no kind is named here".to_owned(),
        [one] => format!("the only kind here is {one}"),
        [all @ .., last] => format!("the kinds are {} and {last}", all.join(", ")),
    }
}

fn name(text: &str) -> Result<Name, Error> {
    args::name(text).map_err(|error| Error::usage(format!("`{text}` is no name: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Result<Target, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Target::of(&words).map_err(|error| error.to_string())
    }

    fn object(kind: Option<ObjectKind>, name: &str) -> Target {
        Target::Object(ObjectRef { kind, name: Name::parse(name).unwrap() })
    }

    #[test]
    fn an_object_is_written_as_kubectl_has_it() {
        let cluster = object(Some(ObjectKind::Cluster), "pay-eu");
        for words in ["cluster/pay-eu", "cluster pay-eu", "mc pay-eu", "ManagedCluster/pay-eu"] {
            assert_eq!(of(words), Ok(cluster.clone()), "{words}");
        }
        assert_eq!(of("pay-eu"), Ok(object(None, "pay-eu")));
        assert_eq!(of("workers"), Ok(Target::Kind(ObjectKind::Worker)));
        assert_eq!(of(""), Ok(Target::All));
    }

    #[test]
    fn a_slip_is_told_with_what_was_meant() {
        assert_eq!(
            of("clutser/pay-eu").unwrap_err(),
            "`clutser` is not a kind\nhelp: did you mean `cluster`?"
        );
        assert_eq!(
            of("pod x").unwrap_err(),
            "`pod` is not a kind\nhelp: the kinds are `cluster`, `worker`, `pool` and `policy`"
        );
        let explained = [ObjectKind::Cluster, ObjectKind::Worker, ObjectKind::Policy];
        let words = ["tenant/shop".to_owned()];
        assert_eq!(
            ObjectRef::of(&words, &explained).unwrap_err().to_string(),
            "`tenant` is not a kind\nhelp: the kinds are `cluster`, `worker` and `policy`"
        );
        assert_eq!(
            worker(&words).unwrap_err().to_string(),
            "`tenant` is not a kind\nhelp: the only kind here is `worker`"
        );
        for wrong in ["cluster/A", "cluster/a b", "cluster a b", "a/b/c"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_worker_is_named_in_every_form() {
        let named =
            |words: &[&str]| worker(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        for words in [&["we-1"][..], &["worker/we-1"], &["worker", "we-1"], &["wk", "we-1"]] {
            assert_eq!(named(words).unwrap().as_str(), "we-1", "{words:?}");
        }
        assert_eq!(named(&["worker"]).unwrap().as_str(), "worker", "a worker may be called so");
        assert!(named(&["cluster/we-1"]).unwrap_err().message.contains("is no worker"));
    }
}
