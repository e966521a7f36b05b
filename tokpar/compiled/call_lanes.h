/* Merges several short words of a BPE over bytes side by side: while the tables of one word are fetched, the others are
   merged. Part of call.c.

   pair[i] is the rank of the pair that begins at i, and i, as in `merge_short`; NO_PAIR for what does not merge and for
   an id that was merged into its left neighbour. Whole groups of eight are compared without a branch. */

enum { LANES = 8, LANE_BYTES = 24, LANE_ROOM = LANE_BYTES + 8, NO_PAIR = 0x7FFFFFFF };

typedef struct {
    int32_t pair[LANE_ROOM];
    u32 id[LANE_ROOM];
    u8 next[LANE_ROOM], prev[LANE_ROOM];
    int size, left, at, number; /* ids at first, ids left, the last merge or -1, the caller's number of the word */
} Lane;

/* Puts the word p[0 : n] into a lane, 1 < n <= LANE_BYTES. */
static inline void begin_lane(const u32 *byte_ids, const u32 *of_bytes, Lane *l, const u8 *p, int n, int number)
{
    for (int i = 0; i < LANE_ROOM; i++)
        l->pair[i] = NO_PAIR;
    for (int i = 0; i < LANE_ROOM; i++)
        l->next[i] = (u8)(i + 1);
    for (int i = 0; i < LANE_ROOM; i++)
        l->prev[i] = (u8)(i - 1);
    for (int i = 0; i < n; i++)
        l->id[i] = byte_ids[p[i]];
    for (int i = 0; i + 1 < n; i++) {
        u32 rank = of_bytes[p[i] << 8 | p[i + 1]];
        l->pair[i] = rank == NONE ? NO_PAIR : (int32_t)(rank << 6 | (u32)i);
    }
    l->size = l->left = n, l->at = -1, l->number = number;
}

static inline int32_t lane_pair(const Merges *m, const Lane *l, int i, int behind)
{
    u32 rank = rank_of(m, l->id[i], l->id[behind]);
    if (rank == NONE)
        return NO_PAIR;
    fetch(m->made + rank);
    return (int32_t)(rank << 6 | (u32)i);
}

/* Ranks the two pairs of the id that the last step made, which the step fetched. */
static inline void rank_lane(const Merges *m, Lane *l)
{
    int i = l->at;
    if (i < 0)
        return;
    l->pair[i] = l->next[i] < l->size ? lane_pair(m, l, i, l->next[i]) : NO_PAIR;
    if (i)
        l->pair[l->prev[i]] = lane_pair(m, l, l->prev[i], i);
}

#if HAS_AVX2
__attribute__((target("avx2"))) static inline int32_t least_by_avx2(const Lane *l)
{
    __m256i eight = _mm256_loadu_si256((const __m256i *)l->pair);
    if (l->size > 8)
        eight = _mm256_min_epi32(eight, _mm256_loadu_si256((const __m256i *)(l->pair + 8)));
    if (l->size > 16)
        eight = _mm256_min_epi32(eight, _mm256_loadu_si256((const __m256i *)(l->pair + 16)));
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return _mm_cvtsi128_si32(four);
}
#endif

/* Returns the least pair of a lane, or NO_PAIR. */
ALWAYS_INLINE int32_t least_pair(const Lane *l, int by_avx2)
{
#if HAS_AVX2
    if (by_avx2)
        return least_by_avx2(l);
#endif
    (void)by_avx2;
    int32_t least = NO_PAIR;
    for (int i = 0; i + 1 < l->size; i = l->next[i])
        least = l->pair[i] < least ? l->pair[i] : least;
    return least;
}

/* Merges the least pair of a lane. Returns 0 if nothing merges any more. */
ALWAYS_INLINE int step_lane(const Merges *m, Lane *l, int by_avx2)
{
    int32_t least = least_pair(l, by_avx2);
    if (least == NO_PAIR)
        return 0;
    int i = least % 64, gone = l->next[i], behind = l->next[gone];
    u32 made = l->id[i] = m->made[least / 64];
    l->next[i] = (u8)behind;
    l->prev[behind] = (u8)i;
    l->pair[gone] = NO_PAIR;
    l->left--;
    l->at = i;
    if (i)
        fetch_rank(m, l->id[l->prev[i]], made);
    if (behind < l->size)
        fetch_rank(m, made, l->id[behind]);
    return 1;
}

/* Moves the ids that are left to the front of the lane. */
static inline void gather_lane(Lane *l)
{
    for (int i = 0, to = 0; to < l->left; i = l->next[i])
        l->id[to++] = l->id[i];
}
