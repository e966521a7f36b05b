/* What _stretches.py needs and Python cannot say: eight bytes at once, a mask of cuts, the bytes of
   a str. tests/kernel_words.py is the same in Python. */
#include <Python.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define FETCH(place) __builtin_prefetch(place)
#else
#define FETCH(place) ((void)0)
#endif

/* Bytes i to i + 7, the first one lowest. */
static inline unsigned long long word_at(const unsigned char *p, ptrdiff_t i)
{
    unsigned long long word;
    memcpy(&word, p + i, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The UTF-8 of a str, which Python keeps with it; NULL with an error for lone surrogates. */
static inline unsigned char *utf8_of(PyObject *text, Py_ssize_t *size)
{
    return (unsigned char *)PyUnicode_AsUTF8AndSize(text, size);
}

static inline void fetch(const unsigned long long *words, ptrdiff_t i) { FETCH(words + i); }

static inline int is_cut(const unsigned char *p, ptrdiff_t i)
{
    unsigned char before = p[i - 1];
    return p[i] == ' ' && before != ' ' && (unsigned char)(before - 9) > 4;
}

/* Each place in [lo, hi) of a space behind a byte other than ASCII white space, to `found`; returns
   how many. `*wide` becomes true where one of these bytes is not ASCII. */
static inline ptrdiff_t spaces_at(const unsigned char *p, ptrdiff_t lo, ptrdiff_t hi,
                                  unsigned long long *found, int *wide)
{
    ptrdiff_t count = 0, i = lo;
#if defined(__SSE2__) && (defined(__GNUC__) || defined(__clang__))
    const __m128i space = _mm_set1_epi8(' '), nine = _mm_set1_epi8(9), four = _mm_set1_epi8(4);
    for (; i + 64 <= hi; i += 64) {
        uint64_t cuts = 0, high = 0;
        for (int part = 0; part < 4; part++) {
            const unsigned char *at = p + i + 16 * part;
            __m128i here = _mm_loadu_si128((const __m128i *)(const void *)at);
            __m128i before = _mm_loadu_si128((const __m128i *)(const void *)(at - 1));
            __m128i control = _mm_sub_epi8(before, nine);
            control = _mm_cmpeq_epi8(_mm_min_epu8(control, four), control);
            __m128i white = _mm_or_si128(_mm_cmpeq_epi8(before, space), control);
            __m128i cut = _mm_andnot_si128(white, _mm_cmpeq_epi8(here, space));
            cuts |= (uint64_t)(uint32_t)_mm_movemask_epi8(cut) << (16 * part);
            high |= (uint64_t)(uint32_t)_mm_movemask_epi8(before) << (16 * part);
        }
        *wide |= (cuts & high) != 0;
        while (cuts) {
            found[count++] = (unsigned long long)(i + __builtin_ctzll(cuts));
            cuts &= cuts - 1;
        }
    }
#endif
    for (; i < hi; i++) {
        int cut = is_cut(p, i);
        found[count] = (unsigned long long)i;
        count += cut;
        *wide |= cut & (p[i - 1] >> 7);
    }
    return count;
}
