//! A kind that a provider brings to the API server of a worker, as the provider's file or a flavor declares it: what
//! the agent sees in objects of it, and which of their fields stay as they are.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::admission_rule::AdmissionRule;

/// One kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProvidedKind {
    /// What objects of it are to their cluster, the first for what is wrong with them. With none the agent does not
    /// look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<KindRole>,
    /// The `apiVersion`.
    pub api_version: String,
    /// The `kind`.
    pub kind: String,
    /// Its name in URLs and rules, where that is not by the rule of Kubernetes' own generators ([`plural`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plural: Option<String>,
    /// Whether it is a control plane on machines, which count as nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub machines: bool,
    /// Where it says what others say where Cluster API's contract has it.
    #[serde(default, skip_serializing_if = "ObservedPaths::is_default")]
    pub paths: ObservedPaths,
    /// Fields that may be set once, and then stay as they are. Here and below they are JSON pointers, in which `*` is
    /// any item of a list, found by its `name`. What is unchanging is no matter of the agent's, which is not told.
    #[serde(default, skip_serializing)]
    pub set_once: Vec<String>,
    /// Fields that are from the beginning what they are: one that is not said is not said later either.
    #[serde(default, skip_serializing)]
    pub immutable: Vec<String>,
    /// What a field of `immutable` is where it is not said.
    #[serde(default, skip_serializing)]
    pub defaults: BTreeMap<String, String>,
    /// The only fields below `spec` that may change, where a webhook has such a list. One that ends in `/*` stands
    /// for all that is below it, and not for the whole.
    #[serde(default, skip_serializing)]
    pub mutable: Vec<String>,
    /// The field of carp's document that decides over a field, for who asks which to put back; `spec` where none is
    /// named.
    #[serde(default, skip_serializing)]
    pub decided_by: BTreeMap<String, String>,
    /// Fields whose empty value means something else than none. All others are left out where they have none.
    #[serde(default, skip_serializing)]
    pub may_be_empty: Vec<String>,
    /// What its webhook refuses of a new object, although the schema lets it pass.
    #[serde(default, skip_serializing)]
    pub refused: Vec<AdmissionRule>,
    /// Whether an object of it is never changed: another takes its place, whose name ends in a hash of what it holds.
    #[serde(default, skip_serializing)]
    pub rotates: bool,
}

/// What an object of a provider is to its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum KindRole {
    /// Its network and what else it lies in.
    Infrastructure,
    /// A machine, or a pool of them.
    Machine,
    /// Its control plane.
    ControlPlane,
    /// What is installed in it. It does not go with the `Cluster`.
    AddOn,
}

/// Where a control plane says its versions and how many replicas have them, as JSON pointers; `None`: where
/// Cluster API's contract has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObservedPaths {
    /// The version that is wanted: `/spec/version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_version: Option<String>,
    /// The version that runs: `/status/version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many replicas there are: `/status/replicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<String>,
    /// How many of them are as they are wanted: `/status/upToDateReplicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to_date_replicas: Option<String>,
}

impl ObservedPaths {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The declared places, each with the parent and the key that Cluster API's contract has for it.
    pub fn elsewhere(&self) -> impl Iterator<Item = (&str, [&'static str; 2])> {
        let Self { wanted_version, version, replicas, up_to_date_replicas } = self;
        let all = [
            (wanted_version, ["spec", "version"]),
            (version, ["status", "version"]),
            (replicas, ["status", "replicas"]),
            (up_to_date_replicas, ["status", "upToDateReplicas"]),
        ];
        all.into_iter().filter_map(|(at, of)| Some((at.as_deref()?, of)))
    }
}

impl ProvidedKind {
    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Its name in URLs and rules.
    #[must_use]
    pub fn resource(&self) -> String {
        self.plural.clone().unwrap_or_else(|| plural(&self.kind))
    }

    /// Whether the agent looks at it.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        !self.roles.is_empty()
    }

