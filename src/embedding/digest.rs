//! A number that tells bytes apart from others, the same on every machine: FNV-1a, in 64 bits. Not against people who mean harm.

/// FNV-1a.
pub fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::fnv;

    /// The values that its authors publish.
    #[test]
    fn it_is_fnv_1a() {
        for (text, digest) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv(text.bytes()), digest, "{text}");
        }
    }
}
