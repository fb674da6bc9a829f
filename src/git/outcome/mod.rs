//! What the `git` program's words mean. Pure: exit code and outputs in, an outcome out.
//!
//! The texts are those of git itself and of the hosts that people use; a test holds them in a table.

use super::program_output::ProgramOutput;
use super::{Error, Redacted};

/// What became of a push. Each text is the one line that says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The remote's ref is at the commit.
    Done,
    /// Somebody else moved the ref first: read again, plan again.
    Raced {
        /// Why.
        text: Redacted,
    },
    /// A hook or a rule of the remote refuses, and will refuse again: somebody has to act.
    Refused {
        /// Why.
        text: Redacted,
    },
    /// The remote does not let us in.
    Auth {
        /// Why.
        text: Redacted,
    },
    /// Nobody knows whether the ref moved: look at the remote before anything else.
    Unknown {
        /// Why.
        text: Redacted,
    },
}

/// The ref is not where the push expected it.
const LOST_RACE: [&str; 8] = [
    "stale info",
    "fetch first",
    "non-fast-forward",
    "cannot lock ref",
    "incorrect old value provided",
    "failed to update ref",
    "reference already exists",
    "remote ref updated since checkout",
];

/// The remote could not take the objects, or did not say what became of them.
const REMOTE_IN_TROUBLE: [&str; 6] = [
    "unpacker error",
    "missing necessary objects",
    "remote failed to report status",
    "internal server error",
    "timed out",
    "timeout",
];

/// A ref that can never be made there, although the words are those of a lost race.
const NEVER_POSSIBLE: [&str; 4] =
    ["; cannot create", "Permission denied", "insufficient permission", "File name too long"];

/// The remote wants other credentials.
const AUTH: [&str; 17] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "Invalid username or",
    "HTTP Basic: Access denied",
    "Permission denied (",
    "Permission to ",
    "Host key verification failed",
    "too many redirects or authentication replays",
    "requested URL returned error: 401",
    "requested URL returned error: 403",
    "Write access to repository not granted",
    "You are not allowed to push",
    "access denied",
    "Access denied",
    "HTTP 401",
];

/// There is no repository there, or none that we may see.
const MISSING: [&str; 5] = [
    "does not appear to be a git repository",
    "Repository not found",
    "repository not found",
    "could not be found or you don't have permission",
    "requested URL returned error: 404",
];

/// The host asks for patience; it may do so with a code that otherwise means no access.
const BUSY: [&str; 4] =
    ["rate limit", "returned error: 429", "Too Many Requests", "returned error: 503"];

/// The outcome of `git push --porcelain`.
pub(super) fn classify_push(output: &ProgramOutput) -> PushOutcome {
    if output.code == Some(0) {
        return PushOutcome::Done;
    }
    if let Some(reason) = rejection(&output.stdout) {
        return classify_rejection(reason, &output.stderr);
    }
    let (failure, line) = failure(&output.stderr);
    let text = Redacted::new(line);
    match failure {
        GitFailure::Auth => PushOutcome::Auth { text },
        // git ends so when a `pre-push` hook of this clone said no, and only then.
        GitFailure::Other
            if output.code == Some(1) && line.starts_with("failed to push some refs") =>
        {
            PushOutcome::Refused { text: Redacted::new("a pre-push hook of this clone refused it") }
        }
        // Said before anything is sent.
        GitFailure::Other if line.contains("does not support push options") => {
            PushOutcome::Refused { text }
        }
        GitFailure::Missing | GitFailure::Other => PushOutcome::Unknown { text },
    }
}

/// The error of another command that speaks to a remote.
pub(super) fn explain(what: &str, remote: &str, output: &ProgramOutput) -> Error {
    let (failure, line) = failure(&output.stderr);
    let (what, remote, line) = (what.to_owned(), Redacted::new(remote), Redacted::new(line));
    match failure {
        GitFailure::Auth => Error::Auth { what, remote, line },
        GitFailure::Missing => Error::RemoteMissing { what, remote, line },
        GitFailure::Other => Error::Remote { what, remote, line },
    }
}

/// What a command that failed says about why, in one line.
pub(super) fn why(output: &ProgramOutput) -> Redacted {
    Redacted::new(telling_line(&output.stderr))
}

/// What follows the ref in a line of `! TAB from:to TAB [rejected] (reason)`.
fn rejection(stdout: &str) -> Option<&str> {
    stdout.lines().find_map(|line| line.strip_prefix("!\t")?.split_once('\t')).map(|(_, why)| why)
}

fn classify_rejection(reason: &str, stderr: &str) -> PushOutcome {
    let text = Redacted::new(reason);
    if has(reason, &REMOTE_IN_TROUBLE) {
        return PushOutcome::Unknown { text };
    }
    if !has(reason, &LOST_RACE) {
        return PushOutcome::Refused { text: with_words(reason, stderr) };
    }
    let of_a_ref = |line: &&str| line.contains("ref") && has(line, &NEVER_POSSIBLE);
    match std::iter::once(reason).chain(stderr.lines()).find(of_a_ref) {
        Some(line) => PushOutcome::Refused { text: Redacted::new(line.trim()) },
        None => PushOutcome::Raced { text },
    }
}

/// A refusal with what the remote's hook or host says about it, in one line.
fn with_words(reason: &str, stderr: &str) -> Redacted {
    let said = stderr.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim);
    // What git itself adds says no more than the reason.
    let own = |line: &&str| !line.is_empty() && !line.starts_with("error: hook declined");
    let words: Vec<_> = said.filter(own).take(3).collect();
    let reason = reason.trim_start_matches("[remote rejected] ").trim_matches(['(', ')']);
    if words.is_empty() {
        return Redacted::new(reason);
    }
    Redacted::new(format!("{reason}, with the words: {}", words.join(" ")))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitFailure {
    Auth,
    Missing,
    Other,
}

/// What an error output means, and the line of it that says so.
fn failure(stderr: &str) -> (GitFailure, &str) {
    let line_of = |words: &[&str]| stderr.lines().find(|line| has(line, words)).map(bare);
    if let Some(line) = line_of(&BUSY) {
        return (GitFailure::Other, line);
    }
    if let Some(line) = line_of(&MISSING) {
        return (GitFailure::Missing, line);
    }
    // `fatal: repository 'https://…' not found`
    let not_found = |line: &&str| line.contains("repository '") && line.ends_with("' not found");
    if let Some(line) = stderr.lines().find(not_found) {
        return (GitFailure::Missing, bare(line));
    }
    match line_of(&AUTH) {
        Some(line) => (GitFailure::Auth, line),
        None => (GitFailure::Other, telling_line(stderr)),
    }
}

fn telling_line(stderr: &str) -> &str {
    let begins = |start: &'static str| {
        move |line: &&str| line.trim_start_matches("remote: ").starts_with(start)
    };
    stderr
        .lines()
        .find(begins("fatal:"))
        .or_else(|| stderr.lines().find(begins("error:")))
        .or_else(|| stderr.lines().rfind(|line| !line.trim().is_empty()))
        .map_or("git says nothing", bare)
}

/// A line without the words that only say that it is an error.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("remote:").unwrap_or(line).trim();
    ["fatal:", "error:", "ERROR:"]
        .iter()
        .find_map(|start| line.strip_prefix(start))
        .unwrap_or(line)
        .trim()
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests;
