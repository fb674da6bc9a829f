//! The shapes of secrets in `policies/secrets.json`, and a search that is done after one look at a text
//! that has none.
//!
//! Every rule names words that each secret of its kind comes with; all of them are looked for in one pass,
//! and only a line that has one is held against the rule's pattern. A shape that other text may have too is a
//! secret only where it looks drawn by chance: its entropy is what Shannon's formula gives for its bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_lite::Regex;
use serde::Deserialize;

const TABLE: &str = include_str!("../../../../policies/secrets.json");
/// How much of a line before and after a word is looked at with it, in bytes.
const AROUND: (usize, usize) = (256, 8192);
/// How much after a word a secret may take. A token of a service account has more than a thousand bytes.
const LONGEST: usize = 4096;
/// A token that joins a node to a cluster, as kubeadm makes it: so many characters, a dot, and so many.
const JOIN: (usize, usize) = (6, 16);
const JOIN_TOKEN: &str = "a token of kubeadm";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SecretTable {
    #[serde(rename = "schemaVersion")]
    _schema: u32,
    #[serde(rename = "source")]
    _source: String,
    /// What is no secret although it is in a Secret: names of entries, and what such an entry may hold.
    ids: Vec<IdRow>,
    rules: Vec<RuleRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IdRow {
    keys: Vec<String>,
    pattern: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleRow {
    what: String,
    words: Vec<String>,
    pattern: String,
    /// Stands in every such secret too: a cheap look before the pattern.
    #[serde(default)]
    also: String,
    /// In bits a character.
    #[serde(default)]
    entropy: f64,
    /// An `A`, an `a` or a `0` for each class of characters that must be there.
    #[serde(default)]
    has: String,
}

struct SecretRule {
    row: RuleRow,
    /// Made for the first line that is held against it.
    pattern: OnceLock<Regex>,
}

/// The rules, ready to be searched for.
pub(super) struct SecretRules {
    all: Vec<SecretRule>,
    words: AhoCorasick,
    /// The rule of each word.
    rule_of: Vec<usize>,
    /// The names of entries that hold IDs, each with their form.
    ids: Vec<(Vec<String>, Regex)>,
}

/// Something that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundSecret<'a> {
    /// What kind of secret; for a person.
    pub(super) what: &'static str,
    /// Where the secret itself stands in the text.
    pub(super) text: &'a str,
}

/// The rules that are built in.
pub(super) static RULES: LazyLock<SecretRules> = LazyLock::new(SecretRules::built_in);

impl SecretRules {
    fn built_in() -> Self {
        let table: SecretTable =
            serde_json::from_str(TABLE).expect("a test reads policies/secrets.json");
        let rule = |row| SecretRule { row, pattern: OnceLock::new() };
        let id = |row: IdRow| {
            let form = Regex::new(&row.pattern).expect("a test reads policies/secrets.json");
            (row.keys, form)
        };
        let ids = table.ids.into_iter().map(id).collect();
        let rules: Vec<_> = table.rules.into_iter().map(rule).collect();
        let words = || {
            let all = rules.iter().enumerate();
            all.flat_map(|(nth, rule)| rule.row.words.iter().map(move |word| (nth, word)))
        };
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words().map(|(_, word)| word))
            .expect("a few dozen words make no large automaton");
        let rule_of = words().map(|(nth, _)| nth).collect();
        Self { words: automaton, rule_of, all: rules, ids }
    }

    /// Whether a secret may be in a text that stands for itself: `false` is certain.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        self.words.is_match(text) || join_token(text).is_some()
    }

    /// Whether an entry of that name holds an ID, or a word that is as open.
    pub(super) fn is_id(&self, key: &str, value: &str) -> bool {
        self.ids.iter().any(|(keys, form)| keys.iter().any(|k| k == key) && form.is_match(value))
    }

    /// A secret in a text, by the first rule of the table that finds one.
    pub(super) fn find<'a>(&'static self, text: &'a str) -> Option<FoundSecret<'a>> {
        let mut tried = BTreeMap::new();
        let mut best = None;
        for word in self.words.find_overlapping_iter(text) {
            let nth = self.rule_of[word.pattern().as_usize()];
            // Words can stand in a line by the thousand; what was looked at with one is not again.
            let seen = tried.entry(nth).or_insert(0);
            let end = line_end(text, word.end());
            if *seen >= end.min(word.end() + LONGEST)
                || best.as_ref().is_some_and(|(b, _)| *b <= nth)
            {
                continue;
            }
            let around = around(text, word.range(), end);
            *seen = around.end;
            let rule = &self.all[nth];
            let line = &text[around];
            if !line.contains(&rule.row.also) {
                continue;
            }
            if let Some(text) = rule.secret_in(line) {
                best = Some((nth, FoundSecret { what: &rule.row.what, text }));
            }
        }
        let join = || join_token(text).map(|token| FoundSecret { what: JOIN_TOKEN, text: token });
        best.map(|(_, found)| found).or_else(join)
    }

    #[cfg(test)]
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|rule| rule.row.what.as_str())
    }
}

