//! `carp ack`: writes an Acknowledgement.

use clap::ValueEnum;

use super::engine::{self, Writable};
use super::{Context, Error, Exit, FolderArgs, args::name, files};
use crate::model::api::{API_VERSION, AcknowledgementKind};
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
}

impl From<Of> for AcknowledgementKind {
    fn from(of: Of) -> Self {
        match of {
            Of::Deletions => Self::Deletions,
            Of::Moves => Self::Moves,
            Of::Abandon => Self::Abandon,
            Of::Rewind => Self::Rewind,
        }
    }
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let fleet = engine::writable(context, &args.fleet)?;
    let of = args.of.into();
    let name = args.name.clone().map_or_else(|| default_name(of, args.digest), Ok)?;
    let file = write(&fleet, &name, of, args.count, args.digest)?;
    context.print(&format!(
        "wrote {file}\ncommit it, and the next run lets exactly this set through\n"
    ))?;
    Ok(Exit::Fine)
}

fn default_name(of: AcknowledgementKind, digest: Digest) -> Result<Name, Error> {
    let name = format!("{of}-{}", digest.short(8));
    Name::parse(&name).map_err(|error| Error::usage(error.to_string()))
}

fn write(
    fleet: &Writable,
    name: &Name,
    of: AcknowledgementKind,
    count: u32,
    digest: Digest,
) -> Result<String, Error> {
    let path = fleet.root.join(&fleet.fleet_folder).join(format!("acknowledgements/{name}.yaml"));
    let shown = files::shown(&path);
    if files::read(&path)?.is_some() {
        return Err(Error::usage(format!("{shown} is there already"))
            .help("an Acknowledgement is spent by the commit that uses it; give another --name"));
    }
    files::write(&path, &text(name, of, count, digest))?;
    Ok(shown)
}

fn text(name: &Name, of: AcknowledgementKind, count: u32, digest: Digest) -> String {
    format!(
        "apiVersion: {API_VERSION}\nkind: Acknowledgement\nmetadata:\n  name: {name}\nspec:\n  \
         of: {of}\n  count: {count}\n  digest: sha256:{digest}\n"
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
        let file = write(&fleet, &name, of, 2, digest).unwrap();
        assert!(
            file.ends_with(&format!("fleet/acknowledgements/deletions-{}.yaml", digest.short(8)))
        );
        let text = files::read(file.as_ref()).unwrap().unwrap();
        let read: Acknowledgement = serde_saphyr::from_str(&text).unwrap();
        assert_eq!((read.spec.of, read.spec.count), (of, 2));
        assert_eq!(read.spec.digest.parse(), Ok(digest));
        let again = write(&fleet, &name, of, 2, digest).unwrap_err();
        assert_eq!(again.exit, Exit::Usage);
    }
}
