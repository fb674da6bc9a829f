//! Amounts of what stands below the desired roots, and how much of it anybody may have.

use crate::model::api::TenantLimits;

/// Amounts of what is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    /// Files and folders. They have no limit of their own but that of documents: each file holds one at least.
    pub(super) entries: u64,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) rules: u64,
}

/// What a tenant may have where `carp.yaml` says nothing else: a fifth of the largest fleet that carp was made for
/// (docs/performance.md), with a page a document.
pub(super) const TENANT: Amounts =
    Amounts { entries: 40_000, documents: 20_000, bytes: 128 << 20, rules: 20_000 };
/// What all may have together: five times that fleet. More does not fit into a turn's memory.
pub(super) const FLEET: Amounts =
    Amounts { entries: 1_000_000, documents: 500_000, bytes: 2 << 30, rules: 200_000 };
/// Bytes are counted as disks do, so that most edits change no count.
const BLOCK: u64 = 4 << 10;

/// The bytes of a file in whole blocks.
pub(super) const fn blocks(size: u64) -> u64 {
    size.div_ceil(BLOCK) * BLOCK
}

impl Amounts {
    pub(super) const NAMES: [&'static str; 4] =
        ["files and folders", "documents", "bytes", "rules of placement"];

    pub(super) const fn each(self) -> [u64; 4] {
        [self.entries, self.documents, self.bytes, self.rules]
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            documents: self.documents + other.documents,
            bytes: self.bytes.saturating_add(other.bytes),
            rules: self.rules + other.rules,
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            entries: self.entries - other.entries,
            documents: self.documents - other.documents,
            bytes: self.bytes.saturating_sub(other.bytes),
            rules: self.rules - other.rules,
        }
    }

    /// The first of these that is more than it may be.
    pub(super) fn beyond(self, most: Self) -> Option<usize> {
        self.each().iter().zip(most.each()).position(|(is, most)| *is > most)
    }

    pub(super) fn of_tenant(limits: Option<&TenantLimits>) -> Self {
        let Some(limits) = limits else { return TENANT };
        let documents = limits.documents.map_or(TENANT.documents, u64::from);
        let bytes = limits.bytes.and_then(|b| u64::try_from(b.thousandths() / 1000).ok());
        Self {
            entries: documents.saturating_mul(2),
            documents,
            bytes: bytes.unwrap_or(TENANT.bytes),
            rules: limits.rules.map_or(TENANT.rules, u64::from),
        }
    }
}
