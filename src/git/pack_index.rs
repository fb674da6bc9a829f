//! The index of a pack: where each object stands in it (gitformat-pack(5), version 2).

use sha1::{Digest as _, Sha1};

use crate::model::Id;

/// The first bytes: a magic number and the version.
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Set in an offset of four bytes: the others say which offset of eight bytes is meant.
const LARGE: u32 = 1 << 31;

/// What the index says of one entry of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexedEntry {
    /// The object's id.
    pub(super) id: Id,
    /// The CRC-32 of the entry as it stands in the pack, its header with it.
    pub(super) crc: u32,
    /// Where the entry begins in the pack, in bytes.
    pub(super) offset: u64,
}

/// The index of a pack whose SHA-1 is `pack`. The entries come in the order of their ids, each once.
pub(super) fn index(entries: &[IndexedEntry], pack: Id) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAGIC.len() + 256 * 4 + entries.len() * 28 + 40);
    out.extend_from_slice(&MAGIC);
    for first in 0..=u8::MAX {
        let below = entries.partition_point(|entry| entry.id.as_bytes()[0] <= first);
        out.extend_from_slice(&small(below as u64).to_be_bytes());
    }
    out.extend(entries.iter().flat_map(|entry| *entry.id.as_bytes()));
    out.extend(entries.iter().flat_map(|entry| entry.crc.to_be_bytes()));
    let mut large = Vec::new();
    for entry in entries {
        let offset = if entry.offset < u64::from(LARGE) {
            small(entry.offset)
        } else {
            large.push(entry.offset);
            LARGE | small(large.len() as u64 - 1)
        };
        out.extend_from_slice(&offset.to_be_bytes());
    }
    out.extend(large.iter().flat_map(|offset| offset.to_be_bytes()));
    out.extend_from_slice(pack.as_bytes());
    let digest: [u8; 20] = Sha1::digest(&out).into();
    out.extend_from_slice(&digest);
    out
}

/// A number that four bytes have room for: a pack has no more objects.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
