//! The program: arguments in, exit code out.

/// A run makes and drops very many small texts and maps, which is half of its time with some systems' own
/// allocators (docs/adr/0040).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    carp::cli::main()
}
