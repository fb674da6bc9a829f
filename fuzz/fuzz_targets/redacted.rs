//! No token that stands in a URL survives [`Redacted`], whatever text is around it.
#![no_main]

use carp::git::Redacted;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// The token, which no other part of the text spells.
const TOKEN: &str = "S3CR3TT0K3N";

fuzz_target!(|bytes: &[u8]| {
    let _ = text(&mut Unstructured::new(bytes)).map(|text| {
        let shown = Redacted::new(&text);
        assert!(!shown.as_str().contains(TOKEN), "{text:?} is shown as {:?}", shown.as_str());
        assert!(!format!("{shown:?}").contains(TOKEN));
        assert_eq!(Redacted::new(shown.as_str()), shown, "redacting twice is redacting once");
    });
    if let Ok(text) = std::str::from_utf8(bytes) {
        let shown = Redacted::new(text);
        assert!(shown.as_str().len() <= text.len());
    }
});

/// Words, URLs with the token in them, words.
fn text(choices: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..=choices.int_in_range(0..=3)? {
        text.push_str(&words(choices)?);
        text.push_str(choices.choose(&["", " ", "'", "\"", "\n", "(", "<"])?);
        text.push_str(&url(choices)?);
        text.push_str(choices.choose(&[" ", "'", "\"", "\n", ">"])?);
        text.push_str(&words(choices)?);
    }
    Ok(text)
}

fn url(choices: &mut Unstructured<'_>) -> Result<String> {
    let scheme = *choices.choose(&["https", "http", "HTTPS", "ssh", "git+ssh", "ftps", "x"])?;
    let user = choices.choose(&["oauth2", "x-access-token", "git", "a%40b", ""])?;
    let inside = part(choices)?;
    let secret = format!("{inside}{TOKEN}");
    // The user of an ssh URL is an account's name, which is shown.
    let over_ssh = scheme.ends_with("ssh");
    let credentials = match choices.int_in_range(0..=2)? {
        0 if !over_ssh => secret,
        1 if !over_ssh => format!("{secret}:x-oauth-basic"),
        _ => format!("{user}:{secret}"),
    };
    let host = choices.choose(&["git.example.com", "127.0.0.1:8080", "[::1]:80", "h"])?;
    let path = choices.choose(&["", "/", "/org/fleet.git", "/a@v1", "/r?ref=main#x"])?;
    Ok(format!("{scheme}://{credentials}@{host}{path}"))
}

/// Characters that stand in passwords as people paste them, those apart that end a URL in a text.
fn part(choices: &mut Unstructured<'_>) -> Result<String> {
    let mut part = String::new();
    for _ in 0..choices.int_in_range(0..=8)? {
        part.push_str(
            choices.choose(&[
                "a", "B", "7", "-", "_", ".", "~", "%2F", "%40", ":", "@", "!", "+", "=",
            ])?,
        );
    }
    Ok(part)
}

fn words(choices: &mut Unstructured<'_>) -> Result<String> {
    let length = choices.int_in_range(0..=12)?;
    let bytes = choices.bytes(length.min(choices.len()))?;
    // The fuzzer learns the token from the comparison, and puts it where no URL is.
    Ok(String::from_utf8_lossy(bytes).replace(TOKEN, ""))
}
