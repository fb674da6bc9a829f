//! What the forge is told of a turn: a status on the input commit and one comment on its request, through the
//! three APIs; and what comes of a forge that does not take it.

use std::time::Duration;

use carp::forge::{CallLimits, Error, ForgeReport, ForgeTarget, ReportState, Token, tell};
use carp::model::Id;
use carp::model::api::ForgeKind;

use crate::support::forge::{Forge, Mood, TOKEN};
use crate::support::people::{Person, printed};
use crate::support::small::{self, cluster};
use crate::support::{Remote, git};

pub(crate) const FORGES: [ForgeKind; 3] = [ForgeKind::GitHub, ForgeKind::GitLab, ForgeKind::Gitea];

pub(crate) const LIMITS: CallLimits = CallLimits {
    whole: Duration::from_secs(20),
    call: Duration::from_secs(10),
    pause: Duration::from_millis(1),
};

pub(crate) fn report(state: ReportState, description: &str) -> ForgeReport {
    ForgeReport {
        commit: Id::from_bytes([0x5a; 20]),
        branch: "main".to_owned(),
        context: "carp".to_owned(),
        state,
        description: description.to_owned(),
        marker: "<!-- carp reconcile -->".to_owned(),
        comment: Some(format!("### carp: {description}")),
    }
}

pub(crate) fn told(
    forge: &Forge,
    kind: ForgeKind,
    report: &ForgeReport,
    limits: CallLimits,
) -> Result<(), Error> {
    let target = ForgeTarget::of(Some(kind), &forge.url()).unwrap();
    let now = "2026-11-01T09:00:00Z".parse().unwrap();
    tell(&target, &Token::new(TOKEN).unwrap(), report, limits, now)
}

#[test]
fn each_forge_is_told_once_and_again_only_of_what_is_new() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        // More than a page of what people wrote stands before carp's.
        forge.has().comments = (0..60).map(|n| format!("comment {n}")).collect();
        let waits = report(ReportState::Waits, "11 of 12 placed, 1 waits: pay-eu (Capacity)");
        told(&forge, kind, &waits, LIMITS).unwrap();
        assert_eq!(forge.written().len(), 2, "{kind:?}: a status and a comment");
        assert_eq!(
            forge.has().comments[60],
            "<!-- carp reconcile -->\n### carp: 11 of 12 placed, 1 waits: pay-eu (Capacity)"
        );
        told(&forge, kind, &waits, LIMITS).unwrap();
        assert_eq!(forge.written(), Vec::<String>::new(), "{kind:?}: nothing is told twice");

        let fine = report(ReportState::Fine, "12 of 12 placed");
        told(&forge, kind, &fine, LIMITS).unwrap();
        let written = forge.written();
        assert!(
            written[1].starts_with('P') && written[1].ends_with("/60"),
            "{kind:?}: {written:?}"
        );
        let has = forge.has();
        assert_eq!(has.comments.len(), 61, "{kind:?}: the one comment is edited");
        let last = ("success".to_owned(), "carp".to_owned(), "12 of 12 placed".to_owned());
        assert_eq!(has.statuses.last(), Some(&last), "{kind:?}");
    }
}

#[test]
fn each_forge_has_its_word_for_how_a_commit_fared() {
    let words = |kind| {
        let forge = Forge::start(kind);
        let states =
            [ReportState::Fine, ReportState::Waits, ReportState::Held, ReportState::Failed];
        for (number, state) in states.into_iter().enumerate() {
            told(&forge, kind, &report(state, &number.to_string()), LIMITS).unwrap();
        }
        let words: Vec<_> = forge.has().statuses.iter().map(|(state, ..)| state.clone()).collect();
        words.join(" ")
    };
    assert_eq!(words(ForgeKind::GitHub), "success pending failure error");
    // A status that waits would be a pipeline that never ends.
    assert_eq!(words(ForgeKind::GitLab), "success success failed failed");
    assert_eq!(words(ForgeKind::Gitea), "success pending warning failure");
}

#[test]
fn a_commit_that_no_request_brought_gets_a_status_alone() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        forge.has().is_requested = false;
        told(&forge, kind, &report(ReportState::Fine, "1 of 1 placed"), LIMITS).unwrap();
        let has = forge.has();
        assert_eq!((has.statuses.len(), has.comments.len()), (1, 0), "{kind:?}");
    }
}

