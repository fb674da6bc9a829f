//! Text of others as it is shown: what nobody sees, and what a terminal or a page obeys, becomes a mark.

use std::borrow::Cow;

/// Whether a character may be shown as it is: no control character but a line break and a tab, and none
/// that turns the direction of what follows or that nobody sees (UAX #9, and UTS #39 on what is invisible;
/// those of CVE-2021-42574 are among them).
#[must_use]
pub fn is_harmless(c: char) -> bool {
    if c.is_control() {
        return matches!(c, '\n' | '\t');
    }
    !matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// What is shown in place of a character that is not harmless: its picture, such as `␛`, or the character
/// for what cannot be shown.
#[must_use]
pub fn picture(c: char) -> char {
    let picture = char::from_u32(0x2400 + u32::from(c)).filter(|_| u32::from(c) < 0x20);
    picture.unwrap_or('\u{fffd}')
}

/// A text on one line, harmless.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    let stays = |c: char| is_harmless(c) && c != '\n';
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if stays(c) { c } else { picture(c) }).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_hides_or_is_obeyed_becomes_a_mark() {
        let hidden = "a\u{202e}b\u{2066}c\u{200b}\u{e0041}";
        assert_eq!(line(hidden), "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}");
        assert_eq!(line("a\n\nCarp-Input: x\r\u{1b}[2J\0"), "a␊␊Carp-Input: x␍␛[2J␀");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["naïve", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}", "日本", "👩\u{200d}💻", "a\tb", "␛"]
        {
            assert_eq!(line(text), text);
        }
    }
}
