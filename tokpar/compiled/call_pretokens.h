/* The pre-tokens of a text (theorem 51), and the places where one ends whatever stands around
   (lemma 60). Part of call.c.

   moves[state << 8 | c]   bits 8-29 the next state, bit 30 DIES: no match ends behind c, bit 31 HIT: a
                           match ends before c. c: an ASCII byte; 128 + symbol of any other character;
                           END: the text ends
   begins                  the first state of each Split of the row
   pairs                   a bit: a pre-token ends between two symbols. An ASCII byte is its own symbol
   left, right             a cut is sure between two ASCII bytes a and b if left[a] & right[b]: each bit stands for a
                           set of left bytes that are all sure before each of a set of right bytes */

enum { END = 255, MOST_STAGES = 8 };
#define HIT 0x80000000u
#define DIES 0x40000000u
#define STATE 0x3FFFFF00u

typedef struct {
    const u32 *moves, *begins;
    const u8 *symbol_of;
    u32 symbols; /* symbol_of a character that the normalizer may change */
    int stages;
} Machine;

typedef struct {
    u8 left[256], right[256], pairs[256][32];
    u8 far[128], near[128], here[128], next[128]; /* far[a] & near[b] & here[c]: "ab|c"; near[a] & here[b] & next[c]: "a|bc" */
    u8 kind_of[128], by_kind[6][16];              /* see call_triples.h */
    int has_kinds, has_avx2;
} SureCuts;

/* Returns the end of the match of a stage that begins at i, i if there is none, -1 for a character
   about which nothing is known. `*read`: how far it looked. */
static inline i64 match_end(const Machine *m, int stage, const u8 *p, i64 i, i64 stop, i64 *read)
{
    i64 at = i, hit = i;
    u32 state = m->begins[stage];
    while (at < stop) {
        int size = 1;
        u32 c = p[at];
        if (c >= 0x80) {
            u32 symbol = m->symbol_of[code_point(p + at, &size)];
            if (symbol == m->symbols)
                return -1;
            c = 128 + symbol;
        }
        u32 go = m->moves[state | c];
        if (go & HIT)
            hit = at;
        if (go & DIES) {
            *read = at + size;
            return hit;
        }
        at += size;
        state = go & STATE;
    }
    *read = stop;
    return m->moves[state | END] & HIT ? stop : hit;
}

