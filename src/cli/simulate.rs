//! `carp simulate`: what if.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::args::name;
use super::engine::{self, SimulateOptions, SimulatedTime};
use super::explain::ExplainForm;
use super::{Context, Error, Exit, FleetArgs, ObservedArgs, show};
use crate::model::api::Rebalance;
use crate::model::{Name, Quantity};
use crate::simulate::{Amount, By, Clusters, SimulatedChange};

/// What a move of a rebalance gains at least, in percent points, where nobody says it: less is hardly worth
/// a cluster.
const GAIN: u32 = 20;

/// Show what would be otherwise if workers went, clusters came, or both
///
/// All changes are made at once to what a run would see, and the same planner says what the next run
/// would do then: who goes where and why, who waits and for which reasons, what would be held. What
/// is said is what `carp plan` says once the edits are really made. Nothing is written.
///
/// The exit code is that of a plan with the changes.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    like: Like,
    /// List at most N moves of at least GAIN percent points [default: 20] that even the workers out, and
    /// the command that requests exactly these; each cluster is made anew, and empty
    #[arg(long, value_name = "N[:GAIN]")]
    rebalance: Option<RebalanceRequest>,
    /// Count how many more clusters of each class fit, where, and what stops the next one
    #[arg(long)]
    runway: bool,
    /// The form of the answer
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: ExplainForm,
}

/// The changes; each may be given several times.
#[derive(clap::Args)]
struct Changes {
    /// This worker's reports stop; the run is the one that finds out, unless a time is given
    #[arg(long, value_name = "WORKER", value_parser = name)]
    lose: Vec<Name>,
    /// Nothing new goes to this worker
    #[arg(long, value_name = "WORKER", value_parser = name)]
    cordon: Vec<Name>,
    /// New clusters go to this worker again
    #[arg(long, value_name = "WORKER", value_parser = name)]
    uncordon: Vec<Name>,
    /// This worker is drained; `w1=3`: three of its clusters may be away at a time
    #[arg(long, value_name = "WORKER[=N]")]
    drain: Vec<Drained>,
    /// Another capacity: `w1=50`, `w1=+10`, `w1=clusters:+10,memory:64Gi`
    #[arg(long, value_name = "WORKER=AMOUNTS")]
    capacity: Vec<Capacity>,
    /// More clusters: `12`, `12:small`, `12:small@westeurope`
    #[arg(long, value_name = "N[:CLASS][@LOCATION]")]
    add: Vec<Added>,
    /// This worker's document is removed
    #[arg(long, value_name = "WORKER", value_parser = name)]
    remove: Vec<Name>,
    /// This placement policy's document is removed
    #[arg(long, value_name = "POLICY", value_parser = name)]
    remove_policy: Vec<Name>,
    /// The time of the run; all workers that are not lost go on reporting until then
    #[arg(long, value_name = "TIME", conflicts_with = "after")]
    at: Option<Timestamp>,
    /// The same, counted from the time of the run: `2h`
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    after: Option<SignedDuration>,
}

/// What the clusters of --add and --runway are like.
#[derive(clap::Args)]
struct Like {
    /// The tenant of the clusters that --add adds and --runway counts
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Their labels: `tier=gold,env=prod`
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = label)]
    labels: Vec<(String, String)>,
}

/// `WORKER[=N]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Drained {
    worker: Name,
    max_unavailable: Option<u32>,
}

/// `N[:GAIN]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RebalanceRequest(Rebalance);

/// `WORKER=AMOUNTS`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Capacity {
    worker: Name,
    amounts: Vec<Amount>,
    words: String,
}

/// `N[:CLASS][@LOCATION]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Added {
    count: u32,
    class: Option<Name>,
    location: Option<String>,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let asked = args.asked();
    let answer = engine::simulate(context, &args.fleet, &args.observed, asked)?;
    answer.notes.iter().try_for_each(|note| context.note(note))?;
    let view = answer.view();
    let text = match args.output {
        ExplainForm::Text => show::simulate::text(&view, context.palette()),
        ExplainForm::Json => show::simulate::json(&view),
    };
    context.print(&text)?;
    Ok(Exit::of_proposal(answer.after()))
}

