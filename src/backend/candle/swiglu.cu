/*
 * silu(gate) · up, of n numbers each, in one pass: swiglu.rs has the same for the CPU, and what it is for.
 *
 * Numbers of 16 bits are widened as they are read; everything between is f32, and a result is rounded once, to the
 * nearest number of its type, ties to even. No header is included, so that nvrtc needs no folder of them, and
 * bf16 is rounded by its bits, which a GPU before compute capability 8.0 can do too.
 */

struct f16 {
    unsigned short bits;
};
struct bf16 {
    unsigned short bits;
};

__device__ float widen(float x) { return x; }
__device__ float widen(f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
__device__ float widen(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }

__device__ void round_to(float &y, float x) { y = x; }
__device__ void round_to(f16 &y, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); }
__device__ void round_to(bf16 &y, float x) {
    unsigned bits = __float_as_uint(x);
    // Rounded as other numbers are, a NaN could become an infinity.
    y.bits = isnan(x) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

template <typename T> __device__ T gated(T gate, T up) {
    float x = widen(gate);
    T y;
    round_to(y, x / (1.0f + expf(-x)) * widen(up));
    return y;
}

/* What a thread reads and writes at once. */
template <typename T> struct alignas(16) Pack {
    static constexpr int SIZE = 16 / sizeof(T);
    T of[SIZE];
};

template <typename T>
__device__ void swiglu(const T *gate, const T *up, T *out, unsigned long long n) {
    typedef Pack<T> P;
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long done = 0;
    // A view of a tensor may begin between two packs.
    if (((size_t)gate | (size_t)up | (size_t)out) % sizeof(P) == 0) {
        const unsigned long long packs = n / P::SIZE;
        for (unsigned long long i = first; i < packs; i += threads) {
            P g = ((const P *)gate)[i], u = ((const P *)up)[i];
            for (int k = 0; k < P::SIZE; k++) g.of[k] = gated(g.of[k], u.of[k]);
            ((P *)out)[i] = g;
        }
        done = packs * P::SIZE;
    }
    for (unsigned long long i = done + first; i < n; i += threads) out[i] = gated(gate[i], up[i]);
}

#define SWIGLU(T)                                                                                   \
    extern "C" __global__ void swiglu_##T(const T *gate, const T *up, T *out, unsigned long long n) { \
        swiglu(gate, up, out, n);                                                                   \
    }
typedef float f32;
SWIGLU(f32)
SWIGLU(f16)
SWIGLU(bf16)
