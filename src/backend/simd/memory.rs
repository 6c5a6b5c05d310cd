//! Buffers that are used again: a forward pass asks for the same sizes each time.

use std::sync::{Arc, Mutex, MutexGuard};

use bytemuck::{Pod, Zeroable};

use crate::backend::lock;

/// A cache line, so that no vector lies across two.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line([u8; 64]);

/// Buffers that nobody uses now. Any thread may take one and give it back.
#[derive(Default)]
pub struct Memory(Mutex<Vec<Vec<Line>>>);

/// More than are in use at a time in a forward pass on a few threads.
const KEPT: usize = 64;

impl Memory {
    fn free(&self) -> MutexGuard<'_, Vec<Vec<Line>>> {
        lock(&self.0)
    }

    /// A buffer of at least `bytes`, with anything in it.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Buffer {
        let lines = bytes.div_ceil(size_of::<Line>());
        let mut free = self.free();
        let fitting = free.iter().enumerate().filter(|(_, b)| b.len() >= lines);
        let found = fitting.min_by_key(|(_, b)| b.len()).map(|(i, _)| i);
        let found = found.map(|i| free.swap_remove(i));
        drop(free);
        Buffer {
            lines: found.unwrap_or_else(|| vec![Line::zeroed(); lines]),
            memory: Arc::clone(self),
        }
    }

    /// A buffer of at least `numbers` f32.
    pub fn take_f32(self: &Arc<Self>, numbers: usize) -> Buffer {
        self.take(numbers * size_of::<f32>())
    }

    /// Bytes of the buffers that wait to be used again.
    #[cfg(test)]
    fn kept(&self) -> usize {
        self.free()
            .iter()
            .map(|b| b.len() * size_of::<Line>())
            .sum()
    }
}

/// Memory of a [`Memory`], which takes it back when it is dropped.
pub struct Buffer {
    lines: Vec<Line>,
    memory: Arc<Memory>,
}

impl Buffer {
    /// Its first `len` numbers, at most.
    pub fn slice<T: Pod>(&self, len: usize) -> &[T] {
        let all = bytemuck::cast_slice(&self.lines);
        &all[..len.min(all.len())]
    }

    /// Its first `len` numbers, at most.
    pub fn slice_mut<T: Pod>(&mut self, len: usize) -> &mut [T] {
        let all = bytemuck::cast_slice_mut(&mut self.lines);
        let len = len.min(all.len());
        &mut all[..len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let mut free = self.memory.free();
        free.push(lines);
        // A batch larger than those before it brings larger buffers: the smallest have had their time.
        if free.len() > KEPT
            && let Some((smallest, _)) = free.iter().enumerate().min_by_key(|(_, b)| b.len())
        {
            free.swap_remove(smallest);
        }
    }
}

/// Numbers that never change, from the start of a cache line on.
pub struct Aligned {
    lines: Vec<Line>,
    len: usize,
}

impl Aligned {
    /// `len` zeros.
    pub fn zeros<T: Pod>(len: usize) -> Self {
        let bytes = len * size_of::<T>();
        Self {
            lines: vec![Line::zeroed(); bytes.div_ceil(size_of::<Line>())],
            len: bytes,
        }
    }

    // A call would cost a product's sums their registers.
    #[inline(always)]
    pub fn get<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&bytemuck::cast_slice::<_, u8>(&self.lines)[..self.len])
    }

    pub fn get_mut<T: Pod>(&mut self) -> &mut [T] {
        let len = self.len;
        bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<_, u8>(&mut self.lines)[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back() {
        let memory = Arc::new(Memory::default());
        for _ in 0..3 {
            let a = memory.take_f32(1000);
            let b = memory.take(10);
            assert_eq!(a.slice::<f32>(1000).len(), 1000);
            assert_eq!(b.slice::<u8>(10).len(), 10);
            assert!(a.slice::<u8>(1).as_ptr().align_offset(64) == 0);
            drop((a, b));
            assert_eq!(memory.kept(), 4032 + 64);
        }
        for bytes in 1..2 * KEPT {
            drop((memory.take(64 * bytes), memory.take(64)));
        }
        assert!(memory.free().len() <= KEPT);
    }
}
