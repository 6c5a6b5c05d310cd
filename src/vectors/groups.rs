//! k-means, and how well its groups hold together.
//!
//! Vectors join the nearest centre, centres move to the mean of their vectors, and again until nothing changes (Lloyd,
//! 1982), from starts that lie apart (k-means++, Arthur & Vassilvitskii, 2007); the tightest of several runs is kept.
//! Spherical k-means (Dhillon & Modha, 2001) keeps centres at unit length: for unit vectors nearest is then most similar
//! by cosine.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{add, count, dot};
use crate::{
    error::{Error, Result},
    similarity::{cosine, unit},
};

/// A squared distance below this share of the vectors' own squared lengths is rounding.
const ROUNDING: f32 = 1e-6;

/// How to look for groups.
#[derive(Debug, Clone, Copy)]
pub struct KMeans {
    /// Centres are kept at unit length: for unit vectors.
    pub spherical: bool,
    /// Runs from other starts, of which the tightest is kept.
    pub runs: u64,
    /// Steps of a run at most; most stop long before.
    pub steps: usize,
    /// Where starts come from.
    pub seed: u64,
}

/// Vectors in groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The group of each vector, from 0.
    pub labels: Vec<usize>,
    /// `[groups, dims]`
    pub centres: Vec<f32>,
    /// Sum of squared distances of the vectors to their groups' centres.
    pub inertia: f64,
}

impl KMeans {
    /// Gathers vectors, row by row, `dims` wide, into `k` groups; fewer where fewer of the vectors are distinct.
    /// The same for the same seed.
    ///
    /// # Errors
    /// There are fewer than `k` vectors, `k` is 0, or they are no whole rows of finite numbers.
    pub fn fit(&self, vectors: &[f32], dims: usize, k: usize) -> Result<Groups> {
        let n = count(vectors, dims)?;
        if k == 0 || n < k {
            return Err(Error::InvalidArgument(format!(
                "{n} vectors cannot be put into {k} groups."
            )));
        }
        let data = Data::new(vectors, dims);
        let seed = |run: u64| self.seed.wrapping_mul(self.runs.max(1)).wrapping_add(run);
        let mut best = self.run(&data, k, seed(0));
        for run in 1..self.runs {
            let other = self.run(&data, k, seed(run));
            if other.inertia < best.inertia {
                best = other;
            }
        }
        Ok(best)
    }

    fn run(&self, data: &Data<'_>, k: usize, seed: u64) -> Groups {
        let mut centres = data.apart(k, &mut StdRng::seed_from_u64(seed));
        let (mut labels, mut distances) = data.nearest(&centres);
        for _ in 0..self.steps {
            data.fill_empty(&mut labels, &mut distances, centres.len() / data.dims);
            self.move_centres(data, &labels, &mut centres);
            let (next, next_distances) = data.nearest(&centres);
            let still = next == labels;
            (labels, distances) = (next, next_distances);
            if still {
                break;
            }
        }
        Groups {
            inertia: distances.iter().copied().map(f64::from).sum(),
            labels,
            centres,
        }
    }

    fn move_centres(&self, data: &Data<'_>, labels: &[usize], centres: &mut [f32]) {
        let (sums, sizes) = data.sums(labels, centres.len() / data.dims);
        let moved = centres
            .chunks_exact_mut(data.dims)
            .zip(sums.chunks_exact(data.dims));
        for ((centre, sum), &size) in moved.zip(&sizes) {
            if size == 0 || (self.spherical && sum.iter().all(|&x| x == 0.0)) {
                continue; // vectors that cancel out have no direction
            }
            match self.spherical {
                true => centre.copy_from_slice(&unit(sum)),
                false => {
                    let mean = centre.iter_mut().zip(sum);
                    mean.for_each(|(x, sum)| *x = sum / size as f32);
                }
            }
        }
    }
}

/// Vectors with their squared lengths.
struct Data<'a> {
    vectors: &'a [f32],
    dims: usize,
    squares: Vec<f32>,
}

impl<'a> Data<'a> {
    fn new(vectors: &'a [f32], dims: usize) -> Self {
        let squares = vectors.chunks_exact(dims).map(|x| dot(x, x)).collect();
        Self {
            vectors,
            dims,
            squares,
        }
    }

