//! How much memory a turn may have.

use std::fmt;
use std::str::FromStr;

use crate::model::Quantity;

/// The least that a turn can do with, in bytes: a small fleet takes some 30 MiB.
const LEAST: u64 = 64 << 20;

/// What is asked for on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnMemory {
    /// Three quarters of what the container or the machine has.
    Auto,
    /// So many bytes.
    Bytes(u64),
    /// As much as there is.
    Unbounded,
}

impl TurnMemory {
    /// The bytes that a turn may have, on a machine that has so many.
    pub(super) fn bytes(self, machine: Option<u64>) -> Option<u64> {
        match self {
            // The rest is for the supervisor, and for the `git` that a turn runs.
            Self::Auto => machine.map(|bytes| (bytes / 4 * 3).max(LEAST)),
            Self::Bytes(bytes) => Some(bytes),
            Self::Unbounded => None,
        }
    }

    /// What was worked out once, for another process.
    pub(super) fn exactly(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Unbounded, Self::Bytes)
    }
}

impl FromStr for TurnMemory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::Unbounded),
            _ => {}
        }
        let quantity: Quantity = text.parse().map_err(|_| {
            format!("`{text}` is none of `auto`, `none` and a size such as 768Mi or 2Gi")
        })?;
        match u64::try_from(quantity.thousandths() / 1000) {
            Ok(bytes) if bytes >= LEAST => Ok(Self::Bytes(bytes)),
            _ => Err(format!("a turn needs at least {}", shown(LEAST))),
        }
    }
}

impl fmt::Display for TurnMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Unbounded => f.write_str("none"),
        }
    }
}

/// Bytes for people.
pub(super) fn shown(bytes: u64) -> String {
    match bytes >> 20 {
        mebibytes if mebibytes >= 10 << 10 => format!("{} GiB", mebibytes >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// What is said of a turn whose stack ended.
pub(super) const OUT_OF_STACK: &str =
    "the turn was ended because something nests deeper than its stack is long";

/// What is said of a turn that ended so.
pub(super) fn out_of_memory(memory: Option<u64>) -> String {
    let most = memory.map_or_else(|| "there is".to_owned(), shown);
    format!("the turn ran out of memory, of which it may have {most}, and was ended")
}

/// What a container may have at most, by the files that the kernel keeps of it, and the machine by `/proc/meminfo`:
/// the least that any of them says. Where nothing bounds a container they say `max`, or a number beyond all memory.
pub(super) fn least_of<'a>(
    limits: impl IntoIterator<Item = &'a str>,
    meminfo: &str,
) -> Option<u64> {
    let limits = limits.into_iter().filter_map(|text| text.trim().parse().ok());
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    limits.chain(kibibytes.map(|kibibytes| kibibytes << 10)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_as_kubernetes_writes_it() {
        for (text, read) in [
            ("auto", TurnMemory::Auto),
            ("none", TurnMemory::Unbounded),
            ("768Mi", TurnMemory::Bytes(768 << 20)),
            ("1073741824", TurnMemory::Bytes(1 << 30)),
        ] {
            assert_eq!(text.parse(), Ok(read));
            assert_eq!(read.to_string().parse(), Ok(read));
        }
        for wrong in ["", "1Ki", "-1Gi", "much"] {
            assert!(wrong.parse::<TurnMemory>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_turn_leaves_a_quarter_to_others() {
        assert_eq!(TurnMemory::Auto.bytes(Some(1 << 30)), Some(768 << 20));
        assert_eq!(TurnMemory::Auto.bytes(Some(1 << 20)), Some(LEAST));
        assert_eq!(TurnMemory::Auto.bytes(None), None);
        assert_eq!(TurnMemory::Unbounded.bytes(Some(1)), None);
        assert_eq!(TurnMemory::exactly(Some(5)), TurnMemory::Bytes(5));
    }

    #[test]
    fn the_least_of_all_bounds_counts() {
        let meminfo = "MemTotal:       24684092 kB\nMemFree: 1 kB\n";
        assert_eq!(least_of(["max\n"], meminfo), Some(24_684_092 << 10));
        assert_eq!(least_of(["1073741824\n", "9223372036854771712\n"], meminfo), Some(1 << 30));
        assert_eq!(least_of([], ""), None);
    }

    #[test]
    fn people_read_sizes() {
        assert_eq!((shown(768 << 20).as_str(), shown(17 << 30).as_str()), ("768 MiB", "17 GiB"));
    }
}
