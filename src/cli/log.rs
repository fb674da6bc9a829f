//! The log of a long-running command: on standard error, a line an event, for people or for programs.

use std::ffi::OsString;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::show::Palette;

/// How to log.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LogArgs {
    /// The form of the log, which goes to standard error
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    log_format: Format,
    /// What is logged: this and what is worse
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    log_level: Level,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs: one JSON object a line
    Json,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Level {
    /// What failed
    Error,
    /// What somebody should look at
    Warn,
    /// One line a turn
    #[default]
    Info,
    /// How long each part of a turn took, and why the next one came
    Debug,
    /// All there is
    Trace,
}

impl LogArgs {
    /// These settings as arguments, for a process that this one starts: it logs to the same stream.
    pub(super) fn as_args(&self) -> Vec<OsString> {
        let name = |value: Option<PossibleValue>| {
            value.map(|value| value.get_name().to_owned()).unwrap_or_default()
        };
        let (format, level) =
            (name(self.log_format.to_possible_value()), name(self.log_level.to_possible_value()));
        ["--log-format", &format, "--log-level", &level].map(OsString::from).into()
    }

    /// Begins to log. Only carp's own words are shown below warnings: those of its libraries might
    /// repeat what was sent.
    pub(super) fn begin(&self, palette: Palette) {
        let level = match self.log_level {
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        };
        let shown = Targets::new()
            .with_default(level.min(LevelFilter::WARN))
            // It logs every try that fails as an error, and carp says what came of it.
            .with_target("kube_client::client::builder", LevelFilter::OFF)
            .with_target(env!("CARGO_CRATE_NAME"), level);
        let lines = fmt::layer()
            .with_writer(std::io::stderr)
            .with_target(false)
            .with_ansi(palette.paints())
            .with_span_events(FmtSpan::CLOSE);
        // In a process that logs already, it goes on as it does.
        let _ = match self.log_format {
            Format::Text => {
                tracing_subscriber::registry().with(lines.with_filter(shown)).try_init()
            }
            Format::Json => {
                let lines = lines.json().flatten_event(true).with_span_list(false);
                tracing_subscriber::registry().with(lines.with_filter(shown)).try_init()
            }
        };
    }
}
