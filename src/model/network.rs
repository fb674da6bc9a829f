//! Ranges of addresses: what a document says, and what is taken where it says nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::api::Network;
use super::{Cluster, Flavor, Nodes, Worker};

/// The ranges of a ManagedCluster that neither its document nor its flavor says.
const CLUSTER_RANGES: (&str, &str) = ("10.244.0.0/16", "10.96.0.0/16");
/// Those of a Worker that carp makes.
const WORKER_RANGES: (&str, &str) = ("192.168.0.0/16", "10.96.0.0/12");

/// Those that a flavor says, or else these.
fn default_ranges<'a>(flavor: Option<&'a Flavor>, or: (&'a str, &'a str)) -> (&'a str, &'a str) {
    let own = flavor.and_then(|flavor| flavor.ranges.as_ref());
    own.map_or(or, |ranges| (&ranges.pods, &ranges.services))
}

impl Cluster {
    /// The ranges of the pods and those of the services of one that names none.
    #[must_use]
    pub fn default_ranges(&self) -> (&str, &str) {
        default_ranges(self.manifest(), CLUSTER_RANGES)
    }

    /// The ranges of its pods and services, as the document has them.
    #[must_use]
    pub fn ranges(&self) -> Vec<&str> {
        ranges(self.spec.network.as_ref(), Some(self.default_ranges())).unwrap_or_default()
    }
}

impl Worker {
    /// The ranges of the pods and those of the services of one that names none.
    #[must_use]
    pub fn default_ranges(&self) -> (&str, &str) {
        default_ranges(self.manifest(), WORKER_RANGES)
    }

    /// The ranges of its pods and services, as the document has them; `None` where carp did not make it
    /// and its document does not name both.
    #[must_use]
    pub fn ranges(&self) -> Option<Vec<&str>> {
        let default = (self.nodes() != Nodes::Existing).then(|| self.default_ranges());
        ranges(self.spec.network.as_ref(), default)
    }
}

fn ranges<'a>(
    network: Option<&'a Network>,
    default: Option<(&'a str, &'a str)>,
) -> Option<Vec<&'a str>> {
    let pods = said_or(network.map(|n| &*n.pod_cidrs), default.map(|d| d.0))?;
    let services = said_or(network.map(|n| &*n.service_cidrs), default.map(|d| d.1))?;
    Some([pods, services].concat())
}

fn said_or<'a>(said: Option<&'a [String]>, default: Option<&'a str>) -> Option<Vec<&'a str>> {
    match said {
        Some(said) if !said.is_empty() => Some(said.iter().map(String::as_str).collect()),
        _ => default.map(|default| vec![default]),
    }
}

impl Network {
    /// Ranges that overlap none of these: the first two of 10.0.0.0/16 and those after it; `None` where
    /// fewer are left.
    #[must_use]
    pub fn besides(taken: &[&str]) -> Option<Self> {
        let taken: Vec<Cidr> = taken.iter().filter_map(|range| Cidr::parse(range)).collect();
        let is_free = |range: &String| {
            Cidr::parse(range).is_some_and(|own| !taken.iter().any(|other| own.overlaps(*other)))
        };
        let mut free = (0..=u8::MAX).map(|at| format!("10.{at}.0.0/16")).filter(is_free);
        let (pods, services) = (free.next()?, free.next()?);
        Some(Self { pod_cidrs: vec![pods], service_cidrs: vec![services] })
    }
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix: u32,
}

