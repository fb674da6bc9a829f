//! The bytes of a pack as they grow: in memory, and from some megabytes on in a file without a name, which is gone with the
//! process however that ends.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How many bytes are kept in memory before they go to the file.
const IN_MEMORY: usize = 8 << 20;
/// How many bytes are read back at once.
const AT_ONCE: usize = 1 << 20;

/// Bytes that are only appended to.
pub(super) struct PackBytes {
    folder: PathBuf,
    /// The first bytes, once there are many; `None` where the disk does not take them, so that all stay in memory.
    file: Option<File>,
    /// How many bytes the file has.
    filed: u64,
    /// Those behind them.
    rest: Vec<u8>,
    /// How many bytes are kept in memory.
    most: usize,
}

impl PackBytes {
    /// None. Many of them go to a file in this folder, which need not be there.
    pub(super) fn beside(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file: None, filed: 0, rest: Vec::new(), most: IN_MEMORY }
    }

    pub(super) fn len(&self) -> u64 {
        self.filed + self.rest.len() as u64
    }

    /// Appends bytes that will be read back together.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Before they are more: a vector that has to grow doubles.
        if self.rest.len() + bytes.len() > self.most && self.file_away().is_err() {
            // A disk that is full says so when the pack is written.
            self.most = usize::MAX;
        }
        self.rest.extend_from_slice(bytes);
    }

    /// Moves what is in memory to the file. Where that fails it stays in memory.
    fn file_away(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                fs::create_dir_all(&self.folder)?;
                none.insert(tempfile::tempfile_in(&self.folder)?)
            }
        };
        file.seek(SeekFrom::Start(self.filed))?;
        file.write_all(&self.rest)?;
        self.filed += self.rest.len() as u64;
        self.rest.clear();
        Ok(())
    }

    /// Bytes that were pushed at once, or a part of them.
    pub(super) fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        match (range.start.checked_sub(self.filed), &self.file) {
            (None, Some(file)) => read_at(file, range).map(Cow::Owned),
            (start, _) => {
                let start = index(start.unwrap_or_default())?;
                let end = index(range.end - self.filed)?;
                Ok(Cow::Borrowed(&self.rest[start..end]))
            }
        }
    }

    /// All bytes, part by part.
    pub(super) fn each_part(
        &self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut at = 0;
        while let Some(file) = self.file.as_ref().filter(|_| at < self.filed) {
            let end = self.filed.min(at + AT_ONCE as u64);
            each(&read_at(file, at..end)?)?;
            at = end;
        }
        each(&self.rest)
    }
}

fn read_at(mut file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; index(range.end - range.start)?];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn index(at: u64) -> io::Result<usize> {
    usize::try_from(at).map_err(io::Error::other)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what was written is looked at")]
mod tests {
    use super::*;

    fn pushed(folder: &Path) -> (PackBytes, Vec<Range<u64>>) {
        let mut bytes = PackBytes { most: 1_000, ..PackBytes::beside(folder) };
        let places = (0..100_u8).map(|nth| {
            let start = bytes.len();
            bytes.push(&vec![nth; usize::from(nth) + 1]);
            start..bytes.len()
        });
        let places = places.collect();
        (bytes, places)
    }

    fn assert_all_there(bytes: &PackBytes, places: &[Range<u64>]) {
        let mut all = Vec::new();
        for (nth, place) in (0..).zip(places) {
            let part = vec![nth; usize::from(nth) + 1];
            assert_eq!(*bytes.read(place.clone()).unwrap(), *part);
            all.extend(part);
        }
        let mut parts = Vec::new();
        bytes
            .each_part(|part| {
                parts.extend_from_slice(part);
                Ok(())
            })
            .unwrap();
        assert_eq!(parts, all);
    }

    #[test]
    fn many_bytes_are_in_a_file_without_a_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("objects/pack");
        let (bytes, places) = pushed(&folder);
        assert!(bytes.file.is_some() && bytes.rest.len() < 1_000);
        assert_all_there(&bytes, &places);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn what_the_disk_does_not_take_stays_in_memory() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("objects"), "a file in its way").unwrap();
        let (bytes, places) = pushed(&root.path().join("objects/pack"));
        assert!(bytes.file.is_none());
        assert_all_there(&bytes, &places);
    }
}
