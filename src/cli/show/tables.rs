//! Tables as kubectl prints them: no borders, upper-case headers, three spaces between columns.

use std::borrow::Cow;

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Color, Table};

use super::wrap::to_width;
use super::{Palette, Tone};

/// How many blanks stand between two columns.
const GAP: usize = 3;
/// How many blanks stand between two columns, as the table has it.
const GAP_OF_TABLE: u16 = 3;

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// How it looks.
    pub tone: Option<Tone>,
}

impl Cell {
    /// A cell with a tone.
    #[must_use]
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone: Some(tone) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), tone: None }
    }
}

/// The tone of a phase, a condition's status or another word of state.
#[must_use]
pub fn tone_of(word: &str) -> Option<Tone> {
    match word {
        "Running" | "True" => Some(Tone::Good),
        "Pending" | "Scheduled" | "Provisioning" | "Updating" | "Draining" | "Deleting"
        | "Terminating" => Some(Tone::Warn),
        "Degraded" | "False" => Some(Tone::Bad),
        "Unknown" | "-" => Some(Tone::Faint),
        _ => None,
    }
}

/// A cell with a word of state in its own tone.
#[must_use]
pub fn state(word: impl Into<String>) -> Cell {
    let text = word.into();
    Cell { tone: tone_of(&text), text }
}

