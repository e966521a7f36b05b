/* What compilers say in different ways. Part of call.c.

   TOKPAR_PLAIN_C: what a compiler that is neither gcc nor clang gets, but for what C alone cannot say: so that these
   branches run on Linux, too (tests/recipes/plain_c.py). A macro evaluates each of its arguments once, whatever the
   compiler: what does not is a function. A constant of more than 31 bits is no enum: its type would be another one. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

#if defined(__GNUC__) || defined(__clang__)
#define HAS_GNU_C 1
#else
#define HAS_GNU_C 0
#include <intrin.h>
#endif

#if defined(_WIN32)
__declspec(dllimport) int __stdcall SwitchToThread(void);
#else
#include <sched.h>
#include <unistd.h>
#endif

#if HAS_GNU_C && !defined(TOKPAR_PLAIN_C)
#define HAS_BUILTINS 1
#define LIKELY(claim) __builtin_expect(!!(claim), 1)
#else
#define HAS_BUILTINS 0
#define LIKELY(claim) (claim)
#endif

#if HAS_BUILTINS && defined(__x86_64__)
#include <immintrin.h>
#define HAS_AVX2 1
#else
#define HAS_AVX2 0
#endif

#define NONE 0xFFFFFFFFu

/* Of a function whose call costs more than it does, or that must stay out of a loop, whatever the compiler counts. */
#if HAS_GNU_C
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NEVER_INLINE static __attribute__((noinline))
#else
#define ALWAYS_INLINE static __forceinline
#define NEVER_INLINE static __declspec(noinline)
#endif

/* Asks the processor for what is at a place that is looked at soon. */
static inline void fetch(const void *place)
{
#if HAS_BUILTINS
    __builtin_prefetch(place);
#else
    (void)place;
#endif
}

/* Returns the number of the lowest bit that is set; one is. */
static inline int lowest_bit(u64 bits)
{
#if HAS_BUILTINS
    return __builtin_ctzll(bits);
#elif HAS_GNU_C
    int k = 0;
    while (!(bits >> k & 1))
        k++;
    return k;
#else
    unsigned long k;
    _BitScanForward64(&k, bits);
    return (int)k;
#endif
}

/* Returns both halves of a * b, one xor the other. */
static inline u64 folded_product(u64 a, u64 b)
{
#if HAS_BUILTINS && defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (u64)product ^ (u64)(product >> 64);
#elif HAS_GNU_C
    u64 low = (u64)(u32)a * (u32)b, middle = (a >> 32) * (u32)b + (low >> 32), other = (u64)(u32)a * (b >> 32) + (u32)middle;
    return a * b ^ ((a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32));
#else
    return a * b ^ __umulh(a, b);
#endif
}

/* Puts a value into a place that threads share, and returns what was there. */
static inline void *swapped(void **place, void *value)
{
#if HAS_GNU_C
    return __atomic_exchange_n(place, value, __ATOMIC_ACQ_REL);
#else
    return _InterlockedExchangePointer(place, value);
#endif
}

/* True if something is in a place that threads share: another thread may have changed it since. */
static inline int is_taken(void **place)
{
#if HAS_GNU_C
    return __atomic_load_n(place, __ATOMIC_RELAXED) != NULL;
#else
    return *(void *volatile *)place != NULL;
#endif
}