impl Args {
    fn asked(&self) -> SimulateOptions {
        let Changes { lose, cordon, uncordon, drain, capacity, add, remove, remove_policy, .. } =
            &self.changes;
        let mut changes = Vec::new();
        let mut each = |names: &[Name], change: fn(Name) -> SimulatedChange, word: &str| {
            let words = names.iter().map(|n| (change(n.clone()), format!("{word} {n}")));
            changes.extend(words);
        };
        each(lose, SimulatedChange::Lose, "lose");
        each(cordon, SimulatedChange::Cordon, "cordon");
        each(uncordon, SimulatedChange::Uncordon, "uncordon");
        each(remove, SimulatedChange::Remove, "remove");
        each(remove_policy, SimulatedChange::RemovePolicy, "remove policy");
        changes.extend(drain.iter().map(|drained| {
            let Drained { worker, max_unavailable } = drained;
            (SimulatedChange::Drain(worker.clone(), *max_unavailable), drained.words())
        }));
        changes.extend(capacity.iter().map(|capacity| {
            let change =
                SimulatedChange::Capacity(capacity.worker.clone(), capacity.amounts.clone());
            (change, format!("capacity {}", capacity.words))
        }));
        changes.extend(
            add.iter().map(|added| (SimulatedChange::Add(self.clusters(added)), added.words())),
        );
        let at = self
            .changes
            .at
            .map(SimulatedTime::Time)
            .or(self.changes.after.map(SimulatedTime::After));
        let none = Added { count: 0, class: None, location: None };
        let runway = self.runway.then(|| self.clusters(&none));
        let rebalance = self.rebalance.map(|RebalanceRequest(terms)| {
            let moves = show::count(u64::from(terms.most), "move");
            (terms, format!("rebalance by at most {moves} of at least {} points", terms.gain))
        });
        SimulateOptions { changes, at, runway, rebalance }
    }

    fn clusters(&self, added: &Added) -> Clusters {
        Clusters {
            count: added.count,
            class: added.class.clone(),
            location: added.location.clone(),
            tenant: self.like.tenant.clone(),
            labels: self.like.labels.clone(),
        }
    }
}

impl Added {
    fn words(&self) -> String {
        let of = |word: &str, value: Option<&str>| value.map(|v| format!(" {word} {v}"));
        let class = of("of class", self.class.as_deref()).unwrap_or_default();
        let location = of("in", self.location.as_deref()).unwrap_or_default();
        format!("add {}{class}{location}", show::count(u64::from(self.count), "cluster"))
    }
}

impl FromStr for Added {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (rest, location) = match text.split_once('@') {
            Some((rest, location)) => (rest, Some(location.to_owned())),
            None => (text, None),
        };
        let (count, class) = match rest.split_once(':') {
            Some((count, class)) => (count, Some(name(class).map_err(|e| e.to_string())?)),
            None => (rest, None),
        };
        let counted = count.parse().ok().filter(|count| (1..=10_000).contains(count));
        let count = counted.ok_or_else(|| format!("`{count}` is no number from 1 to 10000"))?;
        Ok(Self { count, class, location })
    }
}

impl Drained {
    fn words(&self) -> String {
        let at_once = |most| format!(" ({most} at a time)");
        format!("drain {}{}", self.worker, self.max_unavailable.map(at_once).unwrap_or_default())
    }
}

impl FromStr for Drained {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (worker, most) = match text.split_once('=') {
            Some((worker, most)) => (worker, Some(most)),
            None => (text, None),
        };
        let worker = name(worker).map_err(|error| error.to_string())?;
        let number = |most: &str| {
            let counted = most.parse().ok().filter(|most| (1..=1000).contains(most));
            counted.ok_or_else(|| format!("`{most}` is no number from 1 to 1000"))
        };
        Ok(Self { worker, max_unavailable: most.map(number).transpose()? })
    }
}

