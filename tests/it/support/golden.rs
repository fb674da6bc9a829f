//! Text that is kept in a file. `UPDATE=1 cargo test` writes such files anew.

use std::fs;
use std::path::Path;

use similar::TextDiff;

/// How the text differs from what the file keeps; `None` where it does not.
pub(crate) fn differs(path: &Path, found: &str) -> Option<String> {
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    (found != expected).then(|| {
        let diff = TextDiff::from_lines(&expected, found);
        format!("{}\n{}", path.display(), diff.unified_diff())
    })
}

/// The text with every long object id, and every short one that stands where carp shows one, made `<id>`.
pub(crate) fn without_ids(text: &str) -> String {
    let is_id =
        |word: &str| matches!(word.len(), 8 | 40) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let line = |line: &str| {
        let words = line.split(' ').map(|word| {
            if word.starts_with("sha256:") && text.contains("held Rewind") {
                // It is the digest of a commit's id.
                return "sha256:<digest>".to_owned();
            }
            let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            if is_id(bare) { word.replace(bare, "<id>") } else { word.to_owned() }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|l| line(l) + "\n").collect()
}
