//! Git object ids, and the directory that one names.
//!
//! Every store speaks in Git's own ids, so that a plan made from a plain folder, in memory or in a
//! repository names the same tree.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha1::{Digest as _, Sha1};

use super::hex;

/// The id of a Git object (SHA-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 20]);

impl Id {
    /// The id of the empty directory.
    pub const EMPTY_DIR: Self = Self([
        0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92,
        0x88, 0xfb, 0xee, 0x49, 0x04,
    ]);

    /// The id with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The first 8 hex digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..8].to_owned()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::show(&self.0, f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not an object id of 40 hexadecimal digits");
        hex::decode(text).map(Self).ok_or_else(wrong)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hex::deserialize(deserializer)
    }
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A file with the executable bit.
    Executable,
    /// A symbolic link; carp never follows one.
    Symlink,
    /// A directory.
    Dir,
    /// A submodule; carp never enters one.
    Submodule,
}

impl EntryKind {
    /// Git's mode of such an entry, as it is written in a tree.
    #[must_use]
    pub const fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Dir => "40000",
            Self::Submodule => "160000",
        }
    }
}

/// One entry of a [`Dir`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// The object it names.
    pub id: Id,
}

/// A directory: names to entries. Names come from Git and are not always UTF-8 there; such a name is
/// kept byte for byte by the stores that read it and cannot be addressed by carp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dir {
    entries: Vec<(Arc<[u8]>, Entry)>,
}

impl Dir {
    /// An empty one with room for so many entries.
    #[must_use]
    pub fn with_capacity(entries: usize) -> Self {
        Self { entries: Vec::with_capacity(entries) }
    }

    /// The entry of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Entry> {
        self.find(name.as_bytes()).ok().map(|at| self.entries[at].1)
    }

    /// Adds or replaces an entry.
    pub fn insert(&mut self, name: impl AsRef<[u8]>, entry: Entry) {
        let name = name.as_ref();
        match self.find(name) {
            Ok(at) => self.entries[at].1 = entry,
            Err(at) => self.entries.insert(at, (Arc::from(name), entry)),
        }
    }

    /// Removes an entry and says whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.find(name.as_bytes()).map(|at| self.entries.remove(at)).is_ok()
    }

    /// The entries whose names are UTF-8, in byte order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.entries.iter().filter_map(|(n, e)| std::str::from_utf8(n).ok().map(|n| (n, *e)))
    }

    /// All entries, in byte order of the names.
    pub fn iter_bytes(&self) -> impl Iterator<Item = (&[u8], Entry)> {
        self.entries.iter().map(|(n, e)| (n.as_ref(), *e))
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The body of Git's tree object: entries in Git's order (a directory sorts as if its name ended
    /// with `/`), each `mode SP name NUL id`.
    #[must_use]
    pub fn to_tree(&self) -> Vec<u8> {
        let mut sorted: Vec<_> = self.entries.iter().collect();
        sorted.sort_by(|a, b| tree_key(&a.0, a.1.kind).cmp(tree_key(&b.0, b.1.kind)));
        let mut body = Vec::with_capacity(sorted.len() * 48);
        for (name, entry) in sorted {
            body.extend_from_slice(entry.kind.mode().as_bytes());
            body.push(b' ');
            body.extend_from_slice(name);
            body.push(0);
            body.extend_from_slice(entry.id.as_bytes());
        }
        body
    }

    /// The id of this directory.
    #[must_use]
    pub fn id(&self) -> Id {
        object_id("tree", &self.to_tree())
    }

    fn find(&self, name: &[u8]) -> Result<usize, usize> {
        // Whoever reads a directory adds its entries in their order.
        if self.entries.last().is_none_or(|(last, _)| last.as_ref() < name) {
            return Err(self.entries.len());
        }
        self.entries.binary_search_by(|(n, _)| n.as_ref().cmp(name))
    }
}

fn tree_key(name: &[u8], kind: EntryKind) -> impl Iterator<Item = u8> + '_ {
    name.iter().copied().chain((kind == EntryKind::Dir).then_some(b'/'))
}

/// The id of a blob with these bytes.
#[must_use]
pub fn blob_id(bytes: &[u8]) -> Id {
    object_id("blob", bytes)
}

fn object_id(kind: &str, body: &[u8]) -> Id {
    let mut hasher = Sha1::new();
    hasher.update(format!("{kind} {}\0", body.len()).as_bytes());
    hasher.update(body);
    Id(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits_own() {
        // `printf hello | git hash-object --stdin` and `git hash-object -t tree /dev/null`.
        assert_eq!(blob_id(b"hello").to_string(), "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
        assert_eq!(Dir::default().id(), Id::EMPTY_DIR);
    }

    #[test]
    fn a_directory_sorts_as_if_its_name_ended_with_a_slash() {
        let entry = |kind| Entry { kind, id: blob_id(b"") };
        let mut dir = Dir::default();
        dir.insert("a", entry(EntryKind::Dir));
        dir.insert("a.b", entry(EntryKind::File));
        let body = dir.to_tree();
        assert!(body.starts_with(b"100644 a.b\0"), "`a.b` comes before `a/`");
        assert_eq!(dir.iter().map(|(n, _)| n).collect::<Vec<_>>(), ["a", "a.b"]);
    }

    #[test]
    fn an_id_reads_back_what_it_prints() {
        let id = blob_id(b"x");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("zz".parse::<Id>().is_err());
    }
}