/// The table as text, with a final newline. Line breaks in a cell become spaces, for a row is a line.
#[must_use]
pub fn table(header: &[&str], rows: &[Vec<Cell>], palette: Palette) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    if palette.paints() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(header.iter().map(|h| h.to_uppercase()).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row.iter().map(cell).collect::<Vec<_>>());
    }
    let last = header.len().saturating_sub(1);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if at == last { 0 } else { GAP_OF_TABLE }));
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The table with as many of its columns as fit into a line of `width` columns, and the headers of those that
/// are left out. Columns are left out in the order of `spare`; where that is not enough the texts of the
/// column `cut` are shortened. Without a width it is the whole table.
#[must_use]
pub fn fit(
    header: &[&'static str],
    mut rows: Vec<Vec<Cell>>,
    spare: &[&'static str],
    cut: &str,
    width: Option<usize>,
    palette: Palette,
) -> (String, Vec<&'static str>) {
    let mut header = header.to_vec();
    let Some(width) = width else { return (table(&header, &rows, palette), Vec::new()) };
    let mut left_out = Vec::new();
    for name in spare {
        if total(&widths(&header, &rows)) <= width {
            break;
        }
        if let Some(at) = header.iter().position(|column| column == name) {
            header.remove(at);
            for row in &mut rows {
                row.remove(at);
            }
            left_out.push(*name);
        }
    }
    let widths = widths(&header, &rows);
    let over = total(&widths).saturating_sub(width);
    if let Some(at) = header.iter().position(|column| *column == cut).filter(|_| over > 0) {
        let most = widths[at].saturating_sub(over).max(cut.len()).max(8);
        for row in &mut rows {
            shorten(&mut row[at].text, most);
        }
    }
    (table(&header, &rows, palette), left_out)
}

/// The columns of one table that did not fit.
pub type LeftOut = (&'static str, Vec<&'static str>);

/// Which columns did not fit, by table where there are several and not all lack the same.
#[must_use]
pub fn left_out_words(left_out: &[LeftOut]) -> Option<String> {
    let (_, first) = left_out.first()?;
    if left_out.iter().all(|(_, columns)| columns == first) {
        return (!first.is_empty()).then(|| first.join(", "));
    }
    let lacking = left_out.iter().filter(|(_, columns)| !columns.is_empty());
    let words: Vec<_> =
        lacking.map(|(table, columns)| format!("{} of {table}", columns.join(", "))).collect();
    Some(words.join("; "))
}

/// The fewest columns in which a sentence is broken beside the other columns of a table.
const LEAST: usize = 24;

/// The table within lines of `width` columns, all of it: the last column is broken between words, and where there is too
/// little room for that its texts stand below their rows. Without a width it is the whole table.
#[must_use]
pub fn fit_last(
    header: &[&str],
    rows: &[Vec<Cell>],
    width: Option<usize>,
    palette: Palette,
) -> String {
    let whole = table(header, rows, palette);
    let mut widths = widths(header, rows);
    let Some(width) = width.filter(|width| total(&widths) > *width) else { return whole };
    let last = widths.pop().map_or(0, |_| widths.len());
    let begins = total(&widths) + GAP;
    let room = width.saturating_sub(begins);
    let (indent, room) = if room < LEAST { (2, width.saturating_sub(2)) } else { (begins, room) };
    let is_below = indent < begins;
    let mut lines = Vec::new();
    let short = |row: &Vec<Cell>| {
        let mut row = row.clone();
        let text = row.split_off(last).pop().map(|cell| cell.text).unwrap_or_default();
        let broken = to_width(&text, Some(room));
        let mut texts: Vec<_> = broken.lines().map(|line| line.trim_start().to_owned()).collect();
        if !is_below {
            let first = if texts.is_empty() { String::new() } else { texts.remove(0) };
            row.push(first.into());
        }
        lines.push(texts);
        row
    };
    let rows: Vec<_> = rows.iter().map(short).collect();
    let header = if is_below { &header[..last] } else { header };
    let mut below = lines.into_iter();
    let mut out = String::new();
    for (at, line) in table(header, &rows, palette).lines().enumerate() {
        out = out + line + "\n";
        // The first line is the header.
        let texts = if at == 0 { None } else { below.next() };
        for text in texts.into_iter().flatten() {
            out = out + &" ".repeat(indent) + &text + "\n";
        }
    }
    out
}

/// How wide each column is.
fn widths(header: &[&str], rows: &[Vec<Cell>]) -> Vec<usize> {
    let of = |at: usize| rows.iter().map(move |row| row[at].text.chars().count());
    let widest = |(at, name): (usize, &&str)| of(at).max().unwrap_or(0).max(name.len());
    header.iter().enumerate().map(widest).collect()
}

/// How wide a table of such columns is.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn shorten(text: &mut String, most: usize) {
    if text.chars().count() > most {
        *text = text.chars().take(most.saturating_sub(1)).collect::<String>() + "…";
    }
}

fn cell(cell: &Cell) -> comfy_table::Cell {
    let text = in_one_line(&cell.text);
    let plain = comfy_table::Cell::new(if text.is_empty() { "-" } else { &*text });
    match cell.tone {
        None => plain,
        Some(Tone::Good) => plain.fg(Color::DarkGreen),
        Some(Tone::Warn) => plain.fg(Color::DarkYellow),
        Some(Tone::Bad) => plain.fg(Color::DarkRed).add_attribute(Attribute::Bold),
        Some(Tone::Strong) => plain.add_attribute(Attribute::Bold),
        Some(Tone::Faint) => plain.add_attribute(Attribute::Dim),
    }
}

/// A text with one blank between its words, which most have already.
fn in_one_line(text: &str) -> Cow<'_, str> {
    let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
    if text.split(' ').all(is_word) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::Colour;
    use super::*;

    fn rows() -> Vec<Vec<Cell>> {
        vec![
            vec!["pay-eu".into(), state("Running"), "".into()],
            vec!["a-much-longer-name".into(), state("Degraded"), "two\nlines".into()],
        ]
    }

    #[test]
    fn a_table_looks_like_kubectls() {
        insta::assert_snapshot!(table(&["name", "phase", "why"], &rows(), Palette::plain()), @r"
        NAME                 PHASE      WHY
        pay-eu               Running    -
        a-much-longer-name   Degraded   two lines
        ");
    }

    #[test]
    fn a_cell_is_a_line() {
        for text in ["", "a", "a b", " a", "a ", "a  b", "a\nb", "a\tb c", "a\u{a0}b", " ", "é b"]
        {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(in_one_line(text), words, "{text:?}");
        }
    }

    #[test]
    fn a_table_is_made_to_fit() {
        let fitted = |width| {
            fit(&["name", "phase", "why"], rows(), &["phase"], "why", width, Palette::plain())
        };
        assert_eq!(fitted(None).0, table(&["name", "phase", "why"], &rows(), Palette::plain()));
        assert_eq!(fitted(Some(41)).1, Vec::<&str>::new());
        let (narrow, left_out) = fitted(Some(40));
        assert_eq!(left_out, ["phase"]);
        insta::assert_snapshot!(narrow, @r"
        NAME                 WHY
        pay-eu               -
        a-much-longer-name   two lines
        ");
        let (cut, _) = fitted(Some(20));
        assert!(cut.contains("two lin…"), "{cut}");
    }

    #[test]
    fn what_did_not_fit_is_named_by_its_table() {
        let words = |of: &[LeftOut]| left_out_words(of);
        assert_eq!(words(&[]), None);
        assert_eq!(words(&[("workers", vec![]), ("clusters", vec![])]), None);
        let both = [("workers", vec!["ready"]), ("clusters", vec!["ready"])];
        assert_eq!(words(&both).as_deref(), Some("ready"));
        let one = [("workers", vec![]), ("clusters", vec!["nodes", "ready"])];
        assert_eq!(words(&one).as_deref(), Some("nodes, ready of clusters"));
        let each = [("workers", vec!["version"]), ("clusters", vec!["nodes"])];
        assert_eq!(words(&each).as_deref(), Some("version of workers; nodes of clusters"));
    }

    #[test]
    fn a_sentence_is_broken_in_its_column_or_stands_below() {
        let header = ["cluster", "action", "why"];
        let rows = [
            vec![
                "pay-eu".into(),
                "update".into(),
                "version v1.33.5 -> v1.34.2; np0: 3 -> 5 nodes".into(),
            ],
            vec!["shop".into(), "wait".into(), "no room".into()],
        ];
        let fitted = |width| fit_last(&header, &rows, width, Palette::plain());
        let whole = table(&header, &rows, Palette::plain());
        assert_eq!((fitted(None), fitted(Some(70))), (whole.clone(), whole));
        insta::assert_snapshot!(fitted(Some(46)), @r"
        CLUSTER   ACTION   WHY
        pay-eu    update   version v1.33.5 -> v1.34.2;
                           np0: 3 -> 5 nodes
        shop      wait     no room
        ");
        insta::assert_snapshot!(fitted(Some(40)), @r"
        CLUSTER   ACTION
        pay-eu    update
          version v1.33.5 -> v1.34.2; np0: 3 ->
          5 nodes
        shop      wait
          no room
        ");
    }

    #[test]
    fn colours_do_not_move_columns() {
        let painted = table(&["name", "phase", "why"], &rows(), Palette::new(Colour::On));
        assert!(painted.contains('\u{1b}'), "{painted:?}");
        let mut bare = String::new();
        let mut rest = painted.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            bare.push_str(before);
            rest = after.split_once('m').map_or("", |(_, r)| r);
        }
        bare.push_str(rest);
        let trimmed =
            |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
        let plain = table(&["name", "phase", "why"], &rows(), Palette::plain());
        assert_eq!(trimmed(&bare), trimmed(&plain));
    }
}
