//! What is used up: the memory of a turn, its time, the files that it may open. Each is told as what it is, the
//! repository is as it was, and the next run goes on.

use std::fmt::Write as _;
use std::process::Output;

use crate::support::controller::Controller;
use crate::support::people::{Person, printed, within};
use crate::support::small;
use crate::support::{Remote, is_todays};

const OUTPUT: &str = "refs/heads/carp/rendered";
const TEMPLATE: &str = "templates/kamaji-capz/cluster.yaml";

/// A fleet that was reconciled once.
fn reconciled() -> (Remote, Person) {
    let remote = Remote::new();
    let person = Person::cloning(&remote.url());
    person.push(&small::files());
    person.reconciles();
    (remote, person)
}

/// The built-in template with something above it.
fn with_above(text: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(TEMPLATE);
    format!("{text}{}", std::fs::read_to_string(path).unwrap())
}

/// What a filter around an operator finds is found after that step: a text of 100 MB, which minijinja just allows.
fn repeating() -> String {
    with_above("{% set x = 'x' * (100000000 - 1) %}\n")
}

/// Each step makes twice of what there was, and counts as one: 4 TiB after forty of them.
fn doubling() -> String {
    let mut text = "{% set x = 'x' * 4 %}\n".to_owned();
    for _ in 0..40 {
        let _ = writeln!(text, "{{% set x = x ~ x %}}");
    }
    with_above(&text)
}

/// The clusters of one flavor stay as they are, and everybody else's go on.
#[test]
fn a_template_that_would_fill_memory_stops_its_own_clusters_and_nobody_else() {
    let (remote, person) = reconciled();
    let before = remote.at(OUTPUT);
    person.push_one(TEMPLATE, &doubling());
    let worker = small::worker("w-swe", "swedencentral", 4);
    person.push_one("fleet/workers/w-swe.yaml", &worker);
    let told = printed(&once(&person, &["--turn-memory", "128Mi"]));
    assert!(told.contains("error[template-budget]"), "{told}");
    assert!(told.contains(&format!("{TEMPLATE}:")), "{told}");
    assert_ne!(remote.at(OUTPUT), before, "the new worker is written: {told}");
    let files = crate::support::git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    assert!(files.contains("control-plane/w-swe/cluster.yaml"), "{files}");
    assert!(files.contains("clusters/alpha/cluster.yaml"), "{files}");
    let told = printed(&person.carp(&["plan"]));
    assert!(told.contains("error[template-budget]"), "a plan says the same: {told}");
}

fn once(person: &Person, more: &[&str]) -> Output {
    let args: Vec<_> = ["reconcile", "--once"].iter().chain(more).copied().collect();
    person.carp(&args)
}

#[test]
fn a_turn_that_runs_out_of_memory_says_so_and_the_next_one_goes_on() {
    let (remote, person) = reconciled();
    let before = remote.at(OUTPUT);
    person.push_one(TEMPLATE, &repeating());
    let output = once(&person, &["--turn-memory", "64Mi"]);
    let told = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the turn ran out of memory, of which it may have 64 MiB"), "{told}");
    assert!(told.contains("nothing is lost"), "{told}");
    assert_eq!(remote.at(OUTPUT), before, "nothing was written");

    person.push_one(TEMPLATE, &with_above("# mended\n"));
    person.reconciles();
    assert_ne!(remote.at(OUTPUT), before, "the next run goes on");
}

/// What a process may have is an eighth more than the bound at which the watchdog, which looks every 20 ms, names the
/// template. So of bounds that are an eighth apart there is one that a template passes and stays below the rest, and the
/// longest loop that one may have gives the watchdog the time to look.
#[test]
fn a_template_that_fills_memory_is_named() {
    let (_remote, person) = reconciled();
    let mut growing = String::new();
    for number in 0..60 {
        let _ = writeln!(growing, "{{% set x{number} = 'x' * 1000000 %}}");
    }
    growing += "{% for i in range(90000) %}{% if i < 0 %}{% endif %}{% endfor %}\n";
    let mut told = String::new();
    // A watchdog that did not get to look names nothing, and the template is filled.
    for again in 0..3 {
        let edit = format!("{growing}# {again}\n");
        person.push_one(TEMPLATE, &with_above(&edit));
        for bound in [64, 72, 81, 91, 102, 115] {
            let output = once(&person, &["--turn-memory", &format!("{bound}Mi")]);
            told = printed(&output);
            let named = format!(
                "the turn needs more than {bound} MiB of memory while it rendered `{TEMPLATE}`"
            );
            if told.contains(&named) {
                assert_eq!(output.status.code(), Some(1), "{told}");
                return;
            }
        }
    }
    panic!("no bound named it; the last one said: {told}");
}

/// To look through a list counts as one step, however long it is: a billion looks here.
#[test]
fn a_template_that_takes_for_ever_ends_in_its_bound() {
    let (_remote, person) = reconciled();
    let looks = "{% if -1 in all %}{% endif %}".repeat(10);
    let text =
        format!("{{% set all = range(9999)|list %}}{{% for i in all %}}{looks}{{% endfor %}}\n");
    person.push_one(TEMPLATE, &with_above(&text));
    for command in [&["reconcile", "--once"][..], &["plan"]] {
        let output = person.carp(command);
        let told = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("error[template-budget]"), "{told}");
        assert!(told.contains("its filters and values go through more than 64 MiB"), "{told}");
    }
}

