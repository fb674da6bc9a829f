//! What a run of a program came to.

/// What a run of `git`, or of a program that signs or verifies, came to.
#[derive(Clone, Debug)]
pub(super) struct ProgramOutput {
    /// The exit code; `None` if it was killed, by us after its time was up or by a signal.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}