#[test]
fn what_a_forge_does_not_take_is_told_without_the_token() {
    let says = |head, body: &str| Mood::Says(head, body.to_owned());
    let spent = "403 Forbidden\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1793524200";
    let echo = format!("{{\"message\": \"no {TOKEN} here\\n\\u001b[2J\"}}");
    // How it answers, what is said of that, and how often it was asked.
    let cases = [
        (says("401 Unauthorized", &echo), "was not allowed (401: no [token] here", 2),
        (
            says("403 Forbidden", "{\"message\": \"Resource not accessible\"}"),
            "Resource not accessible",
            2,
        ),
        (says(spent, "{}"), "it is left alone for 600 s", 1),
        (says("429 Too Many Requests\r\nRetry-After: 120", ""), "it is left alone for 120 s", 1),
        (says("404 Not Found", "{}"), "or the token may not see it", 2),
        (
            says("422 Unprocessable Entity", "{\"message\": {\"ref\": [\"x\"]}}"),
            "was refused (422: {\"ref\"",
            2,
        ),
        (says("500 Internal Server Error", "<html>"), "500: nothing more was said", 3),
        (says("200 OK", "<html>"), "the answer is no JSON", 3),
        (Mood::Huge, "was answered with more than 8388608 bytes", 2),
    ];
    let forge = Forge::start(ForgeKind::GitHub);
    for (mood, wanted, calls) in cases {
        let shown = format!("{mood:?}");
        forge.is(mood);
        let fine = report(ReportState::Fine, "1 of 1 placed");
        let error = told(&forge, ForgeKind::GitHub, &fine, LIMITS).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted} in {error} ({shown})");
        assert!(!error.contains(TOKEN) && !error.contains('\u{1b}'), "{error}");
        assert_eq!(std::mem::take(&mut forge.has().asked).len(), calls, "{shown}");
    }
}

#[test]
fn a_forge_that_is_slow_costs_no_more_than_the_limit() {
    let forge = Forge::start(ForgeKind::GitLab);
    forge.is(Mood::Slow(Duration::from_secs(30)));
    let limits = CallLimits { whole: Duration::from_millis(700), ..LIMITS };
    let begun = std::time::Instant::now();
    let fine = report(ReportState::Fine, "1 of 1 placed");
    let error = told(&forge, ForgeKind::GitLab, &fine, limits).unwrap_err();
    let host = forge.host();
    assert!(matches!(&error, Error::Slow { whole, .. } if *whole == limits.whole), "{error:?}");
    let said = error.to_string();
    assert!(said.starts_with(&format!("{host} did not answer within 700ms")), "{said}");
    assert!(said.contains("asked directly, for no proxy is set for it"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_forge_that_cannot_be_reached_is_named_with_the_cause() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        let (url, host) = (forge.url(), forge.host());
        let calls = report(ReportState::Fine, "1 of 1 placed");
        drop(forge);
        let target = ForgeTarget::of(Some(kind), &url).unwrap();
        let now = "2026-11-01T09:00:00Z".parse().unwrap();
        let error = tell(&target, &Token::new(TOKEN).unwrap(), &calls, LIMITS, now).unwrap_err();
        let said = error.to_string();
        for part in [host.as_str(), "Connection refused", "asked directly"] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert_eq!(said.matches("Connection refused").count(), 1, "each cause once: {said}");
    }
}

#[test]
fn the_token_does_not_follow_a_redirect() {
    for kind in FORGES {
        let (forge, elsewhere) = (Forge::start(kind), Forge::start(kind));
        for head in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
            let head = format!("{head}\r\nLocation: {}/api", elsewhere.url());
            forge.is(Mood::Says(Box::leak(head.into_boxed_str()), String::new()));
            let fine = report(ReportState::Fine, "1 of 1 placed");
            let error = told(&forge, kind, &fine, LIMITS).unwrap_err().to_string();
            assert!(error.contains("which is not followed"), "{error}");
        }
        assert_eq!(elsewhere.has().asked, Vec::<String>::new(), "{kind:?}");
    }
}

