//! YAML text in and out: the options under which carp reads, and the form in which it writes.

use std::cell::RefCell;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::Options;
use serde_saphyr::options::MergeKeyPolicy;

use super::fault::{Bounds, Fault};
use super::plain_yaml;
use crate::pattern::Patterns;

thread_local! {
    static KNOWN: RefCell<Patterns> = RefCell::default();
}

/// The bounds of a document that people write.
const BOUNDS: Bounds = Bounds { depth: 64, nodes: 20_000 };
/// The bounds of a document that carp or an agent writes, which may be much larger.
const BOUNDS_WRITTEN: Bounds = Bounds { nodes: 5_000_000, ..BOUNDS };

/// Reads one document that a person wrote.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    parse_within(text, BOUNDS)
}

/// Reads one document that a person wrote, by its words where others like it were read before.
pub(super) fn parse_value(text: &str) -> Result<Value, Fault> {
    KNOWN.with_borrow_mut(|known| known.value(text, parse))
}

/// Reads one document that carp or an agent wrote.
pub(super) fn parse_written<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    parse_within(text, BOUNDS_WRITTEN)
}

fn parse_within<T: DeserializeOwned>(text: &str, bounds: Bounds) -> Result<T, Fault> {
    let read = serde_saphyr::from_str_with_options(text, options(bounds));
    read.map_err(|error| Fault::of(&error, text, bounds))
}

fn options(bounds: Bounds) -> Options {
    serde_saphyr::options! {
        with_snippet: false,
        reject_unsupported_tags: true,
        merge_keys: MergeKeyPolicy::Error,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: BOUNDS.nodes },
        budget: serde_saphyr::budget! {
            max_depth: bounds.depth,
            max_nodes: bounds.nodes,
            max_events: bounds.nodes * 4,
            max_aliases: 1_000,
        },
    }
}

/// Writes a value as YAML: two spaces a level, LF, one final newline. Text that a reader of YAML 1.1
/// would take for something else (`on`, `NO`, `1.30`, `2024-01-01`) is quoted, and text of several
/// lines is written as one quoted line, so that every reader gets the same value.
///
/// # Panics
/// Never for carp's own types: their keys are text.
#[must_use]
pub fn emit_yaml(value: &impl Serialize) -> String {
    plain_yaml::write(value, &|text| emit_any(&text)).unwrap_or_else(|| emit_any(value))
}

/// Writes any value as [`emit_yaml`] does, plain words or not.
pub(super) fn emit_any(value: &impl Serialize) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let mut text = serde_saphyr::to_string_with_options(value, options)
        .expect("carp's own types serialise to YAML");
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diag::Code;

    fn code(text: &str) -> (Code, u32, u32) {
        let fault = parse::<Value>(text).unwrap_err();
        (fault.code, fault.line, fault.column)
    }

    #[test]
    fn a_key_that_stands_twice_is_no_document() {
        assert_eq!(code("a: 1\nb: 2\na: 3\n"), (Code::DuplicateKey, 3, 1));
    }

    #[test]
    fn an_alias_bomb_and_deep_nesting_end_in_the_budget() {
        let level = |i: usize| match i {
            0 => "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(),
            _ => format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(",")),
        };
        let bomb: Vec<_> = (0..9).map(level).collect();
        assert_eq!(code(&bomb.concat()).0, Code::YamlBudget);
        assert_eq!(code(&"[".repeat(10_000)).0, Code::YamlBudget);
        assert_eq!(code(&"- ".repeat(10_000)).0, Code::YamlBudget);
        assert_eq!(code(&"{a: ".repeat(10_000)).0, Code::YamlBudget);
    }

    #[test]
    fn depth_is_bounded_where_it_says() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse::<Value>(&nested(BOUNDS.depth)).is_ok());
        assert_eq!(code(&nested(BOUNDS.depth + 1)).0, Code::YamlBudget);
    }

    #[test]
    fn what_yaml_has_and_carp_does_not_is_refused() {
        for text in
            ["a: [1\n", "a:\n\tb: 1\n", "<<: {a: 1}\n", "a: !x b\n", "a: *b\n", "? [a]\n: b"]
        {
            assert_eq!(code(text).0, Code::YamlSyntax, "{text}");
        }
    }

    #[test]
    fn an_alias_that_is_no_bomb_is_followed() {
        assert_eq!(parse::<Value>("a: &x 1\nb: *x\n").unwrap(), json!({"a": 1, "b": 1}));
    }

    #[test]
    fn what_an_old_reader_would_misread_is_quoted() {
        let words = [
            "on",
            "yes",
            "NO",
            "y",
            "1.30",
            "0777",
            "2024-01-01",
            "12:30",
            "null",
            "~",
            "",
            "1e3",
            "<<",
            "=",
            "a: b",
            "# x",
            "two\nlines",
            " x ",
            "-",
            "{}",
            "0x1f",
            "1_000",
        ];
        for word in words {
            let text = emit_yaml(&json!({ "key": word }));
            let old: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
            assert_eq!(old["key"].as_str(), Some(word), "{text}");
            assert_eq!(parse::<Value>(&text).unwrap(), json!({ "key": word }), "{text}");
            let plain = format!("key: {word}\n");
            assert_ne!(text, plain, "not quoted");
        }
    }

    #[test]
    fn written_text_has_one_final_newline_and_two_spaces() {
        let text = emit_yaml(&json!({"a": {"b": [{"c": 1}]}, "e": "long ".repeat(40)}));
        assert!(text.starts_with("a:\n  b:\n"), "{text}");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n") && !text.contains('\r'));
        assert_eq!(text.lines().count(), 4, "{text}");
    }
}
