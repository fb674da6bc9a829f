//! Compresses the entries of a pack (RFC 1950 and 1951): most are some hundred bytes, and a compressor made for streams
//! spends more on making itself ready for the next one than on them.

/// How many places of earlier bytes are remembered, by their hash.
const PLACES: usize = 1 << 13;
/// The shortest repetition that is looked for, and the longest one that has a code.
const SHORTEST: usize = 4;
const LONGEST: usize = 258;
/// How far back a repetition may begin.
const WINDOW: usize = 32 * 1024;
/// How many bytes are summed before a remainder is taken, so that no sum overflows (zlib's `NMAX`).
const SUMMED: usize = 5552;
/// The most bytes that one stored block has.
const STORED: usize = 0xffff;

/// The codes of the fixed tables for bytes, the end and lengths, their bits in the order in which they are written.
static CODES: [(u64, u32); 286] = codes();

/// A compressor that is ready for the next entry at once: what it remembers of others is older than `start`.
pub(super) struct Deflate {
    /// By hash, where four bytes were seen last, counted over all entries.
    places: Box<[u32]>,
    /// How many bytes were seen before this entry, and one more.
    start: u32,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self { places: vec![0; PLACES].into(), start: 1 }
    }

    /// Appends the compressed bytes.
    pub(super) fn compress(&mut self, body: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&[0x78, 0x01]);
        let begun = out.len();
        let blocks = body.len().div_ceil(STORED).max(1);
        if self.fixed(body, out).is_none() || out.len() - begun > body.len() + 5 * blocks {
            out.truncate(begun);
            stored(body, out);
        }
        out.extend_from_slice(&adler32(body).to_be_bytes());
    }

    /// One block with the fixed tables; `None` where its bytes cannot be counted.
    fn fixed(&mut self, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let length = u32::try_from(body.len()).ok().filter(|length| *length < u32::MAX / 2)?;
        if self.start.checked_add(length).is_none() {
            self.places.fill(0);
            self.start = 1;
        }
        let mut bits = BitWriter { out, bits: 0b011, count: 3 };
        let mut at = 0;
        let mut place = self.start;
        while let Some(four) = body.get(at..at + SHORTEST) {
            let hash = hash(four);
            let before = std::mem::replace(&mut self.places[hash], place);
            let same = self.same(body, at, place, before);
            if same == 0 {
                bits.code(usize::from(body[at]));
                (at, place) = (at + 1, place + 1);
                continue;
            }
            bits.repetition(same, place - before);
            at += same;
            place = self.start.wrapping_add(u32::try_from(at).unwrap_or_default());
        }
        for byte in &body[at..] {
            bits.code(usize::from(*byte));
        }
        bits.code(256);
        bits.close();
        self.start += length;
        Some(())
    }

    /// How many bytes at a place are the same as at one before; 0 where too few are.
    fn same(&self, body: &[u8], at: usize, place: u32, before: u32) -> usize {
        let distance = usize::try_from(place - before).unwrap_or(usize::MAX);
        if before < self.start || distance > WINDOW {
            return 0;
        }
        let end = body.len().min(at + LONGEST);
        let earlier = &body[at - distance..end - distance];
        let same = common(earlier, &body[at..end]);
        if same < SHORTEST { 0 } else { same }
    }
}

/// How many first bytes two texts of one length have in common.
fn common(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 8;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[same..].iter().zip(&other[same..]);
    same + rest.take_while(|(one, other)| one == other).count()
}

fn hash(four: &[u8]) -> usize {
    let word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
    usize::try_from(word.wrapping_mul(0x9e37_79b1) >> (32 - PLACES.ilog2())).unwrap_or_default()
}

/// The bits of a block, the lowest first.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    bits: u64,
    count: u32,
}

impl BitWriter<'_> {
    /// At most 32 bits.
    fn put(&mut self, bits: u64, count: u32) {
        self.bits |= bits << self.count;
        self.count += count;
        if self.count >= 32 {
            self.out.extend_from_slice(&self.bits.to_le_bytes()[..4]);
            self.bits >>= 32;
            self.count -= 32;
        }
    }

    fn code(&mut self, symbol: usize) {
        let (bits, count) = CODES[symbol];
        self.put(bits, count);
    }

    /// That so many bytes are those that stand so far before.
    fn repetition(&mut self, length: usize, distance: u32) {
        let over = length - 3;
        match over {
            255 => self.code(285),
            0..8 => self.code(257 + over),
            _ => {
                let extra = over.ilog2() - 2;
                self.code(261 + 4 * (over.ilog2() as usize - 2) + (over >> extra & 3));
                self.put(over as u64 & mask(extra), extra);
            }
        }
        let over = u64::from(distance) - 1;
        let (code, extra) = if over < 4 {
            (over, 0)
        } else {
            let extra = over.ilog2() - 1;
            (2 * u64::from(over.ilog2()) + (over >> extra & 1), extra)
        };
        self.put(reversed(code, 5), 5);
        self.put(over & mask(extra), extra);
    }

    /// Writes what is left, filled up with zeros.
    fn close(self) {
        let left = self.count.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.bits.to_le_bytes()[..left]);
    }
}

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The lowest bits, the last one first.
const fn reversed(bits: u64, count: u32) -> u64 {
    bits.reverse_bits() >> (64 - count)
}