/// A fleet whose reconciler tells a forge.
struct World {
    forge: Forge,
    remote: Remote,
    person: Person,
}

impl World {
    fn new(kind: ForgeKind) -> Self {
        let remote = Remote::new();
        let person = Person::cloning(&remote.url());
        person.push(&small::files());
        Self { forge: Forge::start(kind), remote, person }
    }

    /// One turn that goes well; what it printed.
    #[track_caller]
    fn reconciles(&self) -> String {
        let url = self.forge.url();
        let args = ["reconcile", "--once", "--forge", self.forge.name(), "--forge-url", &url];
        let output = self.person.command(&args).env("CARP_FORGE_TOKEN", TOKEN).output().unwrap();
        let said = printed(&output);
        assert!(output.status.success(), "{said}");
        assert!(!said.contains(TOKEN), "{said}");
        said
    }
}

#[test]
fn a_turn_tells_each_forge_how_the_commit_fared() {
    for kind in FORGES {
        let world = World::new(kind);
        let said = world.reconciles();
        assert!(said.contains("forge: told 127.0.0.1:"), "{said}");
        {
            let has = world.forge.has();
            let (state, name, description) = &has.statuses[0];
            assert_eq!((state.as_str(), name.as_str()), ("success", "carp"), "{kind:?}");
            assert_eq!(description, "6 of 6 placed", "{kind:?}");
            let comment = &has.comments[0];
            let output = git(&world.remote.path(), &["rev-parse", "carp/rendered"]);
            for part in [
                "<!-- carp reconcile -->\n### carp: 6 of 6 placed\n",
                &output[..8],
                "bind alpha to w-weu",
            ] {
                assert!(comment.contains(part), "{part} in {comment}");
            }
            assert!(!comment.contains("Carp-Time"), "nothing in it changes with time: {comment}");
        }
        let asked = std::mem::take(&mut world.forge.has().asked);
        let commit = git(&world.person.path(), &["rev-parse", "HEAD"]);
        assert!(
            asked.iter().any(|call| call.ends_with(&format!("/statuses/{commit}"))),
            "{asked:?}"
        );
        for _ in 0..2 {
            let said = world.reconciles();
            assert!(said.starts_with("nothing to commit") && !said.contains("forge"), "{said}");
        }
        assert_eq!(
            world.forge.has().asked,
            Vec::<String>::new(),
            "nobody is asked for nothing new"
        );
    }
}

#[test]
fn a_clone_that_remembers_nothing_tells_nothing_twice() {
    let world = World::new(ForgeKind::GitHub);
    world.reconciles();
    world.forge.written();
    std::fs::remove_dir_all(world.person.path().join(".git/carp")).unwrap();
    world.reconciles();
    assert_eq!(world.forge.written(), Vec::<String>::new());
    assert_eq!(world.forge.has().comments.len(), 1);
}

#[test]
fn a_forge_that_is_down_fails_no_turn_and_is_told_by_the_next() {
    let world = World::new(ForgeKind::GitHub);
    world.forge.is(Mood::Says("503 Service Unavailable", String::new()));
    let said = world.reconciles();
    assert!(said.contains("committed carp/rendered"), "{said}");
    assert!(said.contains("forge not told: reading the statuses of commit"), "{said}");
    let said = world.reconciles();
    assert!(said.contains("nothing to commit") && said.contains("forge not told"), "{said}");
    world.forge.is(Mood::Well);
    let said = world.reconciles();
    assert!(said.contains("nothing to commit") && said.contains("forge: told"), "{said}");
    assert_eq!(world.forge.has().comments.len(), 1);
    assert!(world.forge.has().comments[0].contains("bind alpha to"), "all of it is told");
}

#[test]
fn a_forge_that_asks_for_it_is_left_alone() {
    let world = World::new(ForgeKind::GitHub);
    world.forge.is(Mood::Says("429 Too Many Requests\r\nRetry-After: 600", String::new()));
    assert!(world.reconciles().contains("it is left alone for 600 s"));
    world.forge.is(Mood::Well);
    world.forge.has().asked.clear();
    let said = world.reconciles();
    assert!(said.contains("forge not told: the forge asked to be left alone until "), "{said}");
    assert_eq!(world.forge.has().asked, Vec::<String>::new());
}

