//! A folder as a whole: its digest, and the annotation that carries it.

use std::fmt::Write as _;
use std::ops::Range;

use super::Files;
use crate::model::Digest;

/// The annotation that says which folder an object came from.
pub(super) const DIGEST_ANNOTATION: &str = "carp.dev/digest";
/// What stands in the annotation until the folder is complete.
pub(super) const NO_DIGEST: &str = "sha256:0";

/// The digest of a folder's files without `carp.lock` and without the annotation itself. Reports repeat
/// it as evidence of what was applied.
#[must_use]
pub fn folder_digest<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Digest {
    let mut parts = Vec::new();
    for (path, bytes) in files.into_iter().filter(|(path, _)| *path != "carp.lock") {
        let text = String::from_utf8_lossy(bytes);
        let mut kept = String::with_capacity(text.len());
        let mut from = 0;
        for line in annotations(&text) {
            kept.push_str(&text[from..line.start]);
            from = line.end;
        }
        kept.push_str(&text[from..]);
        parts.push((path, Digest::of(kept.as_bytes())));
    }
    parts.sort_unstable();
    Digest::of_value(&parts)
}

/// The lines of a text that are the annotation.
fn annotations(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices(DIGEST_ANNOTATION).filter_map(|(at, key)| {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let whole =
            text[start..at].trim_start().is_empty() && text[at + key.len()..].starts_with(':');
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        whole.then_some(start..end)
    })
}

/// The folder with its digest in the annotation, wherever that stands.
#[must_use]
pub fn with_digest(mut files: Files) -> Files {
    let digest = folder_digest(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
    for bytes in files.values_mut() {
        let text = String::from_utf8_lossy(bytes);
        let mut written = String::with_capacity(text.len() + 128);
        let mut from = 0;
        for line in annotations(&text) {
            let indent = text[line.clone()].find(DIGEST_ANNOTATION).unwrap_or_default();
            written.push_str(&text[from..line.start + indent]);
            let _ = writeln!(written, "{DIGEST_ANNOTATION}: sha256:{digest}");
            from = line.end;
        }
        if from > 0 {
            written.push_str(&text[from..]);
            *bytes = written.into();
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(value: &str) -> Files {
        let text = format!("kind: A\nmetadata:\n  annotations:\n    carp.dev/digest: {value}\n");
        Files::from([("cluster.yaml".to_owned(), text.into_bytes())])
    }

    fn digest(files: &Files) -> Digest {
        folder_digest(files.iter().map(|(p, b)| (p.as_str(), b.as_slice())))
    }

    #[test]
    fn the_digest_in_a_folder_is_the_folders_own() {
        let files = with_digest(folder(NO_DIGEST));
        let text = String::from_utf8(files["cluster.yaml"].clone()).unwrap();
        assert!(text.ends_with(&format!("carp.dev/digest: sha256:{}\n", digest(&files))), "{text}");
        assert_eq!(with_digest(files.clone()), files, "it does not depend on itself");
        assert_eq!(digest(&files), digest(&folder("x")));
    }

    #[test]
    fn any_other_byte_and_any_file_but_the_lock_counts() {
        let before = folder(NO_DIGEST);
        let mut with_lock = before.clone();
        with_lock.insert("carp.lock".to_owned(), b"{}".to_vec());
        assert_eq!(digest(&with_lock), digest(&before));
        let mut changed = before.clone();
        changed.insert("other.yaml".to_owned(), Vec::new());
        assert_ne!(digest(&changed), digest(&before));
    }
}
