//! `carp completions`: shell files.

use clap_complete::Shell;

use super::{Context, Error, Exit};

/// Print a completion file for a shell
///
/// In bash, zsh and fish the names of the fleet's workers, clusters, pools and tenants are offered too, as
/// they are at that moment.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Asks carp first, and goes on as before where it offers nothing.
const BASH: &str = r#"
_carp_names() {
    local IFS=$'\n'
    COMPREPLY=($(carp names -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    if [ "${#COMPREPLY[@]}" -eq 0 ]; then
        unset IFS
        _carp "$@"
    fi
}
complete -F _carp_names -o bashdefault -o default carp
"#;

/// How clap's file for zsh ends: it binds its own function, and calls it where zsh loads the file for the first
/// completion.
const ZSH_END: &str = r#"if [ "$funcstack[1]" = "_carp" ]; then
    _carp "$@"
else
    compdef _carp carp
fi
"#;

const ZSH: &str = r#"
_carp_names() {
    local -a offered
    offered=("${(@f)$(carp names -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [ -n "${offered[1]}" ]; then
        compadd -a offered
    else
        _carp "$@"
    fi
}
compdef _carp_names carp
if [ "$funcstack[1]" = "_carp" ]; then
    _carp_names "$@"
fi
"#;

const FISH: &str = r"
complete -c carp -a '(carp names -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
";

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "carp", &mut text);
    context.print(&String::from_utf8_lossy(&text).replace(ZSH_END, ""))?;
    context.print(match args.shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    })?;
    Ok(Exit::Fine)
}
