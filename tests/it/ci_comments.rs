//! Which comment the step of CI edits: its own, on forges with pages of comments and without.

use std::fs;

use carp::model::api::ForgeKind;

use crate::ci::{GITHUB, World, on};
use crate::support::forge::Forge;

#[test]
fn the_comment_is_found_among_many_and_what_is_not_there_is_looked_for_once() {
    // GitHub's pages, Gitea's lists without pages, and with them.
    let cases = [(ForgeKind::GitHub, false), (ForgeKind::Gitea, false), (ForgeKind::Gitea, true)];
    let world = World::new();
    fs::write(world.fleet().join("plan.md"), "the plan\n").unwrap();
    for (kind, gitea_pages) in cases {
        for number in [0, 50, 100, 130] {
            let forge = Forge::start(kind);
            forge.has().gitea_pages = gitea_pages;
            forge.has().comments = (0..number).map(|n| format!("comment {n}")).collect();
            let mut env = on(&forge, GITHUB);
            let api = env.iter_mut().find(|(name, _)| *name == "GITHUB_API_URL").unwrap();
            if kind == ForgeKind::Gitea {
                api.1 = api.1.replace("/api/v3", "/api/v1");
                env.push(("GITEA_ACTIONS", "true".to_owned()));
                env.push(("CARP_LOGIN", "github-actions[bot]".to_owned()));
            }
            let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
            for _ in 0..2 {
                let commented = world.step("timeout 60 sh .carp/ci.sh comment", &env);
                assert_eq!(commented.exit, 0, "{kind:?} {number}: {}", commented.err);
            }
            let has = forge.has();
            assert_eq!(
                has.comments.len(),
                number + 1,
                "{kind:?} {gitea_pages} {number}: {:?}",
                has.asked
            );
            assert!(
                has.comments[number].starts_with("<!-- carp plan -->\n"),
                "{:?}",
                has.comments[number]
            );
        }
    }
}
