//! Secrets as what uses them needs them, and as people make them, with the commands.

use super::preparation::{Once, Where};

/// A Secret that a person makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretWanted {
    /// Its name.
    pub name: String,
    /// Its namespace; empty for an entry of a store.
    pub namespace: String,
    /// The cluster that it is on.
    pub cluster: Where,
    /// The `ClusterSecretStore` that it is an entry of; `None` for a Secret.
    pub store: Option<String>,
    /// For what it is made once.
    pub once: Once,
    /// What it is for.
    pub why: String,
    /// The command that makes it.
    pub command: String,
}

/// A Secret as what uses it needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NeededSecret {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) fields: SecretFields,
    pub(super) why: String,
}

impl NeededSecret {
    /// As a person makes it where it is used.
    pub(super) fn by_hand(self, cluster: Where, once: Once) -> SecretWanted {
        SecretWanted {
            command: self.fields.create(&self.namespace, &self.name),
            name: self.name,
            namespace: self.namespace,
            cluster,
            store: None,
            once,
            why: self.why,
        }
    }
}

/// What a person puts into a key of a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The content of a file, which is told so that nothing stands on a command line.
    File(&'static str),
    /// A word that is no secret.
    Word(&'static str),
}

/// The keys of a Secret, each with what a person puts there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SecretFields(Vec<(String, Content)>);

impl SecretFields {
    /// Adds a key with the content of a file.
    pub(super) fn file(mut self, key: &str, file: &'static str) -> Self {
        self.0.push((key.to_owned(), Content::File(file)));
        self
    }

    /// Adds a key with a word.
    pub(super) fn word(mut self, key: &str, word: &'static str) -> Self {
        self.0.push((key.to_owned(), Content::Word(word)));
        self
    }

    /// The command that makes a Secret of them.
    pub(super) fn create(&self, namespace: &str, name: &str) -> String {
        let flag = |(key, content): &(String, Content)| match content {
            Content::File(file) => format!(" --from-file={key}={file}"),
            Content::Word(word) => format!(" --from-literal={key}={word}"),
        };
        let flags: String = self.0.iter().map(flag).collect();
        format!("kubectl -n {namespace} create secret generic {name}{flags}")
    }

    /// The command that prints them as a store's entry has them: as JSON, key by key.
    pub(super) fn entry(&self) -> String {
        let flag = |(key, content): &(String, Content)| match content {
            Content::File(file) => format!(" --rawfile {key} {file}"),
            Content::Word(word) => format!(" --arg {key} {word}"),
        };
        let flags: String = self.0.iter().map(flag).collect();
        format!("jq --null-input{flags} '$ARGS.named'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_and_an_entry_are_made_of_the_same_files() {
        let fields = SecretFields::default().word("username", "USER").file(".token", "TOKEN_FILE");
        assert_eq!(
            fields.create("ns", "git"),
            "kubectl -n ns create secret generic git --from-literal=username=USER \
             --from-file=.token=TOKEN_FILE"
        );
        assert_eq!(
            fields.entry(),
            "jq --null-input --arg username USER --rawfile .token TOKEN_FILE '$ARGS.named'"
        );
    }
}
