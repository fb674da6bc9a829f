//! Deltas between objects of a pack (gitformat-pack(5)): what a template made for one cluster is for the next one the
//! same but for some lines.

use std::ops::Range;

use memchr::{memchr, memrchr};

/// The most bytes that one copy takes: its size has two bytes here, and none would be 65,536.
const MOST_COPIED: usize = 0xffff;
/// The most bytes that one insertion takes.
const MOST_INSERTED: usize = 0x7f;

/// How many bytes are copied for themselves: to say which takes some five.
const WORTH_COPYING: usize = 8;

/// An object that others are made from.
pub(super) struct DeltaBase {
    body: Vec<u8>,
    /// Its lines by their hashes, in the order of these: most that are looked for are not there, and no bytes are compared for them.
    lines: Vec<(u64, Range<usize>)>,
}

impl DeltaBase {
    pub(super) fn new(body: Vec<u8>) -> Self {
        let mut lines: Vec<_> =
            lines(&body).map(|line| (line_hash(&body[line.clone()]), line)).collect();
        lines.sort_unstable_by_key(|(hash, line)| (*hash, line.start));
        lines.dedup_by_key(|(hash, _)| *hash);
        Self { body, lines }
    }

    /// How to make another object out of this one; `None` where that takes more than half of its bytes.
    pub(super) fn delta_to(&self, target: &[u8]) -> Option<Vec<u8>> {
        let mut delta = Delta::new(self.body.len(), target);
        // Where the line of the base begins that is expected next: a line that differs stands in the place of one.
        let (mut next, mut at) = (0, 0);
        while at < target.len() {
            let same = same_lines(&self.body[next..], &target[at..]);
            if same > 0 {
                delta.copy(next..next + same, at + same);
                (next, at) = (next + same, at + same);
                continue;
            }
            let line = at..line_end(target, at);
            at = line.end;
            next = if let Some(found) = self.find(&target[line.clone()]) {
                delta.copy(found.clone(), line.end);
                found.end
            } else {
                let other = next..line_end(&self.body, next);
                delta.edit(&self.body, other.clone(), line);
                other.end
            };
        }
        let out = delta.end();
        (out.len() <= target.len() / 2).then_some(out)
    }

    /// Where a line stands in the base.
    fn find(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let hash = line_hash(bytes);
        let found = self.lines.binary_search_by_key(&hash, |(hash, _)| *hash).ok()?;
        let (_, line) = &self.lines[found];
        // Another line may have the same hash.
        (self.body[line.clone()] == *bytes).then(|| line.clone())
    }
}

/// A delta that grows: what was copied last, and what is to be inserted behind it.
struct Delta<'a> {
    out: Vec<u8>,
    target: &'a [u8],
    copied: Range<usize>,
    inserted: Range<usize>,
}

impl<'a> Delta<'a> {
    fn new(base: usize, target: &'a [u8]) -> Self {
        let mut out = Vec::with_capacity(target.len() / 8);
        put_size(&mut out, base);
        put_size(&mut out, target.len());
        Self { out, target, copied: 0..0, inserted: 0..0 }
    }

    /// Goes on with bytes of the base, which are those of the target up to `end`.
    fn copy(&mut self, base: Range<usize>, end: usize) {
        if self.goes_on_at(base.start) {
            self.copied.end = base.end;
        } else {
            self.flush();
            self.copied = base;
        }
        self.inserted = end..end;
    }

    /// Goes on with a line that stands in the place of another one: what both begin with is copied where that goes on with what
    /// was copied before, and what both end with where enough follows with it.
    fn edit(&mut self, base: &[u8], other: Range<usize>, line: Range<usize>) {
        let (there, here) = (&base[other.clone()], &self.target[line.clone()]);
        let goes_on = self.goes_on_at(other.start);
        let before = if goes_on { common(there.iter(), here.iter()) } else { 0 };
        let behind = common(there[before..].iter().rev(), here[before..].iter().rev());
        let following = base[other.end..].iter().take(WORTH_COPYING);
        let behind = match behind + common(following, self.target[line.end..].iter()) {
            WORTH_COPYING.. => behind,
            _ => 0,
        };
        if before > 0 {
            self.copy(other.start..other.start + before, line.start + before);
        }
        self.insert(line.start + before..line.end - behind);
        if behind > 0 {
            self.copy(other.end - behind..other.end, line.end);
        }
    }

    /// Whether a copy from there would go on with the last one.
    fn goes_on_at(&self, start: usize) -> bool {
        self.inserted.is_empty() && self.copied.end == start && !self.copied.is_empty()
    }

    /// Goes on with bytes of the target.
    fn insert(&mut self, line: Range<usize>) {
        self.inserted = self.inserted.start.min(line.start)..line.end;
    }

