/* A table of words: the bytes of a pre-token or segment, and its ids. Part of call.c.

   A slot has 32 bytes, two slots to a cache line:

     a                                b                                         id
     | bytes 0-7                    | bytes 8-14        | length (8)   |  up to 4 ids |   at most 15 bytes
     | hash                         | place in `keys` (7)             | 255 |  up to 4 ids |   longer
     id[0]: | count (4) | IS_ALONE | the first id (27) |     count 15: id[2] ids stand in `more`, from id[1] on
     keys:  | length (32) | bytes |

   IS_ALONE: these bytes as a segment have these ids, too. A free slot has b = 0. A word stands in one of PROBES slots in a row, so no text makes a lookup long. */
enum {
    PROBES = 32,
    LONGEST_KEPT = 1024,       /* bytes of a word that may be put into a table */
    MANY = 15,                 /* count of ids that stand in `more` */
    IS_ALONE = 1 << 27,        /* in id[0] */
    ID_BITS = (1 << 27) - 1,
    TEXT_PADDING = 96          /* bytes behind a text that may be read */
};

/* A word; one that is a segment, too. */
enum { PART, ALONE };

typedef struct { u64 a, b; u32 id[4]; } Word;

typedef struct {
    Word *slot;
    u64 mask;
    u8 *keys;
    u32 *more;
    i64 count, keys_used, keys_room, more_used, more_room;
} Words;

typedef struct { u64 a, b, hash; } Key;

