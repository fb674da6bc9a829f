//! `spec.git` and `spec.observed`: with what carp signs, and whose signatures count.

use super::address;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::{
    AcknowledgementSettings, GitSettings, ObservedSettings, Signing, WriteMode,
};
use crate::model::{AllowedSigner, Name, OpenpgpKey};

/// Checks how commits are made.
pub(super) fn check(git: &GitSettings, path: &FieldPath, out: &mut Findings) {
    if let Some(found) = &git.signing {
        signing(found, &path.key("signing"), out);
    }
    push_options(git, &path.key("pushOptions"), out);
    if let Some(verify) = &git.verify {
        let path = path.key("verify");
        signers(&verify.allowed_signers, &path.key("allowedSigners"), out);
        for (i, key) in verify.openpgp_keys.iter().enumerate() {
            openpgp_key(key, path.key("openpgpKeys").index(i), out);
        }
    }
}

/// Each is one line, and there is a push that takes them.
fn push_options(git: &GitSettings, path: &FieldPath, out: &mut Findings) {
    if !git.push_options.is_empty() && git.write == WriteMode::Direct {
        let message = "only the push of a proposal has options, and `write` is `direct`";
        let help = "set `write: pullRequest`, or remove the options";
        out.add(Code::InvalidValue, path.clone(), message, help);
    }
    for (i, option) in git.push_options.iter().enumerate() {
        if option.is_empty() || option.chars().any(char::is_control) {
            let help = "write one line, such as `merge_request.create`";
            out.add(Code::InvalidValue, path.index(i), "this is no option of a push", help);
        }
    }
}

/// Checks where reports come from.
pub(super) fn observed(observed: &ObservedSettings, path: &FieldPath, out: &mut Findings) {
    if let Some(url) = &observed.url {
        address::check(url, &path.key("url"), out);
    }
    let at = path.key("allowedSigners");
    for (i, signer) in signers(&observed.allowed_signers, &at, out) {
        let other = signer.principals.iter().find(|name| Name::parse(name).is_err());
        if let Some(other) = other {
            let help =
                "a report is signed by its own worker: write the worker's name before its key";
            no_worker(other, at.index(i), help, out);
        }
    }
    for (i, key) in observed.openpgp_keys.iter().enumerate() {
        let at = path.key("openpgpKeys").index(i);
        openpgp_key(&key.key, at.key("key"), out);
        if Name::parse(&key.worker).is_err() {
            no_worker(&key.worker, at.key("worker"), "write the name of the key's worker", out);
        }
    }
}

/// Checks who acknowledges. Two people have two keys, and each key is one person's: of a key behind two names nobody
/// could say whose signature it made.
pub(super) fn acknowledgements(
    found: &AcknowledgementSettings,
    path: &FieldPath,
    out: &mut Findings,
) {
    let at = path.key("allowedSigners");
    let all = signers(&found.allowed_signers, &at, out);
    if found.two_person && found.allowed_signers.is_empty() {
        let help = "list who may acknowledge in `allowedSigners`, or remove `twoPerson`";
        let message = "nobody could tell two people apart: no signers are listed";
        out.add(Code::MissingField, path.key("twoPerson"), message, help);
    }
    for (i, signer) in all.iter().filter(|_| found.two_person) {
        let before = all.iter().take_while(|(other, _)| other < i);
        let same = before.map(|(_, other)| other).find(|other| other.key() == signer.key());
        if let Some(other) = same.filter(|other| other.principals != signer.principals) {
            let message = format!(
                "this key is also `{}`'s, so two names are one person",
                other.principals.join(",")
            );
            let help = "write all names of one person before one key, parted by commas";
            out.add(Code::InvalidValue, at.index(*i), message, help);
        }
    }
}

fn no_worker(name: &str, path: FieldPath, help: &str, out: &mut Findings) {
    out.add(Code::InvalidValue, path, format!("`{name}` is not the name of a worker"), help);
}

