/* A BPE over bytes: the segments between sure cuts, a block of them at a time. Part of call.c.

   The front answers most segments of a block, without a branch for each. The others are looked up together: their bytes
   in the vocabulary; then their pre-tokens in the front, the vocabulary and the learned words; then the pre-tokens that are
   new are merged side by side. At last the ids of all segments are written in their order; a segment or pre-token that
   nothing answered is encoded there by itself.

   The front has sets of two slots, for segments and pre-tokens of less than 16 bytes. A slot without IS_ALONE has the ids
   of several pre-tokens: it answers a segment, and no pre-token. */

enum {
    SEGMENTS = 256,       /* of a block, and up to 64 more */
    SPANS = 512,
    CHECKED = 32,         /* spans after which what the front misses is fetched */
    LONGEST_SEGMENT = 24, /* bytes of segments that are looked up in the vocabulary */
    LONGEST_PART = 64,    /* bytes of pre-tokens that are looked up together */
    BLOCK_IDS = 24          /* ids of a word that a block keeps */
};

/* Byte ranges of a text that are looked up together: segments, or the pre-tokens of segments. */
typedef struct {
    int count, misses, fetched;
    u32 start[SPANS], size[SPANS], place[SPANS]; /* place: the set of the front */
    u64 low[SPANS], high[SPANS];                 /* a and b of its slot there */
    const Word *found[SPANS];                    /* NULL: not known */
    u16 missed[SPANS + 1];                       /* what the front does not have */
    Key key[SPANS];                              /* of each miss */
    Word fresh[SPANS];                           /* what was found of each miss; `more` of its ids is `many` of the block */
} Spans;

typedef struct Block {
    Spans segments, parts;
    u16 first_part[SPANS], part_count[SPANS]; /* of each segment that is not known; 0 parts: it is encoded by itself */
    u8 is_alone[SPANS];                       /* of each part: it is a segment */
    u16 unknown[SPANS];                       /* misses among the parts that are merged */
    i64 many_used;
    u32 many[2 * SPANS * BLOCK_IDS];
} Block;

/* The bits of words 0 and 1 of a slot that a key of so many bytes has; from 16 on no slot of the front is alike. */
static const u64 LOW_BITS[17] = {0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
                                 ~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0};
static const u64 HIGH_BITS[17] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF,
                                  0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 0};

/* Writes p[start : start + n] to place k, and fetches its set of the front. */
ALWAYS_INLINE void set_span(const Word *front, Spans *of, int k, const u8 *p, i64 start, i64 n)
{
    i64 few = n < 16 ? n : 16;
    u64 low = word_at(p + start) & LOW_BITS[few], high = (word_at(p + start + 8) & HIGH_BITS[few]) | (u64)few << 56;
    u64 place = 2 * ((mixed(low, high) >> 40) % (FRONT / 2));
    fetch(front + place);
    of->low[k] = low, of->high[k] = high, of->place[k] = (u32)place;
    of->start[k] = (u32)start, of->size[k] = (u32)n;
}

/* Looks span k up in the front. Returns 1 for a miss. */
ALWAYS_INLINE int misses_front(const Word *front, Spans *of, int k)
{
    const Word *slot = front + of->place[k];
    u64 low = of->low[k], high = of->high[k];
    slot += ((slot->a ^ low) | (slot->b ^ high)) != 0;
    of->found[k] = slot;
    return ((slot->a ^ low) | (slot->b ^ high)) != 0;
}

static void fetch_segments(const Tables *t, Spans *of, const u8 *p)
{
    for (; of->fetched < of->misses; of->fetched++) {
        int k = of->missed[of->fetched];
        if (of->size[k] > LONGEST_SEGMENT)
            continue;
        of->key[of->fetched] = key_of(p + of->start[k], of->size[k]);
        fetch(t->words.slot + (of->key[of->fetched].hash & t->words.mask));
    }
}

