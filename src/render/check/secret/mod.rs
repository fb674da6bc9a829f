//! Nothing secret reaches Git: no Secret with content, no key, no password of a cloud, no token. What is
//! looked for is data, in `policies/secrets.json`; what only looks like a secret is named by the object itself,
//! with a reason, in the annotation `carp.dev/not-secret`.

mod allowed;
mod ids;
mod nested;
mod rules;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::Value;

use self::allowed::{ANNOTATION, AllowedFields};
use self::rules::{FoundSecret, RULES};
use super::super::job::Job;
use super::super::object::Object;
use super::super::path::at;
use crate::diag::{Code, Diagnostic, Diagnostics};

/// The most findings about one object: whoever has so many mends the first ones and sees the rest.
const MOST: usize = 10;

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    objects.iter().flat_map(|object| findings(object, job)).collect()
}

fn findings(object: &Object, job: &Job) -> Vec<Diagnostic> {
    let finding = |message: String, instead: &str| {
        let help = format!(
            "let the object name a Secret that is made on the cluster itself; \
             `carp explain worker/NAME` lists those that are wanted{instead}"
        );
        job.finding(Code::SecretInOutput, &object.file, &message, &help)
    };
    if is_secret(object) && !ids::only(object, job) {
        return vec![finding(format!("{object} holds the content of a Secret"), "")];
    }
    if let Some(path) = nested::secret_within(object) {
        return vec![finding(format!("{object} holds the content of a Secret in `{path}`"), "")];
    }
    let told = |leak: Leak| {
        let Leak { what, path } = leak;
        let Some(path) = path else {
            return finding(format!("{object} has {what} in a comment"), "");
        };
        let instead =
            format!("; if it is none, say so in the annotation `{ANNOTATION}: \"{path}: WHY\"`");
        finding(format!("{object} holds {what} in `{path}`"), &instead)
    };
    leaks(object).into_iter().map(told).collect()
}

/// What looks like a secret; never the secret itself.
struct Leak {
    what: &'static str,
    /// The field; `None` in a comment.
    path: Option<String>,
}

/// All of an object's leaks, up to a number. Of objects of one shape the texts are looked at that differ.
fn leaks(object: &Object) -> Vec<Leak> {
    let Some(known) = &object.known else { return leaks_of_all(object) };
    let none_in_one = || {
        let mut look = ValueWalk::of(object);
        look.whole(object).is_continue() && look.leaks.is_empty() && look.passed.is_empty()
    };
    let mut line = String::with_capacity(128);
    let is_one = |name: Option<&str>, text: &str| {
        line.clear();
        if let Some(name) = name {
            line.extend([name, ": "]);
        }
        line.push_str(text);
        RULES.may_be_in(&line) && RULES.find(&line).is_some()
    };
    if known.has_no_secret(&object.value, none_in_one, is_one) {
        return Vec::new();
    }
    leaks_of_all(object)
}

fn leaks_of_all(object: &Object) -> Vec<Leak> {
    // An escape may hide a word from a look at the text.
    if !object.text.contains('\\') && !RULES.may_be_in(&object.text) {
        return Vec::new();
    }
    let mut look = ValueWalk::of(object);
    // The walk ends where there is enough to tell.
    let _ = look.whole(object);
    look.leaks
}

/// A walk over an object's values.
struct ValueWalk<'a> {
    allowed: AllowedFields<'a>,
    leaks: Vec<Leak>,
    /// The texts that stand in allowed fields.
    passed: Vec<&'a str>,
}

impl<'a> ValueWalk<'a> {
    fn of(object: &'a Object) -> Self {
        Self { allowed: AllowedFields::of(&object.value), leaks: Vec::new(), passed: Vec::new() }
    }

    /// All values, and the comments where none of them is a leak; breaks where there is enough to tell.
    fn whole(&mut self, object: &'a Object) -> ControlFlow<()> {
        self.value(&mut String::new(), None, &object.value)?;
        if self.leaks.is_empty() {
            self.comments(&object.text);
        }
        ControlFlow::Continue(())
    }

