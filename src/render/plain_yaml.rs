//! What carp writes itself is nearly all plain words in maps and lists. Those are written here, byte for byte as the writer of
//! YAML does, which is asked for all else.

use serde_json::{Map, Value};

use crate::model::{is_plain_line, is_plain_word};

/// Keys that come first in a map, in this order.
pub(super) const FIRST: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];

/// The text of a map; `None` where there is something in it that is not plain. `scalar` writes a text that is no plain word.
pub(super) fn write(value: &Value, scalar: &dyn Fn(&str) -> String) -> Option<String> {
    let mut out = PlainWriter { out: String::with_capacity(1024), scalar };
    out.map(value.as_object().filter(|map| !map.is_empty())?, 0, false)?;
    Some(out.out)
}

struct PlainWriter<'a> {
    out: String,
    scalar: &'a dyn Fn(&str) -> String,
}

impl PlainWriter<'_> {
    /// The entries of a map at an indent; the first one may stand behind a dash.
    fn map(&mut self, map: &Map<String, Value>, indent: usize, behind_dash: bool) -> Option<()> {
        let first = FIRST.iter().filter_map(|key| map.get_key_value(*key));
        let others = map.iter().filter(|(key, _)| !FIRST.contains(&key.as_str()));
        for (nth, (key, value)) in first.chain(others).enumerate() {
            if nth > 0 || !behind_dash {
                self.indent(indent);
            }
            self.out.push_str(Some(key).filter(|key| is_plain_word(key) && !key.contains(':'))?);
            self.out.push(':');
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.out.push('\n');
                    self.map(map, indent + 2, false)?;
                }
                Value::Array(items) if !items.is_empty() => {
                    self.out.push('\n');
                    self.list(items, indent)?;
                }
                value => {
                    self.out.push(' ');
                    self.scalar(value)?;
                }
            }
        }
        Some(())
    }

    fn list(&mut self, items: &[Value], indent: usize) -> Option<()> {
        for item in items {
            self.indent(indent);
            self.out.push_str("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.map(map, indent + 2, true)?,
                value => self.scalar(value)?,
            }
        }
        Some(())
    }

    fn scalar(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::String(text) if is_plain_word(text) => self.out.push_str(text),
            Value::String(text) if is_plain_line(text) => {
                self.out.push_str((self.scalar)(text).trim_end());
            }
            Value::Number(number) if !number.is_f64() => self.out.push_str(&number.to_string()),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            _ => return None,
        }
        self.out.push('\n');
        Some(())
    }

    fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::yaml;
    use super::*;

    /// Texts that a writer may have to quote, and others.
    const TEXTS: &str = r#"a ; a-b ; v1.34.1 ; sha256:0ab ; carp.dev/digest ; 10m ; 1.30 ; 1 ; 0x1 ; 1e3 ; on ; No ; null ; ~ ; y
        a: b ; a: ; :a ; - a ; -a ; --a=b ; a b ; #a ; a #b ; a#b ; ./a/b ; /a ; 2026-11-01 ; {a} ; [a] ; &a ; *a ; !a ; %a
        @a ; `a` ; "a" ; 'a' ; a'b ; a, b ; a,b ; | ; > ; ? ; ? a ; = ; << ; --- ; ... ; é ; has(dep.status) && has(dep.b)
        ${a} ; a\\b ; 1:30 ; .inf ; infinity ; +1 ; -1 ; 12e03 ; 0o7 ; 1_000 ; true ; x: 'y'"#;

    fn texts() -> impl Strategy<Value = &'static str> {
        let lines = TEXTS.lines().flat_map(|line| line.split(" ; ")).map(str::trim);
        let others = ["", " a", "a ", "a\nb", "a\n", "a\tb"];
        prop::sample::select(lines.chain(others).collect::<Vec<_>>())
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            6 => texts().prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => any::<bool>().prop_map(Value::from),
            1 => Just(json!(null)),
            1 => Just(json!(1.5)),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let map = prop::collection::btree_map(texts(), inner.clone(), 0..4);
            prop_oneof![
                map.prop_map(|map| json!(map)),
                prop::collection::vec(inner, 0..4).prop_map(Value::from),
            ]
        })
    }

    #[test]
    fn what_carp_writes_is_plain() {
        let value = json!({
            "spec": {"path": "./a", "list": [{"a": 1, "b": {"c": true}}, "d"]},
            "kind": "K", "apiVersion": "v1",
        });
        let text = write(&value, &yaml::emit_scalar).unwrap();
        assert_eq!(
            text,
            "apiVersion: v1\nkind: K\nspec:\n  list:\n  - a: 1\n    b:\n      c: true\n  - d\n  path: ./a\n"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
        #[test]
        fn the_text_is_the_one_of_the_writer(value in value()) {
            if let Some(text) = write(&value, &yaml::emit_scalar) {
                prop_assert_eq!(text, yaml::emit_any(&value));
            }
        }
    }
}
