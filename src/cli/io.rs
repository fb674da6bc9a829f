//! The world as a command sees it: two streams, a clock, the environment, a folder.
//!
//! All of it comes in as values, so that a test runs a command in its own process.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use jiff::Timestamp;

use super::exit::Error;
use super::show::progress::{Spinner, Watcher};
use super::show::{Colour, Palette};
use crate::diag::visible::{is_harmless, picture};
use crate::model::LongWork;

/// Where a command reads from and writes to.
pub struct Io<'a> {
    /// What was asked for goes here.
    pub out: &'a mut dyn Write,
    /// What people should know besides goes here.
    pub err: &'a mut dyn Write,
    /// Whether `out` is a terminal.
    pub out_is_terminal: bool,
    /// Whether `err` is a terminal.
    pub err_is_terminal: bool,
    /// The clock.
    pub clock: &'a dyn Fn() -> Timestamp,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The current folder.
    pub folder: PathBuf,
    /// This program's own file, which runs turns in processes of their own; `None` where nothing is to
    /// be run but what is called.
    pub program: Option<PathBuf>,
    /// How many threads may work at once.
    pub threads: NonZeroUsize,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// An [`Io`] together with what the global flags say.
pub struct Context<'a, 'io> {
    /// The world.
    pub io: &'a mut Io<'io>,
    /// `--now`: the time of the run instead of the clock's.
    pub pinned_now: Option<Timestamp>,
    /// `--color`.
    pub color: ColorChoice,
    /// How carp was called, for commands that are printed to be typed.
    pub program: String,
    /// The arguments, without the program's name.
    pub args: Vec<OsString>,
    /// `--read-timeout`.
    pub read_timeout: std::time::Duration,
    /// Where what is run says how far it is.
    pub work: LongWork,
    /// What is not needed any more.
    pub(super) left: RefCell<Option<Box<dyn Any>>>,
}

impl Context<'_, '_> {
    /// The time that `--now` gives, else the clock's. A fleet's own `example.now` comes between the
    /// two, and only who has read the fleet knows it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.pinned_now.unwrap_or_else(|| (self.io.clock)())
    }

    /// The colours of standard output.
    #[must_use]
    pub fn palette(&self) -> Palette {
        Palette::new(self.colour(self.io.out_is_terminal))
    }

    /// The colours of standard error.
    #[must_use]
    pub fn err_palette(&self) -> Palette {
        Palette::new(self.colour(self.io.err_is_terminal))
    }

    fn colour(&self, is_terminal: bool) -> Colour {
        choose(self.color, is_terminal, self.io.env.get("NO_COLOR").map(String::as_str))
    }

    /// How many columns a line of standard output has; `None` where it is no terminal. `COLUMNS` says it for
    /// what is shown elsewhere.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        let said = self.io.env.get("COLUMNS").and_then(|text| text.parse().ok());
        let width = said.or_else(|| self.io.out_is_terminal.then(super::terminal::columns));
        width.filter(|width| *width > 0)
    }

    /// Clears the terminal, with the code for that.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub(super) fn clear(&mut self, code: &'static str) -> Result<(), Error> {
        write(self.io.out, code, "standard output")
    }

    /// Leaves what a command no longer needs to the system, which takes back all of a process at once; as soon as something
    /// else is left, it is given back. Where others go on in this process, it is given back at once.
    pub(super) fn leave(&self, unneeded: impl Any) {
        if self.io.program.is_some() {
            self.left.replace(Some(Box::new(unneeded)));
        }
    }

    /// Ends the command, and the process with it.
    pub(super) fn end(self) {
        std::mem::forget(self.left);
    }

    /// Shows a word on standard error while long work goes on, if that is a terminal.
    pub fn progress(&self, word: &'static str) -> Spinner {
        let terminal = self.io.err_is_terminal;
        let watcher = if terminal { Watcher::Terminal } else { Watcher::Nobody };
        Spinner::start(watcher, word, &self.work)
    }

    /// Writes what was asked for.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn print(&mut self, text: &str) -> Result<(), Error> {
        let text = visible(text, self.palette().paints());
        write(self.io.out, &text, "standard output")
    }

    /// Writes something that people should know besides, as a whole line.
    ///
    /// # Errors
    /// Standard error cannot be written to.
    pub fn note(&mut self, text: &str) -> Result<(), Error> {
        let text = visible(text, self.err_palette().paints());
        write(self.io.err, &format!("{text}\n"), "standard error")
    }
}