    fn flush(&mut self) {
        let mut copied = std::mem::take(&mut self.copied);
        while !copied.is_empty() {
            let size = copied.len().min(MOST_COPIED);
            put_copy(&mut self.out, copied.start, size);
            copied.start += size;
        }
        for part in self.target[std::mem::take(&mut self.inserted)].chunks(MOST_INSERTED) {
            self.out.push(u8::try_from(part.len()).unwrap_or_default());
            self.out.extend_from_slice(part);
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}

/// The object that a delta makes out of its base; `None` where it is none.
pub(super) fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut delta = delta.iter().copied();
    if take_size(&mut delta)? != base.len() {
        return None;
    }
    let size = take_size(&mut delta)?;
    let mut out = Vec::with_capacity(size);
    while let Some(op) = delta.next() {
        if op & 0x80 == 0 {
            let before = out.len();
            out.extend(delta.by_ref().take(usize::from(op)));
            (op > 0 && out.len() - before == usize::from(op)).then_some(())?;
        } else {
            let mut number = |bits: Range<u8>| {
                bits.enumerate()
                    .filter(|(_, bit)| op & (1 << bit) != 0)
                    .try_fold(0, |sum, (at, _)| Some(sum | usize::from(delta.next()?) << (8 * at)))
            };
            let (start, length) = (number(0..4)?, number(4..7)?);
            out.extend_from_slice(base.get(start..start + length)?);
        }
    }
    (out.len() == size).then_some(out)
}

/// Seven bits a byte, the lowest first.
fn put_size(out: &mut Vec<u8>, mut size: usize) {
    while size >= 0x80 {
        out.push(low_byte(size) | 0x80);
        size >>= 7;
    }
    out.push(low_byte(size));
}

fn take_size(from: &mut impl Iterator<Item = u8>) -> Option<usize> {
    let mut size = 0;
    for shift in (0..64).step_by(7) {
        let byte = from.next()?;
        size |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}

/// Bytes that are not null are there, and a bit says which.
fn put_copy(out: &mut Vec<u8>, offset: usize, size: usize) {
    let at = out.len();
    out.push(0x80);
    let bytes = (0..4).map(|n| offset >> (8 * n)).chain((0..2).map(|n| size >> (8 * n)));
    for (bit, byte) in bytes.map(low_byte).enumerate() {
        if byte != 0 {
            out[at] |= 1 << bit;
            out.push(byte);
        }
    }
}

const fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

/// How many bytes two texts have in common up to the end of a line, or of both.
fn same_lines(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[same..].iter().zip(&other[same..]);
    let same = same + rest.take_while(|(one, other)| one == other).count();
    if same == one.len() && same == other.len() {
        return same;
    }
    memrchr(b'\n', &one[..same]).map_or(0, |at| at + 1)
}

/// A hash of a line: what multiplies spreads over the high bits, and what is folded in last over the low ones (as in `FxHash`).
fn line_hash(line: &[u8]) -> u64 {
    const SPREADS: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |hash: u64, word: u64| (hash.rotate_left(26) ^ word).wrapping_mul(SPREADS);
    let (words, rest) = line.as_chunks();
    let hash = words.iter().map(|word| u64::from_le_bytes(*word)).fold(line.len() as u64, fold);
    rest.iter().map(|byte| u64::from(*byte)).fold(hash, fold)
}

/// How many bytes are the same, one after the other.
fn common<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// Where the line ends that begins there, its line end with it.
fn line_end(body: &[u8], start: usize) -> usize {
    memchr(b'\n', &body[start..]).map_or(body.len(), |at| start + at + 1)
}

/// The lines of an object, each with its line end.
fn lines(body: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let line = start..line_end(body, start);
        start = line.end;
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(name: &str) -> Vec<u8> {
        let same = "  a: 1\n  b: [x, y]\n  some: more lines of the template\n".repeat(3);
        let part = format!("kind: A\nname: {name}\nspec:\n{same}  c: {name}\n");
        part.repeat(40).into_bytes()
    }

    #[test]
    fn what_differs_in_some_lines_is_small() {
        let (base, target) = (text("shop-eu-1"), text("shop-eu-2"));
        let delta = DeltaBase::new(base.clone()).delta_to(&target).unwrap();
        assert!(delta.len() < target.len() / 3, "{} of {}", delta.len(), target.len());
        assert_eq!(apply(&base, &delta), Some(target));
    }

    #[test]
    fn of_a_line_that_differs_only_that_is_said() {
        let text = |name: &str| {
            let of = |nth| format!("same: {nth}\n  long-label-of-it: \"{name}-of-some-line\"\n");
            (0..10).map(of).collect::<String>().into_bytes()
        };
        let delta = |one: &str, other: &str| {
            let (base, target) = (text(one), text(other));
            let delta = DeltaBase::new(base.clone()).delta_to(&target).unwrap();
            assert_eq!(apply(&base, &delta), Some(target));
            delta
        };
        let written = delta("shop-1", "shop-2");
        let found = written.windows(5).filter(|bytes| *bytes == b"label").count();
        assert_eq!(found, 0, "{}", String::from_utf8_lossy(&written));
        // Ten times a copy, and a byte that is inserted; then the last copy.
        assert!(written.len() <= 10 * (5 + 2) + 5 + 4, "{}", written.len());
        for other in ["shop-11", "shop-", "s", "p-1", "another"] {
            delta("shop-1", other);
            delta(other, "shop-1");
        }
    }

    #[test]
    fn what_has_nothing_in_common_has_no_delta() {
        assert_eq!(DeltaBase::new(text("a")).delta_to(&[7; 5_000]), None);
        assert_eq!(apply(b"abc", b"\x03\x03\x00"), None, "no such operation");
        assert_eq!(apply(b"abc", b"\x03\x03\x90\x05"), None, "more than there is");
    }

    /// Lines, some of which are much like others.
    fn part() -> impl Strategy<Value = &'static str> {
        let parts = "a\n|bb\n|ccc\n|\n|d|e\n|the name: shop-1\n|the name: shop-20\n|the names: shop-1 and others\n|and others\n";
        prop::sample::select(parts.split('|').collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn a_delta_makes_its_target(
            base in prop::collection::vec(part(), 0..60),
            target in prop::collection::vec(part(), 0..60),
            times in prop::sample::select(vec![1_usize, 30, 1_500]),
        ) {
            let base = base.concat().repeat(times).into_bytes();
            let target = target.concat().repeat(times).into_bytes();
            if let Some(delta) = DeltaBase::new(base.clone()).delta_to(&target) {
                prop_assert_eq!(apply(&base, &delta), Some(target));
            }
        }
    }
}