ALWAYS_INLINE void check_segments(const Tables *t, const Word *front, Spans *of, const u8 *p)
{
    of->misses = of->fetched = 0;
    for (int k = 0; k < of->count;) {
        int stop = k + CHECKED < of->count ? k + CHECKED : of->count, misses = of->misses;
        for (; k < stop; k++) {
            of->missed[misses] = (u16)k;
            misses += misses_front(front, of, k);
        }
        of->misses = misses;
        fetch_segments(t, of, p);
    }
}

/* Notes a part that the front does not have, and fetches what the tables have of it. */
static inline void add_miss(const Tables *t, const Scratch *s, Block *b, int k, Key key)
{
    Spans *of = &b->parts;
    int j = of->misses++;
    of->missed[j] = (u16)k;
    of->key[j] = key;
    if (!b->is_alone[k])
        fetch(t->words.slot + (key.hash & t->words.mask));
    if (s->learned.slot)
        fetch(s->learned.slot + (key.hash & s->learned.mask));
}

static inline Key key_of_part(const Spans *of, int k, const u8 *p)
{
    Key none = {0, 0, 0};
    return of->size[k] > LONGEST_PART ? none : key_of(p + of->start[k], of->size[k]);
}

/* Looks the parts up in the front, but for those that are segments, which it does not have. */
static void check_parts(const Tables *t, const Scratch *s, Block *b, const u8 *p)
{
    Spans *of = &b->parts;
    for (int k = 0; k < of->count; k++)
        if (!b->is_alone[k] && (misses_front(s->front, of, k) || !(of->found[k]->id[0] & IS_ALONE)))
            add_miss(t, s, b, k, key_of_part(of, k, p));
}

/* Keeps the ids of miss j, at most BLOCK_IDS. `marks`: IS_ALONE or 0. */
static inline void keep_ids(Block *b, Spans *of, int j, const u32 *ids, i64 count, u32 marks)
{
    Word *to = of->fresh + j;
    of->found[of->missed[j]] = to;
    to->a = of->key[j].a, to->b = of->key[j].b;
    if (count <= 4 && ids[0] <= ID_BITS) {
        memcpy(to->id, ids, 4 * (size_t)count);
        to->id[0] |= (u32)count << 28 | marks;
        return;
    }
    to->id[0] = (u32)MANY << 28 | marks, to->id[1] = (u32)b->many_used, to->id[2] = (u32)count;
    memcpy(b->many + b->many_used, ids, 4 * (size_t)count);
    b->many_used += count;
}

/* Keeps what a table has of miss j: the table may grow before the ids are written. */
static inline void keep_known(Block *b, Spans *of, int j, const Words *w, const Word *known)
{
    if (known->id[0] >> 28 == MANY) {
        if (known->id[2] <= BLOCK_IDS)
            keep_ids(b, of, j, w->more + known->id[1], known->id[2], known->id[0] & IS_ALONE);
        return;
    }
    of->fresh[j] = *known;
    of->found[of->missed[j]] = of->fresh + j;
}

/* Looks the segments up that the front misses. */
static void find_segments(const Tables *t, Block *b, const u8 *p)
{
    Spans *of = &b->segments;
    for (int j = 0; j < of->misses; j++) {
        int k = of->missed[j];
        of->found[k] = NULL;
        if (of->size[k] > LONGEST_SEGMENT)
            continue;
        const Word *known = find_word(&t->words, of->key[j], p + of->start[k], of->size[k]);
        if (known && known->id[0] & IS_ALONE)
            keep_known(b, of, j, &t->words, known);
    }
}

/* Lists the pre-tokens of the segment that is miss j, if there is room and the machine knows them. */
static void list_parts(const Tables *t, Scratch *s, Block *b, int j, const u8 *p)
{
    Spans *of = &b->segments, *parts = &b->parts;
    u32 ends[SPANS];
    int k = of->missed[j];
    i64 start = of->start[k], n = of->size[k], steps = s->steps;
    b->part_count[k] = 0;
    if (parts->count + n > SPANS || n > t->longest_word)
        return;
    i64 count = pretoken_ends(&t->machine, 0, p, start, start + n, ends, 0, &s->steps);
    if (count < 0) {
        s->steps = steps; /* the segment is encoded by itself, which counts them again */
        return;
    }
    b->first_part[k] = (u16)parts->count, b->part_count[k] = (u16)count;
    for (i64 i = 0, at = start; i < count; at = ends[i++]) {
        b->is_alone[parts->count] = count == 1;
        set_span(s->front, parts, parts->count++, p, at, ends[i] - at);
    }
    if (count == 1)
        add_miss(t, s, b, parts->count - 1, n > LONGEST_SEGMENT ? key_of_part(parts, parts->count - 1, p) : of->key[j]);
}