    /// A value, at a path, by a name that says what it is for.
    fn value(
        &mut self,
        path: &mut String,
        name: Option<&str>,
        value: &'a Value,
    ) -> ControlFlow<()> {
        let length = path.len();
        match value {
            Value::String(text) => {
                // Many shapes are known by the name of their field alone.
                let named = name.map(|name| format!("{name}: {text}"));
                let _ = self.text(path, named.as_deref().unwrap_or(text), text)?;
            }
            Value::Array(items) => {
                for (nth, item) in items.iter().enumerate() {
                    let _ = write!(path, "[{nth}]");
                    self.value(path, name, item)?;
                    path.truncate(length);
                }
            }
            Value::Object(map) => {
                // A variable of a container: `{name: TOKEN, value: …}`.
                let variable = map.get("name").and_then(Value::as_str);
                for (key, value) in map {
                    // A secret may be a key, too; then it must not be shown in a path.
                    if self.text(path, key, key)? {
                        continue;
                    }
                    step(path, key);
                    let name = variable.filter(|_| key == "value").unwrap_or(key);
                    self.value(path, Some(name), value)?;
                    path.truncate(length);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Whether a text is a secret, by what it is called.
    fn text(&mut self, path: &str, named: &str, text: &'a str) -> ControlFlow<(), bool> {
        let Some(FoundSecret { what, .. }) = RULES.find(named) else {
            return ControlFlow::Continue(false);
        };
        if self.allowed.has(path) {
            self.passed.push(text);
            return ControlFlow::Continue(true);
        }
        self.leaks.push(Leak { what, path: Some(path.to_owned()) });
        if self.leaks.len() < MOST { ControlFlow::Continue(true) } else { ControlFlow::Break(()) }
    }

    /// Comments are committed as the template has them.
    fn comments(&mut self, text: &str) {
        let comments = text.lines().filter_map(|line| Some(&line[line.find('#')?..]));
        let mut found = comments.filter_map(|comment| RULES.find(comment));
        // What stands after a `#` may be part of a value.
        let new = found.find(|found| !self.passed.iter().any(|text| text.contains(found.text)));
        self.leaks.extend(new.map(|found| Leak { what: found.what, path: None }));
    }
}

/// One step down: `data.key`, and `data["azure.json"]` where a dot would lead astray.
fn step(path: &mut String, key: &str) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
    if key.chars().all(plain) && !key.is_empty() {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    } else {
        let _ = write!(path, "[{}]", Value::from(key));
    }
}

/// Whether an object is a Secret with content.
pub(super) fn is_secret(object: &Object) -> bool {
    let has_content = || ["/data", "/stringData"].iter().any(|p| at(&object.value, p).is_some());
    object.kind() == "Secret" && object.group().is_empty() && has_content()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::messages;
    use super::*;

    fn found(body: &str) -> Vec<String> {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: a}}\n{body}");
        messages(check, &text, Code::SecretInOutput)
    }

    #[test]
    fn a_secret_with_content_is_refused_and_one_without_is_not() {
        let secret = |body: &str| {
            let text = format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: x, namespace: a}}\n{body}"
            );
            messages(check, &text, Code::SecretInOutput).len()
        };
        assert_eq!(secret("data: {a: Yg==}\n"), 1);
        assert_eq!(secret("stringData: {a: b}\n"), 1);
        assert_eq!(secret("type: Opaque\n"), 0);
    }

    #[test]
    fn keys_passwords_and_tokens_are_found_wherever_they_stand() {
        for body in [
            "data:\n  key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    AA\n",
            "spec: {clientSecret: hunter2}\n",
            "data:\n  azure.json: '{\"aadClientSecret\": \"hunter2\"}'\n",
            "data: {t: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N'}\n",
        ] {
            let messages = found(body);
            assert_eq!(messages.len(), 1, "{body}");
            assert!(!messages[0].contains("hunter2"), "the secret itself is never shown");
        }
    }

    #[test]
    fn a_secret_is_found_by_what_its_field_is_called() {
        for (body, path) in [
            ("data: {a: {api-token: Zx81QpLm27VnRt64KyWd90}}\n", "data.a.api-token"),
            (
                "data: {env: [{name: API_TOKEN, value: Zx81QpLm27VnRt64KyWd90}]}\n",
                "data.env[0].value",
            ),
            (
                "data: {headers: [{name: Authorization, value: Basic dXNlcjpodW50ZXIy}]}\n",
                "data.headers[0].value",
            ),
            ("data: {azure.json: clientSecret=hunter2}\n", "data[\"azure.json\"]"),
            ("data: {\"postgres://a:hunter2@db/x\": here}\n", "data"),
        ] {
            let messages = found(body);
            assert_eq!(messages.len(), 1, "{body} {messages:?}");
            assert!(messages[0].ends_with(&format!(" in `{path}`")), "{messages:?}");
        }
    }

    #[test]
    fn an_escape_or_a_comment_hides_nothing() {
        assert_eq!(found("data: {t: \"p\\x6fstgres:/\\x2fa:hunter2@db/x\"}\n").len(), 1);
        assert_eq!(found("data: {t: \"postgres:\\\n  //a:hunter2@db/x\"}\n").len(), 1);
        let messages = found("# before: postgres://a:hunter2@db/x\ndata: {a: b}\n");
        assert_eq!(messages, ["ConfigMap x has a password in a URL in a comment"]);
        let messages = found("data: {a: b} # postgres://a:hunter2@db/x\n");
        assert_eq!(messages.len(), 1);
    }

    #[test]
    fn an_object_tells_its_first_ten() {
        let field = |n| format!("  k{n}: postgres://a:hunter2@db/x\n");
        let fields = (0..50).map(field).collect::<Vec<_>>().concat();
        assert_eq!(found(&format!("data:\n{fields}")).len(), MOST);
    }

    #[test]
    fn a_reference_to_a_secret_is_none() {
        assert!(found("spec: {clientSecret: {name: x, namespace: y}}\n").is_empty());
        assert!(found("data: {a: 'set clientSecret out of band', b: v1.2.3}\n").is_empty());
    }

    /// What is found where no document of the same shape was read before.
    fn found_alone(body: &str) -> Vec<String> {
        std::thread::scope(|scope| scope.spawn(|| found(body)).join().unwrap())
    }

    #[test]
    fn what_others_of_its_shape_say_hides_no_secret() {
        const TOKEN: &str = "Zx81QpLm27VnRt64KyWd90";
        let bodies = [
            "data:\n  NAME: WORD\n",
            "data:\n  note: the secret is elsewhere\n  list:\n  - WORD\n",
            "data:\n  env:\n  - name: WORD\n    value: Zx81QpLm27VnRt64KyWd90\n",
            "data:\n  env:\n  - name: WORD\n    value: 'Zx81QpLm27VnRt64KyWd90'\n",
            "data:\n  env:\n  - name: WORD\n    value:\n    - 'Zx81QpLm27VnRt64KyWd90'\n",
            "data:\n  api-token:\n  - WORD\n",
            "data:\n  api-token:\n    value: WORD\n    name: a\n",
            "data:\n  block: |\n    api-token: WORD\n",
            "data:\n  a: b\n# api-token: WORD\n",
            "data:\n  a: b # api-token\n  b: WORD\n",
        ];
        let mut secrets = 0;
        for body in bodies {
            for word in ["a", "b", "c", "API_TOKEN", TOKEN, "d", "Authorization", TOKEN, "e"] {
                let body = body.replace("WORD", word).replace("NAME", "api-token");
                let found = found(&body);
                assert_eq!(found, found_alone(&body), "{body}");
                secrets += found.len();
            }
        }
        assert!(secrets >= bodies.len(), "{secrets}");
    }

    /// Documents of one shape: every word stands alone somewhere, and beside what says what it is for.
    const SHAPE: &str = "data:\n  a: ONE\n  b: TWO\n  api-token: THREE\n  env:\n  - name: TWO\n    value: ONE\n  block: |\n    \
                         client-secret: THREE\n  password:\n  - TWO\n  - count: 1\n";

    proptest! {
        #[test]
        fn what_the_document_before_says_hides_no_secret(
            all in prop::collection::vec(prop::collection::vec(prop::sample::select(WORDS), 3), 3..9),
        ) {
            for words in all {
                let body = SHAPE.replace("ONE", words[0]).replace("TWO", words[1]).replace("THREE", words[2]);
                prop_assert_eq!(found(&body), found_alone(&body), "{}", body);
            }
        }
    }

    const WORDS: &[&str] = &["a", "b", "a", "b", "API_TOKEN", "Zx81QpLm27VnRt64KyWd90"];
}
