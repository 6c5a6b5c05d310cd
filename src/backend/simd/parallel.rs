//! Sharing rows among the machine's cores; a wasm module has one.

/// Runs `work` on chunks of `size` numbers and their indices, wherever there is room.
#[cfg(not(target_arch = "wasm32"))]
pub fn for_each_chunk(all: &mut [f32], size: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    use rayon::prelude::*;

    if all.len() <= size {
        // Handing one piece to another thread only costs time.
        return match all.is_empty() {
            true => (),
            false => work(0, all),
        };
    }
    all.par_chunks_mut(size.max(1))
        .enumerate()
        .for_each(|(i, chunk)| work(i, chunk));
}

#[cfg(target_arch = "wasm32")]
pub fn for_each_chunk(all: &mut [f32], size: usize, work: impl Fn(usize, &mut [f32])) {
    for (i, chunk) in all.chunks_mut(size.max(1)).enumerate() {
        work(i, chunk);
    }
}

/// Cores that share work.
pub fn cores() -> usize {
    #[cfg(not(target_arch = "wasm32"))]
    return rayon::current_num_threads();
    #[cfg(target_arch = "wasm32")]
    1
}

/// Runs `work` on consecutive pieces of `all`, of these lengths, and their indices.
pub fn for_each_piece(
    all: &mut [f32],
    lengths: impl Iterator<Item = usize>,
    work: impl Fn(usize, &mut [f32]) + Sync,
) {
    let mut rest = all;
    let pieces = lengths.enumerate().map_while(|(i, length)| {
        let (piece, behind) = std::mem::take(&mut rest).split_at_mut_checked(length)?;
        rest = behind;
        Some((i, piece))
    });
    #[cfg(not(target_arch = "wasm32"))]
    {
        use rayon::prelude::*;

        let pieces: Vec<_> = pieces.collect();
        match pieces.len() {
            0 | 1 => pieces.into_iter().for_each(|(i, piece)| work(i, piece)),
            _ => pieces.into_par_iter().for_each(|(i, piece)| work(i, piece)),
        }
    }
    #[cfg(target_arch = "wasm32")]
    pieces.for_each(|(i, piece)| work(i, piece));
}
