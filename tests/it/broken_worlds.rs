//! Repositories and remotes that are not what they were. The real program recovers, or ends with an
//! error that names what is wrong, within its deadline; of a person's clone nothing is touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::support::disk::{
    Accident, World, git_dir, id_of, is_sound, left_behind, loose, packs, unpack,
};
use crate::support::reconciled::Ran;
use crate::support::small::{self, cluster};
use crate::support::{git, git_may_fail, is_todays};

/// Objects of each kind on each branch, as revisions of a clone.
const OBJECTS: [&str; 9] = [
    "refs/remotes/origin/main",
    "refs/remotes/origin/main^{tree}",
    "refs/remotes/origin/main:carp.yaml",
    "refs/remotes/origin/carp/rendered",
    "refs/remotes/origin/carp/rendered^{tree}",
    "refs/remotes/origin/carp/rendered:workers/w-eus/carp.lock",
    "refs/remotes/origin/carp/status",
    "refs/remotes/origin/carp/status^{tree}",
    "refs/remotes/origin/carp/status:fleet.yaml",
];

const ACCIDENTS: [Accident; 4] =
    [Accident::CutOff, Accident::Emptied, Accident::Flipped, Accident::Gone];

#[track_caller]
fn fine(ran: &Ran, about: &str) {
    assert_eq!(ran.exit, 0, "{about}: {}{}", ran.out, ran.err);
}

/// A world in which an accident befell a file of a clone: before and after.
fn each_object(clone_of: impl Fn(&World) -> PathBuf, check: impl Fn(&World, &Path, &str)) {
    let world = World::new();
    fine(&world.reconcile_url(&[]), "carp's own clone is made");
    fine(&world.reconcile(&[]), "the person's clone knows it");
    world.others_push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let clone = clone_of(&world);
    // The memo would save many reads.
    let _ = fs::remove_dir_all(git_dir(&clone).join("carp"));
    unpack(&clone);
    let saved = world.saved();
    for (nth, object) in OBJECTS.into_iter().enumerate() {
        for (at, accident) in ACCIDENTS.into_iter().enumerate() {
            if !is_todays(nth + at) {
                continue;
            }
            world.restore(&saved);
            let file = loose(&clone, &id_of(&clone, object));
            accident.befall(&file);
            check(&world, &file, &format!("{object} {accident:?}"));
        }
    }
}

fn has_hotel(world: &World, about: &str) {
    assert!(world.output().contains("clusters/hotel/cluster.yaml"), "{about}: {}", world.output());
}

#[test]
fn a_damaged_object_of_carps_own_clone_costs_that_clone_and_nothing_else() {
    each_object(World::cache, |world, _, about| {
        let ran = world.reconcile_url(&[]);
        fine(&ran, about);
        has_hotel(world, about);
        assert!(is_sound(&world.cache()) || !ran.err.contains("made anew"), "{about}");
        let tip = world.refs();
        fine(&world.reconcile_url(&[]), about);
        assert_eq!(world.refs(), tip, "{about}");
    });
}

#[test]
fn a_damaged_object_of_a_persons_clone_is_named_and_not_touched() {
    each_object(World::fleet, |world, file, about| {
        let damaged = fs::read(file).ok();
        let ran = world.reconcile(&[]);
        fine(&ran, about);
        has_hotel(world, about);
        // What is not there at all, a fetch may bring.
        if damaged.is_some() {
            assert_eq!(fs::read(file).ok(), damaged, "{about}: the file is as it was");
        }
        let tip = world.refs();
        fine(&world.reconcile(&[]), about);
        assert_eq!(world.refs(), tip, "{about}");
    });
}

/// libgit2 never comes back from this one. The turn is ended and run again, and the next run does not
/// try it a second time.
#[test]
fn a_truncated_object_does_not_hang_and_the_next_run_commits() {
    let world = World::new();
    let fleet = world.fleet();
    let commit = id_of(&fleet, "refs/remotes/origin/carp/rendered");
    unpack(&fleet);
    Accident::CutOff.befall(&loose(&fleet, &commit));
    let first = world.reconcile(&[]);
    fine(&first, "the first run");
    for told in [commit.as_str(), "a clone of its own at", "git fsck"] {
        assert!(first.err.contains(told), "{told}: {}", first.err);
    }
    world.has_golf();
    world.others_push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let next = world.reconcile(&[]);
    fine(&next, "the next run");
    has_hotel(&world, "the next run");
    assert!(!next.err.contains("did not end within"), "it reads it no more: {}", next.err);

    // Once a person has mended the clone, it is used again.
    fs::remove_file(loose(&fleet, &commit)).unwrap();
    git(&fleet, &["fetch", "--quiet", "--refetch", "origin"]);
    let mended = world.reconcile(&[]);
    fine(&mended, "mended");
    assert!(!mended.err.contains("a clone of its own"), "{}", mended.err);
}

