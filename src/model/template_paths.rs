//! Which of the files of templates declare something, by their paths.

/// The name of a flavor's manifest in its folder.
const MANIFEST: &str = "flavor.yaml";

/// The folder of the providers of Cluster API.
pub(super) const PROVIDERS: &str = "providers/";

/// The folder of the parameters that several flavors have.
pub(super) const PARAMETERS: &str = "parameters/";

/// The folder of the tables of clouds.
const CLOUDS: &str = "clouds/";

/// The folder of the files that say where definitions are published.
pub(super) const DEFINITIONS: &str = "definitions/";

/// The flavor that a file is the manifest of.
#[must_use]
pub fn flavor_of(path: &str) -> Option<&str> {
    path.strip_suffix(MANIFEST)?.strip_suffix('/')
}

/// Whether a file declares something, and makes nothing itself.
#[must_use]
pub fn declares(path: &str) -> bool {
    flavor_of(path).is_some()
        || provider_of(path).is_some()
        || cloud_of(path).is_some()
        || parameters_of(path).is_some()
        || definitions_of(path).is_some()
}

/// The component of whose definitions a file says where they are published.
#[must_use]
pub fn definitions_of(path: &str) -> Option<&str> {
    path.strip_prefix(DEFINITIONS)?.strip_suffix(".yaml")
}

/// The name by which flavors include the parameters that a file declares.
#[must_use]
pub fn parameters_of(path: &str) -> Option<&str> {
    path.strip_prefix(PARAMETERS)?.strip_suffix(".yaml")
}

/// The provider of Cluster API that a file declares.
pub(super) fn provider_of(path: &str) -> Option<&str> {
    path.strip_prefix(PROVIDERS)?.strip_suffix(".yaml")
}

/// The cloud whose tables a file has.
#[must_use]
pub fn cloud_of(path: &str) -> Option<&str> {
    path.strip_prefix(CLOUDS)?.strip_suffix(".yaml")
}

/// The manifest of a flavor.
pub(super) fn manifest_of(flavor: &str) -> String {
    format!("{flavor}/{MANIFEST}")
}
