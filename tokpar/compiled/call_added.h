/* Added tokens in a text: leftmost, longest, with the flags of the engine. Part of call.c.

   A tree of bytes; an edge is a slot (node << 8 | byte) + 1 << 32 | next node, with less than 2^24 nodes. Most places of a text
   are passed by one look at two bytes, or at a hash of four. */

/* IS_FORBIDDEN: the engine's own call raises an error. */
enum { SINGLE_WORD = 1, LSTRIP = 2, RSTRIP = 4, IS_FORBIDDEN = 8 };

typedef struct {
    u64 *edges, mask;
    u32 *token; /* of each node: the index of the token that ends there, or NONE */
    u32 nodes;
    u64 *begins2, *few2, *begins4; /* bits: two bytes that begin a token; a token of < 4 bytes; four */
    i64 count;
    int first; /* the byte that all tokens begin with, or -1 */
    u8 is_first[256];
} Tree;

typedef struct { i64 start, stop; u32 token; } Match;

static inline u32 hash_of_four(const u8 *p) { return (u32)word_at(p) * 0x9E3779B1u >> 12; }

static inline u64 edge_slot(const Tree *t, u32 node, u8 byte)
{
    u64 key = ((u64)node << 8 | byte) + 1, at = (key * 0x9E3779B97F4A7C15u) >> 20;
    for (;; at++) {
        u64 slot = t->edges[at & t->mask];
        if (!slot || slot >> 32 == (key & 0xFFFFFFFF))
            return at & t->mask;
    }
}

static void free_tree(Tree *t)
{
    free(t->edges);
    free(t->token);
    free(t->begins2);
    memset(t, 0, sizeof *t);
}

/* Makes an empty tree with room for tokens of `bytes` bytes. Returns 0 without memory. */
static int make_tree(Tree *t, i64 bytes)
{
    u64 slots = 64;
    while ((i64)slots < 2 * bytes + 2)
        slots *= 2;
    t->edges = calloc((size_t)slots, 8);
    t->token = malloc(4 * ((size_t)bytes + 1));
    t->begins2 = calloc(1024 + 1024 + (1 << 14), 8);
    if (!t->edges || !t->token || !t->begins2)
        return 0;
    t->few2 = t->begins2 + 1024;
    t->begins4 = t->few2 + 1024;
    t->mask = slots - 1;
    t->token[0] = NONE;
    return 1;
}

/* Adds p[0 : n], n > 0, 4 bytes of which may be read. */
static void add_token(Tree *t, const u8 *p, i64 n, u32 token)
{
    u32 node = 0;
    for (i64 i = 0; i < n; i++) {
        u64 at = edge_slot(t, node, p[i]);
        if (!t->edges[at]) {
            t->token[++t->nodes] = NONE;
            t->edges[at] = (((u64)node << 8 | p[i]) + 1) << 32 | t->nodes;
        }
        node = (u32)t->edges[at];
    }
    t->token[node] = token;
    t->is_first[p[0]] = 1;
    t->first = t->count && t->first != p[0] ? -1 : p[0];
    t->count++;
    u32 two = n > 1 ? p[0] | (u32)p[1] << 8 : p[0];
    for (; two < 65536; two += n > 1 ? 65536 : 256) {
        t->begins2[two >> 6] |= (u64)1 << (two & 63);
        if (n < 4)
            t->few2[two >> 6] |= (u64)1 << (two & 63);
    }
    if (n >= 4) {
        u32 four = hash_of_four(p);
        t->begins4[four >> 6] |= (u64)1 << (four & 63);
    }
}

/* Finds the leftmost longest token in p[i : stop]. Returns 0 if there is none, -1 if `steps` runs
   out: then the text is one in which looking from each place is quadratic. */
static inline int find_token(const Tree *t, const u8 *p, i64 i, i64 stop, i64 *steps, Match *found)
{
    for (; i < stop; i++) {
        if (t->first >= 0) {
            const u8 *next = memchr(p + i, t->first, (size_t)(stop - i));
            if (!next)
                return 0;
            i = next - p;
        } else {
            const u8 *f = t->is_first, *q = p + i;
            for (; q < p + stop && !(f[q[0]] | f[q[1]] | f[q[2]] | f[q[3]] | f[q[4]] | f[q[5]] | f[q[6]] | f[q[7]]); q += 8)
                ;
            if ((i = q - p) >= stop)
                return 0;
        }
        u32 two = p[i] | (u32)p[i + 1] << 8;
        if (LIKELY(!(t->begins2[two >> 6] >> (two & 63) & 1)))
            continue;
        u32 four = hash_of_four(p + i);
        if (!((t->few2[two >> 6] >> (two & 63) | t->begins4[four >> 6] >> (four & 63)) & 1))
            continue;
        u32 node = 0;
        found->stop = 0;
        for (i64 k = i; k < stop; k++) {
            u64 edge = t->edges[edge_slot(t, node, p[k])];
            if (!edge)
                break;
            node = (u32)edge;
            if (t->token[node] != NONE)
                found->stop = k + 1, found->token = t->token[node];
            if (--*steps < 0)
                return -1;
        }
        if (found->stop) {
            found->start = i;
            return 1;
        }
    }
    return 0;
}

/* ---- what stands beside a token */

/* Returns the code point that begins at p[0], and its number of bytes. */
static inline u32 code_point(const u8 *p, int *size)
{
    u32 c = p[0];
    if (c < 0x80)
        return *size = 1, c;
    if (c < 0xE0)
        return *size = 2, (c & 31) << 6 | (p[1] & 63);
    if (c < 0xF0)
        return *size = 3, (c & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63);
    return *size = 4, (c & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63);
}

static inline u32 code_point_before(const u8 *p, i64 i, int *size)
{
    i64 at = i - 1;
    while ((p[at] & 0xC0) == 0x80)
        at--;
    return code_point(p + at, size);
}

/* White_Space of Unicode, by which the engine strips. */
static int is_white(u32 c)
{
    return c == ' ' || c - 9 < 5 || c == 0x85 || c == 0xA0 || c == 0x1680 || c - 0x2000 < 11 ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* 1 or 0 if an ASCII character is one of a word; -1 for others, which only the engine knows. */
static int is_word(u32 c)
{
    if (c >= 128)
        return -1;
    return (c | 32) - 'a' < 26 || c - '0' < 10 || c == '_';
}

/* Applies the flags of a token to its match in the sentence p[lo : hi], of which all before `taken` is
   done. Returns 1; 0 if the engine leaves the token out; -1 if only the engine knows. */
static int apply_flags(u8 flags, const u8 *p, i64 lo, i64 hi, i64 taken, Match *m)
{
    int size;
    if (flags & SINGLE_WORD) {
        int left = m->start > lo ? is_word(code_point_before(p, m->start, &size)) : 0;
        int right = m->stop < hi ? is_word(code_point(p + m->stop, &size)) : 0;
        if (left < 0 || right < 0)
            return -1;
        if (left || right)
            return 0;
    }
    if (m->start < taken || flags & IS_FORBIDDEN)
        return -1; /* it begins in white space that the last token stripped */
    if (flags & LSTRIP)
        while (m->start > taken && is_white(code_point_before(p, m->start, &size)))
            m->start -= size;
    if (flags & RSTRIP)
        while (m->stop < hi && is_white(code_point(p + m->stop, &size)))
            m->stop += size;
    return 1;
}
