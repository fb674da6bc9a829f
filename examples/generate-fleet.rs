//! Writes a fleet of any size: `cargo run --example generate-fleet -- DIR CLUSTERS [SEED]`.
#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a program of its own")]

use std::path::Path;
use std::process::ExitCode;

#[path = "../tests/it/support/generator.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod generator;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match arguments.as_slice() {
        [dir, clusters] => clusters.parse().ok().map(|n| (dir, n, 1)),
        [dir, clusters, seed] => {
            clusters.parse().ok().zip(seed.parse().ok()).map(|(n, s)| (dir, n, s))
        }
        _ => None,
    };
    let Some((dir, clusters, seed)) = parsed else {
        eprintln!("usage: generate-fleet DIR CLUSTERS [SEED]");
        return ExitCode::from(64);
    };
    for (path, text) in generator::fleet(clusters, seed) {
        let path = Path::new(dir).join(path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = written.and_then(|()| std::fs::write(&path, text)) {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