impl Cidr {
    /// Reads `10.0.0.0/16` or `fd00::/64`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let plain = prefix.bytes().all(|b| b.is_ascii_digit()) && prefix.len() <= 3;
        let prefix = prefix.parse().ok().filter(|p| plain && *p <= width(address))?;
        Some(Self { address, prefix })
    }

    /// Whether an address is in both.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        let shared = self.prefix.min(other.prefix);
        self.address.is_ipv4() == other.address.is_ipv4()
            && self.leading(shared) == other.leading(shared)
    }

    /// Whether all addresses are in another range.
    #[must_use]
    pub fn is_within(self, other: Self) -> bool {
        other.prefix <= self.prefix && self.overlaps(other)
    }

    /// Whether an address is in the range.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        self.overlaps(Self { address, prefix: width(address) })
    }

    /// The address that comes so many after the first of the range; `None` beyond its end.
    #[must_use]
    pub fn address(self, nth: u32) -> Option<IpAddr> {
        let bits = width(self.address) - self.prefix;
        if bits < u32::BITS && nth >> bits != 0 {
            return None;
        }
        let first = self.leading(self.prefix).checked_shl(bits).unwrap_or(0);
        let number = first + u128::from(nth);
        match self.address {
            IpAddr::V4(_) => u32::try_from(number).ok().map(|n| Ipv4Addr::from_bits(n).into()),
            IpAddr::V6(_) => Some(Ipv6Addr::from_bits(number).into()),
        }
    }

    /// The first bits of the address.
    fn leading(self, bits: u32) -> u128 {
        let (number, width) = match self.address {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
            IpAddr::V6(v6) => (v6.to_bits(), 128),
        };
        number.checked_shr(width - bits).unwrap_or(0)
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ranges_that_are_free_are_found() {
        let besides = |taken: &[&str]| {
            let free = Network::besides(taken)?;
            Some([free.pod_cidrs.join(","), free.service_cidrs.join(",")].join(" "))
        };
        assert_eq!(besides(&[]).unwrap(), "10.0.0.0/16 10.1.0.0/16");
        assert_eq!(besides(&["10.0.0.0/15", "10.3.4.0/24"]).unwrap(), "10.2.0.0/16 10.4.0.0/16");
        assert_eq!(besides(&["10.0.0.0/8"]), None);
    }

    #[test]
    fn a_range_has_its_addresses_and_no_more() {
        let of = |range: &str, nth| {
            Cidr::parse(range).unwrap().address(nth).map(|address| address.to_string())
        };
        assert_eq!(of("10.96.3.4/16", 10).as_deref(), Some("10.96.0.10"));
        assert_eq!(of("0.0.0.0/0", 10).as_deref(), Some("0.0.0.10"));
        assert_eq!(of("::/0", 10).as_deref(), Some("::a"));
        assert_eq!(of("fd00::/64", 16).as_deref(), Some("fd00::10"));
        assert_eq!(of("255.255.255.0/24", 255).as_deref(), Some("255.255.255.255"));
        assert_eq!((of("10.0.0.0/28", 16), of("10.0.0.0/32", 1)), (None, None));
        assert_eq!(of("10.0.0.0/32", 0).as_deref(), Some("10.0.0.0"));
    }

    #[test]
    fn a_range_is_within_another_that_has_all_of_it() {
        let within = |one: &str, other: &str| {
            Cidr::parse(one).unwrap().is_within(Cidr::parse(other).unwrap())
        };
        assert!(within("10.64.1.0/24", "10.64.0.0/16") && within("10.64.0.0/16", "10.64.0.0/16"));
        assert!(!within("10.64.0.0/15", "10.64.0.0/16") && !within("10.65.0.0/24", "10.64.0.0/16"));
        assert!(!within("10.64.0.0/16", "::/0"), "of another family");
    }

    #[test]
    fn ranges_overlap_where_one_is_in_the_other() {
        let overlap = |one: &str, other: &str| {
            let (one, other) = (Cidr::parse(one).unwrap(), Cidr::parse(other).unwrap());
            assert_eq!(one.overlaps(other), other.overlaps(one));
            one.overlaps(other)
        };
        assert!(overlap("10.0.0.0/8", "10.244.0.0/16"));
        assert!(overlap("10.96.0.0/12", "10.96.0.0/16"));
        assert!(overlap("0.0.0.0/0", "192.168.0.0/16"));
        assert!(!overlap("10.244.0.0/16", "10.245.0.0/16"));
        assert!(!overlap("::/0", "0.0.0.0/0"));
        let has = |range: &str, ip: &str| Cidr::parse(range).unwrap().contains(ip.parse().unwrap());
        assert!(has("10.0.0.0/8", "10.9.8.7") && !has("10.0.0.0/8", "11.0.0.0"));
        assert!(overlap("fd00::/8", "fd01::/64"));
    }
}
