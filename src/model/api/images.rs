//! `images` of `carp.yaml`: the mirror, and carp's own image.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where images and charts come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Images {
    /// A mirror that stands before every registry: `mirror.example.com` turns `ghcr.io/a/b` into
    /// `mirror.example.com/ghcr.io/a/b`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// Where charts and the manifests of Cluster API's providers come from. `Mirror`: from `registry` too, as OCI
    /// artifacts by the host and path of where they are published, so that nothing is read from the internet.
    #[serde(default, skip_serializing_if = "Sources::is_default")]
    pub sources: Sources,
    /// carp's own image without a tag, as the clusters reach it, such as `registry.example.com/carp`: the
    /// agents are of it. Default: `carp` behind `registry`. The tag is the component `carp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carp: Option<String>,
}

/// Where charts and manifests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Sources {
    /// From where their projects publish them.
    #[default]
    Upstream,
    /// From the mirror that `registry` names.
    Mirror,
}

impl Sources {
    /// Whether it is what a fleet has that says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
