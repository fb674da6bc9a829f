//! A document found in a text by what it is, without reading what it says.

use serde::Deserialize;

use super::read::without_bom;
use super::split::split;
use super::yaml;

#[derive(Deserialize)]
struct Head {
    kind: String,
    metadata: NamedMetadata,
}

#[derive(Deserialize)]
struct NamedMetadata {
    name: String,
}

/// The kind, the name and the first line, from 1, of each document of a text that says what it is. What does not
/// is left out: it is somebody else's mistake.
#[must_use]
pub fn named_documents(text: &str) -> Vec<(String, String, u32)> {
    let head = |chunk: super::split::Chunk<'_>| {
        let head: Head = yaml::parse(chunk.text).ok()?;
        let is_text = |line: &&str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && !line.starts_with("---")
        };
        let before = chunk.text.lines().take_while(|line| !is_text(line)).count();
        let line = chunk.lines_before + u32::try_from(before).ok()? + 1;
        Some((head.kind, head.metadata.name, line))
    };
    split(without_bom(text)).into_iter().filter_map(head).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_is_found_where_it_begins() {
        let text = "# first\nkind: Worker\nmetadata: {name: w}\n---\n# second\n\nkind: ManagedCluster\nmetadata:\n  \
                    name: a\nspec: {x: 1}\n---\nnot: one\n---\n: broken\n";
        let found = named_documents(text);
        let wanted = [("Worker", "w", 2), ("ManagedCluster", "a", 7)];
        let wanted = wanted.map(|(kind, name, line)| (kind.to_owned(), name.to_owned(), line));
        assert_eq!(found, wanted);
    }
}
