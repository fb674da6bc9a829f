//! Running a program that is not git: one that signs. Its streams are files, so that nothing waits for a
//! pipe that a forgotten child of it keeps open.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::program::NOT_GITS;
use super::program_output::ProgramOutput;

/// How long each look at a running program waits.
const STEP: Duration = Duration::from_millis(10);
/// The most that is read of what it prints.
const MOST_BYTES: u64 = 1 << 20;

/// Runs a program with an input and waits. It is killed when its time is up; then it has no exit code.
pub(super) fn run(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
) -> io::Result<ProgramOutput> {
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(input)?;
    stdin.rewind()?;
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(stdin).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    for name in NOT_GITS {
        command.env_remove(name);
    }
    let mut child = command.spawn()?;
    // The command would keep its ends of the files open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let code = wait(&mut child, limit)?;
    let (stdout, mut stderr) = (text(&mut stdout)?, text(&mut stderr)?);
    if code.is_none() && stderr.trim().is_empty() {
        stderr = format!("no answer within {} s", limit.as_secs());
    }
    Ok(ProgramOutput { code, stdout, stderr })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<i32>> {
    let steps = limit.as_millis() / STEP.as_millis();
    for _ in 0..=steps {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        std::thread::sleep(STEP);
    }
    // One that has just ended cannot be killed, which is just as well.
    let _ = child.kill();
    let _ = child.wait();
    Ok(None)
}

fn text(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str, input: &str, limit: Duration) -> ProgramOutput {
        run(Command::new("sh").args(["-c", script]), input.as_bytes(), limit).unwrap()
    }

    #[test]
    fn a_program_gets_its_input_and_says_its_output() {
        let output = sh("cat; echo no >&2; exit 3", "yes", Duration::from_secs(60));
        assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(3), "yes", "no\n"));
    }

    #[test]
    fn a_program_that_hangs_is_killed_though_its_child_holds_the_streams() {
        let output = sh("sleep 600 & wait", "", Duration::from_millis(50));
        assert_eq!(output.code, None);
        assert!(output.stderr.contains("no answer"), "{}", output.stderr);
    }
}
