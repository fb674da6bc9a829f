//! New objects, kept as the entries of the pack that they will be written in. A file that is much like one before it is kept as what
//! differs: most files of a fleet come from a few templates.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use sha1::{Digest as _, Sha1};

use super::deflate::Deflate;
use super::delta::{DeltaBase, apply};
use super::pack_bytes::PackBytes;
use super::pack_index::IndexedEntry;
use crate::model::Id;

/// How many bytes a pack has before its first entry.
const HEADER: usize = 12;

/// The kinds of objects that carp writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectType {
    Commit,
    Tree,
    Blob,
}

impl ObjectType {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }

    /// The number in a pack entry's header (gitformat-pack(5)).
    const fn number(self) -> u8 {
        match self {
            Self::Commit => 1,
            Self::Tree => 2,
            Self::Blob => 3,
        }
    }

    /// The id of an object of this kind.
    pub(super) fn id(self, body: &[u8]) -> Id {
        let mut hasher = Sha1::new();
        hasher.update(self.name());
        hasher.update(b" ");
        hasher.update(body.len().to_string());
        hasher.update(b"\0");
        hasher.update(body);
        Id::from_bytes(hasher.finalize().into())
    }
}

/// The smallest and the largest file that may be kept as what differs, in bytes.
const DELTA_SIZES: std::ops::RangeInclusive<usize> = 512..=1 << 20;
/// How many bytes of a file tell which files it may be like.
const ALIKE: usize = 24;
/// How many files are remembered that others may be like.
const MOST_BASES: usize = 64;
/// The number of a delta whose base is named by how far before it stands (gitformat-pack(5)).
const OFS_DELTA: u8 = 6;

#[derive(Clone, Copy, Debug)]
struct PackPlace {
    kind: ObjectType,
    /// Where the entry begins in `bytes`.
    entry: u64,
    /// Where the compressed bytes begin and end in it, counted from there.
    start: u32,
    end: u32,
    /// The CRC-32 of the entry, its header with it.
    crc: u32,
    /// The size of the object itself.
    size: usize,
    /// The object that this one is said by, where it is a delta.
    base: Option<Id>,
}

/// How a file begins and of what size it is, roughly: which files it may be like.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alike(Vec<u8>, u32);

/// A file that is kept whole.
struct WholeEntry {
    id: Id,
    /// Where its entry begins.
    entry: u64,
    base: DeltaBase,
}

/// The entries of one pack: lightly compressed, each once. Deltas are of whole objects: none needs another delta.
pub(super) struct Entries {
    bytes: PackBytes,
    /// The entry that is being made.
    entry: Vec<u8>,
    places: BTreeMap<Id, PackPlace>,
    /// Of the files that look alike the last one that is kept whole.
    bases: BTreeMap<Alike, WholeEntry>,
    deflate: Deflate,
    /// Its window is cleared for each object, which costs less than a new one.
    inflate: RefCell<Decompress>,
}

