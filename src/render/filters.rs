//! What templates can call besides minijinja's own filters. All are pure.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde_json::Value as Json;

use super::{context, mirror, yaml};
use crate::model::{Cidr, Digest, Quantity};

/// Adds those that [`super::budget`] need not bound, and removes the function that prints the whole context.
pub(super) fn install(env: &mut Environment<'static>) {
    env.add_filter("address", address);
    env.add_filter("mirrored", mirrored);
    env.add_filter("share", share);
    env.add_filter("source", source);
    env.remove_global("debug");
}

/// The first 8 hexadecimal digits of the SHA-256 of a YAML text's canonical value: the end of the name
/// of an object whose content may not change.
pub(super) fn sha8(text: &str) -> Result<String, Error> {
    let value = yaml::parse_shared(text).map_err(|e| {
        Error::new(ErrorKind::InvalidOperation, format!("sha8 wants YAML: {}", e.message))
    })?;
    Ok(Digest::of_json(&value).short(8))
}

/// A YAML text for a place that is already indented: all lines but the first get that many blanks.
pub(super) fn block(text: &str, width: usize) -> Value {
    let pad = format!("\n{}", " ".repeat(width));
    Value::from_safe_string(text.trim().replace('\n', &pad))
}

/// A value as YAML in block form.
pub(super) fn to_yaml(value: Serde<Json>) -> Value {
    Value::from_safe_string(yaml::emit(&value.0))
}

/// The address of that number in a range of addresses.
fn address(range: &str, nth: u32) -> Result<String, Error> {
    let found = Cidr::parse(range).and_then(|cidr| cidr.address(nth));
    found.map(|address| address.to_string()).ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, format!("there is no address {nth} in `{range}`"))
    })
}

/// An image or artifact as it is called behind a mirror; as it is where there is none.
fn mirrored(image: &str, registry: Option<&str>) -> String {
    registry.map_or_else(|| image.to_owned(), |r| format!("{r}/{image}"))
}

/// So many percent of what the containers of a replica ask for together.
fn share(
    requests: Serde<BTreeMap<String, BTreeMap<String, Quantity>>>,
    percent: u32,
) -> Serde<BTreeMap<String, String>> {
    Serde(context::share(&requests.0, percent))
}

/// A repository of charts as it is called behind a mirror; as it is, and as it stands in the template, where
/// there is none.
fn source(url: &str, registry: Option<&str>) -> Value {
    match registry {
        Some(_) => mirror::source(url, registry).into(),
        None => Value::from_safe_string(url.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_the_value_and_not_of_the_text() {
        assert_eq!(sha8("a: 1\nb: [x]\n").unwrap(), sha8("b:\n- x\na: 1").unwrap());
        assert_ne!(sha8("a: 1").unwrap(), sha8("a: \"1\"").unwrap());
        assert_eq!(sha8("a: 1").unwrap().len(), 8);
        assert!(sha8("a: [").is_err());
    }

    #[test]
    fn a_block_keeps_its_own_indentation() {
        let value = block("\na:\n  b: 1\n", 4);
        assert_eq!(value.as_str(), Some("a:\n      b: 1"));
        assert!(value.is_safe());
    }

    #[test]
    fn an_address_is_one_of_its_range() {
        assert_eq!(address("10.96.0.0/16", 10).unwrap(), "10.96.0.10");
        assert_eq!(address("fd00::/108", 10).unwrap(), "fd00::a");
        assert!(address("10.96.0.0/29", 10).unwrap_err().to_string().contains("10.96.0.0/29"));
        assert!(address("services", 10).is_err());
    }

    #[test]
    fn a_mirror_stands_before_every_registry() {
        assert_eq!(mirrored("ghcr.io/a/b", Some("m.example.com")), "m.example.com/ghcr.io/a/b");
        assert_eq!(mirrored("ghcr.io/a/b", None), "ghcr.io/a/b");
    }
}
