//! `carp ack`: writes an Acknowledgement.

use clap::ValueEnum;

use super::engine::{self, Writable};
use super::show::plan::listed;
use super::{Context, Error, Exit, FolderArgs, args::name, files};
use crate::model::api::{API_VERSION, AcknowledgementKind, AcknowledgementSpec, Rebalance};
use crate::model::{Digest, Hold, Name};

/// Acknowledge exactly what a guard holds, as `carp plan` prints it
///
/// Writes fleet/acknowledgements/NAME.yaml, which lets that set through once it is merged, one time.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// What the guard holds
    #[arg(value_enum, value_name = "WHAT")]
    of: AckOf,
    /// How many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// The digest of the set
    #[arg(long, value_name = "SHA256")]
    digest: Digest,
    /// Of a rebalance: how many clusters move at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), requires = "gain")]
    most: Option<u32>,
    /// Of a rebalance: how many percent points each move gains at least
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u32).range(1..=100), requires = "most")]
    gain: Option<u32>,
    /// The name of the Acknowledgement [default: WHAT and the digest's first digits]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<Name>,
    #[command(flatten)]
    fleet: FolderArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum AckOf {
    /// More deletions than the guard allows
    Deletions,
    /// More moves than the guard allows
    Moves,
    /// Deletions on a worker that will never say how far they are
    Abandon,
    /// The input branch was rewound
    Rewind,
    /// Moves that even the workers out, as `carp simulate --rebalance` prints them
    Rebalance,
    /// Objects with machines, storage or network behind them that are left out of their folders
    Objects,
    /// Machines that are replaced by others
    Machines,
}

impl From<AckOf> for AcknowledgementKind {
    fn from(of: AckOf) -> Self {
        match of {
            AckOf::Deletions => Self::Deletions,
            AckOf::Moves => Self::Moves,
            AckOf::Abandon => Self::Abandon,
            AckOf::Rewind => Self::Rewind,
            AckOf::Rebalance => Self::Rebalance,
            AckOf::Objects => Self::Objects,
            AckOf::Machines => Self::Machines,
        }
    }
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let spec = args.spec()?;
    let fleet = engine::writable(context, &args.fleet)?;
    is_held(&fleet, &spec, args.digest)?;
    let name = args.name.clone().map_or_else(|| default_name(spec.of, args.digest), Ok)?;
    let file = write(&fleet, &name, &spec)?;
    context.print(&format!("wrote {file}\n{}\n", what_next(spec.of)))?;
    if !fleet.spent.is_empty() {
        let files: Vec<_> = fleet.spent.iter().map(|(_, file)| file.as_str()).collect();
        context.print(&format!(
            "spent, so remove {}: {}\n",
            if files.len() == 1 { "it" } else { "them" },
            listed(&files)
        ))?;
    }
    Ok(Exit::Fine)
}

/// What to do with the file. Only what a guard holds must have been held before: what is stuck, rewound or may be
/// evened out was there before anybody could acknowledge it.
const fn what_next(of: AcknowledgementKind) -> &'static str {
    use AcknowledgementKind as Of;
    match of {
        Of::Deletions | Of::Moves | Of::Objects | Of::Machines => {
            "commit it once a run has held exactly this set: the next one lets it through"
        }
        Of::Abandon => {
            "commit it: the next run gives up exactly these deletions, if they are stuck still"
        }
        Of::Rewind => "commit it: the next run goes on from the rewound input branch",
        Of::Rebalance => {
            "commit it: the next run begins exactly these moves, if they are still the ones that even out"
        }
    }
}

/// An acknowledgement of what nothing holds lets nothing through. What is stuck, rewound or to be rebalanced is
/// no hold of the plan, and without the output branch nobody can tell.
fn is_held(fleet: &Writable, spec: &AcknowledgementSpec, digest: Digest) -> Result<(), Error> {
    let of_a_run = spec.of.answers_a_run();
    let Some(holds) = fleet.holds.as_ref().filter(|_| of_a_run) else { return Ok(()) };
    let exactly = |hold: &&Hold| {
        let count = u32::try_from(hold.names.len()) == Ok(spec.count);
        hold.kind.acknowledged_by() == Some(spec.of) && count && hold.digest() == digest
    };
    if holds.iter().any(|hold| exactly(&hold)) {
        return Ok(());
    }
    Err(Error::failed(format!("no {} are held that have this count and digest", spec.of))
        .help("`carp plan` prints the line for what is held now"))
}

impl Args {
    fn spec(&self) -> Result<AcknowledgementSpec, Error> {
        let of = self.of.into();
        let rebalance = self.most.zip(self.gain).map(|(most, gain)| Rebalance { most, gain });
        let digest = format!("sha256:{}", self.digest);
        match (of == AcknowledgementKind::Rebalance, rebalance) {
            (true, None) => Err(Error::usage("a rebalance has --most and --gain")
                .help("`carp simulate --rebalance N:GAIN` prints the whole line")),
            (false, Some(_)) => Err(Error::usage("only a rebalance has --most and --gain")),
            _ => Ok(AcknowledgementSpec { of, count: self.count, digest, rebalance }),
        }
    }
}