#[test]
fn a_command_that_only_looks_ends_with_the_objects_name() {
    let world = World::new();
    let fleet = world.fleet();
    let commit = id_of(&fleet, "refs/remotes/origin/carp/rendered");
    unpack(&fleet);
    Accident::CutOff.befall(&loose(&fleet, &commit));
    let ran = Ran::of(world.command(&["plan"], &[]));
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains(&commit) && ran.err.contains("fsck"), "{}", ran.err);
}

#[test]
fn a_damaged_repository_without_a_remote_is_an_error_that_names_the_object() {
    for accident in ACCIDENTS {
        let world = World::new();
        let fleet = world.fleet();
        git(&fleet, &["pull", "--quiet", "origin", "main"]);
        git(&fleet, &["remote", "remove", "origin"]);
        unpack(&fleet);
        let tree = id_of(&fleet, "main^{tree}");
        accident.befall(&loose(&fleet, &tree));
        for _ in 0..2 {
            let ran = world.reconcile(&[]);
            assert_eq!(ran.exit, 1, "{accident:?}: {}{}", ran.out, ran.err);
            for told in [tree.as_str(), "there is no remote to clone from again", "git fsck"] {
                assert!(ran.err.contains(told), "{accident:?}, {told}: {}", ran.err);
            }
        }
    }
}

#[test]
fn a_damaged_pack_costs_a_clone_of_carps_own_or_is_left_alone_in_a_persons() {
    let world = World::new();
    fine(&world.reconcile_url(&[]), "carp's own clone is made");
    fine(&world.reconcile(&[]), "the person's clone knows it");
    world.others_push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    for clone in [world.cache(), world.fleet()] {
        git(&clone, &["repack", "-a", "-d", "-q"]);
        let _ = fs::remove_dir_all(git_dir(&clone).join("carp"));
    }
    let saved = world.saved();
    for (extension, accident) in [
        ("idx", Accident::Gone),
        ("idx", Accident::CutOff),
        ("pack", Accident::Gone),
        ("pack", Accident::CutOff),
        ("pack", Accident::Emptied),
        ("pack", Accident::Flipped),
    ] {
        let about = format!("{extension} {accident:?}");
        for own in [true, false] {
            world.restore(&saved);
            let clone = if own { world.cache() } else { world.fleet() };
            for file in packs(&clone, extension) {
                accident.befall(&file);
            }
            let run = || if own { world.reconcile_url(&[]) } else { world.reconcile(&[]) };
            fine(&run(), &about);
            has_hotel(&world, &about);
            let tip = world.refs();
            fine(&run(), &about);
            assert_eq!(world.refs(), tip, "{about}");
        }
    }
}

/// What a killed process leaves in a Git directory.
const LOCKS: [&str; 6] = [
    "config.lock",
    "packed-refs.lock",
    "index.lock",
    "shallow.lock",
    "refs/remotes/origin/main.lock",
    "refs/remotes/origin/carp/rendered.lock",
];

