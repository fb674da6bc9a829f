//! A folder as a whole: its digest, and the annotation that carries it.

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
    let key = format!("{DIGEST_ANNOTATION}:");
    let mut parts = Vec::new();
    for (path, bytes) in files.into_iter().filter(|(path, _)| *path != "carp.lock") {
        let text = String::from_utf8_lossy(bytes);
        let kept: String =
            text.split_inclusive('\n').filter(|l| !l.trim_start().starts_with(&key)).collect();
        parts.push((path, Digest::of(kept.as_bytes())));
    }
    parts.sort_unstable();
    Digest::of_value(&parts)
}

/// The folder with its digest in the annotation, wherever that stands.
#[must_use]
pub fn with_digest(mut files: Files) -> Files {
    let digest = folder_digest(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
    let key = format!("{DIGEST_ANNOTATION}:");
    for bytes in files.values_mut() {
        let text = String::from_utf8_lossy(bytes);
        if text.contains(&key) {
            *bytes = text
                .split_inclusive('\n')
                .map(|l| written(l, &key, &digest))
                .collect::<String>()
                .into();
        }
    }
    files
}

fn written(line: &str, key: &str, digest: &Digest) -> String {
    let body = line.trim_start();
    if !body.starts_with(key) {
        return line.to_owned();
    }
    let indent = &line[..line.len() - body.len()];
    format!("{indent}{key} sha256:{digest}\n")
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
