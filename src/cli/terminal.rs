//! The terminal that standard output may be.

/// How many columns the terminal has that standard output is; 80 where it does not say.
pub(super) fn columns() -> usize {
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).map_or(0, |size| size.ws_col);
    #[cfg(not(unix))]
    let columns = 0_u16;
    if columns == 0 { 80 } else { columns.into() }
}