    /// What in it can mean nothing, for its author.
    pub(super) fn nonsense(&self) -> Option<String> {
        let Self { api_version, kind, .. } = self;
        let is_control_plane = self.roles.contains(&KindRole::ControlPlane);
        let pointer = |at: &str| at.starts_with('/');
        if !is_kind(kind) || !is_api_version(api_version) {
            Some(format!("`{kind}` of `{api_version}` can be no kind of an object"))
        } else if (self.machines || !self.paths.is_default()) && !is_control_plane {
            Some(format!("`{kind}` is no control plane: only one has `machines` and `paths`"))
        } else {
            let paths = self.paths.elsewhere().map(|(at, _)| at);
            let fields = [&self.set_once, &self.immutable, &self.mutable, &self.may_be_empty]
                .into_iter()
                .flatten();
            if let Some(wrong) = paths.chain(fields.map(String::as_str)).find(|at| !pointer(at)) {
                return Some(format!(
                    "`{wrong}` of `{kind}` is no JSON pointer: it begins with `/`"
                ));
            }
            if let Some(wrong) = self.refused.iter().find_map(AdmissionRule::nonsense) {
                return Some(format!("of `{kind}`: {wrong}"));
            }
            let lost = self.defaults.keys().find(|field| !self.immutable.contains(field))?;
            Some(format!("`{lost}` of `{kind}` has a default, and is not among `immutable`"))
        }
    }
}

impl fmt::Display for ProvidedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

/// As Kubernetes names kinds: `MachineDeployment`.
pub(super) fn is_kind(kind: &str) -> bool {
    kind.starts_with(|c: char| c.is_ascii_uppercase())
        && kind.chars().all(|c| c.is_ascii_alphanumeric())
}

/// `v1`, or `group/v1`.
pub(super) fn is_api_version(text: &str) -> bool {
    let (group, version) = text.split_once('/').unwrap_or(("v1", text));
    let lower = |text: &str, more: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c);
        !text.is_empty() && text.chars().all(fits)
    };
    lower(group, "-.") && lower(version, "") && version.starts_with('v')
}

/// The resource of a kind, by the rule that Kubernetes' own generators follow.
#[must_use]
pub fn plural(kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    if let Some(stem) = kind.strip_suffix('y').filter(|s| !s.ends_with(['a', 'e', 'o', 'u'])) {
        format!("{stem}ies")
    } else if ["s", "x", "ch", "sh"].iter().any(|end| kind.ends_with(end)) {
        format!("{kind}es")
    } else {
        format!("{kind}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_resource() {
        for (kind, resource) in [
            ("Cluster", "clusters"),
            ("HelmChartProxy", "helmchartproxies"),
            ("AzureClusterIdentity", "azureclusteridentities"),
            ("OCIRepository", "ocirepositories"),
            ("MachineHealthCheck", "machinehealthchecks"),
        ] {
            assert_eq!(plural(kind), resource);
        }
    }

    #[test]
    fn what_can_mean_nothing_is_told() {
        let told = |more: &str| {
            let text = format!("{{apiVersion: g.example.com/v1, kind: Base{more}}}");
            let kind: ProvidedKind = serde_saphyr::from_str(&text).unwrap();
            kind.nonsense().unwrap_or_default()
        };
        assert_eq!(
            told(", roles: [ControlPlane], machines: true, paths: {version: /status/v}"),
            ""
        );
        assert!(told("s and more").contains("can be no kind"));
        assert!(told(", roles: [Machine], machines: true").contains("no control plane"));
        assert!(told(", roles: [ControlPlane], paths: {version: v}").contains("no JSON pointer"));
        assert_eq!(told(", immutable: [/spec/a], defaults: {/spec/a: b}"), "");
        assert!(told(", setOnce: [spec.a]").contains("no JSON pointer"));
        assert!(told(", defaults: {/spec/a: b}").contains("not among `immutable`"));
    }

    #[test]
    fn an_agent_is_not_told_what_stays() {
        let text =
            "{apiVersion: v1, kind: Base, roles: [Machine], immutable: [/spec/a], rotates: true}";
        let kind: ProvidedKind = serde_saphyr::from_str(text).unwrap();
        let told = serde_json::to_string(&kind).unwrap();
        assert_eq!(told, r#"{"roles":["Machine"],"apiVersion":"v1","kind":"Base"}"#);
    }
}