fn lock(directory: &Path, name: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

#[test]
fn stale_locks_in_carps_own_clone_are_removed() {
    let world = World::new();
    fine(&world.reconcile_url(&[]), "carp's own clone is made");
    world.others_push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let cache = world.cache();
    for name in LOCKS {
        lock(&cache, name);
    }
    lock(&cache, "objects/pack/tmp_pack_x");
    fine(&world.reconcile_url(&[]), "with stale locks");
    has_hotel(&world, "with stale locks");
    assert!(left_behind(&cache).is_empty(), "{:?}", left_behind(&cache));
}

#[test]
fn a_lock_in_a_persons_clone_is_named_and_not_removed() {
    let world = World::new();
    let directory = git_dir(&world.fleet());
    let name = "refs/remotes/origin/main.lock";
    lock(&directory, name);
    let ran = world.reconcile(&[]);
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    for told in [name, "remove that file"] {
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
    }
    assert!(directory.join(name).exists());
    fs::remove_file(directory.join(name)).unwrap();
    fine(&world.reconcile(&[]), "without the lock");
    world.has_golf();
}

/// Somebody's editor or `git commit` holds the index, or the settings: neither is carp's to write.
#[test]
fn locks_of_the_index_and_the_settings_of_a_person_are_in_nobodys_way() {
    let world = World::new();
    let directory = git_dir(&world.fleet());
    let names = ["index.lock", "config.lock"];
    for name in names {
        lock(&directory, name);
    }
    fine(&world.reconcile(&[]), "with both locks");
    world.has_golf();
    for name in names {
        assert!(directory.join(name).exists(), "{name} is a person's");
    }
}

/// libgit2's own temporary files of a carp that was killed while it wrote a pack. One that may be at work stays.
#[test]
fn a_half_written_pack_in_a_persons_clone_is_in_nobodys_way() {
    let world = World::new();
    let packs = git_dir(&world.fleet()).join("objects/pack");
    fs::create_dir_all(&packs).unwrap();
    let hour = std::time::Duration::from_secs(3600);
    for (name, hours) in
        [("pack_git2_0a1b.lock", 3), ("pack_git2_2c3d", 3), ("pack_git2_4e5f.lock", 0)]
    {
        let file = fs::File::create(packs.join(name)).unwrap();
        let then = file.metadata().unwrap().modified().unwrap() - hour * hours;
        file.set_modified(then).unwrap();
    }
    let own = packs.join("somebody.lock");
    fs::write(&own, "x").unwrap();
    fine(&world.reconcile(&[]), "with half-written packs");
    world.has_golf();
    let stays = |name: &str| packs.join(name).exists();
    assert!(!stays("pack_git2_0a1b.lock") && !stays("pack_git2_2c3d"), "what nobody writes goes");
    assert!(stays("pack_git2_4e5f.lock") && own.exists(), "what is new, or a person's, stays");
}

#[test]
fn one_process_at_a_time_works_in_carps_own_clone() {
    let world = World::new();
    fine(&world.reconcile_url(&[]), "carp's own clone is made");
    world.others_push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let url = format!("file://{}", world.url());
    let args = ["reconcile", "--once", "--fleet", &url];
    let slow = [("CARP_FAULT", "push.before=hang")];
    let mut held = world.command(&args, &slow);
    let mut held = held.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // It is in the middle once it says so.
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(held.stderr.take().unwrap()),
        &mut line,
    )
    .unwrap();
    assert!(line.contains("fault: push.before"), "{line}");
    let second = world.command(&args, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut second = second.unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(second.try_wait().unwrap(), None, "it waits");
    // Killed outright, the first one lets go: its turn ends with it.
    held.kill().unwrap();
    held.wait().unwrap();
    assert!(second.wait().unwrap().success());
    has_hotel(&world, "the second one");
}

#[test]
fn a_branch_that_was_rewritten_at_the_remote_is_taken_as_it_is() {
    for branch in ["carp/rendered", "carp/status"] {
        let world = World::new();
        let first = id_of(&world.remote(), branch);
        fine(&world.reconcile(&[]), "golf is committed");
        let second = id_of(&world.remote(), branch);
        assert_ne!(first, second, "{branch} moved");
        git(&world.remote(), &["update-ref", &format!("refs/heads/{branch}"), &first]);
        let ran = world.reconcile(&[]);
        fine(&ran, branch);
        assert!(ran.err.contains(&format!("the branch {branch} was rewritten")), "{}", ran.err);
        world.has_golf();
        let tip = id_of(&world.remote(), branch);
        let parent = id_of(&world.remote(), &format!("{branch}^"));
        assert_eq!(parent, first, "{branch}: the commit is made anew on what is there");
        let again = world.reconcile(&[]);
        fine(&again, branch);
        assert_eq!(id_of(&world.remote(), branch), tip);
        assert!(!again.err.contains("was rewritten"), "{}", again.err);
    }
}

#[test]
fn a_rewritten_input_branch_is_told_and_held() {
    let world = World::new();
    fine(&world.reconcile(&[]), "golf is committed");
    let other = world.root().join("other");
    git(&other, &["reset", "--quiet", "--hard", "HEAD~1"]);
    git(&other, &["push", "--quiet", "--force", "origin", "main"]);
    let tip = id_of(&world.remote(), "carp/rendered");
    let ran = world.reconcile(&[]);
    assert_eq!(ran.exit, 3, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("the branch main was rewritten"), "{}", ran.err);
    assert_eq!(id_of(&world.remote(), "carp/rendered"), tip);
}

#[test]
fn another_repository_behind_the_same_remote_is_noticed() {
    let (world, other) = (World::new(), World::new());
    // Made in the same second both have the very same commits, so each gets one that the other lacks.
    world.others_push_one("fleet/clusters/india.yaml", &cluster("india", "westeurope"));
    fine(&world.reconcile(&[]), "golf and india are committed");
    other.others_push_one("fleet/clusters/hotel.yaml", &cluster("hotel", "eastus"));
    let theirs = other.refs();
    git(&world.fleet(), &["remote", "set-url", "origin", &other.url()]);
    let ran = world.reconcile(&[]);
    fine(&ran, "the other one is a fleet of its own");
    assert!(ran.err.contains("the branch main was rewritten"), "{}", ran.err);
    assert_ne!(other.refs(), theirs, "what is there was reconciled");
    let merged = git(&other.remote(), &["rev-list", "--max-parents=0", "--count", "carp/rendered"]);
    assert_eq!(merged, "1", "nothing of the first one's history came along");
}

#[test]
fn a_default_branch_that_was_renamed_is_named() {
    let world = World::new();
    git(&world.remote(), &["branch", "-m", "main", "trunk"]);
    let ran = world.reconcile(&[]);
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("input branch `main` is not on the remote"), "{}", ran.err);
    let refs = world.refs();
    assert!(!refs.contains("refs/heads/main"), "it is not made again: {refs}");
}

