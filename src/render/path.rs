//! What stands at a path of a value.

use memchr::memchr;
use serde_json::Value;

/// What stands at a path: `serde_json`'s `Value::pointer` for keys without a `~`, which few have. Rules ask it for every object, and
/// it unescapes nothing.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let Some(first) = memchr(b'/', path.as_bytes()) else { return Some(value) };
    let (mut value, mut rest) = (value, &path[first + 1..]);
    loop {
        let end = memchr(b'/', rest.as_bytes());
        let key = &rest[..end.unwrap_or(rest.len())];
        value = match value {
            Value::Object(fields) => fields.get(key)?,
            Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => return Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_where_the_pointer_does() {
        let value = json!({"a": [{"b": 1}, {"b.c/d": 2}], "": 3});
        for path in ["", "/", "/a", "/a/0/b", "/a/1/b", "/a/2", "/a/x", "/b", "/a/0/b/c"] {
            assert_eq!(at(&value, path), value.pointer(path), "{path}");
        }
    }
}
