//! Vectors on a plane: their first two principal components, turned so that a map follows the one before it.
//!
//! The components come from subspace iteration on a few directions (Halko, Martinsson & Tropp, 2011): no covariance
//! matrix, and no linear algebra library in the browser. Turning is the orthogonal Procrustes problem (Schönemann,
//! 1966), which two dimensions solve in closed form.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{add, count, dot};
use crate::error::{Error, Result};

/// Directions that are followed for the sake of two.
const DIRECTIONS: usize = 12;
/// Steps; each shrinks what is wrong by the ratio of the variances of the last direction and the second.
const STEPS: usize = 40;

/// Coordinates `[n, 2]` of vectors, row by row, `dims` wide: their scores on the first two principal components.
///
/// `previous`, coordinates of the same vectors' forerunners, turns and mirrors the plane to lie as close to them as it
/// can. Without it the largest coordinate on each axis is positive, as scikit-learn has it.
///
/// # Errors
/// There are no vectors, they are no whole rows of finite numbers, or `previous` is of another length.
pub fn plane(vectors: &[f32], dims: usize, previous: Option<&[f32]>) -> Result<Vec<f32>> {
    let n = count(vectors, dims)?;
    if n == 0 {
        return Err(Error::InvalidArgument(
            "a map needs at least one vector.".into(),
        ));
    }
    if let Some(previous) = previous
        && (previous.len() != 2 * n || previous.iter().any(|x| !x.is_finite()))
    {
        return Err(Error::InvalidArgument(format!(
            "previous points must be two finite numbers for each of the {n} texts."
        )));
    }
    let mut points = principal(vectors, dims, n);
    match previous {
        Some(previous) => turn_to(&mut points, previous),
        None => {
            for axis in 0..2 {
                let coordinates = points.iter().skip(axis).step_by(2);
                let largest =
                    coordinates.fold(0f32, |most, &x| if x.abs() > most.abs() { x } else { most });
                if largest < 0.0 {
                    points
                        .iter_mut()
                        .skip(axis)
                        .step_by(2)
                        .for_each(|x| *x = -*x);
                }
            }
        }
    }
    Ok(points)
}

fn principal(vectors: &[f32], dims: usize, n: usize) -> Vec<f32> {
    let mut mean = vec![0f32; dims];
    vectors
        .chunks_exact(dims)
        .for_each(|row| add(&mut mean, row, 1.0 / n as f32));
    let mut centred = vectors.to_vec();
    centred
        .chunks_exact_mut(dims)
        .for_each(|row| add(row, &mean, -1.0));

    let mut random = StdRng::seed_from_u64(0);
    let directions = DIRECTIONS.min(dims);
    let mut basis: Vec<Vec<f32>> = (0..directions)
        .map(|_| (0..dims).map(|_| random.random_range(-1.0..1.0)).collect())
        .collect();
    orthonormalize(&mut basis);
    // With as many directions as dimensions the basis is whole from the start.
    for _ in 0..if directions < dims { STEPS } else { 0 } {
        let mut next = vec![vec![0f32; dims]; directions];
        for row in centred.chunks_exact(dims) {
            for (next, direction) in next.iter_mut().zip(&basis) {
                add(next, row, dot(row, direction));
            }
        }
        basis = next;
        orthonormalize(&mut basis);
    }

    let scores: Vec<f32> = centred
        .chunks_exact(dims)
        .flat_map(|row| basis.iter().map(|direction| dot(row, direction)))
        .collect();
    let mut scatter = vec![vec![0f64; directions]; directions];
    for row in scores.chunks_exact(directions) {
        for (line, &x) in scatter.iter_mut().zip(row) {
            for (sum, &y) in line.iter_mut().zip(row) {
                *sum += f64::from(x) * f64::from(y);
            }
        }
    }
    let axes = two_largest(scatter);
    let coordinate = |row: &[f32], axis: &[f64]| -> f32 {
        row.iter()
            .zip(axis)
            .map(|(&x, y)| f64::from(x) * y)
            .sum::<f64>() as f32
    };
    scores
        .chunks_exact(directions)
        .flat_map(|row| axes.each_ref().map(|axis| coordinate(row, axis)))
        .collect()
}

/// Gram–Schmidt, twice over because once is not enough in f32. A direction that depends on those before it becomes zero.
fn orthonormalize(basis: &mut [Vec<f32>]) {
    for i in 0..basis.len() {
        let (before, rest) = basis.split_at_mut(i);
        let own = &mut rest[0];
        let length = dot(own, own).sqrt();
        for _ in 0..2 {
            for other in &*before {
                let shared = dot(own, other);
                add(own, other, -shared);
            }
        }
        let left = dot(own, own).sqrt();
        let scale = if left > 1e-6 * length {
            1.0 / left
        } else {
            0.0
        };
        own.iter_mut().for_each(|x| *x *= scale);
    }
}