#[test]
fn a_shallow_clone_works_or_says_what_it_needs() {
    let world = World::new();
    let fleet = world.fleet();
    fs::remove_dir_all(&fleet).unwrap();
    let url = format!("file://{}", world.url());
    git(world.root(), &["clone", "--quiet", "--depth", "1", &url, "fleet"]);
    let shallow = world.reconcile(&[]);
    if shallow.exit != 0 {
        assert!(shallow.err.contains("git fetch --unshallow"), "{}", shallow.err);
        git(&fleet, &["fetch", "--quiet", "--unshallow", "origin"]);
        fine(&world.reconcile(&[]), "with all of the history");
    }
    world.has_golf();
    assert_eq!(git(&world.remote(), &["rev-list", "--count", "carp/rendered"]), "2");
}

#[test]
fn an_unborn_remote_is_told_and_stays_unborn() {
    let world = World::new();
    for branch in ["main", "carp/rendered", "carp/status"] {
        git(&world.remote(), &["update-ref", "-d", &format!("refs/heads/{branch}")]);
    }
    let ran = world.reconcile(&[]);
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert_eq!(world.refs(), "", "nothing is pushed back from what the clone still had");
}

/// The push arrives, and the answer does not.
#[test]
fn a_push_of_which_nobody_heard_is_found_at_the_remote() {
    let world = World::new();
    let bin = world.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let path = std::env::var("PATH").unwrap();
    let moved_on = "PATH='@PATH@' git -C '@OTHER@' fetch -q origin && PATH='@PATH@' git -C '@OTHER@' \
         push -q origin \"$(PATH='@PATH@' git -C '@OTHER@' -c user.name=p -c user.email=p@e commit-tree \
         -p origin/carp/rendered -m x 'origin/carp/rendered^{tree}')\":refs/heads/carp/rendered";
    for then in ["", moved_on] {
        let saved = world.saved();
        let script = "#!/bin/sh\nPATH='@PATH@' git \"$@\"; code=$?\ncase \" $* \" in *\" push \"*)\n\
             if mkdir '@BIN@/lost' 2>/dev/null; then @THEN@\necho 'fatal: the remote end hung up unexpectedly' >&2; \
             exit 128; fi;; esac\nexit $code\n";
        let script = script.replace("@THEN@", if then.is_empty() { ":" } else { then });
        let other = world.root().join("other");
        let script = script
            .replace("@PATH@", &path)
            .replace("@BIN@", bin.to_str().unwrap())
            .replace("@OTHER@", other.to_str().unwrap());
        let program = bin.join("git");
        fs::write(&program, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, mode).unwrap();
        let env = format!("{}:{path}", bin.display());
        let ran = world.reconcile(&[("PATH", &env)]);
        fine(&ran, then);
        assert!(bin.join("lost").exists(), "the answer was lost");
        assert!(ran.out.contains("committed"), "it is known to be there: {}{}", ran.out, ran.err);
        world.has_golf();
        let commits = git(&world.remote(), &["rev-list", "--count", "carp/rendered"]);
        assert_eq!(commits, if then.is_empty() { "2" } else { "3" });
        world.restore(&saved);
    }
}

/// A fleet below the top of its repository, whose clone is damaged.
#[test]
fn a_nested_fleet_keeps_its_place_in_carps_own_clone() {
    let world = World::new();
    let files = small::files();
    let nested = files.iter().map(|(path, text)| (format!("teams/one/{path}"), text.clone()));
    world.others_push(&nested.collect());
    let fleet = world.fleet();
    git(&fleet, &["pull", "--quiet", "origin", "main"]);
    unpack(&fleet);
    Accident::CutOff.befall(&loose(&fleet, &id_of(&fleet, "origin/main^{tree}")));
    let args = ["reconcile", "--once", "--fleet", "teams/one"];
    let ran = Ran::of(world.command(&args, &[]));
    assert!([0, 3].contains(&ran.exit), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("a clone of its own at"), "{}", ran.err);
    assert!(!git_may_fail(&fleet, &["fsck"]).status.success(), "it was not mended");
}