#[test]
fn who_waits_stands_in_the_status_until_it_is_placed() {
    let world = World::new(ForgeKind::GitHub);
    let mut wide = cluster("golf", "eastus");
    wide.push_str("  placement:\n    affinity:\n      required:\n        - names: [w-none]\n");
    world.person.push_one("fleet/clusters/golf.yaml", &wide);
    world.reconciles();
    let waits = world.forge.has().statuses.last().cloned().unwrap();
    assert_eq!(waits.0, "pending");
    assert_eq!(waits.2, "6 of 7 placed, 1 waits: golf (AffinityName)");
    world.reconciles();
    // A turn that looks at one other cluster has not decided this one again, and says the same of it.
    world.person.push_one(
        "fleet/clusters/alpha.yaml",
        &cluster("alpha", "westeurope").replace("replicas: 2", "replicas: 3"),
    );
    world.reconciles();
    assert_eq!(world.forge.has().statuses.last(), Some(&waits));
    let comment = world.forge.has().comments[0].clone();
    assert!(
        comment.contains(
            "| `golf` | no worker is among those that the affinity names (AffinityName) |"
        ),
        "{comment}"
    );
    world.person.push_one("fleet/clusters/golf.yaml", &cluster("golf", "eastus"));
    world.reconciles();
    let placed = world.forge.has().statuses.last().cloned().unwrap();
    assert_eq!((placed.0.as_str(), placed.2.as_str()), ("success", "7 of 7 placed"));
}

#[test]
fn the_token_is_in_no_file_and_no_program_gets_it() {
    let world = World::new(ForgeKind::Gitea);
    let hook = world.person.path().join(".git/hooks/pre-push");
    let seen = world.person.path().join("../seen");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\nenv > '{}'\n", seen.display())).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    world.reconciles();
    let env = std::fs::read_to_string(&seen).unwrap();
    assert!(env.contains("PATH=") && !env.contains(TOKEN), "a hook gets no token");
    let found = std::process::Command::new("grep")
        .args(["-rl", TOKEN])
        .args([world.person.path(), world.remote.path()])
        .output()
        .unwrap();
    assert_eq!(printed(&found), "", "nothing on the disk has it");
}

#[test]
fn carp_yaml_turns_it_on_and_cannot_say_where_the_token_goes() {
    let world = World::new(ForgeKind::GitHub);
    let fleet = |forge: &str| small::FLEET.to_owned() + forge;
    world.person.push_one("carp.yaml", &fleet("  forge: {kind: GitHub}\n"));
    let run = |token: Option<&str>| {
        let mut command = world.person.command(&["reconcile", "--once"]);
        command.env_remove("CARP_FORGE_TOKEN");
        token.map(|token| command.env("CARP_FORGE_TOKEN", token));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
        printed(&output)
    };
    let said = run(Some(TOKEN));
    assert!(said.contains("forge not told: `"), "{said}");
    assert!(said.contains("is no address of a repository on a forge"), "a path has none: {said}");
    git(&world.person.path(), &["remote", "set-url", "--push", "origin", &world.remote.url()]);
    world.person.push_one("carp.yaml", &fleet("  forge: {url: https://evil.example.com}\n"));
    let refused = world.person.carp(&["validate"]);
    assert_eq!(refused.status.code(), Some(1), "{}", printed(&refused));
    world.person.push_one("carp.yaml", &fleet("  forge: {kind: GitHub, comment: false}\n"));
    let url = world.forge.url();
    let args = ["reconcile", "--once", "--forge-url", &url];
    let output = world.person.command(&args).env_remove("CARP_FORGE_TOKEN").output().unwrap();
    assert!(printed(&output).contains("CARP_FORGE_TOKEN is not set"), "{}", printed(&output));
    let output = world.person.command(&args).env("CARP_FORGE_TOKEN", TOKEN).output().unwrap();
    assert!(printed(&output).contains("forge: told"), "{}", printed(&output));
    assert_eq!(world.forge.has().comments, Vec::<String>::new(), "a status alone was asked for");
    let off = [&args[..], &["--forge", "off"]].concat();
    assert!(!printed(&world.person.carp(&off)).contains("forge"));
}
