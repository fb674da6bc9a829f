//! `invalid-value` on `images.carp`, a name without a tag or a digest, which carp appends itself, and on
//! `images.sources`, which come from a mirror only where one is named.

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::{Images, Sources};

pub(super) fn check(images: &Images, path: &FieldPath, out: &mut Findings) {
    if images.sources == Sources::Mirror && images.registry.is_none() {
        let message = "there is no mirror from which sources could come".to_owned();
        let help = "add `registry` with its address";
        out.add(Code::InvalidValue, path.key("sources"), message, help);
    }
    let Some(name) = images.carp.as_deref().filter(|name| !is_untagged(name)) else { return };
    let message = format!("`{name}` is not the name of an image without its tag");
    let help = "write it as registry.example.com/carp; the tag is the component `carp`";
    out.add(Code::InvalidValue, path.key("carp"), message, help);
}

/// Whether nothing but registry, port and path stands there (the grammar of the distribution
/// specification's names, which have lower-case letters only).
fn is_untagged(name: &str) -> bool {
    let is_word = |p: &str| {
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        !p.is_empty() && p.chars().all(known)
    };
    let (host, path) = name.split_once('/').unwrap_or(("", name));
    let host = match host.split_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => host,
    };
    (host.is_empty() && !name.starts_with('/') || is_word(host)) && path.split('/').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    #[test]
    fn sources_come_from_a_mirror_that_is_named() {
        let carp = |images: &str| format!("{CARP}  images: {{{images}}}\n");
        let bad = carp("sources: Mirror");
        files_find(&[("carp.yaml", &*bad)], Code::InvalidValue, "spec.images.sources");
        for good in ["sources: Mirror, registry: m.example.com", "sources: Upstream"] {
            let loaded = load_files(&[("carp.yaml", &*carp(good))]);
            assert!(loaded.diagnostics.is_empty(), "{good}: {:?}", loaded.diagnostics);
        }
    }

    #[test]
    fn an_image_has_no_tag() {
        let carp = |name: &str| format!("{CARP}  images: {{carp: \"{name}\"}}\n");
        for bad in ["carp:1", "r.example.com/carp@sha256:ab", "r.example.com/", "/carp", "a b"] {
            files_find(&[("carp.yaml", &*carp(bad))], Code::InvalidValue, "spec.images.carp");
        }
        for good in ["carp", "r.example.com/carp", "localhost:5000/team/carp"] {
            let loaded = load_files(&[("carp.yaml", &*carp(good))]);
            assert!(loaded.diagnostics.is_empty(), "{good}: {:?}", loaded.diagnostics);
        }
    }
}
