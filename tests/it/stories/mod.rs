//! Stories: what people, workers and carp do to a fleet, each beside what carp prints and commits then.
//!
//! A file of `tests/stories` is a story and a test. The real program runs it from the top in a repository of its
//! own. What is indented beneath a command is what it printed, then how it ended where that is not 0, then what it
//! committed: the message without its first line and its trailers, and what is new (`+`), other (`~`) or gone
//! (`-`). `UPDATE=1 cargo test stories::` writes that anew. Object ids are `<id>`. At its end a story shows that
//! another run commits nothing, and that each commit follows from what it names (`carp replay`).
//!
//! ```text
//! # words                              for people; so is an empty line
//! remote                               there is a bare remote: edits are pushed, carp writes and agents report there
//! worker w-weu westeurope capacity=2   a document, made or changed: its location, and fields of `spec` as FIELD=YAML or,
//! cluster alpha,bravo tenant=pay       indented by two beneath, as YAML; `null` takes one away. `tenant` and `labels` are
//! policy p | pool p | overlay w-weu    of the metadata. What is not said is as in `support/small.rs`
//! fleet drift=refuse                   the same of `carp.yaml`, which is there from the start
//! remove cluster alpha
//! file fleet/broken.yaml               a file with the text that is indented by two beneath
//! do git revert --no-edit HEAD         what people do besides; it must go well, and is not shown
//! by hand rm workers/w-weu/carp.lock   a person's commit on the output branch, by a shell command in its files
//! at 09:30 | at 2026-11-02 09:00       the time, which stands still; it begins at 2026-11-01 09:00
//! later 44m
//! report w-weu complete=false          its agent reports: all that is committed is applied and runs. Fields of the report
//!   alpha: {phase: Degraded}           follow, and beneath fields of its clusters (`null`: it is not there)
//! run                                  carp runs, and nothing is shown: the way to where the story begins
//! minutes 4                            four times: a minute passes, each agent (`observation=Agent`) applies what is
//!                                      committed and reports, carp runs. Beneath is what was committed, and when
//! silent w-weu | back w-weu            its agent takes no part in `minutes`, and does again
//! $ carp plan                          a shell command, at that time (`--now` is added); before it, edits are committed
//! ```

mod commits;
mod documents;
mod reports;
mod stage;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use stage::Stage;
use text::Step;

use crate::support::golden::differs;

/// Where the stories are.
const FOLDER: &str = "tests/stories";

/// A test for each story, by the name of its file.
macro_rules! stories {
    ($($name:ident)*) => {
        const ALL: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                tell(stringify!($name));
            }
        )*
    };
}

stories! {
    a_cluster_goes_up_two_minors
    a_cluster_is_handed_over
    a_cluster_is_let_go
    a_cluster_on_the_move_is_removed
    a_decision_is_explained_later
    a_deletion_in_three_commits
    a_deletion_is_called_off
    a_deletion_that_nobody_sees
    a_document_goes_while_it_is_handed_over
    a_drain_is_lifted_in_time
    a_drain_two_at_a_time
    a_drain_without_room_elsewhere
    a_hand_over_is_called_off
    a_lock_is_deleted_by_hand
    a_lost_lock_forgets_no_worker_of_a_pool
    a_lost_lock_keeps_the_version_step
    a_merge_conflict_is_committed
    a_move_keeps_its_group
    a_name_that_comes_back
    a_policy_is_edited_and_nothing_moves
    a_policy_is_reverted
    a_policy_that_moves_is_held
    a_pool_grows_and_shrinks
    a_pool_of_which_nobody_reports
    a_rebalance_of_two
    a_revision_that_no_run_made
    a_stale_report_places_nobody
    a_version_that_goes_back
    a_worker_dies_and_returns
    a_worker_in_use_is_removed
    a_worker_is_gone_for_ever
    a_worker_of_a_pool_gets_a_document
    a_worker_retires
    a_worker_that_does_not_come_up
    an_attached_worker_goes
    an_edit_by_hand_is_held
    an_edit_by_hand_is_set_back
    an_output_without_locks_is_no_first_run
    an_override_that_breaks
    an_upgrade_where_nobody_looks
    another_worker_reports_the_cluster
    data_stores_of_a_worker
    deletions_on_a_dead_worker
    groups_are_filled_in_order
    one_place_for_two
    pools_in_the_status
    the_same_documents_placed_anew
    the_target_of_a_move_is_removed
}

#[test]
fn every_story_is_told() {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut there: Vec<_> = files.map(|path| name_of(&path)).collect();
    there.sort();
    let mut told = ALL.to_vec();
    told.sort_unstable();
    assert_eq!(there, told, "a file of {FOLDER}, and its name in {}", file!());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)
}

/// `tests/stories/one-place-for-two.story` is the story `one_place_for_two`.
fn name_of(path: &Path) -> String {
    assert_eq!(path.extension().unwrap(), "story", "{}", path.display());
    path.file_stem().unwrap().to_str().unwrap().replace('-', "_")
}

fn tell(name: &str) {
    let file = format!("{}.story", name.replace('_', "-"));
    let path = folder().join(&file);
    let text = fs::read_to_string(&path).unwrap();
    let mut stage = Stage::new();
    let told = text::write(&text::read(&text), |step| {
        let _place = Place { file: &file, step };
        stage.does(step)
    });
    stage.settles();
    if let Some(diff) = differs(&path, &told) {
        let line = text::first_difference(&text, &told);
        panic!("{FOLDER}/{file}:{line}: it goes otherwise (UPDATE=1 writes it anew)\n{diff}");
    }
}

/// Where the story is, in case that it cannot go on.
struct Place<'a> {
    file: &'a str,
    step: &'a Step,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{FOLDER}/{}:{}: {}", self.file, self.step.line, self.step.head);
        }
    }
}
