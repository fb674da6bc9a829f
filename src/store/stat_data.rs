//! What the file system says of a file, as bytes that are compared and kept.

/// What the file system says of a file besides its name and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatData([u8; Self::SIZE]);

pub(super) use system::path;

impl StatData {
    /// What [`bytes`](Self::bytes) were made of it.
    pub(super) const fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    pub(super) const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::Metadata;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;

    use super::StatData;

    /// A path of its bytes.
    pub(in crate::store) fn path(bytes: &[u8]) -> PathBuf {
        OsStr::from_bytes(bytes).into()
    }

    impl StatData {
        pub(in crate::store) const SIZE: usize = 8 * 8;

        /// All that changes where somebody writes to the file, puts another one in its place, or sets its times.
        pub(in crate::store) fn of(about: &Metadata) -> Self {
            let fields = [
                about.dev(),
                about.ino(),
                u64::from(about.mode()),
                about.size(),
                about.mtime().cast_unsigned(),
                about.mtime_nsec().cast_unsigned(),
                about.ctime().cast_unsigned(),
                about.ctime_nsec().cast_unsigned(),
            ];
            let mut bytes = [0; Self::SIZE];
            for (bytes, field) in bytes.chunks_exact_mut(8).zip(fields) {
                bytes.copy_from_slice(&field.to_le_bytes());
            }
            Self(bytes)
        }

        /// Whether it is a symbolic link (`inode(7)`).
        pub(in crate::store) fn is_symlink(&self) -> bool {
            self.field(2) & 0o170_000 == 0o120_000
        }

        /// The size of the file, in bytes.
        pub(in crate::store) fn size(&self) -> u64 {
            self.field(3)
        }

        fn field(&self, nth: usize) -> u64 {
            let bytes = self.0.as_chunks().0.get(nth).copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        }

        /// When anything of it changed last, in seconds. Nobody can set it.
        pub(in crate::store) fn changed(about: &Metadata) -> i64 {
            about.ctime()
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::Metadata;
    use std::path::PathBuf;

    use super::StatData;

    pub(in crate::store) fn path(bytes: &[u8]) -> PathBuf {
        String::from_utf8_lossy(bytes).into_owned().into()
    }

    impl StatData {
        pub(in crate::store) const SIZE: usize = 0;

        pub(in crate::store) const fn is_symlink(&self) -> bool {
            false
        }

        pub(in crate::store) const fn size(&self) -> u64 {
            0
        }

        pub(in crate::store) const fn of(_: &Metadata) -> Self {
            Self([])
        }

        pub(in crate::store) const fn changed(_: &Metadata) -> i64 {
            0
        }
    }
}
