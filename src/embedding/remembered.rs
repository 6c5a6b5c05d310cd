//! f(c; I(∅)) of conditions: each is subtracted from many embeddings, and computed once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::Pool;

/// Conditions whose embeddings are remembered: 65,536 of 4,096 numbers are 1 GB.
const MOST: usize = 1 << 16;

/// Embeddings of conditions by themselves, by what is pooled of which tokens.
#[derive(Default)]
pub struct Remembered(Mutex<Vectors>);

/// By pooling and tokens.
type Vectors = HashMap<(Pool, Vec<u32>), Arc<[f32]>>;

impl Remembered {
    fn vectors(&self) -> MutexGuard<'_, Vectors> {
        // What is there is whole: each entry is put in at once.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The embedding of a condition, where it is known.
    pub fn get(&self, pool: Pool, ids: &[u32]) -> Option<Arc<[f32]>> {
        self.vectors().get(&(pool, ids.to_vec())).cloned()
    }

    /// Remembers an embedding. Where there are too many, the others are forgotten.
    pub fn put(&self, pool: Pool, ids: &[u32], vector: Arc<[f32]>) {
        let mut vectors = self.vectors();
        if vectors.len() >= MOST {
            vectors.clear();
        }
        vectors.insert((pool, ids.to_vec()), vector);
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.vectors().clear();
    }
}
