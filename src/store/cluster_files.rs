//! In which file each cluster's document stands: a sorted text file in which one name is found by halving, so that
//! a run that looks at a few of many clusters reads a few lines of it.
//!
//! Nobody believes it: whoever asks reads the document where it is said to stand, and looks at everything where
//! it is not there. So an answer that is wrong, old or missing costs time only, and the file has no digest, which
//! could only be checked by reading all of it.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use super::medium;
use super::whole_file::write_whole;
use crate::model::{Name, StoreError};

const STORE: &str = "the index of clusters";

/// How much is read at once, in bytes. Most lines are shorter than a tenth of it.
const WINDOW: u64 = 2048;

/// After so many pieces the whole file is read: whoever asked for that many names asks for more.
const MANY: u64 = 256;

/// What the index says of a cluster.
struct ClusterLine {
    /// The file of its document.
    file: String,
    /// Where what the document says begins and ends among the facts of those that wait, if it is there.
    fact: Option<Range<u64>>,
}

impl ClusterLine {
    /// The line of the cluster with this name; `None` where it is that of another one.
    fn parse(line: &str, cluster: &Name) -> Option<Self> {
        let (name, rest) = line.split_once('\t')?;
        if name != cluster.as_str() {
            return None;
        }
        let Some((file, fact)) = rest.split_once('\t') else {
            return Some(Self { file: rest.to_owned(), fact: None });
        };
        let (start, end) = fact.split_once('-')?;
        let fact = Some(start.parse().ok()?..end.parse().ok()?);
        Some(Self { file: file.to_owned(), fact })
    }
}

/// The files of the clusters' documents, open for reading.
pub(super) struct ClusterFiles {
    file: File,
    length: u64,
    /// After so many pieces the whole file is read.
    many: usize,
    /// What was read: the first halves are the same for every name.
    windows: RefCell<Windows>,
}

/// Pieces of the file, by where each begins and how long it is.
type Windows = BTreeMap<(u64, u64), Rc<Vec<u8>>>;

impl ClusterFiles {
    /// Opens the index; `None` where there is none.
    #[must_use]
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        // A quarter of it in pieces takes as long as all of it.
        let many = usize::try_from(MANY.min(length / WINDOW / 4)).ok()?;
        Some(Self { file, length, many, windows: RefCell::default() })
    }

    /// The file of a cluster's document; `None` where it is not known.
    #[must_use]
    pub(super) fn file_of(&self, cluster: &Name) -> Option<String> {
        self.line_of(cluster).map(|line| line.file)
    }

    /// Where what a cluster's document says stands among the facts of those that wait; `None` where it does not.
    #[must_use]
    pub(super) fn fact_of(&self, cluster: &Name) -> Option<Range<u64>> {
        self.line_of(cluster)?.fact
    }

    fn line_of(&self, cluster: &Name) -> Option<ClusterLine> {
        // The cluster's line begins in between, and a line begins at `from`.
        let (mut from, mut to) = (0, self.length);
        let most = if self.windows.borrow().len() < self.many { WINDOW } else { self.length };
        while to - from > most {
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
        ClusterLine::parse(std::str::from_utf8(line_in(&bytes, cluster)?).ok()?, cluster)
    }

    /// What stands there; `None` where the file has become shorter.
    fn read(&self, from: u64, length: u64) -> Option<Rc<Vec<u8>>> {
        if let Some(known) = self.windows.borrow().get(&(from, length)) {
            return Some(Rc::clone(known));
        }
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact(&mut bytes).ok()?;
        let window = Rc::new(bytes);
        self.windows.borrow_mut().insert((from, length), Rc::clone(&window));
        Some(window)
    }
}

/// The line of a cluster among sorted lines.
fn line_in<'l>(mut lines: &'l [u8], cluster: &Name) -> Option<&'l [u8]> {
    let is_break = |byte: &u8| *byte == b'\n';
    while !lines.is_empty() {
        let (before, after) = lines.split_at(lines.len() / 2);
        let begin = before.iter().rposition(is_break).map_or(0, |at| at + 1);
        let end = after.iter().position(is_break).map_or(lines.len(), |at| before.len() + at);
        let line = &lines[begin..end];
        let name = line.split(|byte| *byte == b'\t').next()?;
        lines = match name.cmp(cluster.as_bytes()) {
            Ordering::Equal => return Some(line),
            Ordering::Less => lines.get(end + 1..)?,
            Ordering::Greater => &lines[..begin],
        };
    }
    None
}

/// Writes an index whole or not at all: of each cluster, in the order of their names, the file and where what its document
/// says stands. A caller may ignore the error: the next run takes longer.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written or moved into place.
pub(super) fn save_cluster_files<'f>(
    path: &Path,
    files: impl IntoIterator<Item = (&'f Name, &'f String, Option<&'f Range<u64>>)>,
) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| medium(STORE, "writing", path, e))?;
    let mut text = String::new();
    // A line break or a tab in a path would end it; such a cluster is not found here.
    for (name, file, fact) in files.into_iter().filter(|(_, file, _)| !file.contains(['\n', '\t']))
    {
        text.extend([name.as_str(), "\t", file]);
        if let Some(fact) = fact {
            let _ = write!(text, "\t{}-{}", fact.start, fact.end);
        }
        text.push('\n');
    }
    write_whole(path, text.as_bytes()).map_err(|e| medium(STORE, "writing", path, e))
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
        let files: BTreeMap<_, _> = (0..count).map(|i| (name(i), file(i))).collect();
        let fact = |i| (name(i), i as u64..2 * i as u64);
        let facts: BTreeMap<_, _> = (0..count).step_by(3).map(fact).collect();
        let lines = files.iter().map(|(name, file)| (name, file, facts.get(name)));
        save_cluster_files(&path, lines).unwrap();
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
                let fact = i.is_multiple_of(3).then(|| i as u64..2 * i as u64);
                assert_eq!(index.fact_of(&name(i)), fact, "{i} of {count}");
            }
            assert_eq!(index.file_of(&name(count)), None);
            assert_eq!(index.file_of(&Name::parse("a").unwrap()), None);
            assert_eq!(index.file_of(&Name::parse("z").unwrap()), None);
        }
    }

    #[test]
    fn whoever_asks_for_many_reads_the_file_once() {
        let (_folder, index) = index(40_000, |i| format!("fleet/clusters/{i}.yaml"));
        for i in (0..40_000).step_by(80) {
            assert_eq!(index.file_of(&name(i)), Some(format!("fleet/clusters/{i}.yaml")));
        }
        let whole = index.windows.borrow().keys().filter(|(_, length)| *length > WINDOW).count();
        let all = index.windows.borrow().len();
        assert_eq!(whole, 1);
        let halvings = usize::try_from((index.length / WINDOW).ilog2()).unwrap() + 1;
        assert!((index.many..=index.many + halvings).contains(&all), "{all}");
    }

    #[test]
    fn a_short_file_is_read_at_once() {
        let (_folder, index) = index(100, |i| format!("fleet/clusters/{i}.yaml"));
        assert!(index.length > WINDOW);
        assert!((0..100).all(|i| index.file_of(&name(i)).is_some()));
        assert_eq!(index.windows.borrow().len(), 1);
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
    fn a_path_with_a_line_break_or_a_tab_is_left_out() {
        let (_folder, index) = index(4, |i| ["0", "a\nc3\tb", "a\t0-9", "3"][i].to_owned());
        assert_eq!(
            [0, 1, 2, 3].map(|i| index.file_of(&name(i))),
            [Some("0".to_owned()), None, None, Some("3".to_owned())]
        );
    }
}