/* Returns the entry of a part in the vocabulary or among the learned words, or NULL. `*table`: which of them has it. */
static inline const Word *find_part(const Tables *t, Scratch *s, Key key, const u8 *p, i64 n, int is_alone, const Words **table)
{
    const Word *known = is_alone && n <= LONGEST_SEGMENT ? NULL : find_word(*table = &t->words, key, p, n);
    if (known || !s->learned.slot)
        return known;
    known = find_word(*table = &s->learned, key, p, n);
    if (known && is_alone)
        ((Word *)known)->id[0] |= IS_ALONE;
    return known;
}

/* True if a lane has room for a new word, and the merges tell its ids. Words that the engine compares are encoded where their
   ids are written: a sample has its place among them. */
static inline int fits_lane(const Tables *t, Key key, const u8 *p, i64 n)
{
    int is_ascii = (p[0] | p[n - 1]) < 0x80;
    return n > 1 && n <= LANE_BYTES && (!t->has_longest || (n < t->longest_from && is_ascii)) &&
           mixed(key.hash, t->secret) & t->sample_mask && !(t->misses_bytes && !has_all_bytes(t->byte_ids, p, n));
}

/* Looks the parts up that the front misses. Returns how many are merged. */
static int find_parts(const Tables *t, Scratch *s, Block *b, const u8 *p)
{
    Spans *of = &b->parts;
    int unknown = 0;
    for (int j = 0; j < of->misses; j++) {
        int k = of->missed[j];
        const u8 *word = p + of->start[k];
        i64 n = of->size[k];
        const Words *table;
        of->found[k] = NULL;
        if (n > LONGEST_PART)
            continue;
        const Word *known = find_part(t, s, of->key[j], word, n, b->is_alone[k], &table);
        if (known)
            keep_known(b, of, j, table, known);
        else if (fits_lane(t, of->key[j], word, n))
            b->unknown[unknown++] = (u16)j;
    }
    return unknown;
}

/* Keeps and learns the ids of a lane. A word that stands twice in a block is learned once. */
static void end_lane(const Tables *t, Scratch *s, Block *b, Lane *l, const u8 *p)
{
    Spans *of = &b->parts;
    int j = l->number, k = of->missed[j], is_alone = b->is_alone[k];
    const u8 *word = p + of->start[k];
    gather_lane(l);
    keep_ids(b, of, j, l->id, l->left, is_alone ? IS_ALONE : 0);
    if (!s->learned.slot || !find_word(&s->learned, of->key[j], word, of->size[k]))
        learn(t, s, of->key[j], word, of->size[k], l->id, l->left, is_alone);
}

/* Merges the first `count` words of `unknown`. */
ALWAYS_INLINE void merge_block(const Tables *t, Scratch *s, Block *b, const u8 *p, int count, int by_avx2)
{
    const Spans *of = &b->parts;
    Lane lanes[LANES];
    u8 order[LANES];
    int active = 0, next = 0;
    for (int k = 0; k < LANES; k++)
        order[k] = (u8)k;
    while (active || next < count) {
        for (; active < LANES && next < count; active++, next++) {
            int j = b->unknown[next], k = of->missed[j];
            begin_lane(t->byte_ids, t->of_bytes, lanes + order[active], p + of->start[k], (int)of->size[k], j);
        }
        for (int k = 0; k < active; k++)
            rank_lane(&t->merges, lanes + order[k]);
        for (int k = 0; k < active;) {
            u8 each = order[k];
            if (step_lane(&t->merges, lanes + each, by_avx2)) {
                k++;
                continue;
            }
            end_lane(t, s, b, lanes + each, p);
            order[k] = order[--active];
            order[active] = each;
        }
    }
}