impl SecretRule {
    fn pattern(&self) -> &Regex {
        let made = || Regex::new(&self.row.pattern).expect("a test reads policies/secrets.json");
        self.pattern.get_or_init(made)
    }

    fn secret_in<'a>(&self, line: &'a str) -> Option<&'a str> {
        let all = self.pattern().captures_iter(line);
        let mut secrets = all.filter_map(|found| {
            let group = found.iter().skip(1).flatten().next();
            group.or_else(|| found.get(0)).map(|found| found.as_str())
        });
        secrets.find(|secret| entropy(secret) >= self.row.entropy && has_all(secret, &self.row.has))
    }
}

/// Where the line of a word ends, if that is not far away.
fn line_end(text: &str, word_end: usize) -> usize {
    let most = boundary(text, text.len().min(word_end + AROUND.1));
    text[word_end..most].find('\n').map_or(most, |at| word_end + at)
}

/// The part of a word's line that is looked at with it.
fn around(text: &str, word: Range<usize>, end: usize) -> Range<usize> {
    let start = boundary(text, word.start.saturating_sub(AROUND.0));
    let start = text[start..word.start].rfind('\n').map_or(start, |at| start + at + 1);
    start..end
}

/// The end of the character before a place, or that place.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The bits that a character of a text carries, by how often each occurs in it.
fn entropy(text: &str) -> f64 {
    let mut counts = BTreeMap::<u8, f64>::new();
    for byte in text.bytes() {
        *counts.entry(byte).or_default() += 1.0;
    }
    let length: f64 = counts.values().sum();
    counts.values().map(|count| count / length).map(|share| -share * share.log2()).sum()
}

/// Whether a text has a character of each class that a sample shows.
fn has_all(text: &str, sample: &str) -> bool {
    let class = |c: char| (c.is_ascii_uppercase(), c.is_ascii_lowercase(), c.is_ascii_digit());
    sample.chars().all(|wanted| text.chars().any(|c| class(c) == class(wanted)))
}