    fn row(&self, i: usize) -> &'a [f32] {
        &self.vectors[i * self.dims..(i + 1) * self.dims]
    }

    fn rows(&self) -> std::slice::ChunksExact<'a, f32> {
        self.vectors.chunks_exact(self.dims)
    }

    /// Squared distance of a row to a centre.
    fn distance(&self, row: &[f32], square: f32, centre: &[f32], centre_square: f32) -> f32 {
        let distance = square + centre_square - 2.0 * dot(row, centre);
        match distance > ROUNDING * (square + centre_square) {
            true => distance,
            false => 0.0,
        }
    }

    /// k-means++: each start is a vector, drawn by its squared distance to the nearest start so far. Fewer than `k`
    /// where no vector is left that is not a start already.
    fn apart(&self, k: usize, random: &mut StdRng) -> Vec<f32> {
        let n = self.squares.len();
        let mut centres = Vec::with_capacity(k * self.dims);
        let mut nearest = vec![f32::INFINITY; n];
        let mut next = random.random_range(0..n);
        loop {
            let (centre, square) = (self.row(next), self.squares[next]);
            centres.extend_from_slice(centre);
            for ((near, row), &own) in nearest.iter_mut().zip(self.rows()).zip(&self.squares) {
                *near = near.min(self.distance(row, own, centre, square));
            }
            let sum: f64 = nearest.iter().copied().map(f64::from).sum();
            if centres.len() == k * self.dims || sum == 0.0 {
                return centres;
            }
            let mut left = random.random::<f64>() * sum;
            let drawn = nearest.iter().position(|&d| {
                left -= f64::from(d);
                d > 0.0 && left < 0.0
            });
            // Rounding may leave a crumb behind the last vector.
            next = drawn
                .or_else(|| nearest.iter().rposition(|&d| d > 0.0))
                .unwrap_or(0);
        }
    }

    /// The nearest centre of each vector, and its squared distance.
    fn nearest(&self, centres: &[f32]) -> (Vec<usize>, Vec<f32>) {
        let squares: Vec<f32> = centres.chunks_exact(self.dims).map(|c| dot(c, c)).collect();
        let find = |(row, &square): (&[f32], &f32)| {
            let mut best = (0, f32::INFINITY);
            for (i, (centre, &own)) in centres.chunks_exact(self.dims).zip(&squares).enumerate() {
                let distance = self.distance(row, square, centre, own);
                if distance < best.1 {
                    best = (i, distance);
                }
            }
            best
        };
        self.rows().zip(&self.squares).map(find).unzip()
    }

    /// Gives each empty group the vector that lies farthest from its centre, as scikit-learn does.
    fn fill_empty(&self, labels: &mut [usize], distances: &mut [f32], k: usize) {
        let mut sizes = vec![0usize; k];
        labels.iter().for_each(|&label| sizes[label] += 1);
        for empty in 0..k {
            if sizes[empty] > 0 {
                continue;
            }
            let candidates = (0..labels.len()).filter(|&i| sizes[labels[i]] > 1);
            if let Some(far) = candidates.max_by(|&a, &b| distances[a].total_cmp(&distances[b])) {
                sizes[labels[far]] -= 1;
                sizes[empty] = 1;
                labels[far] = empty;
                distances[far] = 0.0;
            }
        }
    }

    /// The sum of each group's vectors `[k, dims]`, and how many they are.
    fn sums(&self, labels: &[usize], k: usize) -> (Vec<f32>, Vec<usize>) {
        let mut sums = vec![0f32; k * self.dims];
        let mut sizes = vec![0; k];
        for (row, &label) in self.rows().zip(labels) {
            add(
                &mut sums[label * self.dims..(label + 1) * self.dims],
                row,
                1.0,
            );
            sizes[label] += 1;
        }
        (sums, sizes)
    }
}

