//! A folder as a whole: its digest, and the annotation that carries it.

use std::fmt::Write as _;
use std::ops::Range;

use memchr::memmem;

use super::{Files, text};
use crate::model::Digest;

/// The annotation that says which folder an object came from.
pub(super) const DIGEST_ANNOTATION: &str = "carp.dev/digest";
/// What stands in the annotation until the folder is complete.
pub(super) const NO_DIGEST: &str = "sha256:0";

/// The digest of a folder's files without `carp.lock` and without the annotation itself. Reports repeat
/// it as evidence of what was applied.
#[must_use]
pub fn folder_digest<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Digest {
    let files = files.into_iter().map(|(path, bytes)| (path, text::of(bytes)));
    let files = files.map(|(path, text)| {
        let lines = annotations(&text);
        (path, text, lines)
    });
    let files: Vec<_> = files.collect();
    digest_without(files.iter().map(|(path, text, lines)| (*path, &**text, lines.as_slice())))
}

/// The digest of texts without some of their lines.
fn digest_without<'a>(
    files: impl Iterator<Item = (&'a str, &'a str, &'a [Range<usize>])>,
) -> Digest {
    let files = files.filter(|(path, ..)| *path != "carp.lock");
    let mut parts: Vec<_> = files
        .map(|(path, text, lines)| {
            let starts = std::iter::once(0).chain(lines.iter().map(|line| line.end));
            let ends = lines.iter().map(|line| line.start).chain([text.len()]);
            (path, Digest::of_parts(starts.zip(ends).map(|(from, to)| &text.as_bytes()[from..to])))
        })
        .collect();
    parts.sort_unstable();
    Digest::of_value(&parts)
}

/// The lines of a text that are the annotation.
fn annotations(text: &str) -> Vec<Range<usize>> {
    let found = memmem::find_iter(text.as_bytes(), DIGEST_ANNOTATION);
    found
        .filter_map(|at| {
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let whole = text[start..at].trim_start().is_empty()
                && text[at + DIGEST_ANNOTATION.len()..].starts_with(':');
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            whole.then_some(start..end)
        })
        .collect()
}

/// The folder with its digest in the annotation, wherever that stands.
#[must_use]
pub fn with_digest(mut files: Files) -> Files {
    let texts: Vec<_> = files
        .iter()
        .map(|(path, bytes)| {
            let text = text::of(bytes);
            let lines = annotations(&text);
            (path.as_str(), text, lines)
        })
        .collect();
    let parts = texts.iter().map(|(path, text, lines)| (*path, &**text, lines.as_slice()));
    let digest = digest_without(parts);
    let written: Vec<_> = texts
        .iter()
        .map(|(_, text, lines)| (!lines.is_empty()).then(|| annotated(text, lines, digest)))
        .collect();
    for (bytes, text) in files.values_mut().zip(written) {
        if let Some(text) = text {
            *bytes = text.into();
        }
    }
    files
}

/// The text with a digest in the lines that are the annotation.
fn annotated(text: &str, lines: &[Range<usize>], digest: Digest) -> String {
    let mut written = String::with_capacity(text.len() + 128);
    let mut from = 0;
    for line in lines {
        let indent = text[line.clone()].find(DIGEST_ANNOTATION).unwrap_or_default();
        written.push_str(&text[from..line.start + indent]);
        let _ = writeln!(written, "{DIGEST_ANNOTATION}: sha256:{digest}");
        from = line.end;
    }
    written.push_str(&text[from..]);
    written
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
