//! What stands behind a mirror: images wherever `images.registry` names one, and where `images.sources` says so
//! also charts, manifests of providers and what else is read from the internet.

use crate::model::api::{FleetSpec, Sources};

/// The mirror from which charts and manifests come; `None` where they come from where they are published.
pub(super) fn of(spec: &FleetSpec) -> Option<&str> {
    let images = spec.images.as_ref()?;
    images.registry.as_deref().filter(|_| images.sources == Sources::Mirror)
}

/// A repository of charts as it is called behind a mirror: OCI, by host and path; as it is where there is none, and
/// where it is in the mirror already.
pub(super) fn source(url: &str, mirror: Option<&str>) -> String {
    let Some(mirror) = mirror else { return url.to_owned() };
    let path = url.split_once("://").map_or(url, |(_, path)| path);
    if path.strip_prefix(mirror).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        return url.to_owned();
    }
    format!("oci://{mirror}/{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::Images;

    #[test]
    fn a_source_keeps_its_host_and_path() {
        let url = "https://docs.tigera.io/calico/charts";
        assert_eq!(source(url, None), url);
        assert_eq!(
            source(url, Some("m.example.com:5000")),
            "oci://m.example.com:5000/docs.tigera.io/calico/charts"
        );
    }

    #[test]
    fn what_is_in_the_mirror_stays_there() {
        let behind = |url: &str| source(url, Some("m.example.com/a"));
        for url in ["oci://m.example.com/a", "oci://m.example.com/a/charts"] {
            assert_eq!(behind(url), url);
        }
        assert_eq!(behind("oci://m.example.com/ab"), "oci://m.example.com/a/m.example.com/ab");
    }

    #[test]
    fn images_alone_may_come_from_the_mirror() {
        let registry = Some("m.example.com".to_owned());
        let of_sources = |sources| {
            let images = Images { registry: registry.clone(), sources, ..Images::default() };
            let spec = FleetSpec { images: Some(images), ..FleetSpec::default() };
            of(&spec).map(ToOwned::to_owned)
        };
        assert_eq!(of_sources(Sources::Upstream), None);
        assert_eq!(of_sources(Sources::Mirror), registry);
    }
}
