//! How much memory a device has free.

use std::fs;

use candle_core::Device;

/// Bytes that can still be used on a device, where that is known.
pub(super) fn free(device: &Device) -> Option<u64> {
    match device {
        Device::Cpu => available(&fs::read_to_string("/proc/meminfo").ok()?),
        #[cfg(feature = "cuda")]
        Device::Cuda(_) => {
            let (free, _) =
                candle_core::cuda_backend::cudarc::driver::result::mem_get_info().ok()?;
            Some(free as u64)
        }
        _ => None,
    }
}

/// Linux's estimate of what can be used without swapping, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_says_of_memory() {
        let text = "MemTotal:  16 kB\nMemFree:   2 kB\nMemAvailable:   12 kB\n";
        assert_eq!(available(text), Some(12 * 1024));
        assert_eq!(available("MemTotal: 16 kB"), None);
    }
}