fn openpgp_key(key: &str, path: FieldPath, out: &mut Findings) {
    if let Err(why) = OpenpgpKey::parse(key) {
        let message = format!("this is no public OpenPGP key in its armour: {why}");
        let help = match why.as_str() {
            "it is a private key" => {
                "take it for known to others and make a new one; `gpg --armor --export` prints public ones"
            }
            _ => "paste what `gpg --armor --export alice@example.com` prints, as a `|` block",
        };
        out.add(Code::InvalidValue, path, message, help);
    }
}

/// Each is one line as ssh-keygen(1) has them.
fn signers(lines: &[String], path: &FieldPath, out: &mut Findings) -> Vec<(usize, AllowedSigner)> {
    let mut all = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        match AllowedSigner::parse(line) {
            Ok(signer) => all.push((i, signer)),
            Err(why) => {
                let message = format!("this is no line of allowed signers: {why}");
                let help =
                    "write who signs and a public key: `alice@example.com ssh-ed25519 AAAA…`";
                out.add(Code::InvalidValue, path.index(i), message, help);
            }
        }
    }
    all
}

/// The key is named, and is on the machine that runs carp.
fn signing(signing: &Signing, path: &FieldPath, out: &mut Findings) {
    let Some(key) = &signing.key else { return };
    let path = path.key("key");
    if key.contains("PRIVATE KEY") {
        let message = "a private key stands in the fleet";
        let help = "take it for known to others and make a new one; write its file or its id here";
        out.add(Code::InvalidValue, path, message, help);
    } else if key.trim().is_empty() || key.chars().any(char::is_control) {
        let help = "write a file such as ~/.ssh/id_ed25519, a public key, or the id of a GPG key";
        out.add(Code::InvalidValue, path, "this cannot be the name of a key", help);
    } else if is_relative_file(key) {
        let message = format!("`{key}` is a file relative to nothing that is known");
        let help = "write a path that begins with / or ~/, on the machine that runs carp";
        out.add(Code::InvalidValue, path, message, help);
    }
}

