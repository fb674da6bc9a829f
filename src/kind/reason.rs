//! What can be wrong with a cluster that kind makes, and what is done about it.
//!
//! kind ends with 1 whatever went wrong, so its words are all there is. The texts are those of kind
//! v0.33.0 and of docker, seen by running it, but for that of a node that does not boot
//! (`pkg/cluster/internal/providers/docker/provision.go`).

use std::fmt;

/// When a failure is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// At once: it was bad luck.
    Now,
    /// After a pause that grows.
    Backoff,
    /// After the longest pause: somebody has to do something on this machine.
    Slow,
    /// When the object changes.
    Never,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $retry:ident, $help:literal;)*) => {
        /// Why a cluster is not what its object asks for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum KindReason {
            $($(#[$doc])* $name,)*
        }

        impl KindReason {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word in conditions, events and status files.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// When it is tried again.
            #[must_use]
            pub const fn retry(self) -> Retry {
                match self {
                    $(Self::$name => Retry::$retry,)*
                }
            }

            /// What a person can do.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self {
                    $(Self::$name => $help,)*
                }
            }
        }
    };
}

reasons! {
    /// There is no `kind`.
    KindMissing = Slow, "install kind, or name it with --kind";
    /// There is no `docker`.
    DockerMissing = Slow, "install docker (or podman or nerdctl, with KIND_EXPERIMENTAL_PROVIDER)";
    /// Docker does not answer.
    DockerUnavailable = Backoff, "start docker, and look whether this user may use it";
    /// A cluster of the name is there, and is not this object's.
    AlreadyExists = Slow,
        "take another name, delete that cluster, or let it be taken over with the annotation \
         `carp.dev/adopt: \"true\"`";
    /// The node image cannot be pulled.
    ImagePullFailed = Backoff, "look whether the image exists and the registry can be reached";
    /// A port of the machine is taken.
    PortInUse = Slow, "free the port, or take another one in `spec.config`";
    /// kind does not take the name.
    InvalidName = Never, "a name has lower-case letters, digits, `.` and `-`";
    /// kind does not take the configuration.
    InvalidConfig = Never, "mend `spec.config`: the form is kind's v1alpha4";
    /// kubeadm failed on a node.
    KubeadmFailed = Backoff, "look at the nodes: `retainOnFailure: true` keeps them";
    /// A node did not boot.
    NodeBootFailed = Backoff,
        "look at the node's log (`retainOnFailure: true` keeps it); often inotify limits are too low";
    /// The nodes are gone.
    NotFound = Now, "nothing: the cluster is made anew";
    /// A file that kind locks is locked.
    KubeconfigLocked = Now, "nothing: another file is used";
    /// Another process works on the cluster just now.
    Busy = Backoff, "wait; `ps` shows the kind that runs";
    /// It took too long.
    DeadlineExceeded = Backoff, "give it longer with --create-timeout, or look at the machine's load";
    /// carp was told to stop, or the object was deleted meanwhile.
    Cancelled = Now, "nothing: what is half done is cleaned up";
    /// carp's own folder cannot be used.
    StateFailed = Slow, "look at the folder that --state names";
    /// kind failed otherwise.
    KindFailed = Backoff, "the message has kind's own words";
    /// `clusterName` is not what the cluster was made under.
    Renamed = Never, "set `clusterName` back; to rename, delete the object and make a new one";
    /// The cluster is on another machine.
    OtherHost = Slow, "run carp on the machine that `status.providerID` names";
    /// The API server does not answer.
    NotReady = Backoff, "look at the nodes: `docker ps`, `docker start`";
    /// The secrets or the kubeconfig could not be written.
    KubeconfigFailed = Backoff, "the message says which one, and why";
}

impl fmt::Display for KindReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What stands in kind's error output, and what it means. The first that is found counts: what is
/// nearest to the cause comes first, for kind repeats docker's words after its own.
const WORDS: &[(&str, KindReason)] = &[
    ("exec: \"docker\": executable file not found", KindReason::DockerMissing),
    ("exec: \"podman\": executable file not found", KindReason::DockerMissing),
    ("exec: \"nerdctl\": executable file not found", KindReason::DockerMissing),
    ("Cannot connect to the Docker daemon", KindReason::DockerUnavailable),
    (
        "permission denied while trying to connect to the Docker daemon",
        KindReason::DockerUnavailable,
    ),
    ("node(s) already exist for a cluster with the name", KindReason::AlreadyExists),
    ("failed to pull image", KindReason::ImagePullFailed),
    ("port is already allocated", KindReason::PortInUse),
    ("address already in use", KindReason::PortInUse),
    ("is not a valid cluster name", KindReason::InvalidName),
    ("unable to decode config", KindReason::InvalidConfig),
    ("unknown apiVersion", KindReason::InvalidConfig),
    ("invalid configuration for node", KindReason::InvalidConfig),
    ("invalid configuration", KindReason::InvalidConfig),
    ("failed to init node with kubeadm", KindReason::KubeadmFailed),
    ("failed to join node", KindReason::KubeadmFailed),
    ("could not find a log line that matches", KindReason::NodeBootFailed),
    ("could not locate any control plane nodes", KindReason::NotFound),
    ("failed to lock config file", KindReason::KubeconfigLocked),
];