/// Eigenvectors of a symmetric matrix's two largest eigenvalues, by Jacobi's rotations; zeros where it has only one.
fn two_largest(mut matrix: Vec<Vec<f64>>) -> [Vec<f64>; 2] {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect())
        .collect(); // as rows
    for _ in 0..50 {
        let mut off = 0.0;
        for p in 0..size {
            for q in p + 1..size {
                let apq = matrix[p][q];
                off += apq * apq;
                if apq == 0.0 {
                    continue;
                }
                let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                for row in &mut matrix {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                rotate(&mut matrix, p, q, c, s);
                rotate(&mut vectors, p, q, c, s);
            }
        }
        if off == 0.0 {
            break;
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| matrix[b][b].total_cmp(&matrix[a][a]));
    let axis = |i: usize| {
        order
            .get(i)
            .map_or(vec![0.0; size], |&i| vectors[i].clone())
    };
    [axis(0), axis(1)]
}

/// Turns rows `p` and `q` of a matrix, `p < q`.
fn rotate(matrix: &mut [Vec<f64>], p: usize, q: usize, c: f64, s: f64) {
    let (before, rest) = matrix.split_at_mut(q);
    for (x, y) in before[p].iter_mut().zip(&mut rest[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

/// Turns, and where that is closer mirrors, points to lie as close as they can to others.
fn turn_to(points: &mut [f32], others: &[f32]) {
    let mut m = [[0f64; 2]; 2];
    for (point, other) in points.chunks_exact(2).zip(others.chunks_exact(2)) {
        for (line, &x) in m.iter_mut().zip(point) {
            for (sum, &y) in line.iter_mut().zip(other) {
                *sum += f64::from(x) * f64::from(y);
            }
        }
    }
    // trace(Rᵀ M) of the best rotation, and of the best reflection, is the length of a vector.
    let rotation = (m[0][0] + m[1][1], m[0][1] - m[1][0]);
    let reflection = (m[0][0] - m[1][1], m[0][1] + m[1][0]);
    let mirrored = reflection.0.hypot(reflection.1) > rotation.0.hypot(rotation.1);
    let (x, y) = if mirrored { reflection } else { rotation };
    let length = x.hypot(y);
    if length == 0.0 {
        return;
    }
    let (c, s) = ((x / length) as f32, (y / length) as f32);
    for point in points.chunks_exact_mut(2) {
        let (x, y) = (point[0], point[1]);
        let turned = match mirrored {
            true => [c * x + s * y, s * x - c * y],
            false => [c * x - s * y, s * x + c * y],
        };
        point.copy_from_slice(&turned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_or_equal_vectors_have_a_place() {
        assert_eq!(plane(&[0.5, 0.5, 0.5], 3, None).unwrap(), [0.0, 0.0]);
        assert_eq!(plane(&[2.0, 2.0, 2.0], 1, None).unwrap(), [0.0; 6]);
        let line = plane(&[3.0, 1.0, 2.0], 1, None).unwrap();
        assert_eq!(line, [1.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
        let one = plane(&[1.0; 30], 3, Some(&[0.5; 20])).unwrap();
        assert!(one.iter().all(|x| x.abs() < 1e-5), "{one:?}");
    }

    #[test]
    fn a_map_turns_to_the_one_before_it() {
        let square = [
            3.0, 1.0, -3.0, 1.0, -3.0, -1.0, 3.0, -1.0, 4.0, 0.5, -4.0, -0.5,
        ];
        let first = plane(&square, 2, None).unwrap();
        for previous in [
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, -1.0, 0.0],
            [0.6, 0.8, 0.8, -0.6],
        ] {
            let [a, b, c, d] = previous;
            let turned: Vec<f32> = first
                .chunks_exact(2)
                .flat_map(|p| [a * p[0] + b * p[1], c * p[0] + d * p[1]])
                .collect();
            let again = plane(&square, 2, Some(&turned)).unwrap();
            for (x, y) in again.iter().zip(&turned) {
                assert!((x - y).abs() < 1e-5, "{again:?} {turned:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_laid_out_is_an_error() {
        assert!(plane(&[], 2, None).is_err());
        assert!(plane(&[1.0], 0, None).is_err());
        assert!(plane(&[1.0, 0.0, 1.0], 2, None).is_err());
        assert!(plane(&[f32::NAN, 0.0], 2, None).is_err());
        assert!(plane(&[1.0, 0.0], 2, Some(&[0.0; 4])).is_err());
    }
}