impl Groups {
    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.labels.iter().max().map_or(0, |most| most + 1)
    }

    /// Cosine of each vector and its group's centre.
    pub fn centrality(&self, vectors: &[f32], dims: usize) -> Vec<f32> {
        let own = |(row, &label): (&[f32], &usize)| {
            cosine(row, &self.centres[label * dims..(label + 1) * dims])
        };
        vectors
            .chunks_exact(dims.max(1))
            .zip(&self.labels)
            .map(own)
            .collect()
    }

    /// The same groups numbered from the largest; those of one size by their first vector.
    pub fn largest_first(self, dims: usize) -> Self {
        let k = self.count();
        let mut sizes = vec![(0usize, usize::MAX); k];
        for (i, &label) in self.labels.iter().enumerate() {
            sizes[label] = (sizes[label].0 + 1, sizes[label].1.min(i));
        }
        let mut order: Vec<usize> = (0..k).filter(|&label| sizes[label].0 > 0).collect();
        order.sort_by_key(|&label| (std::cmp::Reverse(sizes[label].0), sizes[label].1));
        let mut rank = vec![0; k];
        order
            .iter()
            .enumerate()
            .for_each(|(i, &label)| rank[label] = i);
        let centre = |&label: &usize| &self.centres[label * dims..(label + 1) * dims];
        Self {
            labels: self.labels.iter().map(|&label| rank[label]).collect(),
            centres: order.iter().flat_map(centre).copied().collect(),
            inertia: self.inertia,
        }
    }
}

/// Mean silhouette of unit vectors in groups (Rousseeuw, 1987) by cosine distance, −1 to 1; 0 where there is one group.
///
/// A vector's mean distance to a group is 1 minus its product with the group's mean, so that no pair of vectors has to
/// be looked at.
pub fn silhouette(vectors: &[f32], dims: usize, labels: &[usize]) -> f64 {
    let k = labels.iter().max().map_or(0, |most| most + 1);
    let data = Data::new(vectors, dims.max(1));
    let (sums, sizes) = data.sums(labels, k);
    if sizes.iter().filter(|&&size| size > 0).count() < 2 {
        return 0.0;
    }
    let score = |((row, &square), &label): ((&[f32], &f32), &usize)| -> f64 {
        if sizes[label] == 1 {
            return 0.0;
        }
        let mut apart = f64::INFINITY;
        let mut own = 0.0;
        for (group, sum) in sums.chunks_exact(data.dims).enumerate() {
            let (size, product) = (sizes[group] as f64, f64::from(dot(row, sum)));
            if group == label {
                // The vector itself, at distance 0, does not count.
                own = (size - 1.0 - (product - f64::from(square))) / (size - 1.0);
            } else if size > 0.0 {
                apart = apart.min(1.0 - product / size);
            }
        }
        let most = own.max(apart);
        if most > 0.0 {
            (apart - own) / most
        } else {
            0.0
        }
    };
    let rows = data.rows().zip(&data.squares).zip(labels);
    rows.map(score).sum::<f64>() / labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPHERICAL: KMeans = KMeans {
        spherical: true,
        runs: 4,
        steps: 50,
        seed: 0,
    };

    #[test]
    fn fewer_distinct_vectors_make_fewer_groups() {
        let x = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        let groups = SPHERICAL.fit(&x, 2, 3).unwrap().largest_first(2);
        assert_eq!(groups.labels, [0, 0, 1, 0]);
        assert_eq!(groups.centrality(&x, 2), [1.0; 4]);
        assert_eq!(silhouette(&x, 2, &groups.labels), 0.75);
        let one = SPHERICAL.fit(&x[..4], 2, 2).unwrap();
        assert_eq!((one.count(), silhouette(&x[..4], 2, &one.labels)), (1, 0.0));
    }

    #[test]
    fn opposite_vectors_and_zeros_do_no_harm() {
        let x = [1.0, 0.0, -1.0, 0.0, 0.0, 0.0];
        for k in 1..=3 {
            let groups = SPHERICAL.fit(&x, 2, k).unwrap();
            assert!(groups.inertia.is_finite());
            assert!(silhouette(&x, 2, &groups.labels).is_finite());
        }
    }

    #[test]
    fn what_cannot_be_grouped_is_an_error() {
        for (x, dims, k) in [
            (&[1.0][..], 1, 2),
            (&[1.0], 1, 0),
            (&[], 1, 1),
            (&[f32::NAN], 1, 1),
            (&[1.0], 0, 1),
            (&[1.0, 0.0, 1.0], 2, 1),
        ] {
            assert!(SPHERICAL.fit(x, dims, k).is_err());
        }
    }
}