/// What kind's error output means.
#[must_use]
pub fn classify(stderr: &str) -> KindReason {
    let found = WORDS.iter().find(|(words, _)| stderr.contains(words));
    found.map_or(KindReason::KindFailed, |(_, reason)| *reason)
}

/// The line for people in kind's error output: that of `ERROR:` and what follows it, without the
/// progress before; at most `most` bytes.
#[must_use]
pub fn gist(stderr: &str, most: usize) -> String {
    let text = stderr.find("ERROR: ").map_or(stderr, |at| &stderr[at + "ERROR: ".len()..]);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    cut(&lines.join("; "), most)
}

/// The beginning of a text, of at most that many bytes.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub('…'.len_utf8());
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_words_mean_what_they_meant_when_they_were_seen() {
        for (stderr, reason) in [
            (
                "ERROR: failed to create cluster: failed to get docker info: command \"docker info \
                 --format '{{json .}}'\" failed with error: exec: \"docker\": executable file not \
                 found in $PATH\nCommand Output: ",
                KindReason::DockerMissing,
            ),
            (
                "ERROR: failed to create cluster: failed to get docker info: exit status 1\nCommand \
                 Output: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
                KindReason::DockerUnavailable,
            ),
            (
                "ERROR: failed to create cluster: node(s) already exist for a cluster with the name \
                 \"a\"",
                KindReason::AlreadyExists,
            ),
            (
                "Creating cluster \"a\" ...\n ✗ Ensuring node image (kindest/node:v1) 🖼\nERROR: failed \
                 to create cluster: failed to pull image \"kindest/node:v1\": command failed",
                KindReason::ImagePullFailed,
            ),
            (
                "docker: Error response from daemon: driver failed: Bind for 0.0.0.0:80 failed: port \
                 is already allocated.",
                KindReason::PortInUse,
            ),
            (
                "ERROR: failed to create cluster: 'A' is not a valid cluster name, cluster names must \
                 match `^[a-z0-9.-]+$`",
                KindReason::InvalidName,
            ),
            ("ERROR: unable to decode config: yaml: line 3", KindReason::InvalidConfig),
            (
                "ERROR: failed to create cluster: failed to init node with kubeadm",
                KindReason::KubeadmFailed,
            ),
            (
                "ERROR: failed to create cluster: could not find a log line that matches \
              \"Reached target\"",
                KindReason::NodeBootFailed,
            ),
            (
                "ERROR: could not locate any control plane nodes for cluster named 'a'",
                KindReason::NotFound,
            ),
            (
                "ERROR: failed to lock config file: open x.lock: file exists",
                KindReason::KubeconfigLocked,
            ),
            ("ERROR: something else", KindReason::KindFailed),
            ("", KindReason::KindFailed),
        ] {
            assert_eq!(classify(stderr), reason, "{stderr}");
        }
    }

    #[test]
    fn the_gist_is_what_kind_says_without_its_progress() {
        let stderr = "Creating cluster \"a\" ...\n • Preparing nodes 📦  ...\nERROR: failed to create \
                      cluster: exit status 1\n\nCommand Output: injected failure\n";
        let said = "failed to create cluster: exit status 1; Command Output: injected failure";
        assert_eq!(gist(stderr, 1000), said);
        assert_eq!(gist("no more\n", 1000), "no more");
        assert_eq!(gist("ääää", 6), "ä…");
        assert!(gist(&"x".repeat(5000), 900).len() <= 900);
    }

    #[test]
    fn what_only_a_change_can_mend_is_not_tried_again() {
        let never: Vec<_> =
            KindReason::ALL.iter().filter(|reason| reason.retry() == Retry::Never).collect();
        assert_eq!(
            never,
            [&KindReason::InvalidName, &KindReason::InvalidConfig, &KindReason::Renamed]
        );
    }
}