/* Finds what the front does not have. */
ALWAYS_INLINE void find_misses(const Tables *t, Scratch *s, Block *b, const u8 *p, int by_avx2)
{
    Spans *of = &b->segments;
    b->many_used = 0;
    b->parts.count = b->parts.misses = 0;
    find_segments(t, b, p);
    for (int j = 0; j < of->misses; j++)
        if (!of->found[of->missed[j]])
            list_parts(t, s, b, j, p);
    check_parts(t, s, b, p);
    merge_block(t, s, b, p, find_parts(t, s, b, p), by_avx2);
}

static void find_misses_by_c(const Tables *t, Scratch *s, Block *b, const u8 *p) { find_misses(t, s, b, p, 0); }

#if HAS_AVX2
__attribute__((target("avx2,bmi,bmi2"))) static void find_misses_by_avx2(const Tables *t, Scratch *s, Block *b, const u8 *p)
{
    find_misses(t, s, b, p, 1);
}
#endif

/* Puts what was found into the front, from where its sets drop what is older. */
static void put_front(const Scratch *s, const Spans *of, u32 marks)
{
    for (int j = 0; j < of->misses; j++) {
        int k = of->missed[j];
        const Word *slot = of->found[k];
        Word *set = s->front + of->place[k];
        if (slot == of->fresh + j && of->size[k] < 16 && slot->id[0] >> 28 != MANY && (slot->id[0] & marks) == marks)
            set[1] = set[0], set[0] = *slot;
    }
}

static inline i64 copy_found(const Block *b, const Word *slot, u32 *out)
{
    u32 head = slot->id[0];
    memcpy(out, slot->id, 16);
    out[0] = head & ID_BITS;
    if (LIKELY(head >> 28 != MANY))
        return head >> 28;
    memcpy(out, b->many + slot->id[1], 4 * (size_t)slot->id[2]);
    return slot->id[2];
}

/* Encodes the segment that is miss j by its parts. Returns the new count. */
static i64 encode_parts(const Tables *t, Scratch *s, Block *b, int j, const u8 *p, i64 count)
{
    Spans *of = &b->segments, *parts = &b->parts;
    int k = of->missed[j], stop = b->first_part[k] + b->part_count[k];
    i64 first = count;
    for (int i = b->first_part[k]; i < stop; i++) {
        const u8 *word = p + parts->start[i];
        i64 n = parts->size[i];
        if (parts->found[i])
            count += copy_found(b, parts->found[i], s->out + count);
        else
            count = encode_word(t, s, key_of(word, n), word, n, b->is_alone[i], count);
        if (s->is_placing)
            count = add_unit(s, word, n, count, 0);
        if (count < 0)
            return count == MISSES_BYTE ? add_hole_at(s, p, of->start[k], of->start[k] + of->size[k], first) : count;
    }
    if (of->size[k] < 16 && b->part_count[k] > 1 && count - first <= 4) {
        of->key[j] = key_of(p + of->start[k], of->size[k]);
        keep_ids(b, of, j, s->out + first, count - first, 0);
    }
    return count;
}

/* Encodes a segment that nothing answered, or whose pre-tokens are asked for. */
static i64 encode_missed(const Tables *t, Scratch *s, Block *b, int k, int j, const u8 *p, i64 count)
{
    const Spans *of = &b->segments;
    if (!of->found[k] && b->part_count[k])
        return encode_parts(t, s, b, j, p, count);
    return encode_segment(t, s, p, of->start[k], of->start[k] + of->size[k], count);
}

