/* The merges of a BPE: pairs of ids, and the ids of a word. Part of call.c.

   pairs    one word a slot: left id (21 bits), right id (21), rank (22); all bits set: free
   may_be   2^22 bits: a bit for the hash of each pair, so most pairs that do not merge cost one look
   made     the merged id of each rank
   An id of more bits, such as that of a byte that no merge has, is in no pair: its key would be that of another pair.
   So is the id whose 21 bits are all set: the key of two of them would be that of a free slot. NO_BYTE stands for the
   id of a byte that is no token.
   Equal ranks are merged from left to right, the least rank first (theorem 52, lemma 56). */

enum { SHORT = 48, PAIR_ID_BITS = 21 };
static const u32 NO_BYTE = 0xFFFFFFFE;

typedef struct {
    const u64 *pairs, *may_be;
    u64 mask;
    int shift;
    const u32 *made;
} Merges;

static inline u64 hash_of(u64 key) { return key * 0x9E3779B97F4A7C15u; }

static inline u32 rank_of(const Merges *m, u32 left, u32 right)
{
    u64 key = (u64)left << PAIR_ID_BITS | right, hash = hash_of(key);
    if (!(m->may_be[hash >> 48] >> (hash >> 42 & 63) & 1) || ((left + 1) | (right + 1)) >> PAIR_ID_BITS)
        return NONE;
    for (u64 at = hash >> m->shift;; at = (at + 1) & m->mask) {
        u64 slot = m->pairs[at];
        if (slot >> 22 == key)
            return (u32)(slot & 0x3FFFFF);
        if (slot == ~(u64)0)
            return NONE;
    }
}

static inline void fetch_rank(const Merges *m, u32 left, u32 right)
{
    u64 hash = hash_of((u64)left << PAIR_ID_BITS | right);
    fetch(m->may_be + (hash >> 48));
    fetch(m->pairs + (hash >> m->shift));
}

static inline u32 ranked(const Merges *m, u32 rank, int i)
{
    if (rank == NONE)
        return NONE;
    fetch(m->made + rank);
    return rank << 6 | (u32)i;
}

/* Merges n ids in place, 1 <= n <= SHORT. Returns how many are left.

   pair[i] is the rank of the pair that begins at i, and i: the least is the leftmost of the least rank. A slot
   that was merged into its left neighbour is skipped by `next` and `prev`. */
static int merge_short(const Merges *m, const u32 *of_bytes, const u8 *p, u32 *id, int n)
{
    u32 pair[SHORT + 1];
    u8 next[SHORT + 2], prev[SHORT + 2];
    for (int i = 0; i + 1 < n; i++)
        pair[i] = ranked(m, of_bytes ? of_bytes[p[i] << 8 | p[i + 1]] : rank_of(m, id[i], id[i + 1]), i);
    for (int i = 0; i <= n; i++)
        next[i] = (u8)(i + 1), prev[i] = (u8)(i - 1);
    pair[n - 1] = NONE;
    int left = n;
    for (;;) {
        u32 least = pair[0];
        for (int k = next[0]; k < n; k = next[k])
            least = pair[k] < least ? pair[k] : least;
        if (least == NONE)
            break;
        int i = least % 64, gone = next[i], behind = next[gone], before = prev[i];
        u32 made = id[i] = m->made[least / 64];
        if (i)
            fetch_rank(m, id[before], made);
        next[i] = (u8)behind;
        prev[behind] = (u8)i;
        left--;
        pair[i] = behind < n ? ranked(m, rank_of(m, made, id[behind]), i) : NONE;
        if (i)
            pair[before] = ranked(m, rank_of(m, id[before], made), before);
    }
    for (int i = 0, to = 0; to < left; i = next[i])
        id[to++] = id[i];
    return left;
}

static inline i64 push(u64 *heap, i64 count, u64 entry)
{
    i64 k = count;
    for (; k && heap[(k - 1) / 2] > entry; k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = entry;
    return count + 1;
}

/* Removes heap[0]. Returns the new count. */
static inline i64 pop(u64 *heap, i64 count)
{
    u64 entry = heap[--count];
    i64 k = 0;
    for (i64 below = 1; below < count; below = 2 * k + 1) {
        if (below + 1 < count && heap[below + 1] < heap[below])
            below++;
        if (heap[below] >= entry)
            break;
        heap[k] = heap[below];
        k = below;
    }
    heap[k] = entry;
    return count;
}

/* Bytes of `work` that `merge_long` needs for n ids. */
static inline size_t merge_room(i64 n) { return (size_t)n * 36 + 64; }

/* The same for any n < 2^32, in n log n steps. An entry of the heap, rank << 32 | place, is stale
   unless the pair at the place still has the rank. */
static i64 merge_long(const Merges *m, u32 *id, i64 n, void *work)
{
    u64 *heap = work;
    u32 *rank = (u32 *)(heap + 3 * n), *next = rank + n, *prev = next + n;
    i64 count = 0;
    for (i64 i = 0; i < n; i++)
        next[i] = (u32)(i + 1), prev[i] = (u32)(i - 1);
    rank[n - 1] = NONE;
    for (i64 i = 0; i + 1 < n; i++)
        if ((rank[i] = rank_of(m, id[i], id[i + 1])) != NONE)
            count = push(heap, count, (u64)rank[i] << 32 | (u64)i);
    while (count) {
        u64 entry = heap[0];
        u32 i = (u32)entry;
        count = pop(heap, count);
        if (rank[i] != entry >> 32)
            continue;
        u32 gone = next[i], behind = next[gone];
        id[i] = m->made[rank[i]];
        rank[gone] = rank[i] = NONE;
        next[i] = behind;
        if (behind < n) {
            prev[behind] = i;
            if ((rank[i] = rank_of(m, id[i], id[behind])) != NONE)
                count = push(heap, count, (u64)rank[i] << 32 | i);
        }
        if (i) {
            u32 before = prev[i];
            if ((rank[before] = rank_of(m, id[before], id[i])) != NONE)
                count = push(heap, count, (u64)rank[before] << 32 | before);
        }
    }
    i64 left = 0;
    for (i64 i = 0; i < n; i = next[i])
        id[left++] = id[i];
    return left;
}
