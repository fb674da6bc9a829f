//! `image`: parts of images, of the containers of pods or wherever a kind has one.
//!
//! An image is `registry/repository:tag@digest`. What stands before the first `/` is a registry where it has a `.` or a
//! `:`, or is `localhost`, as container runtimes read it (`distribution/reference`, `splitDockerDomain`).

use std::fmt;

use serde_json::Value;

use super::containers::containers;
use super::trouble::ChangeTrouble;
use crate::model::api::ImageChange;

/// Changes an object.
pub(super) fn apply(object: &mut Value, change: &ImageChange) -> Result<(), ChangeTrouble> {
    if let Some(path) = &change.path {
        let Some(Value::String(image)) = object.pointer_mut(path) else {
            let why = format!("there is no text at `{path}`");
            return Err(ChangeTrouble::new("image.path", why, "name the field that has the image"));
        };
        *image = changed(image, change);
        return Ok(());
    }
    for container in containers(object, change.container.as_deref()) {
        if let Some(Value::String(image)) = container.get_mut("image") {
            *image = changed(image, change);
        }
    }
    Ok(())
}

fn changed(image: &str, change: &ImageChange) -> String {
    let mut image = ImageName::of(image);
    if let Some(registry) = &change.registry {
        image.registry = Some(registry);
    }
    if let Some(repository) = &change.repository {
        image.repository = repository;
    }
    if let Some(tag) = &change.tag {
        (image.tag, image.digest) = (Some(tag.as_str()), None);
    }
    if let Some(digest) = &change.digest {
        image.digest = Some(digest);
    }
    image.to_string()
}

/// The parts of an image's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ImageName<'a> {
    registry: Option<&'a str>,
    repository: &'a str,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

impl<'a> ImageName<'a> {
    fn of(image: &'a str) -> Self {
        let (name, digest) = match image.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (image, None),
        };
        let (name, tag) = match name.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (name, None),
        };
        let is_host = |host: &str| host.contains(['.', ':']) || host == "localhost";
        let (registry, repository) = match name.split_once('/') {
            Some((host, repository)) if is_host(host) => (Some(host), repository),
            _ => (None, name),
        };
        Self { registry, repository, tag, digest }
    }
}

impl fmt::Display for ImageName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { registry, repository, tag, digest } = self;
        registry.iter().try_for_each(|registry| write!(f, "{registry}/"))?;
        f.write_str(repository)?;
        tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::containers::tests::{app, deployment};
    use super::*;

    #[test]
    fn an_image_is_read_as_runtimes_read_it() {
        let of =
            |registry, repository, tag, digest| ImageName { registry, repository, tag, digest };
        for (image, parts) in [
            ("nginx", of(None, "nginx", None, None)),
            ("calico/node:v3", of(None, "calico/node", Some("v3"), None)),
            ("localhost/a:1", of(Some("localhost"), "a", Some("1"), None)),
            ("m.example.com:5000/a/b", of(Some("m.example.com:5000"), "a/b", None, None)),
            ("ghcr.io/a/b:v1@sha256:0", of(Some("ghcr.io"), "a/b", Some("v1"), Some("sha256:0"))),
        ] {
            assert_eq!(ImageName::of(image), parts, "{image}");
            assert_eq!(parts.to_string(), image);
        }
    }

    #[test]
    fn each_part_is_changed_by_itself() {
        let of =
            |image: &str, change: Value| changed(image, &serde_json::from_value(change).unwrap());
        let image = "ghcr.io/a/b:v1@sha256:0";
        assert_eq!(
            of(image, json!({"registry": "m.example.com"})),
            "m.example.com/a/b:v1@sha256:0"
        );
        assert_eq!(of("nginx", json!({"registry": "m.example.com"})), "m.example.com/nginx");
        assert_eq!(of(image, json!({"repository": "c"})), "ghcr.io/c:v1@sha256:0");
        assert_eq!(of(image, json!({"tag": "v2"})), "ghcr.io/a/b:v2", "the digest would win");
        assert_eq!(
            of(image, json!({"tag": "v2", "digest": "sha256:1"})),
            "ghcr.io/a/b:v2@sha256:1"
        );
        assert_eq!(of("nginx", json!({"digest": "sha256:1"})), "nginx@sha256:1");
    }

    #[test]
    fn every_container_or_one_or_a_field_has_it() {
        let change = |change: Value| {
            let mut object = deployment(json!({"image": "ghcr.io/a/b:v1"}));
            object["spec"]["server"] = json!({"image": "r.io/x"});
            apply(&mut object, &serde_json::from_value(change).unwrap()).map(|()| object)
        };
        let setup = |object: &Value| {
            object["spec"]["template"]["spec"]["initContainers"][0]["image"].clone()
        };
        let all = change(json!({"registry": "m.io"})).unwrap();
        assert_eq!(
            (&app(&all)["image"], setup(&all)),
            (&json!("m.io/a/b:v1"), json!("m.io/busybox"))
        );
        assert_eq!(all["spec"]["server"]["image"], "r.io/x");
        let one = change(json!({"container": "setup", "tag": "1"})).unwrap();
        assert_eq!(
            (&app(&one)["image"], setup(&one)),
            (&json!("ghcr.io/a/b:v1"), json!("busybox:1"))
        );
        let field = change(json!({"path": "/spec/server/image", "tag": "1"})).unwrap();
        assert_eq!(field["spec"]["server"]["image"], "r.io/x:1");
        assert_eq!(app(&field)["image"], "ghcr.io/a/b:v1");
        let trouble = change(json!({"path": "/spec/nope", "tag": "1"})).unwrap_err();
        assert_eq!(trouble.at.to_string(), "image.path");
    }
}
