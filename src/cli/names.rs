//! `carp names`: what a shell offers after a command; the shells' own files ask for it.

use super::engine::Query;
use super::{Context, Error, Exit, FleetArgs, ObjectKind, ObservedArgs, Selector, Target, engine};

/// Print what may stand after the words that were typed, a line each
#[derive(clap::Args)]
pub(super) struct Args {
    /// The words after `carp`, the one that is being typed last
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    words: Vec<String>,
}

/// What is offered in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfferedNames {
    Kinds,
    Names(ObjectKind),
    /// The fleet's tenants.
    Tenants,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let Some((typed, before)) = args.words.split_last() else { return Ok(Exit::Fine) };
    let offered: Vec<String> = match wanted(before, typed) {
        None => Vec::new(),
        Some((OfferedNames::Kinds, _)) => ["cluster", "worker", "pool"].map(str::to_owned).into(),
        // A fleet that cannot be read offers nothing: a shell is no place for its findings.
        Some((wanted, prefix)) => names(context, before, wanted)
            .unwrap_or_default()
            .into_iter()
            .map(|name| format!("{prefix}{name}"))
            .collect(),
    };
    let mut text = String::new();
    for word in offered.iter().filter(|word| word.starts_with(typed.as_str())) {
        text.push_str(word);
        text.push('\n');
    }
    context.print(&text)?;
    Ok(Exit::Fine)
}

/// What is offered after some words for one that begins like this, and what stands before each name.
fn wanted(before: &[String], typed: &str) -> Option<(OfferedNames, String)> {
    let (command, after) = before.split_first()?;
    let last = after.last().map(String::as_str);
    let plain = |wanted| Some((wanted, String::new()));
    match (command.as_str(), last) {
        (_, Some("--worker" | "--lose")) => return plain(OfferedNames::Names(ObjectKind::Worker)),
        (_, Some("--cluster")) => return plain(OfferedNames::Names(ObjectKind::Cluster)),
        (_, Some("--tenant")) => return plain(OfferedNames::Tenants),
        (_, Some(flag)) if flag.starts_with("--") && !flag.contains('=') => return None,
        _ if typed.starts_with('-') => return None,
        ("cordon" | "uncordon" | "drain", _) => {
            return plain(OfferedNames::Names(ObjectKind::Worker));
        }
        ("status" | "get" | "explain", _) => {}
        _ => return None,
    }
    if let Some((kind, _)) = typed.split_once('/') {
        return Some((OfferedNames::Names(ObjectKind::of_word(kind)?), format!("{kind}/")));
    }
    match last.and_then(ObjectKind::of_word) {
        Some(kind) => plain(OfferedNames::Names(kind)),
        None => plain(OfferedNames::Kinds),
    }
}

fn names(
    context: &mut Context<'_, '_>,
    before: &[String],
    wanted: OfferedNames,
) -> Result<Vec<String>, Error> {
    let named = before.iter().position(|word| word == "--fleet").and_then(|at| before.get(at + 1));
    let from_env = context.io.env.get("CARP_FLEET");
    let fleet = named.or(from_env).map_or_else(|| ".".to_owned(), Clone::clone);
    // What lies elsewhere would be fetched at each key.
    if fleet.contains("://") {
        return Ok(Vec::new());
    }
    let target = match wanted {
        OfferedNames::Names(kind) => Target::Kind(kind),
        OfferedNames::Kinds | OfferedNames::Tenants => Target::Kind(ObjectKind::Cluster),
    };
    let query = Query {
        target,
        labels: Selector::default(),
        tenant: None,
        worker: None,
        phases: Vec::new(),
        specs: false,
    };
    let view = engine::status(context, &FleetArgs { fleet }, &ObservedArgs::default(), &query)?;
    let mut offered: Vec<String> = if wanted == OfferedNames::Tenants {
        view.clusters.into_iter().map(|row| row.tenant).collect()
    } else {
        let workers = view.workers.iter().map(|row| row.name.to_string());
        let pools = view.pools.iter().map(|row| row.name.to_string());
        workers.chain(pools).chain(view.clusters.iter().map(|row| row.name.to_string())).collect()
    };
    offered.sort();
    offered.dedup();
    Ok(offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_says_what_is_offered() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let (typed, before) = words.split_last().unwrap();
            wanted(before, typed)
        };
        let plain = |wanted| Some((wanted, String::new()));
        assert_eq!(of("explain "), plain(OfferedNames::Kinds));
        assert_eq!(of("explain cluster "), plain(OfferedNames::Names(ObjectKind::Cluster)));
        assert_eq!(
            of("get worker/w"),
            Some((OfferedNames::Names(ObjectKind::Worker), "worker/".to_owned()))
        );
        assert_eq!(of("drain w"), plain(OfferedNames::Names(ObjectKind::Worker)));
        assert_eq!(of("status --tenant s"), plain(OfferedNames::Tenants));
        assert_eq!(of("status --fleet "), None, "a folder is the shell's own matter");
        assert_eq!(of("status --wo"), None);
        assert_eq!(of("plan "), None);
    }
}