impl FromStr for RebalanceRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (most, gain) = text.split_once(':').map_or((text, None), |(m, g)| (m, Some(g)));
        let number = |text: &str, last: u32| {
            let counted = text.parse().ok().filter(|number| (1..=last).contains(number));
            counted.ok_or_else(|| format!("`{text}` is no number from 1 to {last}"))
        };
        let gain = gain.map(|gain| number(gain, 100)).transpose()?.unwrap_or(GAIN);
        Ok(Self(Rebalance { most: number(most, 1000)?, gain }))
    }
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (worker, amounts) = text.split_once('=').ok_or("write WORKER=AMOUNT, as in w1=50")?;
        let worker = name(worker).map_err(|error| error.to_string())?;
        let amounts: Result<Vec<_>, _> = amounts.split(',').map(amount).collect();
        Ok(Self { worker, amounts: amounts?, words: text.to_owned() })
    }
}

fn amount(text: &str) -> Result<Amount, String> {
    let (resource, amount) = text.split_once(':').unwrap_or(("clusters", text));
    let quantity = |text: &str| text.parse::<Quantity>().map_err(|error| error.to_string());
    let by = match amount.strip_prefix('+') {
        Some(more) => By::Plus(quantity(more)?),
        None if amount.starts_with('-') => By::Plus(quantity(amount)?),
        None => By::To(quantity(amount)?),
    };
    Ok(Amount { resource: resource.to_owned(), by })
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    if duration.is_negative() { Err("the future is ahead".to_owned()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_named_by_number_class_and_location() {
        let parsed = |text: &str| text.parse::<Added>();
        let small = Some(Name::parse("small").unwrap());
        let added = Added { count: 3, class: small, location: Some("westeurope".to_owned()) };
        assert_eq!(added.words(), "add 3 clusters of class small in westeurope");
        assert_eq!(parsed("3:small@westeurope"), Ok(added));
        assert_eq!(parsed("1").unwrap().words(), "add 1 cluster");
        assert_eq!(parsed("1@eastus").unwrap().location.as_deref(), Some("eastus"));
        for wrong in ["", "0", "x", "10001", "3:", "3:UP", ":small"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_drain_names_its_worker_and_how_many_may_be_away() {
        let words = |text: &str| text.parse::<Drained>().map(|drained| drained.words());
        assert_eq!(words("w1").as_deref(), Ok("drain w1"));
        assert_eq!(words("w1=3").as_deref(), Ok("drain w1 (3 at a time)"));
        for wrong in ["", "W1", "w1=", "w1=0", "w1=1001", "w1=x"] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rebalance_is_so_many_moves_of_such_a_gain() {
        let terms =
            |text: &str| text.parse::<RebalanceRequest>().map(|RebalanceRequest(terms)| terms);
        assert_eq!(terms("3"), Ok(Rebalance { most: 3, gain: 20 }));
        assert_eq!(terms("12:5"), Ok(Rebalance { most: 12, gain: 5 }));
        for wrong in ["", "0", "1001", "3:", "3:0", "3:101", "x:20", ":20"] {
            assert!(terms(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_capacity_is_a_number_of_clusters_or_a_list() {
        let amounts = |text: &str| text.parse::<Capacity>().map(|capacity| capacity.amounts);
        let of = |resource: &str, by| Amount { resource: resource.to_owned(), by };
        let units = Quantity::units;
        assert_eq!(amounts("w1=50"), Ok(vec![of("clusters", By::To(units(50)))]));
        assert_eq!(amounts("w1=-5"), Ok(vec![of("clusters", By::Plus(units(-5)))]));
        let both = vec![of("clusters", By::Plus(units(10))), of("memory", By::To(units(1 << 30)))];
        assert_eq!(amounts("w1=clusters:+10,memory:1Gi"), Ok(both));
        for wrong in ["w1", "w1=", "w1=x", "W1=5", "w1=5,"] {
            assert!(amounts(wrong).is_err(), "{wrong}");
        }
    }
}