#[test]
fn a_controller_counts_turns_that_ran_out_of_memory_and_lives() {
    let (remote, person) = reconciled();
    let before = remote.at(OUTPUT);
    person.push_one(TEMPLATE, &repeating());
    let args = ["--turn-memory", "64Mi", "--interval", "1s"];
    let mut controller = Controller::start(&person.path(), &args, &[]);
    let series = "carp_reconcile_failures_total{kind=\"memory\"}";
    controller.wait_until("a turn ran out of memory", |c| c.metric(series) > 0.0);
    assert_eq!(controller.get("/healthz").code, 200, "it is alive");
    person.push_one(TEMPLATE, &with_above("# mended\n"));
    controller.wait_until("a turn ended well", |_| remote.at(OUTPUT) != before);
    assert!(controller.logged().contains("ran out of memory"));
}

/// Whatever it cannot open is told as that, never as damage, and costs nothing.
#[test]
fn a_run_without_files_to_open_loses_nothing() {
    let (remote, person) = reconciled();
    for (number, files) in (0..).zip(4..24).filter(|(number, _)| is_todays(*number)) {
        let before = remote.at(OUTPUT);
        let name = format!("x{number}");
        person.push_one(&format!("fleet/clusters/{name}.yaml"), &small::cluster(&name, "eastus"));
        let command = person.command(&["reconcile", "--once"]);
        let output = within(&format!("ulimit -n {files}"), &command).output().unwrap();
        let told = printed(&output);
        assert!(!told.contains("panicked") && !told.contains("damaged"), "{files}: {told}");
        if output.status.success() {
            assert_ne!(remote.at(OUTPUT), before, "{files}: {told}");
        } else {
            assert!(told.contains("error") || told.contains("fatal"), "{files}: {told}");
        }
        person.reconciles();
        assert_ne!(remote.at(OUTPUT), before, "{files}: the next run goes on");
    }
}

/// Where there is no room for one thread more, the run ends with what was tried: it neither panics nor waits for ever.
#[test]
fn a_run_without_room_for_its_threads_says_so() {
    let (remote, person) = reconciled();
    let before = remote.at(OUTPUT);
    let mut short = 0;
    for (_, memory) in (16..160).step_by(3).enumerate().filter(|(number, _)| is_todays(*number)) {
        let command = person.command(&["reconcile", "--once"]);
        let output = within(&format!("ulimit -v {}", memory << 10), &command).output().unwrap();
        let told = printed(&output);
        assert!(!told.contains("panicked") && !told.contains("damaged"), "{memory} MiB: {told}");
        short += u32::from(!output.status.success());
        // Without memory to begin with, the system ends it.
        let ended = output.status.code().is_none();
        assert!(output.status.success() || ended || !told.trim().is_empty(), "{memory} MiB");
    }
    assert!(short > 0, "some of these are too little");
    person.reconciles();
    assert_eq!(remote.at(OUTPUT), before);
}

/// Fleets whose tenant `red` has a folder of its own.
fn with_red(person: &Person) {
    let fleet = small::files().remove("carp.yaml").unwrap();
    let tenants = "  tenants:\n  - {name: red, paths: [fleet/red]}\n  - {name: shop, paths: [fleet/clusters]}\n";
    person.push_one("carp.yaml", &format!("{fleet}{tenants}"));
}

#[test]
fn a_file_of_600_mb_is_not_read_and_stops_nobody() {
    let (remote, person) = reconciled();
    with_red(&person);
    person.reconciles();
    let huge = person.path().join("fleet/red/huge.yaml");
    std::fs::create_dir_all(huge.parent().unwrap()).unwrap();
    // It takes no room: there is nothing but zeros in it.
    std::fs::File::create(&huge).unwrap().set_len(600 << 20).unwrap();
    let before = remote.at(OUTPUT);
    person.push_one("fleet/clusters/hotel.yaml", &small::cluster("hotel", "eastus"));
    let output = once(&person, &["--turn-memory", "128Mi"]);
    let told = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("error[file-too-large]") && told.contains("fleet/red/huge.yaml"),
        "{told}"
    );
    assert!(!told.contains("damaged"), "{told}");
    assert_ne!(remote.at(OUTPUT), before, "the rest goes on: {told}");
    let tree = crate::support::git(&remote.path(), &["ls-tree", "-r", "--name-only", OUTPUT]);
    assert!(tree.contains("clusters/hotel/cluster.yaml"), "{tree}");
}

/// 120 clusters of 1,000 own rules each, 14 MiB: of a tenant, whose folder is left out before most of it is read, and
/// of the platform.
#[test]
fn rules_by_the_thousand_take_little_memory() {
    let rule = |i: usize| {
        format!(
            "    - {{topologyKey: location, labelSelector: {{matchLabels: {{example.com/a-label: a-value-that-is-long-{i}}}}}}}\n"
        )
    };
    let rules: String = (0..1000).map(rule).collect();
    for (folder, tenant) in [("fleet/red", "red"), ("fleet/clusters", "shop")] {
        let (_remote, person) = reconciled();
        if tenant == "red" {
            with_red(&person);
        }
        for number in 0..120 {
            let text = small::cluster(&format!("x{number}"), "eastus")
                .replace("namespace: shop", &format!("namespace: {tenant}"))
                .replace(
                    "  deletionPolicy",
                    &format!("  placement:\n    antiAffinity:\n{rules}  deletionPolicy"),
                );
            person.write(&format!("{folder}/x{number}.yaml"), &text);
        }
        let command = person.command(&["validate"]);
        let output = within(&format!("ulimit -v {}", 448 << 10), &command).output().unwrap();
        let told = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{tenant}: {told:.2000}");
        assert!(told.contains("error[too-much]"), "{tenant}: {told:.2000}");
        assert!(!told.contains("memory allocation"), "{tenant}: {told:.2000}");
    }
}
