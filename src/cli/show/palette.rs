//! Colours, which only a terminal gets.

/// Whether output has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// It has.
    On,
    /// It has none.
    Off,
}

/// What a text means; how that looks is decided here alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Well, or added.
    Good,
    /// Not as it should be yet, or changed.
    Warn,
    /// Wrong, or removed.
    Bad,
    /// What a section is about.
    Strong,
    /// Less important.
    Faint,
}

/// Paints, or leaves text as it is.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    colour: Colour,
}

impl Palette {
    /// Paints only when colours are on.
    #[must_use]
    pub const fn new(colour: Colour) -> Self {
        Self { colour }
    }

    /// Leaves everything as it is.
    #[must_use]
    pub const fn plain() -> Self {
        Self::new(Colour::Off)
    }

    /// Whether it paints.
    #[must_use]
    pub fn paints(self) -> bool {
        self.colour == Colour::On
    }

    /// The text in the colour of its tone.
    #[must_use]
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Bad => "1;31",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        match self.colour {
            Colour::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Colour::Off => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_the_text_stays_as_it_is() {
        assert_eq!(Palette::plain().paint(Tone::Bad, "x"), "x");
        assert_eq!(Palette::new(Colour::On).paint(Tone::Good, "x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
