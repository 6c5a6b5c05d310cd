//! How good the answers are: metrics, breakdowns, and reductions that learn without ratings.

pub mod breakdown;
pub mod cluster;
pub mod condition_type;
pub mod confidence;
pub mod ica;
pub mod isotropy;
pub mod metrics;
pub mod pca;