static inline int char_size(u8 first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* Writes the ends of the pre-tokens of p[i : stop] to `ends`, and returns the new count; -1 for an
   unknown character, or if `*steps` runs out. What a stage matches, and what it leaves between two
   matches, goes through the later stages. */
static i64 pretoken_ends(const Machine *m, int stage, const u8 *p, i64 i, i64 stop, u32 *ends, i64 count,
                         i64 *steps)
{
    if (stage == m->stages) {
        ends[count] = (u32)stop;
        return count + 1;
    }
    int is_last = stage + 1 == m->stages;
    i64 gap = i, read;
    while (i < stop) {
        i64 end = match_end(m, stage, p, i, stop, &read);
        if (end < 0 || (*steps -= read - i) < 0)
            return -1;
        if (end == i) {
            i += char_size(p[i]);
            continue;
        }
        for (int is_match = gap == i; is_match < 2; is_match++) {
            i64 from = is_match ? i : gap, to = is_match ? end : i;
            if (is_last)
                ends[count++] = (u32)to;
            else if ((count = pretoken_ends(m, stage + 1, p, from, to, ends, count, steps)) < 0)
                return -1;
        }
        i = gap = end;
    }
    if (gap < stop)
        return pretoken_ends(m, stage + 1, p, gap, stop, ends, count, steps);
    return count;
}

/* ---- sure cuts: theorem 60 */

/* Marks the states that a stage reaches. `seen` has a byte for each state. */
static void reach(const Machine *m, int stage, u8 *seen, u32 *open)
{
    i64 count = 1;
    seen[m->begins[stage] >> 8] = 1;
    open[0] = m->begins[stage];
    while (count) {
        u32 state = open[--count];
        for (u32 c = 0; c < 128 + m->symbols; c++) {
            u32 go = m->moves[state | c], next = go & STATE;
            if (!(go & DIES) && !seen[next >> 8])
                seen[next >> 8] = 1, open[count++] = next;
        }
    }
}

/* Writes the states in which a run of the stage may be that has just read `a` to `after`, and returns how
   many there are. `seen`: 1 for each state that the stage reaches, else 0. */
static i64 states_after(const Machine *m, u8 *seen, i64 states, u32 a, u32 *after)
{
    i64 count = 0;
    for (i64 s = 0; s < states; s++) {
        u32 go = seen[s] & 1 ? m->moves[s << 8 | a] : DIES, next = go & STATE;
        if (go & DIES || seen[next >> 8] & 2)
            continue;
        seen[next >> 8] |= 2;
        after[count++] = next;
    }
    for (i64 k = 0; k < count; k++)
        seen[after[k] >> 8] &= 1;
    return count;
}

/* True if every run in one of these states dies on `b`, and hits before `b` exactly if it hits before the
   end of a text: so the stage does the same to the left side if the text ends there. */
static int always_dies(const Machine *m, const u32 *after, i64 count, u32 b)
{
    for (i64 k = 0; k < count; k++) {
        u32 next = m->moves[after[k] | b], last = m->moves[after[k] | END];
        if (!(next & DIES) || (next ^ last) & HIT)
            return 0;
    }
    return 1;
}

enum { IS_SURE = 1, IS_CROSSED = 2 };

/* Writes to sure[a][b] whether two symbols are IS_SURE, or IS_CROSSED. A pair is sure if one stage always
   cuts there, and no match of the stages before it reaches over the place. */
static void find_pairs(const Machine *m, i64 states, u8 (*sure)[256], u8 *seen, u32 *open)
{
    u32 symbols = 128 + m->symbols;
    for (int stage = 0; stage < m->stages; stage++) {
        memset(seen, 0, (size_t)states);
        reach(m, stage, seen, open);
        for (u32 a = 0; a < symbols; a++) {
            i64 count = states_after(m, seen, states, a, open);
            u32 go = m->moves[m->begins[stage] | a];
            for (u32 b = 0; b < symbols; b++) {
                if (!sure[a][b] && !always_dies(m, open, count, b))
                    sure[a][b] = IS_CROSSED;
                if (!sure[a][b] && !(go & DIES) && m->moves[(go & STATE) | b] & HIT) /* `a` alone is a match before `b` */
                    sure[a][b] = IS_SURE;
            }
        }
    }
}

/* Counts the sure pairs of ASCII bytes that are new if each byte that is sure before `like` gets a bit of `left`, and
   each byte behind all of these one of `right`. Sets the bit if `bit` is not 0. */
static int cover(u8 (*sure)[256], SureCuts *found, u32 like, u8 bit)
{
    int count = 0;
    for (u32 b = 0; b < 128; b++) {
        int is_behind = 1, more = 0;
        for (u32 a = 0; a < 128; a++) {
            if (sure[a][like] != IS_SURE)
                continue;
            is_behind &= sure[a][b] == IS_SURE;
            more += !(found->left[a] & found->right[b]);
        }
        count += is_behind ? more : 0;
        if (is_behind)
            found->right[b] |= bit;
    }
    for (u32 a = 0; a < 128; a++)
        if (sure[a][like] == IS_SURE)
            found->left[a] |= bit;
    return count;
}

#include "call_triples.h"

/* Fills `found`. Eight sets cover the sure pairs of ASCII bytes, or most of them: the rest is cut by the machine.
   Returns 0 without memory. */
static int find_sure(const Machine *m, i64 states, SureCuts *found, int uses_avx2)
{
    u8 (*sure)[256] = calloc(256, 256), *seen = malloc((size_t)states);
    u32 *open = malloc(4 * (size_t)states);
    int is_done = sure && seen && open;
    memset(found, 0, sizeof *found);
    if (is_done)
        find_pairs(m, states, sure, seen, open);
    for (u32 a = 0; is_done && a < 256; a++)
        for (u32 b = 0; b < 256; b++)
            found->pairs[a][b >> 3] |= (u8)((sure[a][b] == IS_SURE) << (b & 7));
    for (u32 bit = 1; is_done && bit < 256; bit *= 2) {
        int most = 0, best = 0;
        for (u32 b = 0; b < 128; b++) {
            int count = cover(sure, found, b, 0);
            if (count > most)
                most = count, best = (int)b;
        }
        if (most)
            cover(sure, found, (u32)best, (u8)bit);
    }
    is_done = is_done && find_triples(m, states, (const u8 (*)[256])sure, found, seen, open);
    free(sure);
    free(seen);
    free(open);
    (void)uses_avx2;
#if HAS_AVX2
    found->has_avx2 = uses_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#endif
    return is_done;
}

/* True if a pre-token ends between two characters wherever they stand. `symbol_of`: of all characters. */
static inline int is_sure(const SureCuts *sure, const u8 *symbol_of, u32 symbols, u32 left, u32 right)
{
    u32 a = left < 128 ? left : 128u + symbol_of[left], b = right < 128 ? right : 128u + symbol_of[right];
    return a < 128 + symbols && b < 128 + symbols && sure->pairs[a][b >> 3] >> (b & 7) & 1;
}

#if HAS_AVX2
/* Looks up bytes below 128 in 128 bytes, and gives 0 for the others. A shuffle looks up 16 of them: it gives 0 for an
   index from 128 on, which all bytes of the other sixteens become. */
__attribute__((target("avx2"))) static inline __m256i looked_up(const u8 *table, __m256i bytes)
{
    __m256i found = _mm256_setzero_si256(), rest = _mm256_set1_epi8(0x70);
    for (int k = 0; k < 8; k++) {
        __m256i sixteen = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
        __m256i index = _mm256_adds_epu8(_mm256_xor_si256(bytes, _mm256_set1_epi8((char)(16 * k))), rest);
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(sixteen, index));
    }
    return found;
}

