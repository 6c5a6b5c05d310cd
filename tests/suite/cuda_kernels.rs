//! The CUDA kernels of this crate, compiled by NVIDIA's nvrtc: a library that asks for neither a GPU nor a driver.
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    mem::transmute,
    path::{Path, PathBuf},
    ptr::{null, null_mut},
};

const SWIGLU: &str = include_str!("../../src/backend/candle/swiglu.cu");
/// One that every toolkit since 11.0 knows.
const GPU: &CStr = c"--gpu-architecture=sm_80";

type Function = *mut c_void;
type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

/// The functions of nvrtc that take a program's source to a GPU's code; each gives 0 where it succeeded.
struct Nvrtc {
    create: Create,
    compile: Compile,
    log_size: Size,
    log: Text,
    ptx_size: Size,
    ptx: Text,
    cubin_size: Size,
    destroy: Destroy,
}

fn open(library: &Path) -> Option<*mut c_void> {
    let name = CString::new(library.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: the name ends with a zero; NVIDIA's libraries do nothing as they are loaded but prepare themselves.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
    (!handle.is_null()).then_some(handle)
}

/// The files of a folder whose names begin so.
fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = |p: &PathBuf| p.file_name().unwrap().to_string_lossy().starts_with(prefix);
    entries.map(|e| e.path()).filter(named).collect()
}

impl Nvrtc {
    /// From the toolkit of CUDA_HOME or CUDA_PATH, the one that build.sh keeps, or the system's. Says so and gives
    /// `None` where there is none.
    fn find() -> Option<Self> {
        let of =
            |name: &str, below: &str| std::env::var_os(name).map(|h| Path::new(&h).join(below));
        let kept = "caselens/tools/cuda-13.0/nvidia/cu13/lib";
        let folders = [
            of("CUDA_HOME", "lib64"),
            of("CUDA_HOME", "lib"),
            of("CUDA_PATH", "lib64"),
            of("CUDA_PATH", "lib"),
            of("XDG_CACHE_HOME", kept),
            of("HOME", &format!(".cache/{kept}")),
            Some("/usr/local/cuda/lib64".into()),
        ];
        let in_folders = folders.into_iter().flatten().find_map(|folder| {
            // nvrtc asks for this one by its bare name, and takes what is loaded.
            for builtins in files(&folder, "libnvrtc-builtins.so.") {
                open(&builtins);
            }
            files(&folder, "libnvrtc.so.").iter().find_map(|l| open(l))
        });
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        let found = in_folders.or_else(|| names.iter().find_map(|name| open(Path::new(name))));
        let Some(library) = found else {
            eprintln!("skipped: nvrtc is not there; `./build.sh cuda` fetches the CUDA toolkit");
            return None;
        };
        let function = |name: &CStr| {
            // SAFETY: an open library, and a name that ends with a zero.
            let function = unsafe { libc::dlsym(library, name.as_ptr()) };
            assert!(!function.is_null(), "nvrtc has no {name:?}");
            function
        };
        // SAFETY: the functions have these parameters in nvrtc.h, in every version since 11.1.
        unsafe {
            Some(Self {
                create: transmute::<Function, Create>(function(c"nvrtcCreateProgram")),
                compile: transmute::<Function, Compile>(function(c"nvrtcCompileProgram")),
                log_size: transmute::<Function, Size>(function(c"nvrtcGetProgramLogSize")),
                log: transmute::<Function, Text>(function(c"nvrtcGetProgramLog")),
                ptx_size: transmute::<Function, Size>(function(c"nvrtcGetPTXSize")),
                ptx: transmute::<Function, Text>(function(c"nvrtcGetPTX")),
                cubin_size: transmute::<Function, Size>(function(c"nvrtcGetCUBINSize")),
                destroy: transmute::<Function, Destroy>(function(c"nvrtcDestroyProgram")),
            })
        }
    }

    /// PTX, and how many bytes of a GPU's code where the options name a GPU; or what the compiler says against the
    /// source.
    fn compile(&self, source: &str, options: &[&CStr]) -> Result<(String, usize), String> {
        let source = CString::new(source).unwrap();
        let options: Vec<_> = options.iter().map(|o| o.as_ptr()).collect();
        // SAFETY: strings end with a zero, and buffers are as long as nvrtc says that its texts are.
        unsafe {
            let mut program = null_mut();
            let created = (self.create)(&mut program, source.as_ptr(), null(), 0, null(), null());
            assert_eq!(created, 0);
            let text = |size: Size, text: Text| {
                let mut length = 0;
                assert_eq!(size(program, &mut length), 0);
                let mut bytes = vec![0u8; length + 1];
                assert_eq!(text(program, bytes.as_mut_ptr().cast()), 0);
                let text = CStr::from_bytes_until_nul(&bytes).unwrap();
                text.to_string_lossy().into_owned()
            };
            let compiled = (self.compile)(program, options.len() as c_int, options.as_ptr());
            let result = match compiled {
                0 => {
                    let mut code = 0;
                    assert_eq!((self.cubin_size)(program, &mut code), 0);
                    Ok((text(self.ptx_size, self.ptx), code))
                }
                _ => Err(text(self.log_size, self.log)),
            };
            assert_eq!((self.destroy)(&mut program), 0);
            result
        }
    }
}

#[test]
fn swiglu_compiles_for_each_type() {
    let Some(nvrtc) = Nvrtc::find() else { return };
    // As the program compiles it, for whatever GPU: the driver goes on from there.
    let (ptx, _) = nvrtc.compile(SWIGLU, &[]).unwrap();
    for kernel in ["swiglu_f32", "swiglu_f16", "swiglu_bf16"] {
        assert!(ptx.contains(&format!(".entry {kernel}(")), "{ptx}");
    }
    // Sixteen bytes are read at once.
    assert!(ptx.contains("ld.global.v4."), "{ptx}");
    // To a GPU's own code, as the driver does: this alone reads the kernel's inline assembly.
    let (_, code) = nvrtc.compile(SWIGLU, &[GPU]).unwrap();
    assert!(code > 0);
}

#[test]
fn what_is_wrong_in_a_kernel_is_found() {
    let Some(nvrtc) = Nvrtc::find() else { return };
    let said = nvrtc.compile("nonsense", &[]).unwrap_err();
    assert!(said.contains("error"), "{said}");
    let assembly = SWIGLU.replace("cvt.f32.f16", "cvt.f32.nonsense");
    assert!(assembly != SWIGLU);
    assert!(nvrtc.compile(&assembly, &[GPU]).is_err());
}
