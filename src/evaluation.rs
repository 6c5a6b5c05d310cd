//! How good the answers are: metrics, breakdowns, and reductions that learn without ratings.

pub mod agreement;
pub mod answered;
pub mod breakdown;
pub mod calibration;
pub mod cluster;
pub mod condition_type;
pub mod confidence;
#[cfg(feature = "cli")]
pub mod ica;
pub mod isotropy;
pub mod links;
pub mod mentioned;
pub mod metrics;
#[cfg(feature = "cli")]
pub mod pca;
pub mod ranking;
#[cfg(feature = "cli")]
pub mod significance;
#[cfg(feature = "cli")]
pub mod t_sne;
