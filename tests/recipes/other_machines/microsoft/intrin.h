/* What call_compiler.h takes from Microsoft's compiler, for a gcc that is told that it is none (prelude.h). */
#define __forceinline inline
#define __declspec(what)
#define __stdcall

static inline unsigned char _BitScanForward64(unsigned long *at, unsigned long long bits)
{
    *at = (unsigned long)__builtin_ctzll(bits);
    return bits != 0;
}

static inline unsigned long long __umulh(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

static inline void *_InterlockedExchangePointer(void *volatile *place, void *value)
{
    return __atomic_exchange_n(place, value, __ATOMIC_SEQ_CST);
}

static inline int SwitchToThread(void) { return 0; }
