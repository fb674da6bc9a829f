# One door to what is done here: `just` lists it, `just check` does it. Each line can be typed without just too
# (https://just.systems).

_list:
    @just --list --unsorted

# all that a change must pass: ten to fifteen minutes on two cores where it ran before; installs what is missing
check:
    .ci/run

# what the compiler and clippy say, in a minute
lint:
    cargo fmt --check
    cargo clippy --workspace --all-targets -- -D warnings

# the tests whose names contain one of these words
test *WORDS:
    cargo test --lib --test it -- {{ WORDS }}

# writes goldens, snapshots and docs/cli.md anew; look at the diff
bless:
    UPDATE=1 INSTA_UPDATE=always INSTA_FORCE_PASS=1 cargo test --lib --test it
    git diff --stat

# the newcomer's minute
demo:
    cargo run -- demo

# the breadth that no change waits for: about two hours
nightly:
    .ci/nightly

# what placements cost; what runs cost is benches/table.py
bench *ARGS:
    cargo bench --bench placement -- {{ ARGS }}

# the program that is given to others: slower to build, smaller, faster
dist:
    cargo build --profile dist --locked --bin carp
