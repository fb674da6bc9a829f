//! `carp version`: what this program is.

use serde::Serialize;

use super::explain::ExplainForm;
use super::{Context, Error, Exit, show};
use crate::model::api::{API_VERSION, OLD_API_VERSION};

/// The version of the JSON form.
const SCHEMA: u32 = 1;

/// Show the version of carp, and of the API that it reads
#[derive(clap::Args)]
pub(super) struct Args {
    /// The form of the answer
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: ExplainForm,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    version: &'static str,
    api_versions: [&'static str; 2],
    platform: String,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    let version = env!("CARGO_PKG_VERSION");
    let view = View { version, api_versions: [API_VERSION, OLD_API_VERSION], platform };
    let text = match args.output {
        ExplainForm::Json => show::versioned(SCHEMA, &view),
        ExplainForm::Text => format!(
            "carp {version} ({})\nreads {API_VERSION}, and {OLD_API_VERSION} with a warning\n",
            view.platform
        ),
    };
    context.print(&text)?;
    Ok(Exit::Fine)
}
