//! Attention's bias by how far a key lies from its query: T5's buckets of distances (Raffel et al., 2020, section 2.1), which MPNet has too.

/// Which row of the table of biases an offset has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    /// Rows of the table, where a query sees keys on both sides half of them for those behind it; at least 4.
    pub rows: usize,
    /// The distance from which on all share a bucket; above a quarter of the rows, or half of them where a query sees one side.
    pub furthest: usize,
    pub both_sides: bool,
}

impl Buckets {
    /// The row of `key − query`: half of a side's for a distance each, then each wider than the one before, as a logarithm has it.
    pub fn of(self, offset: i64) -> u32 {
        let side = match self.both_sides {
            true => self.rows / 2,
            false => self.rows,
        };
        let (first, distance) = match (self.both_sides, offset > 0) {
            (true, true) => (side, offset.unsigned_abs()),
            (false, true) => (0, 0),
            (_, false) => (0, offset.unsigned_abs()),
        };
        let single = side / 2;
        let bucket = match usize::try_from(distance) {
            Ok(distance) if distance < single => distance,
            // The logarithms of powers of two, where buckets end, are exact.
            _ => {
                let log = |n: f64| (n / single as f64).log2();
                let share = log(distance as f64) / log(self.furthest as f64);
                (single + (share * (side - single) as f64) as usize).min(side - 1)
            }
        };
        (first + bucket) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where transformers' `MPNetEncoder.relative_position_bucket` goes on to the next bucket.
    #[test]
    fn buckets_of_both_sides_are_those_of_transformers() {
        let buckets = Buckets {
            rows: 32,
            furthest: 128,
            both_sides: true,
        };
        assert_eq!(buckets.of(0), 0);
        let starts = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91];
        for (bucket, start) in (1..).zip(starts) {
            let end = starts.get(bucket).map_or(511, |next| next - 1);
            for distance in start..=end {
                assert_eq!(buckets.of(-distance), bucket as u32, "{distance} before");
                assert_eq!(
                    buckets.of(distance),
                    16 + bucket as u32,
                    "{distance} behind"
                );
            }
        }
    }
}
