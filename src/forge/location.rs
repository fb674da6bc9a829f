//! Where a redirect leads: an address, or what is relative to the one that was asked (RFC 3986, section 5.2).

/// The address that `to` stands for in an answer of `origin`, where `path` (with its query) was asked.
pub(super) fn resolved(origin: &str, path: &str, to: &str) -> String {
    let to = to.split('#').next().unwrap_or_default();
    let scheme = origin.split(':').next().unwrap_or_default();
    let asked = path.split('?').next().unwrap_or_default();
    if has_scheme(to) {
        to.to_owned()
    } else if to.starts_with("//") {
        format!("{scheme}:{to}")
    } else if to.is_empty() {
        format!("{origin}{path}")
    } else if to.starts_with('?') {
        format!("{origin}{asked}{to}")
    } else if to.starts_with('/') {
        format!("{origin}{}", without_dots(to))
    } else {
        let folder = asked.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{origin}{}", without_dots(&format!("{folder}/{to}")))
    }
}

/// Whether an address begins with a scheme: a colon before any slash.
fn has_scheme(to: &str) -> bool {
    let before = to.split(['/', '?']).next().unwrap_or_default();
    before.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// A path without the parts `.` and `..` (section 5.2.4); its query stays.
fn without_dots(path: &str) -> String {
    let (path, query) = path.find('?').map_or((path, ""), |at| path.split_at(at));
    let mut kept: Vec<&str> = Vec::new();
    let parts: Vec<_> = path.split('/').skip(1).collect();
    for part in &parts {
        match *part {
            "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    if matches!(parts.last(), Some(&("." | ".."))) {
        kept.push("");
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_address_is_read_from_the_one_that_was_asked() {
        for (to, address) in [
            ("https://y.example.com/d?e=f", "https://y.example.com/d?e=f"),
            ("//y.example.com/d", "https://y.example.com/d"),
            ("/d", "https://x.example.com/d"),
            ("/d/../e/./f", "https://x.example.com/e/f"),
            ("d", "https://x.example.com/a/b/d"),
            ("./d?e=/../f", "https://x.example.com/a/b/d?e=/../f"),
            ("../d", "https://x.example.com/a/d"),
            ("../../../d", "https://x.example.com/d"),
            ("..", "https://x.example.com/a/"),
            ("d/e:f", "https://x.example.com/a/b/d/e:f"),
            ("?e=f", "https://x.example.com/a/b/c?e=f"),
            ("", "https://x.example.com/a/b/c?q=1"),
            ("d#part", "https://x.example.com/a/b/d"),
            ("file:///etc/passwd", "file:///etc/passwd"),
        ] {
            assert_eq!(resolved("https://x.example.com", "/a/b/c?q=1", to), address, "{to}");
        }
        assert_eq!(resolved("https://x.example.com", "/", "d"), "https://x.example.com/d");
    }
}
