//! `carp ack`: writes an Acknowledgement.

use clap::ValueEnum;

use super::engine::{self, Writable};
use super::{Context, Error, Exit, FolderArgs, args::name, files};
use crate::model::api::{API_VERSION, AcknowledgementKind, AcknowledgementSpec, Rebalance};
use crate::model::{Digest, Name};

/// Acknowledge exactly what a guard holds, as `carp plan` prints it
///
/// Writes fleet/acknowledgements/NAME.yaml, which lets that set through once it is merged, one time.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// What the guard holds
    #[arg(value_enum, value_name = "WHAT")]
    of: Of,
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
enum Of {
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
}

impl From<Of> for AcknowledgementKind {
    fn from(of: Of) -> Self {
        match of {
            Of::Deletions => Self::Deletions,
            Of::Moves => Self::Moves,
            Of::Abandon => Self::Abandon,
            Of::Rewind => Self::Rewind,
            Of::Rebalance => Self::Rebalance,
            Of::Objects => Self::Objects,
        }
    }
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let spec = args.spec()?;
    let fleet = engine::writable(context, &args.fleet)?;
    let name = args.name.clone().map_or_else(|| default_name(spec.of, args.digest), Ok)?;
    let file = write(&fleet, &name, &spec)?;
    context.print(&format!(
        "wrote {file}\ncommit it once a run has held exactly this set: the next one lets it through\n"
    ))?;
    Ok(Exit::Fine)
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
    use crate::model::api::Acknowledgement;

    #[test]
    fn it_writes_a_document_that_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = Writable {
            root: folder.path().to_owned(),
            fleet_folder: "fleet".into(),
            workers: [].into(),
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