/// Whether to use colours. `NO_COLOR` counts when it is not empty (<https://no-color.org>).
#[must_use]
pub fn choose(choice: ColorChoice, is_terminal: bool, no_color: Option<&str>) -> Colour {
    let on = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && no_color.is_none_or(str::is_empty),
    };
    if on { Colour::On } else { Colour::Off }
}

/// The text with control characters shown as pictures (`␛`), and with a mark for those that turn or hide
/// what is beside them: names, messages and reports come from elsewhere, and a terminal or a page does what
/// such characters say. Only carp's own colours are let through.
fn visible(text: &str, colours: bool) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if colours { colour_code(rest) } else { 0 };
        if length > 0 || is_harmless(c) {
            out.push_str(&rest[..length.max(c.len_utf8())]);
        } else {
            out.push(picture(c));
        }
        rest = &rest[length.max(c.len_utf8())..];
    }
    Cow::Owned(out)
}

/// How many bytes of a text are a code for a colour (`ESC [ 1;31 m`); 0 where it begins otherwise.
fn colour_code(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if rest.as_bytes().get(digits) == Some(&b'm') { "\x1b[".len() + digits + 1 } else { 0 }
}

fn write(to: &mut dyn Write, text: &str, stream: &str) -> Result<(), Error> {
    let written = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::reader_gone(),
        _ => Error::failed(format!("failed to write to {stream}")).because(error),
    })
}

#[cfg(test)]
impl<'a> Io<'a> {
    /// The world of a test: nobody's environment, at the beginning of time.
    pub(super) fn of_nobody(out: &'a mut Vec<u8>, err: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            err,
            out_is_terminal: false,
            err_is_terminal: false,
            clock: &|| Timestamp::UNIX_EPOCH,
            env: BTreeMap::new(),
            folder: ".".into(),
            program: None,
            threads: NonZeroUsize::MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let evil = "a\x1b]0;owned\x07\x1b[2J\r\u{9b}\n\té";
        assert_eq!(visible(evil, true), "a␛]0;owned␇␛[2J␍\u{fffd}\n\té");
        assert_eq!(visible("a\u{202e}cod.exe\u{2066}", false), "a\u{fffd}cod.exe\u{fffd}");
        let painted = "\x1b[1;31merror\x1b[0m";
        assert_eq!(visible(painted, true), painted);
        assert_eq!(visible(painted, false), "␛[1;31merror␛[0m", "without colours nothing is ours");
    }

    /// Leaves a value twice, and says how many there are then, and how many once the command has ended.
    fn left(program: Option<PathBuf>) -> [usize; 2] {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io { program, ..Io::of_nobody(&mut out, &mut err) };
        let context = Context {
            io: &mut io,
            pinned_now: None,
            color: ColorChoice::Never,
            program: String::new(),
            args: Vec::new(),
            read_timeout: std::time::Duration::ZERO,
            work: LongWork::default(),
            left: RefCell::default(),
        };
        let value = Rc::new(());
        context.leave(Rc::clone(&value));
        context.leave(Rc::clone(&value));
        let there = Rc::strong_count(&value) - 1;
        context.end();
        [there, Rc::strong_count(&value) - 1]
    }

    #[test]
    fn what_is_left_last_goes_with_the_process_and_all_else_before() {
        assert_eq!(left(Some("carp".into())), [1, 1]);
        assert_eq!(left(None), [0, 0], "others go on in this process");
    }

    #[test]
    fn colours_need_a_terminal_and_no_objection() {
        assert_eq!(choose(ColorChoice::Auto, true, None), Colour::On);
        assert_eq!(choose(ColorChoice::Auto, true, Some("")), Colour::On);
        assert_eq!(choose(ColorChoice::Auto, true, Some("1")), Colour::Off);
        assert_eq!(choose(ColorChoice::Auto, false, None), Colour::Off);
        assert_eq!(choose(ColorChoice::Always, false, Some("1")), Colour::On);
        assert_eq!(choose(ColorChoice::Never, true, None), Colour::Off);
    }
}