const fn codes() -> [(u64, u32); 286] {
    let mut codes = [(0, 0); 286];
    let (mut at, mut symbol) = (0, 0);
    while at < codes.len() {
        let (code, count) = match symbol {
            0..=143 => (0x30 + symbol, 8),
            144..=255 => (0x190 + symbol - 144, 9),
            256..=279 => (symbol - 256, 7),
            _ => (0xc0 + symbol - 280, 8),
        };
        codes[at] = (reversed(code, count), count);
        (at, symbol) = (at + 1, symbol + 1);
    }
    codes
}

/// The bytes as they are.
fn stored(body: &[u8], out: &mut Vec<u8>) {
    let mut parts = body.chunks(STORED).peekable();
    let mut next = Some(parts.next().unwrap_or_default());
    while let Some(part) = next {
        next = parts.next();
        out.push(u8::from(next.is_none()));
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(part);
    }
}

/// The checksum behind the blocks (RFC 1950).
fn adler32(body: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut one, mut two) = (1, 0);
    for part in body.chunks(SUMMED) {
        for byte in part {
            one += u32::from(*byte);
            two += one;
        }
        (one, two) = (one % MODULUS, two % MODULUS);
    }
    two << 16 | one
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;

    use super::*;

    fn inflated(bytes: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        ZlibDecoder::new(bytes).read_to_end(&mut body).unwrap();
        body
    }

    fn compressed(deflate: &mut Deflate, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        deflate.compress(body, &mut out);
        out
    }

    #[test]
    fn what_repeats_is_small_and_what_does_not_is_hardly_larger() {
        let mut deflate = Deflate::new();
        let text = "  name: c000001\n  namespace: c000001\n".repeat(100);
        let out = compressed(&mut deflate, text.as_bytes());
        assert!(out.len() < text.len() / 20, "{}", out.len());
        assert_eq!(inflated(&out), text.as_bytes());
        let noise: Vec<u8> =
            (0..200_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
        let out = compressed(&mut deflate, &noise);
        assert!(out.len() < noise.len() + 64, "{}", out.len());
        assert_eq!(inflated(&out), noise);
    }

    #[test]
    fn every_length_and_distance_has_its_code() {
        let mut deflate = Deflate::new();
        for length in 4..600 {
            let part: Vec<u8> = (0..length).map(|i: u32| (i * i % 251).to_le_bytes()[0]).collect();
            for between in [0, 1, 5, 300, 32_760, 40_000] {
                let body = [&*part, &vec![7; between], &part, b"x"].concat();
                assert_eq!(inflated(&compressed(&mut deflate, &body)), body, "{length} {between}");
            }
        }
    }

    #[test]
    fn what_was_seen_before_is_forgotten_before_it_can_be_counted_no_more() {
        let mut deflate = Deflate::new();
        let body = b"some text, some text, some text".repeat(40);
        for start in [u32::MAX - 2_000, u32::MAX - 1_300, u32::MAX - 1] {
            deflate.start = start;
            for _ in 0..3 {
                assert_eq!(inflated(&compressed(&mut deflate, &body)), body);
            }
        }
    }

    proptest! {
        #[test]
        fn entries_one_after_the_other_read_back(
            bodies in prop::collection::vec(
                prop::collection::vec(prop::sample::select(vec!["a", "bc", "name: ", "c00001", "\u{0}\u{ff}", "\n"]), 0..200),
                1..6,
            ),
            noise in prop::collection::vec(any::<u8>(), 0..500),
        ) {
            let mut deflate = Deflate::new();
            for body in bodies.iter().map(|parts| parts.concat().into_bytes()).chain([noise]) {
                prop_assert_eq!(inflated(&compressed(&mut deflate, &body)), body);
            }
        }
    }
}
