//! What a file says, as it is kept among many: the file's id, and of each document a line that names it and one that is its
//! canonical JSON as it is. A run that looks at all workers reads thousands of these, and JSON within JSON takes
//! longer.

use std::io::Write as _;

use crate::model::{Digest, Fact, FactFile, Id};

/// Writes what the file with this id says, if that can be read back.
pub(super) fn write<'f>(
    into: &mut Vec<u8>,
    file: Id,
    facts: impl IntoIterator<Item = &'f Fact>,
) -> std::io::Result<()> {
    writeln!(into, "{file}")?;
    for Fact { document, kind, name, digest, value } in facts {
        serde_json::to_writer(&mut *into, &(document, kind, name, digest))?;
        // Canonical JSON has no line break, and nothing is read back of what has one.
        write!(into, "\n{value}\n")?;
    }
    Ok(())
}

/// What a file says, with its id; `None` where that is not how it is written.
pub(super) fn read(text: &[u8]) -> Option<(Id, FactFile)> {
    let (file, mut rest) = std::str::from_utf8(text).ok()?.split_once('\n')?;
    let mut facts = Vec::new();
    while !rest.is_empty() {
        let (named, after) = rest.split_once('\n')?;
        let (value, after) = after.split_once('\n')?;
        let (document, kind, name, digest): (usize, String, String, Digest) =
            serde_json::from_str(named).ok()?;
        facts.push(Fact { document, kind, name, digest, value: value.to_owned() });
        rest = after;
    }
    Some((file.parse().ok()?, FactFile { facts }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::blob_id;

    fn fact(name: &str, value: &str) -> Fact {
        let (kind, digest) = ("Worker".to_owned(), Digest::of(value.as_bytes()));
        Fact { document: 7, kind, name: name.to_owned(), digest, value: value.to_owned() }
    }

    fn written(facts: &[Fact]) -> Vec<u8> {
        let mut text = Vec::new();
        write(&mut text, blob_id(b"file"), facts).unwrap();
        text
    }

    #[test]
    fn what_a_file_says_reads_back_as_it_was() {
        let one = fact("w1", r#"{"name":"w1","spec":{"a":"\n"}}"#);
        for facts in [vec![], vec![one.clone()], vec![one, fact("a \"b\"\nc", "{}")]] {
            assert_eq!(read(&written(&facts)), Some((blob_id(b"file"), FactFile { facts })));
        }
    }

    #[test]
    fn anything_else_says_nothing() {
        let whole = written(&[fact("w1", "{}")]);
        assert!(read(&whole[..whole.len() - 1]).is_none(), "cut off");
        assert!(read(&written(&[fact("w1", "{\n}")])).is_none(), "a line break");
        for other in [&b""[..], b"\n", b"[]\n", b"{\"facts\":[]}", b"\xff\n"] {
            assert!(read(other).is_none(), "{other:?}");
        }
    }
}
