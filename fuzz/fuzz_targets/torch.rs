#![no_main]

#[path = "../../tests/common/untrusted.rs"]
#[allow(dead_code)]
mod untrusted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = untrusted::torch(bytes);
});
