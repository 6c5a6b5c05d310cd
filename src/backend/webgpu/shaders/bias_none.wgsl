// Scores that take no bias.

fn biased(score: f32, head: u32, query: u32, key: u32) -> f32 {
    return score;
}