fn default_name(of: AcknowledgementKind, digest: Digest) -> Result<Name, Error> {
    let name = format!("{of}-{}", digest.short(8));
    Name::parse(&name).map_err(|error| Error::usage(error.to_string()))
}

fn write(fleet: &Writable, name: &Name, spec: &AcknowledgementSpec) -> Result<String, Error> {
    let path = fleet.root.join(&fleet.fleet_folder).join(format!("acknowledgements/{name}.yaml"));
    let shown = files::shown(&path);
    if files::read(&path)?.is_some() {
        return Err(Error::usage(format!("{shown} is there already"))
            .help("an Acknowledgement is spent by the commit that uses it; give another --name"));
    }
    files::write(&path, &text(name, spec))?;
    Ok(shown)
}

fn text(name: &Name, spec: &AcknowledgementSpec) -> String {
    let AcknowledgementSpec { of, count, digest, rebalance } = spec;
    let terms = rebalance.map(|Rebalance { most, gain }| {
        format!("  rebalance:\n    most: {most}\n    gain: {gain}\n")
    });
    format!(
        "apiVersion: {API_VERSION}\nkind: Acknowledgement\nmetadata:\n  name: {name}\nspec:\n  \
         of: {of}\n  count: {count}\n  digest: {digest}\n{}",
        terms.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HoldKind;
    use crate::model::api::Acknowledgement;

    #[test]
    fn whatever_a_plan_tells_to_acknowledge_can_be() {
        for kind in HoldKind::ALL {
            let Some(of) = kind.acknowledged_by() else { continue };
            let read = AckOf::from_str(&of.to_string(), false);
            assert_eq!(read.map(AcknowledgementKind::from), Ok(of), "{}", kind.name());
        }
    }

    #[test]
    fn what_nothing_holds_is_not_acknowledged() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let hold = Hold { kind: HoldKind::MachinesReplaced, names, allowed: Some(1) };
        let digest = hold.digest();
        let spec = |of, count| AcknowledgementSpec {
            of,
            count,
            digest: format!("sha256:{digest}"),
            rebalance: None,
        };
        let fleet = |holds| Writable {
            root: "fleet".into(),
            fleet_folder: "fleet".into(),
            workers: [].into(),
            holds,
            spent: Vec::new(),
        };
        let there = fleet(Some(vec![hold]));
        let machines = AcknowledgementKind::Machines;
        assert!(is_held(&there, &spec(machines, 2), digest).is_ok());
        assert!(is_held(&there, &spec(machines, 3), digest).is_err());
        assert!(is_held(&there, &spec(AcknowledgementKind::Moves, 2), digest).is_err());
        let told = is_held(&fleet(Some(Vec::new())), &spec(machines, 2), digest).unwrap_err();
        assert!(told.to_string().starts_with("no machines are held that have this count"));
        assert!(is_held(&fleet(None), &spec(machines, 2), digest).is_ok(), "nobody can tell");
        let abandon = spec(AcknowledgementKind::Abandon, 2);
        assert!(is_held(&fleet(Some(Vec::new())), &abandon, digest).is_ok());
    }

    #[test]
    fn it_writes_a_document_that_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = Writable {
            root: folder.path().to_owned(),
            fleet_folder: "fleet".into(),
            workers: [].into(),
            holds: None,
            spent: Vec::new(),
        };
        let digest = Digest::of_names(["a", "b"]);
        let of = AcknowledgementKind::Deletions;
        let name = default_name(of, digest).unwrap();
        let text = format!("sha256:{digest}");
        let spec = AcknowledgementSpec { of, count: 2, digest: text, rebalance: None };
        let file = write(&fleet, &name, &spec).unwrap();
        assert!(
            file.ends_with(&format!("fleet/acknowledgements/deletions-{}.yaml", digest.short(8)))
        );
        let text = files::read(file.as_ref()).unwrap().unwrap();
        let read: Acknowledgement = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(read.spec, spec);
        assert_eq!(read.spec.digest.parse(), Ok(digest));
        let again = write(&fleet, &name, &spec).unwrap_err();
        assert_eq!(again.exit, Exit::Usage);
        let (of, terms) = (AcknowledgementKind::Rebalance, Rebalance { most: 3, gain: 20 });
        let spec = AcknowledgementSpec { of, rebalance: Some(terms), ..spec };
        let name = default_name(of, digest).unwrap();
        let file = write(&fleet, &name, &spec).unwrap();
        let text = files::read(file.as_ref()).unwrap().unwrap();
        let read: Acknowledgement = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(read.spec, spec);
    }
}
