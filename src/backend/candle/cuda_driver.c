/*
 * NVIDIA's driver library, looked for when CUDA is first used and not when the program starts: a program that
 * is linked with libcuda.so.1 itself does not even print its help on a machine without a driver.
 *
 * Each function of the driver is here as a jump through a pointer, which cuInit, the first that anybody calls,
 * points at the driver's own. Without a driver, or where the driver is too old to have a function, the call
 * gives CUDA_ERROR_STUB_LIBRARY. `./build.sh cuda` makes NAMES of the toolkit's cuda.h, an X(function) a line
 * without cuInit, and links this in the driver's place.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define STUB_LIBRARY 34

typedef int function(void);

static int absent(void) { return STUB_LIBRARY; }

#define X(name)                                                                                  \
    __attribute__((visibility("hidden"), used)) function *caselens_##name = absent;              \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                  \
            "\tjmp *caselens_" #name "(%rip)\n");
#include NAMES
#undef X

static int (*init)(unsigned);

static void look(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!driver) return;
    init = (int (*)(unsigned))dlsym(driver, "cuInit");
#define X(name)                                                                                  \
    {                                                                                            \
        function *found = (function *)dlsym(driver, #name);                                      \
        if (found) caselens_##name = found;                                                      \
    }
#include NAMES
#undef X
}

int cuInit(unsigned flags) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    return init ? init(flags) : STUB_LIBRARY;
}