__attribute__((target("avx2"))) static inline u64 cuts_by_avx2(const SureCuts *sure, const u8 *p, i64 at, int *is_ascii)
{
    u64 cuts = 0;
    __m256i low = _mm256_loadu_si256((const __m256i *)(p + at + 1)), high = _mm256_loadu_si256((const __m256i *)(p + at + 33));
    *is_ascii = !_mm256_movemask_epi8(_mm256_or_si256(low, high));
    for (int k = 0; k < 64; k += 32) {
        __m256i left = looked_up(sure->left, _mm256_loadu_si256((const __m256i *)(p + at + k - 1)));
        __m256i right = looked_up(sure->right, _mm256_loadu_si256((const __m256i *)(p + at + k)));
        __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(left, right), _mm256_setzero_si256());
        cuts |= (u64)(u32)~_mm256_movemask_epi8(none) << k;
    }
    return cuts;
}
#endif

#if HAS_AVX2
__attribute__((target("avx2"))) static inline __m256i by_kind(const u8 *table, __m256i kinds)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)), kinds);
}

/* As `sure_cuts`; `*triples`: the cuts that three characters make sure. p[at - 2 : at + 94] is read. */
__attribute__((target("avx2"))) static inline u64 cuts_by_kind(const SureCuts *f, const u8 *p, i64 at, int *is_ascii, u64 *triples)
{
    u64 cuts = 0, more = 0;
    __m256i none = _mm256_setzero_si256(), a = looked_up(f->kind_of, _mm256_loadu_si256((const __m256i *)(p + at - 2)));
    for (int k = 0; k < 64; k += 32) {
        __m256i behind = looked_up(f->kind_of, _mm256_loadu_si256((const __m256i *)(p + at + k + 30)));
        __m256i middle = _mm256_permute2x128_si256(a, behind, 0x21); /* bytes 16 to 47 of both */
        __m256i b = _mm256_alignr_epi8(middle, a, 1), c = _mm256_alignr_epi8(middle, a, 2), d = _mm256_alignr_epi8(middle, a, 3);
        __m256i pair = _mm256_and_si256(by_kind(f->by_kind[0], b), by_kind(f->by_kind[1], c));
        __m256i three = _mm256_and_si256(_mm256_and_si256(by_kind(f->by_kind[2], a), by_kind(f->by_kind[3], b)),
                                         _mm256_and_si256(by_kind(f->by_kind[4], c), by_kind(f->by_kind[5], d)));
        cuts |= (u64)(u32)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(pair, none)) << k;
        more |= (u64)(u32)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(three, none)) << k;
        a = behind;
    }
    __m256i low = _mm256_loadu_si256((const __m256i *)(p + at + 1)), high = _mm256_loadu_si256((const __m256i *)(p + at + 33));
    *is_ascii = !_mm256_movemask_epi8(_mm256_or_si256(low, high));
    *triples = more;
    return cuts;
}

/* Returns the sure cuts at places at to at + 63 of the section p[start : stop] as bits. A triple counts if the section has
   all of it, and what is behind it composes with no character of it. */
__attribute__((target("avx2"))) static inline u64 section_cuts(const SureCuts *f, const u8 *p, i64 at, i64 start, i64 stop, int *is_ascii)
{
    u64 triples, cuts = cuts_by_kind(f, p, at, is_ascii, &triples);
    if (!*is_ascii || stop - at < 66 || p[at + 65] >= 0x80)
        return cuts;
    return cuts | (at - 1 == start ? triples & ~(u64)1 : triples);
}
#endif

/* Returns the sure cuts at places at to at + 63 as bits. p[at - 1] and 65 more bytes are read. `*is_ascii`: set if the bytes
   behind these places are all ASCII. */
ALWAYS_INLINE u64 sure_cuts(const SureCuts *sure, const u8 *p, i64 at, int by_avx2, int *is_ascii)
{
    u64 cuts = 0, high = 0;
#if HAS_AVX2
    if (by_avx2)
        return cuts_by_avx2(sure, p, at, is_ascii);
#endif
    (void)by_avx2;
    for (int k = 0; k < 64; k++) {
        cuts |= (u64)((sure->left[p[at + k - 1]] & sure->right[p[at + k]]) != 0) << k;
        high |= p[at + k + 1] & 0x80;
    }
    *is_ascii = !high;
    return cuts;
}

/* ---- text that the normalizer leaves as it is, by the quick check of UAX 15

   quick_of   of each code point: 0: it never changes; 255: only the engine knows; else its combining
              class: such characters stay where they are if their classes do not fall */
static int is_normal(const u8 *quick_of, const u8 *p, i64 i, i64 stop)
{
    int size;
    u8 last = 0;
    for (; i < stop; i += size) {
        if (!(word_at(p + i) & 0x8080808080808080u)) {
            size = 8, last = 0; /* ASCII never changes */
            continue;
        }
        u8 quick = quick_of[code_point(p + i, &size)];
        if (quick == 255 || (quick && quick < last))
            return 0;
        last = quick;
    }
    return 1;
}