/// Whether a key is named as a file that may lie anywhere. The base64 of a public key has `/` too.
fn is_relative_file(key: &str) -> bool {
    let one_word = !key.contains(char::is_whitespace) && !key.starts_with("key::");
    one_word && key.contains('/') && !key.starts_with('/') && !key.starts_with('~')
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use crate::diag::Code;

    #[test]
    fn a_key_is_named_and_never_written() {
        for bad in ["\"\"", "keys/carp", "./carp", "\"-----BEGIN OPENSSH PRIVATE KEY-----\""] {
            let carp = format!("{CARP}  git: {{signing: {{format: ssh, key: {bad}}}}}\n");
            files_find(&[("carp.yaml", &carp)], Code::InvalidValue, "spec.git.signing.key");
        }
        for good in ["~/.ssh/id", "/keys/carp", "ABCD1234", "ssh-ed25519 AAAA/b", "a@b.example"] {
            let carp = format!("{CARP}  git: {{signing: {{format: ssh, key: {good}}}}}\n");
            assert!(!load_files(&[("carp.yaml", &carp)]).fleet_broken, "{good}");
        }
    }

    #[test]
    fn those_who_acknowledge_are_listed_and_have_keys_of_their_own() {
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA";
        let carp = |more: &str| format!("{CARP}  acknowledgements: {{{more}}}\n");
        let two = |a: &str, b: &str| {
            carp(&format!("twoPerson: true, allowedSigners: [\"{a} {key}\", \"{b} {key}B\"]"))
        };
        assert!(!load_files(&[("carp.yaml", &two("a@x", "b@x"))]).fleet_broken);
        let same = two("a@x", "b@x").replace(&format!("{key}B"), key);
        let path = "spec.acknowledgements.allowedSigners[1]";
        files_find(&[("carp.yaml", &same)], Code::InvalidValue, path);
        let path = "spec.acknowledgements.twoPerson";
        files_find(&[("carp.yaml", &carp("twoPerson: true"))], Code::MissingField, path);
        let path = "spec.acknowledgements.allowedSigners[0]";
        let bad = carp("allowedSigners: [alice]");
        files_find(&[("carp.yaml", &bad)], Code::InvalidValue, path);
    }

    #[test]
    fn signers_are_lines_of_allowed_signers() {
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA";
        let verify =
            |list: &str| format!("{CARP}  git: {{verify: {{allowedSigners: [{list}]}}}}\n");
        assert!(!load_files(&[("carp.yaml", &verify(&format!("\"*@x {key}\"")))]).fleet_broken);
        let path = "spec.git.verify.allowedSigners[0]";
        files_find(&[("carp.yaml", &verify("a@x"))], Code::InvalidValue, path);
        let reports =
            |who: &str| format!("{CARP}  observed: {{allowedSigners: [\"{who} {key}\"]}}\n");
        assert!(!load_files(&[("carp.yaml", &reports("we-1,we-2"))]).fleet_broken);
        for bad in ["*", "we-1,We", "we-?"] {
            let path = "spec.observed.allowedSigners[0]";
            files_find(&[("carp.yaml", &reports(bad))], Code::InvalidValue, path);
        }
    }

    #[test]
    fn options_are_for_the_push_of_a_proposal() {
        let carp = |mode: &str, option: &str| {
            format!("{CARP}  git: {{write: {mode}, pushOptions: [{option}]}}\n")
        };
        let good = carp("pullRequest", "merge_request.create");
        assert!(!load_files(&[("carp.yaml", &good)]).fleet_broken);
        for bad in ["\"\"", "\"a\\nb\""] {
            let carp = carp("pullRequest", bad);
            files_find(&[("carp.yaml", &carp)], Code::InvalidValue, "spec.git.pushOptions[0]");
        }
        let none = carp("direct", "merge_request.create");
        files_find(&[("carp.yaml", &none)], Code::InvalidValue, "spec.git.pushOptions");
    }

    #[test]
    fn openpgp_keys_are_public_and_in_their_armour() {
        let block = |of: &str| {
            let lines = ["BEGIN", "mDMEZw==", "END"].map(|line| match line {
                "BEGIN" => format!("-----BEGIN PGP {of} KEY BLOCK-----\\n"),
                "END" => format!("-----END PGP {of} KEY BLOCK-----"),
                body => body.to_owned(),
            });
            format!("\"{}\"", lines.join("\\n"))
        };
        let verify = |key: &str| format!("{CARP}  git: {{verify: {{openpgpKeys: [{key}]}}}}\n");
        assert!(!load_files(&[("carp.yaml", &verify(&block("PUBLIC")))]).fleet_broken);
        for bad in ["\"\"".to_owned(), block("PRIVATE"), "ABCD1234".to_owned()] {
            let path = "spec.git.verify.openpgpKeys[0]";
            files_find(&[("carp.yaml", &verify(&bad))], Code::InvalidValue, path);
        }
        let reports = |who: &str, key: &str| {
            format!("{CARP}  observed: {{openpgpKeys: [{{worker: {who}, key: {key}}}]}}\n")
        };
        assert!(!load_files(&[("carp.yaml", &reports("we-1", &block("PUBLIC")))]).fleet_broken);
        let path = "spec.observed.openpgpKeys[0].worker";
        files_find(&[("carp.yaml", &reports("We", &block("PUBLIC")))], Code::InvalidValue, path);
        let path = "spec.observed.openpgpKeys[0].key";
        files_find(&[("carp.yaml", &reports("we-1", "x"))], Code::InvalidValue, path);
    }

    #[test]
    fn a_format_is_one_of_gits() {
        let carp = format!("{CARP}  git: {{signing: {{format: x509}}}}\n");
        files_find(&[("carp.yaml", &carp)], Code::InvalidValue, "spec.git.signing.format");
    }
}
