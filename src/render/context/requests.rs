//! What the pods of a hosted control plane ask of the nodes of their worker: what the planner counts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::{Quantity, Resources};

/// Resources that a pod can ask for, with the smallest part of each in thousandths: a processor in thousandths,
/// memory in whole bytes. Other names of a demand are the planner's alone.
const OF_PODS: [(&str, i128); 2] = [("cpu", 1), ("memory", 1000)];
/// The parts of a pod's amount that its containers get, in percent. The API server, which keeps what is watched
/// in memory, gets the rest.
const SHARES: [(&str, i128); 3] =
    [("controllerManager", 20), ("konnectivity", 5), ("scheduler", 10)];
/// Who gets the rest.
const REST: &str = "apiServer";

/// The requests of each container of one replica, so that those of all replicas together are the demand, less
/// what does not go evenly into the replicas; null where the demand names nothing that a pod can ask for.
pub(super) fn requests(demand: &Resources, replicas: u32) -> Value {
    let mut all = Value::Null;
    for (name, smallest) in OF_PODS {
        let Some(amount) = demand.get(name).filter(|amount| **amount > Quantity::ZERO) else {
            continue;
        };
        let each = amount.thousandths() / smallest / i128::from(replicas.max(1));
        let mut rest = each;
        for (container, percent) in SHARES {
            let share = each * percent / 100;
            rest -= share;
            all[container][name] = json!(Quantity::from_thousandths(share * smallest));
        }
        all[REST][name] = json!(Quantity::from_thousandths(rest * smallest));
    }
    all
}

/// So many percent of what all containers of a replica ask for together, less what is smaller than the smallest part
/// of each resource: for who runs them all in one, or has others.
pub(in crate::render) fn share(
    requests: &BTreeMap<String, BTreeMap<String, Quantity>>,
    percent: u32,
) -> BTreeMap<String, String> {
    let mut all = BTreeMap::<&str, i128>::new();
    for (name, amount) in requests.values().flatten() {
        *all.entry(name).or_default() += amount.thousandths();
    }
    let part = |(name, amount): (&str, i128)| {
        let smallest =
            OF_PODS.iter().find(|(of, _)| *of == name).map_or(1000, |(_, smallest)| *smallest);
        let parts = amount / smallest * i128::from(percent) / 100;
        (name.to_owned(), Quantity::from_thousandths(parts * smallest).to_string())
    };
    all.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(demand: &[(&str, &str)], replicas: u32) -> Value {
        let demand = demand.iter().map(|(name, n)| ((*name).to_owned(), n.parse().unwrap()));
        requests(&demand.collect(), replicas)
    }

    /// What all replicas ask for together, in thousandths.
    fn sum(requests: &Value, name: &str, replicas: i128) -> i128 {
        let containers = requests.as_object().unwrap().values();
        let amounts = containers.map(|c| c[name].as_str().unwrap().parse::<Quantity>().unwrap());
        amounts.map(Quantity::thousandths).sum::<i128>() * replicas
    }

    #[test]
    fn what_is_asked_for_is_what_is_counted() {
        for (memory, cpu, replicas) in
            [("24Gi", "3", 3), ("2Gi", "250m", 2), ("7", "1", 2), ("1500M", "1100m", 1)]
        {
            let requests = of(&[("clusters", "1"), ("cpu", cpu), ("memory", memory)], replicas);
            let counted = |n: &str| n.parse::<Quantity>().unwrap().thousandths();
            let replicas = i128::from(replicas);
            let lost = counted(memory) - sum(&requests, "memory", replicas);
            assert!((0..replicas * 1000).contains(&lost), "{memory}: less than a byte each");
            let lost = counted(cpu) - sum(&requests, "cpu", replicas);
            assert!((0..replicas).contains(&lost), "{cpu}: less than a thousandth each");
        }
        let exact = of(&[("memory", "24Gi")], 3);
        assert_eq!(sum(&exact, "memory", 3), "24Gi".parse::<Quantity>().unwrap().thousandths());
    }

    #[test]
    fn the_whole_of_it_may_be_shared_out_otherwise() {
        let requests = of(&[("cpu", "1"), ("memory", "10Gi")], 3);
        let requests = serde_json::from_value(requests).unwrap();
        let part = |percent| json!(share(&requests, percent));
        assert_eq!(part(100), json!({"cpu": "333m", "memory": "3579139413"}));
        assert_eq!(part(70), json!({"cpu": "233m", "memory": "2505397589"}));
        assert_eq!(share(&BTreeMap::new(), 70), BTreeMap::new());
    }

    #[test]
    fn the_api_server_gets_most() {
        let requests = of(&[("cpu", "2"), ("memory", "2000Mi")], 2);
        assert_eq!(requests["apiServer"], json!({"cpu": "650m", "memory": "650Mi"}));
        assert_eq!(requests["scheduler"], json!({"cpu": "100m", "memory": "100Mi"}));
    }

    #[test]
    fn where_nothing_of_a_pod_is_counted_nothing_is_asked_for() {
        assert_eq!(of(&[("clusters", "1"), ("licences", "3")], 2), Value::Null);
        assert_eq!(of(&[("memory", "0")], 2), Value::Null);
    }
}
