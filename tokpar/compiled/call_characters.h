/* Segments of a BPE over characters: they end wherever no merge joins two characters (lemmas 55 to 59).
   Part of call.c.

   char_ids    the id of each code point, or NONE
   byte_ids    the ids of <0x00> to <0xFF>; used if `falls_back`
   ascii_joins bit: some merge joins two ASCII characters; 128 * 128 bits
   joins       2^23 bits: a bit for the hash of each pair of characters that a merge joins
   A text has " " where the engine has U+2581; the tables have the space for both. */

/* When a space is put before a section: UNLESS_SPACE begins it; FIRST: so, and only where the text begins. */
enum { NEVER, ALWAYS, UNLESS_SPACE, FIRST };

typedef struct {
    const u32 *char_ids;
    const u64 *ascii_joins, *joins;
    u32 unknown; /* id of an unknown character, or NONE */
    int falls_back, fuses, is_normalizer, prepends, splits; /* is_normalizer: marks come from it */
    int has_marks; /* else spaces and U+2581 are in the tables as they are in texts */
} Characters;

/* Returns the place in `joins` of a pair of characters. */
static inline u64 join_bit(u32 left, u32 right) { return (((u64)left << 21 | right) * 0x9E3779B97F4A7C15u) >> 41; }

static inline int joins_pair(const Characters *c, u32 left, u32 right)
{
    if ((left | right) < 128) {
        u32 bit = left << 7 | right;
        return c->ascii_joins[bit >> 6] >> (bit & 63) & 1;
    }
    u64 bit = join_bit(left, right);
    return c->joins[bit >> 6] >> (bit & 63) & 1;
}

/* True if a segment may end between two characters. */
static inline int is_cut(const Characters *c, u32 left, u32 right)
{
    if (c->splits && right == ' ')
        return 1;
    if (c->fuses && c->char_ids[left] == NONE && c->char_ids[right] == NONE)
        return 0;
    return !joins_pair(c, left, right);
}

/* Writes the atoms of a segment to `id` (lemma 55), and returns how many there are. */
static i64 atoms_of(const Characters *c, const u32 *byte_ids, const u8 *p, i64 n, u32 *id)
{
    i64 count = 0;
    int size, was_unknown = 0;
    for (i64 i = 0; i < n; i += size) {
        u32 known = c->char_ids[code_point(p + i, &size)];
        int is_unknown = known == NONE && !c->falls_back;
        if (known != NONE)
            id[count++] = known;
        else if (c->falls_back)
            for (int k = 0; k < size; k++)
                id[count++] = byte_ids[p[i + k]];
        else if (!(c->fuses && was_unknown))
            id[count++] = c->unknown;
        was_unknown = is_unknown;
    }
    return count;
}
