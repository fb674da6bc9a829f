//! The text of a story, taken apart into what is done and what is only read.

/// One piece of a story, in the order of the file.
pub(super) enum Piece {
    /// A comment or an empty line.
    Prose(String),
    /// Something that is done.
    Step(Step),
}

/// Something that is done.
pub(super) struct Step {
    /// Where it stands, from 1.
    pub(super) line: usize,
    /// The line itself.
    pub(super) head: String,
    /// What is indented beneath, without the indentation: more words of the step.
    pub(super) body: String,
    /// Whether what is indented beneath is what it says instead, and not more words of it.
    pub(super) speaks: bool,
}

/// Takes a story apart. What the steps said when it was written down is left out.
pub(super) fn read(text: &str) -> Vec<Piece> {
    let mut lines = text.lines().enumerate().peekable();
    let mut pieces = Vec::new();
    while let Some((at, line)) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            pieces.push(Piece::Prose(line.to_owned()));
            continue;
        }
        let speaks = line.starts_with("$ ") || line.starts_with("minutes ");
        let mut body = String::new();
        while let Some((_, beneath)) =
            lines.next_if(|(_, next)| next.starts_with(' ') || (speaks && next.is_empty()))
        {
            if !speaks {
                body.push_str(beneath.strip_prefix("  ").unwrap_or(beneath));
                body.push('\n');
            }
        }
        pieces.push(Piece::Step(Step { line: at + 1, head: line.to_owned(), body, speaks }));
    }
    pieces
}

/// The story with what its steps say now; `says` does a step.
pub(super) fn write(pieces: &[Piece], mut says: impl FnMut(&Step) -> String) -> String {
    let mut text = String::new();
    let line = |text: &mut String, indent: &str, line: &str| {
        let line = if line.is_empty() { String::new() } else { format!("{indent}{line}") };
        text.push_str(line.trim_end());
        text.push('\n');
    };
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Prose(prose) => line(&mut text, "", prose),
            Piece::Step(step) => {
                line(&mut text, "", &step.head);
                step.body.lines().for_each(|words| line(&mut text, "  ", words));
                let said = says(step);
                said.trim_end().lines().for_each(|words| line(&mut text, "    ", words));
                if step.speaks && at + 1 < pieces.len() {
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// The first line, from 1, at which two texts differ.
pub(super) fn first_difference(one: &str, other: &str) -> usize {
    let same = one.lines().zip(other.lines()).take_while(|(one, other)| one == other);
    same.count() + 1
}

#[test]
fn what_was_said_gives_way_to_what_is_said_now() {
    let text = "# why\nworker w\n  a: b\n$ carp plan\n    old\n\n    older\n\nrun\n$ true\n";
    let told = write(&read(text), |step| match step.head.as_str() {
        "$ carp plan" => "new\n\nnewer\n\n".to_owned(),
        head => {
            assert_eq!(step.body, if head == "worker w" { "a: b\n" } else { "" }, "{head}");
            String::new()
        }
    });
    let expected = "# why\nworker w\n  a: b\n$ carp plan\n    new\n\n    newer\n\nrun\n$ true\n";
    assert_eq!(told, expected);
    assert_eq!(first_difference(text, &told), 5);
    let step = |piece: &Piece| matches!(piece, Piece::Step(step) if step.line == 9);
    assert!(read(text).iter().any(step), "`run` is in line 9");
}
