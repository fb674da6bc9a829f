//! Whose comment carp edits: its own, found by who the token is, among comments of any number, size and author.

use carp::forge::ReportState;
use carp::model::api::ForgeKind;

use crate::forge::{FORGES, LIMITS, report, told};
use crate::support::forge::Forge;

/// What anybody can write.
const FORGED: &str = "<!-- carp reconcile -->\nof somebody else";

#[test]
fn what_somebody_else_wrote_with_carps_marker_stays_theirs() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        forge.has().comments = vec![FORGED.to_owned()];
        forge.has().of_others.insert(0, 7);
        for (state, words) in
            [(ReportState::Waits, "5 of 6 placed, 1 waits"), (ReportState::Fine, "6 of 6 placed")]
        {
            told(&forge, kind, &report(state, words), LIMITS).unwrap();
            let has = forge.has();
            let own = format!("<!-- carp reconcile -->\n### carp: {words}");
            assert_eq!(has.comments, [FORGED, own.as_str()], "{kind:?}: one of its own, edited");
        }
        assert!(!forge.written().iter().any(|call| call.ends_with("/0")), "{kind:?}");
    }
}

/// A report whose status says what stands there already.
fn standing(forge: &Forge, set_by: u64) -> carp::forge::ForgeReport {
    let fine = report(ReportState::Fine, "6 of 6 placed");
    forge.has().statuses.push(("success".to_owned(), "carp".to_owned(), fine.description.clone()));
    forge.has().set_by = set_by;
    fine
}

#[test]
fn a_status_that_somebody_else_set_hides_no_comment_of_carps() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        let fine = standing(&forge, 7);
        forge.has().comments = vec!["<!-- carp reconcile -->\nbefore".to_owned()];
        told(&forge, kind, &fine, LIMITS).unwrap();
        assert_eq!(forge.has().comments, [fine.body().unwrap()], "{kind:?}: it is edited");
    }
}

#[test]
fn a_token_of_another_account_begins_a_comment_of_its_own() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        let fine = standing(&forge, 7);
        forge.has().comments = vec![FORGED.to_owned()];
        forge.has().of_others.insert(0, 7);
        told(&forge, kind, &fine, LIMITS).unwrap();
        let own = fine.body().unwrap();
        assert_eq!(forge.has().comments, [FORGED, own.as_str()], "{kind:?}");
        told(&forge, kind, &fine, LIMITS).unwrap();
        assert_eq!(forge.has().comments.len(), 2, "{kind:?}: and finds it again");
    }
}

#[test]
fn carps_comment_is_found_whether_gitea_has_pages_or_not() {
    for (gitea_pages, number) in [(false, 20), (false, 45), (true, 20), (true, 45)] {
        let forge = Forge::start(ForgeKind::Gitea);
        forge.has().gitea_pages = gitea_pages;
        forge.has().comments = (0..number).map(|n| format!("comment {n}")).collect();
        for words in ["5 of 6 placed", "6 of 6 placed"] {
            told(&forge, ForgeKind::Gitea, &report(ReportState::Fine, words), LIMITS).unwrap();
        }
        let has = forge.has();
        assert_eq!(has.comments.len(), number + 1, "{gitea_pages} {number}: {:?}", has.asked);
        assert!(has.comments[number].ends_with("6 of 6 placed"));
    }
}

#[test]
fn the_longest_comments_that_a_forge_takes_can_be_read() {
    let forge = Forge::start(ForgeKind::GitHub);
    // As many characters as GitHub takes, of the longest sort.
    forge.has().comments = vec!["\u{1f980}".repeat(65_536); 50];
    let fine = report(ReportState::Fine, "6 of 6 placed");
    told(&forge, ForgeKind::GitHub, &fine, LIMITS).unwrap();
    told(&forge, ForgeKind::GitHub, &fine, LIMITS).unwrap();
    assert_eq!(forge.has().comments.len(), 51);
}

#[test]
fn where_the_comments_are_too_much_to_read_the_status_is_told_all_the_same() {
    for kind in FORGES {
        let forge = Forge::start(kind);
        forge.has().comments = vec!["x".repeat(9 << 20)];
        told(&forge, kind, &report(ReportState::Fine, "6 of 6 placed"), LIMITS).unwrap();
        let has = forge.has();
        assert_eq!((has.statuses.len(), has.comments.len()), (1, 1), "{kind:?}");
    }
}