/// A token of kubeadm: nothing announces it, so every dot is looked at. It stands alone, and its second
/// half has letters and digits, which a name of a host or of an API group seldom has.
fn join_token(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let fits = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
    memchr::memchr_iter(b'.', bytes).find_map(|dot| {
        let (start, end) = (dot.checked_sub(JOIN.0)?, dot + 1 + JOIN.1);
        let (id, secret) = (bytes.get(start..dot)?, bytes.get(dot + 1..end)?);
        let alone = !start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(goes_on)
            && !bytes.get(end).is_some_and(goes_on);
        let drawn =
            secret.iter().any(u8::is_ascii_digit) && secret.iter().any(u8::is_ascii_lowercase);
        (alone && drawn && id.iter().chain(secret).all(fits)).then(|| &text[start..end])
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// So many characters that look drawn by chance, the same ones every time.
    fn drawn(alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            usize::try_from(state >> 40).unwrap() % alphabet.len()
        };
        (0..length).map(|_| char::from(alphabet[next()])).collect()
    }

    const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const HEX: &str = "0123456789abcdef";

    fn found(text: &str) -> Option<&'static str> {
        RULES.find(text).map(|found| found.what)
    }

    /// One of each. They are put together here, so that no scanner takes this file for a leak.
    fn secrets() -> Vec<String> {
        let w = |n| drawn(WORD, n);
        let begin = |kind: &str| format!("-----BEGIN {kind}PRIVATE KEY-----");
        vec![
            begin("RSA "),
            begin(""),
            begin("OPENSSH "),
            format!("-----BEGIN PGP {} BLOCK-----", "PRIVATE KEY"),
            // The three ways in which base64 can come to write the same bytes.
            format!("LS0tLS1CRUdJTiBSU0Eg{}ktLS0tLQ==", "UFJJVkFURSBLRV"),
            format!("LS0tLS1CRUdJTi{}LS0tLS0K", "BSSVZBVEUgS0VZ"),
            format!("LS0tLS1CRUdJTiBFQyB{}S0tLS0tCg==", "QUklWQVRFIEtFW"),
            format!("PuTTY-User-Key-{}-3: ssh-ed25519", "File"),
            format!(
                "AGE-SECRET-{}1{}",
                "KEY-", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"
            ),
            "AZURE_CLIENT_SECRET=hunter2".to_owned(),
            format!("eyJ{}.eyJ{}.{}", w(20), w(1500), w(43)),
            format!("ZXlKaGJHY2{}", w(60)),
            format!("ghp_{}", w(36)),
            format!("ghs_{}", w(36)),
            format!("github_{}_{}_{}", "pat", w(22), w(59)),
            format!("glpat-{}", w(20)),
            format!("glrt-{}", w(20)),
            format!("AKIA{}", drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
            format!("aws_secret_access_key = {}", w(40)),
            format!("secretAccessKey: {}/x", w(38)),
            format!("https://a.blob.core.windows.net/c?sv=2024-11-04&sr=c&sig={}%3D", w(43)),
            format!("AccountName=a;AccountKey={}==;EndpointSuffix=x", w(86)),
            format!("{}+ASt{}Q==", w(76), w(5)),
            format!("{}8Q~{}", w(3), w(34)),
            format!("{}AZDO{}", w(76), w(4)),
            format!("AIza{}", w(35)),
            format!("xoxb-{}-{}", drawn("0123456789", 12), w(24)),
            format!("https://hooks.slack.com/services/T{}/B{}/{}", w(8), w(8), w(24)),
            format!("sk_live_{}", w(24)),
            format!("npm_{}", w(36)),
            format!("pypi-AgEIcHlwaS5vcmc{}", w(80)),
            format!("dckr_pat_{}", w(27)),
            "{\"auths\":{\"r.example.com\":{\"auth\":\"dXNlcjpodW50ZXIy\"}}}".to_owned(),
            format!("hvs.{}", w(90)),
            format!("{}.atlasv1.{}", w(14), w(67)),
            format!("dop_v1_{}", drawn(HEX, 64)),
            format!("glsa_{}_{}", w(32), drawn(HEX, 8)),
            format!("SG.{}.{}", w(22), w(43)),
            format!("hf_{}", drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 34)),
            format!("sk-ant-{}", w(40)),
            "postgres://carp:hunter2@db.example.com:5432/carp".to_owned(),
            "redis://:hunter2@cache/0".to_owned(),
            format!("https://{}@git.example.com/x.git", drawn(HEX, 40)),
            "curl -H 'Authorization: Basic dXNlcjpodW50ZXIy' x".to_owned(),
            format!("{{\"Authorization\": \"Bearer {}\"}}", w(32)),
            format!("kubeadm join 10.0.0.1:6443 --token {}.{}", drawn(HEX, 6), drawn(HEX, 16)),
            "abcdef.0123456789abcdef".to_owned(),
            format!("adminPassword: {}", w(24)),
            format!("API_TOKEN={}", w(32)),
        ]
    }

    #[test]
    fn every_kind_of_secret_is_found_and_every_rule_finds_one() {
        let secrets = secrets();
        let mut kinds = BTreeSet::new();
        for secret in &secrets {
            let what = found(secret);
            assert!(what.is_some(), "{secret}");
            let inside = format!("first: line\n  {secret} # and why\nlast: line\n");
            assert_eq!(found(&inside), what, "{inside}");
            assert!(RULES.may_be_in(secret), "{secret}");
            kinds.extend(what);
        }
        let all: BTreeSet<_> = RULES.kinds().chain([JOIN_TOKEN]).collect();
        assert_eq!(kinds, all);
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        let w = |n| drawn(WORD, n);
        let certificate = "-----BEGIN CERTIFICATE-----";
        for text in [
            format!("sha256:{}", drawn(HEX, 64)),
            format!("image: ghcr.io/a/b:v1@sha256:{}", drawn(HEX, 64)),
            format!("discovery-token-ca-cert-hash: sha256:{}", drawn(HEX, 64)),
            drawn(HEX, 40),
            "6f4b1e0a-3c58-4f5b-9d4c-0a8e7d1c2b3f".to_owned(),
            "tokenID: 6f4b1e0a-3c58-4f5b-9d4c-0a8e7d1c2b3f".to_owned(),
            format!("{certificate}\n{}\n{}\n-----END CERTIFICATE-----", w(64), w(64)),
            // The same in base64, as caBundle has it, and a public key.
            format!("caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSU{}", w(900)),
            "-----BEGIN PGP PUBLIC KEY BLOCK-----".to_owned(),
            format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} carp@example.com", w(43)),
            "/subscriptions/6f4b1e0a-3c58-4f5b-9d4c-0a8e7d1c2b3f/resourceGroups/rg-Pay-EU-01/providers/Microsoft.ManagedIdentity/userAssignedIdentities/carpNodeIdentity01".to_owned(),
            "service-account-issuer: https://oidc.example.com/6f4b1e0a-3c58-4f5b-9d4c-0a8e7d1c2b3f/".to_owned(),
            "https://westeurope.oic.prod-aks.azure.com/6f4b1e0a-3c58-4f5b-9d4c-0a8e7d1c2b3f/x/".to_owned(),
            "ssh://git@git.example.com:22/org/fleet.git".to_owned(),
            "oci://ghcr.io:443/fluxcd/flux-manifests@v1".to_owned(),
            "https://git.example.com:8443/a@v1?x=y".to_owned(),
            "https://organisation-of-many@dev.azure.com/x/_git/y".to_owned(),
            "https://$(USER):$(PASSWORD)@db".to_owned(),
            "https://user:${PASSWORD}@db".to_owned(),
            "https://user:<password>@db".to_owned(),
            "token: ${TOKEN}".to_owned(),
            "tokenSecretRef: {name: Carp-Agent-Token-01, key: token}".to_owned(),
            "secret: carp-agent-signing-key-01".to_owned(),
            "bearer-token-file=/var/run/secrets/kubernetes.io/serviceaccount/token".to_owned(),
            "token: /var/run/secrets/kubernetes.io/ServiceAccount1/token".to_owned(),
            "set clientSecret out of band".to_owned(),
            "clientSecret: {name: x, namespace: y}".to_owned(),
            "clientSecretName: pay".to_owned(),
            "apiGroup: rbac.authorization.k8s.io".to_owned(),
            "authorization-mode: Node,RBAC".to_owned(),
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
            "glpat-xxxxxxxxxxxxxxxxxxxx".to_owned(),
            "AKIAAAAAAAAAAAAAAAAA".to_owned(),
            "config.infrastructure1cluster.x-k8s.io".to_owned(),
            "server.abcdefghijklmnop".to_owned(),
            "kubeadm.k8s.io/v1beta4".to_owned(),
            "x: abcdef.0123456789abcdef0".to_owned(),
            "a.abcdef.0123456789abcdef".to_owned(),
            "abcdef.0123456789abcdef.westeurope.azmk8s.io".to_owned(),
            "v1.34.2 and 10.244.0.0/16".to_owned(),
            format!("binaryData: {}", w(4000)),
        ] {
            assert_eq!(found(&text), None, "{text}");
        }
    }

    #[test]
    fn entropy_is_shannons() {
        assert!((entropy("aaaa")).abs() < 1e-9);
        assert!((entropy("abab") - 1.0).abs() < 1e-9);
        assert!((entropy("0123456789abcdef") - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_line_of_any_length_costs_what_its_words_cost() {
        let flood = "token=a ".repeat(200_000);
        assert_eq!(found(&flood), None);
        let text = format!("{}ü{} ghp_{}", "ü".repeat(500), "é".repeat(3000), drawn(WORD, 36));
        assert_eq!(found(&text), Some("a token of GitHub"));
    }
}
