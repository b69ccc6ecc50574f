//! Random numbers that repeat.

/// Splitmix64: small, quick, and the same on every machine. Not for secrets.
///
/// [`Decision::rng`](crate::Decision::rng) makes one that repeats when a seeded match is played again.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "there is no number below 0");
        let below = self.next_u64() % bound as u64; // the bias is far below what any game can show
        usize::try_from(below).expect("it is below a usize")
    }

    /// One of `items`, such as the legal actions of a decision.
    ///
    /// # Panics
    /// If there is none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of the published algorithm, so that they repeat elsewhere too.
    #[test]
    fn known_numbers() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    /// Every item can be chosen, and a shuffle loses none.
    #[test]
    fn all_of_them() {
        let mut rng = Rng::new(7);
        let mut items: Vec<usize> = (0..10).collect();
        let seen: std::collections::HashSet<_> = (0..200).map(|_| *rng.choose(&items)).collect();
        assert_eq!(seen.len(), 10);
        rng.shuffle(&mut items);
        items.sort_unstable();
        assert_eq!(items, (0..10).collect::<Vec<_>>());
    }
}