/* Writes the ids of a block. Returns the new count. */
ALWAYS_INLINE i64 write_block(const Tables *t, Scratch *s, Block *b, const u8 *p, i64 count, int is_placing)
{
    const Spans *of = &b->segments;
    u32 *out = s->out + count;
    for (int k = 0, j = 0; k < of->count; k++) {
        const Word *slot = of->found[k];
        if (LIKELY(slot != NULL) && (!is_placing || slot->id[0] & IS_ALONE)) {
            out += copy_found(b, slot, out);
            if (!is_placing)
                continue;
            count = add_unit(s, p + of->start[k], of->size[k], out - s->out, 0);
        } else {
            while (j < of->misses && of->missed[j] < k)
                j++;
            count = encode_missed(t, s, b, k, j, p, out - s->out);
        }
        if (count < 0)
            return count;
        out = s->out + count;
    }
    return out - s->out;
}

ALWAYS_INLINE i64 encode_block(const Tables *t, Scratch *s, Block *b, const u8 *p, i64 count, int by_avx2)
{
    check_segments(t, s->front, &b->segments, p);
    if (b->segments.misses)
#if HAS_AVX2
        (by_avx2 ? find_misses_by_avx2 : find_misses_by_c)(t, s, b, p);
#else
        find_misses_by_c(t, s, b, p);
#endif
    count = s->is_placing ? write_block(t, s, b, p, count, 1) : write_block(t, s, b, p, count, 0);
    if (b->segments.misses && count >= 0) {
        put_front(s, &b->segments, 0);
        put_front(s, &b->parts, IS_ALONE);
    }
    return count;
}

/* True if the normalizer may make another character of p[at], an ASCII character, and of the marks behind it:
   a cut before it is certain for the text as it is written only. */
static inline int may_compose(const Tables *t, const u8 *p, i64 at)
{
    int size;
    return p[at + 1] >= 0x80 && t->quick_of[code_point(p + at + 1, &size)];
}

/* Returns the cuts behind whose character nothing composes. */
static u64 cuts_that_stay(const Tables *t, const u8 *p, i64 at, u64 cuts)
{
    u64 kept = 0;
    for (; cuts; cuts &= cuts - 1)
        if (!may_compose(t, p, at + lowest_bit(cuts)))
            kept |= cuts & (~cuts + 1);
    return kept;
}

ALWAYS_INLINE i64 encode_blocks(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count, int by_avx2)
{
    Block *b = s->block;
    Spans *of = &b->segments;
    const Word *front = s->front;
    const i64 first = start;
    int k = 0;
    for (i64 at = start + 1; at < stop; at += 64) {
        int is_ascii = 0;
#if HAS_AVX2
        u64 cuts = by_avx2 && t->sure.has_kinds ? section_cuts(&t->sure, p, at, first, stop, &is_ascii)
                                                : sure_cuts(&t->sure, p, at, by_avx2, &is_ascii);
#else
        u64 cuts = sure_cuts(&t->sure, p, at, by_avx2, &is_ascii);
#endif
        if (stop - at < 64)
            cuts &= ((u64)1 << (stop - at)) - 1;
        if (!is_ascii)
            cuts = cuts_that_stay(t, p, at, cuts);
        for (; cuts; cuts &= cuts - 1) {
            i64 cut = at + lowest_bit(cuts);
            set_span(front, of, k++, p, start, cut - start);
            start = cut;
        }
        if (k >= SEGMENTS) {
            of->count = k, k = 0;
            if ((count = encode_block(t, s, b, p, count, by_avx2)) < 0)
                return count;
        }
    }
    set_span(front, of, k++, p, start, stop - start);
    of->count = k;
    return encode_block(t, s, b, p, count, by_avx2);
}

#if HAS_AVX2
__attribute__((target("avx2,bmi,bmi2"))) static i64 encode_blocks_by_avx2(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop,
                                                                          i64 count)
{
    return encode_blocks(t, s, p, start, stop, count, 1);
}
#endif

static i64 encode_bytes(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count)
{
    if (!s->front && !(s->front = calloc(FRONT, sizeof(Word))))
        return NO_MEMORY;
    if (!s->block && !(s->block = malloc(sizeof(Block))))
        return NO_MEMORY;
#if HAS_AVX2
    if (t->sure.has_avx2)
        return encode_blocks_by_avx2(t, s, p, start, stop, count);
#endif
    return encode_blocks(t, s, p, start, stop, count, 0);
}