static inline u64 word_at(const u8 *p)
{
    u64 word;
    memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline u64 mixed(u64 a, u64 b)
{
    a ^= 0xA0761D6478BD642Fu;
    b ^= 0xE7037ED1A0B428DBu;
    return folded_product(a, b);
}

static inline u64 first_bytes(const u8 *p, i64 n) { return word_at(p) & (((u64)1 << 8 * n) - 1); }

/* Returns the key of p[0 : n], n > 0. 16 bytes of p may be read. */
static inline Key key_of(const u8 *p, i64 n)
{
    Key key;
    if (LIKELY(n < 16)) {
        key.a = n < 8 ? first_bytes(p, n) : word_at(p);
        key.b = (n <= 8 ? 0 : first_bytes(p + 8, n - 8)) | (u64)n << 56;
        key.hash = mixed(key.a, key.b);
        return key;
    }
    u64 hash = (u64)n;
    i64 i = 0;
    for (; i + 8 <= n; i += 8)
        hash = mixed(hash, word_at(p + i));
    if (i < n)
        hash = mixed(hash, first_bytes(p + i, n - i));
    key.a = key.hash = hash;
    key.b = (u64)255 << 56;
    return key;
}

static inline u32 long_length(const Words *w, const Word *slot)
{
    u32 length;
    memcpy(&length, w->keys + (slot->b & (((u64)1 << 56) - 1)) - 4, 4);
    return length;
}

static inline int is_long_word(const Words *w, const Word *slot, const u8 *p, i64 n)
{
    const u8 *key = w->keys + (slot->b & (((u64)1 << 56) - 1));
    return slot->b >> 56 == 255 && long_length(w, slot) == n && !memcmp(key, p, (size_t)n);
}

/* Returns the slot of a word, or NULL. */
static inline const Word *find_word(const Words *w, Key key, const u8 *p, i64 n)
{
    u64 at = key.hash & w->mask;
    for (int probe = 0; probe < PROBES; probe++, at = (at + 1) & w->mask) {
        const Word *slot = w->slot + at;
        if (slot->a == key.a && (n < 16 ? slot->b == key.b : is_long_word(w, slot, p, n)))
            return slot;
        if (!slot->b)
            return NULL;
    }
    return NULL;
}

/* Copies the ids of a slot to `out`, and returns how many there are. Always writes 4 ids. */
static inline i64 copy_ids(const Words *w, const Word *slot, u32 *out)
{
    u32 head = slot->id[0];
    i64 count = head >> 28;
    if (LIKELY(count != MANY)) {
        memcpy(out, slot->id, 16);
        out[0] = head & ID_BITS;
        return count;
    }
    memcpy(out, w->more + slot->id[1], 4 * (size_t)slot->id[2]);
    return slot->id[2];
}

/* Returns the first id of a slot that has one. */
static inline u32 first_id(const Words *w, const Word *slot)
{
    return slot->id[0] >> 28 == MANY ? w->more[slot->id[1]] : slot->id[0] & ID_BITS;
}

static inline Word *free_slot(Word *slots, u64 mask, u64 hash)
{
    u64 at = hash & mask;
    for (int probe = 0; probe < PROBES; probe++, at = (at + 1) & mask)
        if (!slots[at].b)
            return slots + at;
    return NULL;
}

/* Puts a word that is not in the table into it. Returns 0 if there is no room. `kind`: PART or ALONE. */
static int put_word(Words *w, Key key, const u8 *p, i64 n, const u32 *ids, i64 count, int kind)
{
    int is_long = n >= 16, is_many = count > 4 || (count && ids[0] > ID_BITS);
    if (n > LONGEST_KEPT || count < 0)
        return 1;
    if (4 * (w->count + 1) > 3 * (i64)(w->mask + 1) ||
        (is_long && w->keys_used + n + 8 > w->keys_room) ||
        (is_many && w->more_used + count > w->more_room))
        return 0;
    Word *slot = free_slot(w->slot, w->mask, key.hash);
    if (!slot)
        return 1; /* its neighbourhood is full: the word is encoded anew each time */
    slot->a = key.a;
    slot->b = key.b;
    if (is_long) {
        u32 length = (u32)n;
        memcpy(w->keys + w->keys_used, &length, 4);
        memcpy(w->keys + w->keys_used + 4, p, (size_t)n);
        slot->b |= (u64)w->keys_used + 4;
        w->keys_used += n + 4;
    }
    if (!is_many) {
        memcpy(slot->id, ids, 4 * (size_t)count);
        slot->id[0] |= (u32)count << 28; /* slots that are free, or were emptied, are zeros */
    } else {
        memcpy(w->more + w->more_used, ids, 4 * (size_t)count);
        slot->id[0] = (u32)MANY << 28;
        slot->id[1] = (u32)w->more_used;
        slot->id[2] = (u32)count;
        w->more_used += count;
    }
    if (kind == ALONE)
        slot->id[0] |= IS_ALONE;
    w->count++;
    return 1;
}

/* ---- tables that learn: they belong to one call at a time, grow up to `most` slots, then begin anew */

static u64 slot_hash(const Word *slot)
{
    return slot->b >> 56 == 255 ? slot->a : mixed(slot->a, slot->b);
}

static void free_words(Words *w)
{
    free(w->slot);
    free(w->keys);
    free(w->more);
    memset(w, 0, sizeof *w);
}

/* Makes four times as many slots, or empties a table that has `most`. `bytes`, `ids`: room for each slot in
   `keys` and `more`. Returns 0 without memory. */
static int grow_words(Words *w, i64 most, i64 bytes, i64 ids)
{
    i64 slots = w->slot ? (i64)(w->mask + 1) : 0;
    if (slots >= most) {
        memset(w->slot, 0, sizeof(Word) * (size_t)slots);
        w->count = w->keys_used = w->more_used = 0;
        return 1;
    }
    i64 wanted = slots ? 4 * slots : 1024;
    if (wanted > most)
        wanted = most;
    Word *slot = calloc((size_t)wanted, sizeof(Word));
    u8 *keys = realloc(w->keys, (size_t)(wanted * bytes + LONGEST_KEPT + 16));
    if (keys)
        w->keys = keys, w->keys_room = wanted * bytes + LONGEST_KEPT;
    u32 *more = realloc(w->more, 4 * (size_t)(wanted * ids + LONGEST_KEPT));
    if (more)
        w->more = more, w->more_room = wanted * ids + LONGEST_KEPT;
    if (!slot || !keys || !more) {
        free(slot);
        return 0;
    }
    i64 count = 0;
    for (i64 k = 0; k < slots; k++) {
        Word *to = w->slot[k].b ? free_slot(slot, (u64)wanted - 1, slot_hash(w->slot + k)) : NULL;
        if (to)
            *to = w->slot[k], count++;
    }
    free(w->slot);
    w->slot = slot;
    w->mask = (u64)wanted - 1;
    w->count = count;
    return 1;
}
