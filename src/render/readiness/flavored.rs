//! The steps that a flavor declares, as a folder of it has them.

use super::folder::{ReadFolder, ReadinessStep, shown, text};
use super::parts::{OnWorker, part};
use crate::model::api::Parameters;
use crate::model::{Flavor, FlavorStep};
use crate::render::object::Object;
use crate::render::preparation::Where;

/// A folder of a flavor, and what is around it.
pub(super) struct FlavoredFolder<'a> {
    /// `None` where nobody knows it, which declares nothing.
    pub(super) flavor: Option<&'a Flavor>,
    /// What the cluster or worker says to it.
    pub(super) said: &'a Parameters,
    pub(super) folder: &'a ReadFolder,
    /// What is on the worker that it is on.
    pub(super) worker: &'a OnWorker,
    /// What the names of its steps begin with.
    pub(super) prefix: &'a str,
    /// Where its objects are.
    pub(super) on: &'a Where,
}

/// Its steps.
pub(super) fn flavored(of: &FlavoredFolder<'_>) -> Vec<ReadinessStep> {
    let Some(flavor) = of.flavor else { return Vec::new() };
    flavor.readiness.iter().filter_map(|step| of.step(flavor, step)).collect()
}

impl FlavoredFolder<'_> {
    /// One of them; `None` where it is of what a parameter lists, and that is nothing.
    fn step(&self, flavor: &Flavor, step: &FlavorStep) -> Option<ReadinessStep> {
        let own = step.own.as_ref().filter(|parameter| flavor.is_own(parameter, self.said));
        let found = match (own, &step.each) {
            (Some(_), _) => Found::default(),
            (None, None) => self.found(step, step.name.as_deref()),
            (None, Some(parameter)) => {
                let names = flavor.names_in(parameter, self.said);
                if names.is_empty() {
                    return None;
                }
                let each = names.iter().map(|name| self.found(step, Some(name)));
                each.fold(Found::default(), Found::and)
            }
        };
        let before = step.after.iter().map(|after| format!("{}{after}", self.prefix));
        Some(ReadinessStep {
            step: format!("{}{}", self.prefix, step.step),
            cluster: self.on.clone(),
            objects: found.objects.into_iter().map(shown).collect(),
            after: before.chain(found.parts).collect(),
            missing: found.missing,
            own: own.cloned(),
        })
    }

    /// The objects of a step, of one name or of any, and what of them is missing.
    fn found<'f>(&'f self, step: &'f FlavorStep, name: Option<&str>) -> Found<'f> {
        let named = |object: &&Object| name.is_none_or(|name| object.name() == name);
        let objects: Vec<_> = self.folder.of_kind(&step.kind).filter(named).collect();
        let mut missing: Vec<_> =
            objects.iter().flat_map(|object| self.folder.broken(object)).collect();
        if objects.is_empty() {
            let name = name.map(|name| format!(" {name}")).unwrap_or_default();
            missing.push(format!("there is no {}{name}", step.kind));
        }
        let mut parts = Vec::new();
        if let Some(need) = &step.needs {
            let wanted = objects.iter().map(|o| text(&o.value, &need.path).unwrap_or_default());
            let (there, gone): (Vec<_>, Vec<_>) =
                wanted.partition(|name| self.worker.folder.has(&need.kind, name));
            let gone = gone.into_iter();
            missing.extend(gone.map(|name| format!("the worker has no {} `{name}`", need.kind)));
            let steps = there.into_iter().map(|name| part(&need.kind, name));
            parts.extend(steps.filter(|step| self.worker.parts.iter().any(|p| p.step == *step)));
        }
        Found { objects, parts, missing }
    }
}

/// What a folder has of a step.
#[derive(Default)]
struct Found<'a> {
    objects: Vec<&'a Object>,
    /// The parts of the worker's platform that they wait for.
    parts: Vec<String>,
    missing: Vec<String>,
}

impl Found<'_> {
    fn and(mut self, other: Self) -> Self {
        self.objects.extend(other.objects);
        self.parts.extend(other.parts);
        self.missing.extend(other.missing);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{missing, steps};
    use super::*;
    use crate::render::Templates;
    use crate::render::fixture::fleet;

    fn said(text: &str) -> Vec<ReadinessStep> {
        let mut fleet = fleet();
        let said: Parameters = serde_json::from_str(text).unwrap();
        fleet.clusters.values_mut().for_each(|c| c.spec.parameters = said.clone());
        fleet.workers.values_mut().for_each(|w| w.spec.parameters = said.clone());
        steps(&fleet, &Templates::built_in())
    }

    fn step<'a>(all: &'a [ReadinessStep], name: &str) -> &'a ReadinessStep {
        all.iter().find(|step| step.step == name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn what_the_fleet_brings_itself_is_no_missing_link() {
        let all = said(r#"{"addOns": {"cni": "own", "ccm": "own", "csi": "own"}}"#);
        assert_eq!(missing(&all), Vec::<String>::new());
        for (name, parameter) in [
            ("pod network", "addOns.cni"),
            ("pay-eu: pod network", "addOns.cni"),
            ("pay-eu: cloud controller", "addOns.ccm"),
            ("pay-eu: disks", "addOns.csi"),
            ("pay-eu: storage class", "addOns.csi"),
        ] {
            let step = step(&all, name);
            assert_eq!((step.own.as_deref(), step.objects.len()), (Some(parameter), 0), "{name}");
        }
        let all = said("{}");
        assert!(all.iter().all(|step| step.own.is_none() && !step.step.ends_with("own charts")));
    }

    #[test]
    fn charts_of_the_fleet_are_a_step_with_each_of_them() {
        let chart = |name: &str| {
            format!(
                r#"{{"name": "{name}", "repoURL": "https://helm.cilium.io", "chartName": "cilium", "version": "1.18.2",
                    "namespace": "kube-system"}}"#
            )
        };
        let text = format!(
            r#"{{"addOns": {{"cni": "own"}}, "helmCharts": [{}, {}]}}"#,
            chart("cilium"),
            chart("more")
        );
        let all = said(&text);
        assert_eq!(missing(&all), Vec::<String>::new());
        let charts = step(&all, "pay-eu: own charts");
        assert_eq!(charts.objects, ["HelmChartProxy pay-eu/cilium", "HelmChartProxy pay-eu/more"]);
        assert_eq!(charts.after, ["pay-eu: control plane"]);
        assert_eq!(step(&all, "own charts").objects.len(), 2, "the worker's too");
    }

    #[test]
    fn charts_that_flux_installs_are_a_step_too() {
        let mut fleet = fleet();
        fleet.spec.flux_releases = true;
        let said: Parameters = serde_json::from_str(
            r#"{"helmReleases": [{"name": "ingress", "repoURL": "https://charts.example.com", "chartName": "ingress",
                "version": "1.0.0", "namespace": "ingress"}]}"#,
        )
        .unwrap();
        fleet.clusters.values_mut().for_each(|c| c.spec.parameters = said.clone());
        let all = steps(&fleet, &Templates::built_in());
        assert_eq!(missing(&all), Vec::<String>::new());
        let releases = step(&all, "pay-eu: own releases");
        assert_eq!(releases.objects, ["HelmRelease pay-eu/ingress"]);
        assert!(all.iter().all(|step| step.step != "own releases"), "a worker has none");
    }
}
