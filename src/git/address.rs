//! Credentials that stand in an address, and how git gets them: by the environment, never on a command
//! line, which everybody on the machine can read.
//!
//! A password is answered to git's own question, for the server of the address alone, by a helper that has
//! it from a variable. git then neither follows a redirect with it nor hands it to another helper, which might
//! write it to a disk.

/// The variables that the helper reads.
const USER: &str = "CARP_GIT_USER";
const PASSWORD: &str = "CARP_GIT_PASSWORD";

/// Answers git's question for credentials; what git says of them later is left unheard.
const HELPER: &str = "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \
                      \"$CARP_GIT_USER\" \"$CARP_GIT_PASSWORD\"; true; }; f";

/// What git is told beside its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GitEnvironment {
    /// Settings, in order; a name may be there more than once.
    pub(super) settings: Vec<(String, String)>,
    /// Variables for the helper.
    pub(super) variables: Vec<(&'static str, String)>,
}

/// What lets git use an address in place of the one that it is known by here, which is the same without its
/// credentials: so nothing that git writes has them.
pub(super) fn reach_by(address: &str, known: &str) -> GitEnvironment {
    let mut told = GitEnvironment::default();
    let Some(parts) = AddressParts::of(address) else {
        if address != known {
            // Not http: git has no question that could be answered.
            told.settings.push((format!("url.{address}.insteadOf"), known.to_owned()));
        }
        return told;
    };
    let server = format!("credential.{}", parts.server);
    match parts.password {
        Some(password) => {
            // An empty one first: nobody else is asked, and nobody else is told.
            told.settings.push((format!("{server}.helper"), String::new()));
            told.settings.push((format!("{server}.helper"), HELPER.to_owned()));
            told.variables = vec![(USER, parts.user), (PASSWORD, password)];
        }
        // Whose password it is; people's own helpers know it.
        None if !parts.user.is_empty() => {
            told.settings.push((format!("{server}.username"), parts.user));
        }
        None => {}
    }
    if parts.bare != known {
        told.settings.push((format!("url.{}.insteadOf", parts.bare), known.to_owned()));
    }
    told
}

/// The variables of git's environment that set these, besides the first `count` that are set already.
pub(super) fn as_variables(settings: &[(String, String)], count: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (nth, (name, value)) in (count..).zip(settings) {
        all.push((format!("GIT_CONFIG_KEY_{nth}"), name.clone()));
        all.push((format!("GIT_CONFIG_VALUE_{nth}"), value.clone()));
    }
    all.push(("GIT_CONFIG_COUNT".to_owned(), (count + settings.len()).to_string()));
    all
}

/// An http address, taken apart.
struct AddressParts {
    user: String,
    password: Option<String>,
    /// `https://host:port`.
    server: String,
    /// The address without user and password.
    bare: String,
}

impl AddressParts {
    /// `None` for what is no http address, and for one that git would read in another way.
    fn of(address: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://")?;
        if !["http", "https"].contains(&scheme) {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match user.split_once(':') {
            Some((user, password)) => (user, Some(decoded(password)?)),
            None => (user, None),
        };
        let server = format!("{scheme}://{host}");
        let bare = format!("{server}{path}");
        Some(Self { user: decoded(user)?, password, server, bare })
    }
}

/// A text with its `%xx` resolved; `None` where that makes no line of text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match value {
            Some(value) if *byte == b'%' => {
                bytes.push(value);
                rest = &after[2..];
            }
            _ => bytes.push(*byte),
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(told: &'a GitEnvironment, name: &str) -> Vec<&'a str> {
        told.settings.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect()
    }

    #[test]
    fn a_password_is_answered_to_its_own_server_alone() {
        let told = reach_by("https://me:to%2Fken%3D@h:8443/a/b.git", "https://h:8443/a/b.git");
        assert_eq!(values(&told, "credential.https://h:8443.helper"), ["", HELPER]);
        assert_eq!(told.settings.len(), 2, "and nothing stands in for the address");
        assert_eq!(told.variables, [(USER, "me".to_owned()), (PASSWORD, "to/ken=".to_owned())]);
    }

    #[test]
    fn a_user_alone_leaves_peoples_helpers_in_place() {
        let told = reach_by("https://org@dev.example.com/org/r", "https://dev.example.com/org/r");
        assert_eq!(values(&told, "credential.https://dev.example.com.username"), ["org"]);
        assert_eq!((told.settings.len(), told.variables.len()), (1, 0));
    }

    #[test]
    fn other_addresses_stand_in_for_the_known_one() {
        let told = reach_by("ssh://git:x@h/r", "ssh://git@h/r");
        assert_eq!(values(&told, "url.ssh://git:x@h/r.insteadOf"), ["ssh://git@h/r"]);
        let told = reach_by("https://h/r?private_token=x", "https://h/r");
        assert_eq!(values(&told, "url.https://h/r?private_token=x.insteadOf"), ["https://h/r"]);
        for same in ["https://h/r", "/srv/r.git", "git@h:r"] {
            assert_eq!(reach_by(same, same), GitEnvironment::default());
        }
    }

    #[test]
    fn a_line_break_cannot_be_smuggled_into_the_answer() {
        assert!(reach_by("https://u:a%0Aquit=1@h/r", "https://h/r").variables.is_empty());
    }

    #[test]
    fn settings_come_after_those_that_are_there() {
        let settings = [("a.b".to_owned(), "c".to_owned())];
        let expected =
            [("GIT_CONFIG_KEY_2", "a.b"), ("GIT_CONFIG_VALUE_2", "c"), ("GIT_CONFIG_COUNT", "3")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(as_variables(&settings, 2), expected);
    }
}
