//! In which file each cluster's document stands: a sorted text file in which one name is found by halving, so that
//! a run that looks at a few of many clusters reads a few lines of it.
//!
//! Nobody believes it: whoever asks reads the document where it is said to stand, and looks at everything where
//! it is not there. So an answer that is wrong, old or missing costs time only, and the file has no digest, which
//! could only be checked by reading all of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::medium;
use crate::model::{Name, StoreError};

const STORE: &str = "the index of clusters";

/// How much is read at once, in bytes. Most lines are shorter than a tenth of it.
const WINDOW: u64 = 2048;

/// The files of the clusters' documents, open for reading.
pub(super) struct ClusterFiles {
    file: File,
    length: u64,
}

impl ClusterFiles {
    /// Opens the index; `None` where there is none.
    #[must_use]
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        Some(Self { file, length })
    }

    /// The file of a cluster's document; `None` where it is not known.
    #[must_use]
    pub(super) fn file_of(&self, cluster: &Name) -> Option<String> {
        // The cluster's line begins in between, and a line begins at `from`.
        let (mut from, mut to) = (0, self.length);
        while to - from > WINDOW {
            let middle = from + (to - from) / 2;
            let bytes = self.read(middle, WINDOW.min(self.length - middle))?;
            let skipped = bytes.iter().position(|byte| *byte == b'\n')? + 1;
            let begin = middle + u64::try_from(skipped).ok()?;
            let line = &bytes[skipped..];
            let name = &line[..line.iter().position(|byte| *byte == b'\t')?];
            match begin {
                begin if begin >= to => return None,
                begin if name <= cluster.as_bytes() => from = begin,
                begin => to = begin,
            }
        }
        let bytes = self.read(from, to - from)?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines.find(|(name, _)| *name == cluster.as_str()).map(|(_, file)| file.to_owned())
    }

    fn read(&self, from: u64, length: u64) -> Option<Vec<u8>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Writes the index whole or not at all. A caller may ignore the error: the next run takes longer.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written or moved into place.
pub(super) fn save_cluster_files(
    path: &Path,
    files: &BTreeMap<Name, String>,
) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| medium(STORE, "writing", path, e))?;
    let mut text = String::new();
    // A line break in a path would end the line; such a cluster is not found here.
    for (name, file) in files.iter().filter(|(_, file)| !file.contains('\n')) {
        text.extend([name.as_str(), "\t", file, "\n"]);
    }
    let new = tempfile::NamedTempFile::new_in(folder);
    let new = new.map_err(|e| medium(STORE, "writing", path, e))?;
    fs::write(new.path(), text).map_err(|e| medium(STORE, "writing", path, e))?;
    new.persist(path).map_err(|e| medium(STORE, "writing", path, e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> Name {
        Name::parse(&format!("c{number}")).unwrap()
    }

    fn index(count: usize, file: impl Fn(usize) -> String) -> (tempfile::TempDir, ClusterFiles) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("carp/clusters");
        save_cluster_files(&path, &(0..count).map(|i| (name(i), file(i))).collect()).unwrap();
        let index = ClusterFiles::open(&path).unwrap();
        (folder, index)
    }

    #[test]
    fn every_cluster_is_found_in_its_file() {
        for count in [0, 1, 2, 50, 3_000] {
            let file = |i: usize| format!("fleet/{}/{i}.yaml", "ä".repeat(i % 70));
            let (_folder, index) = index(count, file);
            for i in 0..count {
                assert_eq!(index.file_of(&name(i)), Some(file(i)), "{i} of {count}");
            }
            assert_eq!(index.file_of(&name(count)), None);
            assert_eq!(index.file_of(&Name::parse("a").unwrap()), None);
            assert_eq!(index.file_of(&Name::parse("z").unwrap()), None);
        }
    }

    #[test]
    fn what_was_damaged_is_not_found_and_ends() {
        let (folder, _) = index(2_000, |i| format!("fleet/{i}.yaml"));
        let path = folder.path().join("carp/clusters");
        let whole = fs::read(&path).unwrap();
        let without_lines = whole.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect();
        for bytes in
            [whole[..whole.len() / 2].to_vec(), without_lines, vec![0xff; 9_000], Vec::new()]
        {
            fs::write(&path, bytes).unwrap();
            let index = ClusterFiles::open(&path).unwrap();
            assert_eq!(index.file_of(&name(1_999)), None);
        }
        assert!(ClusterFiles::open(&folder.path().join("none")).is_none());
    }

    #[test]
    fn a_path_with_a_line_break_is_left_out() {
        let (_folder, index) =
            index(3, |i| if i == 1 { "a\nc2\tb".to_owned() } else { i.to_string() });
        assert_eq!(
            [0, 1, 2].map(|i| index.file_of(&name(i))),
            [Some("0".to_owned()), None, Some("2".to_owned())]
        );
    }
}