impl Entries {
    /// No entries. Those of a large pack are kept in a file without a name, on the disk of the repository whose they will be.
    pub(super) fn beside(repository: &Path) -> Self {
        Self {
            bytes: PackBytes::beside(&repository.join("objects/pack")),
            entry: Vec::new(),
            places: BTreeMap::new(),
            bases: BTreeMap::new(),
            deflate: Deflate::new(),
            inflate: RefCell::new(Decompress::new(true)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn contains(&self, id: Id) -> bool {
        self.places.contains_key(&id)
    }

    /// The kind and size of an object.
    pub(super) fn header(&self, id: Id) -> Option<(ObjectType, usize)> {
        self.places.get(&id).map(|place| (place.kind, place.size))
    }

    /// The bytes of an object.
    pub(super) fn read(&self, id: Id) -> Option<io::Result<Vec<u8>>> {
        let place = self.places.get(&id)?;
        let read = || {
            let bytes = self.bytes.read(place.entry..place.entry + u64::from(place.end))?;
            // A delta is shorter than what it makes.
            self.inflated(&bytes[place.start as usize..], place.size)
        };
        let Some(base) = place.base else { return Some(read()) };
        let base = self.read(base)?;
        Some(base.and_then(|base| {
            apply(&base, &read()?).ok_or_else(|| io::Error::other("a delta without its base"))
        }))
    }

    /// What was compressed, which has no more bytes than `most`.
    fn inflated(&self, compressed: &[u8], most: usize) -> io::Result<Vec<u8>> {
        let mut inflate = self.inflate.borrow_mut();
        inflate.reset(true);
        // One more: there is always room for what is not there.
        let mut body = Vec::with_capacity(most + 1);
        match inflate.decompress_vec(compressed, &mut body, FlushDecompress::Finish)? {
            Status::StreamEnd => Ok(body),
            Status::Ok | Status::BufError => Err(io::Error::other("an entry that does not end")),
        }
    }

    pub(super) fn add(&mut self, id: Id, kind: ObjectType, body: &[u8]) {
        if self.contains(id) {
            return;
        }
        let entry = self.bytes.len();
        let alike = (kind == ObjectType::Blob && DELTA_SIZES.contains(&body.len()))
            .then(|| Alike(body[..ALIKE].to_vec(), body.len().ilog2()));
        let base = alike.as_ref().and_then(|alike| self.bases.get(alike));
        let delta = base.and_then(|base| Some((base.id, base.entry, base.base.delta_to(body)?)));
        self.entry.clear();
        let (start, base) = if let Some((base, at, delta)) = delta {
            entry_header(&mut self.entry, OFS_DELTA, delta.len());
            put_distance(&mut self.entry, entry - at);
            (self.compress(&delta), Some(base))
        } else {
            entry_header(&mut self.entry, kind.number(), body.len());
            if let Some(alike) = alike
                && (self.bases.len() < MOST_BASES || self.bases.contains_key(&alike))
            {
                let base = DeltaBase::new(body.to_vec());
                self.bases.insert(alike, WholeEntry { id, entry, base });
            }
            (self.compress(body), None)
        };
        let mut crc = Crc::new();
        crc.update(&self.entry);
        let (end, crc) = (length_of(&self.entry), crc.sum());
        self.bytes.push(&self.entry);
        self.places.insert(id, PackPlace { kind, entry, start, end, crc, size: body.len(), base });
    }

    /// Appends bytes to the entry, compressed, and returns where they begin in it.
    fn compress(&mut self, body: &[u8]) -> u32 {
        let start = length_of(&self.entry);
        self.deflate.compress(body, &mut self.entry);
        start
    }

    /// Writes the pack: header, entries, and the SHA-1 of both, which is its name.
    pub(super) fn write_pack(&self, to: &mut impl Write) -> io::Result<Id> {
        let header = self.header_bytes()?;
        let mut hasher = Sha1::new();
        hasher.update(header);
        to.write_all(&header)?;
        self.bytes.each_part(|part| {
            hasher.update(part);
            to.write_all(part)
        })?;
        let trailer = Id::from_bytes(hasher.finalize().into());
        to.write_all(trailer.as_bytes())?;
        Ok(trailer)
    }

    fn header_bytes(&self) -> io::Result<[u8; HEADER]> {
        let count = u32::try_from(self.len()).map_err(io::Error::other)?;
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(b"PACK");
        header[4..8].copy_from_slice(&2_u32.to_be_bytes());
        header[8..].copy_from_slice(&count.to_be_bytes());
        Ok(header)
    }

    /// What the index of the pack says of each entry, in the order of ids.
    pub(super) fn indexed(&self) -> impl Iterator<Item = IndexedEntry> + Clone + '_ {
        self.places.iter().map(|(id, place)| IndexedEntry {
            id: *id,
            crc: place.crc,
            offset: HEADER as u64 + place.entry,
        })
    }
}

/// How long an entry is. Files of carp have some megabytes at most.
fn length_of(entry: &[u8]) -> u32 {
    u32::try_from(entry.len()).expect("an object of carp has less than 4 GiB")
}

/// Kind and size: four bits of the size in the first byte, seven in each byte that follows.
fn entry_header(to: &mut Vec<u8>, kind: u8, size: usize) {
    let low = |bits: usize, mask: u8| u8::try_from(bits & usize::from(mask)).unwrap_or(mask);
    let mut byte = (kind << 4) | low(size, 0x0f);
    let mut rest = size >> 4;
    while rest > 0 {
        to.push(byte | 0x80);
        byte = low(rest, 0x7f);
        rest >>= 7;
    }
    to.push(byte);
}

/// How far before a delta its base stands: seven bits a byte, the highest first, and one is taken off all but the last.
fn put_distance(to: &mut Vec<u8>, distance: u64) {
    let mut bytes = vec![distance.to_le_bytes()[0] & 0x7f];
    let mut rest = distance >> 7;
    while rest > 0 {
        rest -= 1;
        bytes.push((rest.to_le_bytes()[0] & 0x7f) | 0x80);
        rest >>= 7;
    }
    to.extend(bytes.iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Dir, blob_id};

    #[test]
    fn ids_are_gits() {
        assert_eq!(ObjectType::Blob.id(b"hello"), blob_id(b"hello"));
        assert_eq!(ObjectType::Tree.id(&Dir::default().to_tree()), Id::EMPTY_DIR);
    }

    #[test]
    fn objects_of_any_size_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut entries = Entries::beside(folder.path());
        let bodies: Vec<Vec<u8>> = [0, 1, 15, 16, 2047, 2048, 100_000]
            .iter()
            .map(|&size| {
                (0..size).map(|i: u32| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect()
            })
            .collect();
        for body in &bodies {
            entries.add(ObjectType::Blob.id(body), ObjectType::Blob, body);
            entries.add(ObjectType::Blob.id(body), ObjectType::Blob, body);
        }
        assert_eq!(entries.len(), bodies.len());
        for body in &bodies {
            let id = ObjectType::Blob.id(body);
            assert_eq!(&entries.read(id).unwrap().unwrap(), body);
            assert_eq!(entries.header(id), Some((ObjectType::Blob, body.len())));
        }
    }

    #[test]
    fn an_entry_header_is_as_the_format_says() {
        let header = |size| {
            let mut bytes = Vec::new();
            entry_header(&mut bytes, ObjectType::Blob.number(), size);
            bytes
        };
        assert_eq!(header(0), [0x30]);
        assert_eq!(header(15), [0x3f]);
        assert_eq!(header(16), [0xb0, 0x01]);
        assert_eq!(header(16 + 2047 * 16), [0xb0, 0x80, 0x10]);
    }
}
