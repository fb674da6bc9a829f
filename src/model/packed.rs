//! Maps that have come to their size and stay for the whole run.

use std::collections::BTreeMap;

/// The same map in as few nodes as hold it. One that was filled in order is half empty, because each node was split
/// where it was full; of a map with large values that is most of its memory.
#[must_use]
pub fn packed<K: Ord, V>(map: BTreeMap<K, V>) -> BTreeMap<K, V> {
    // What is collected in order is put into full nodes (`bulk_push` in `alloc::collections::btree::append`).
    map.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_map_is_the_same_map() {
        let map: BTreeMap<u32, String> = (0..100).map(|n| (n, n.to_string())).collect();
        assert_eq!(packed(map.clone()), map);
    }
}
