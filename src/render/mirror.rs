//! What stands behind a mirror: images wherever `images.registry` names one, and where `images.sources` says so
//! also charts, manifests of providers and what else is read from the internet.

use crate::model::api::{FleetSpec, Sources};

/// The mirror from which charts and manifests come; `None` where they come from where they are published.
pub(super) fn of(spec: &FleetSpec) -> Option<&str> {
    let images = spec.images.as_ref()?;
    images.registry.as_deref().filter(|_| images.sources == Sources::Mirror)
}

/// A repository of charts as it is called behind a mirror: OCI, by host and path; as it is where there is none.
pub(super) fn source(url: &str, mirror: Option<&str>) -> String {
    let Some(mirror) = mirror else { return url.to_owned() };
    let path = url.split_once("://").map_or(url, |(_, path)| path);
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
