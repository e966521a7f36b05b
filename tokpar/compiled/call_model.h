/* Reads the vocabulary and the merges of a BPE over characters from a `tokenizer.json`. Part of call.c.

   Strings are written as UTF-8, for a model with marks of spaces with " " for U+2581. Another library has read the file before, so a
   mistake in it is only reported by a number. */

enum { UNREADABLE = -1, HAS_SPACE = -2, IS_TWICE = -3, NO_TOKEN = -4 };

typedef struct {
    const u8 *text; /* JSON in UTF-8 */
    u8 *data;       /* the bytes of the tokens, and room for one merge behind them */
    i64 *ends;
    u32 *ids, *left, *right, *made; /* ids of tokens, and of the parts and results of merges */
    u64 *slot, mask;                /* of a token: its hash (32 bits), its number + 1 */
    u32 *char_ids;
    u64 *ascii_joins, *joins;
    i64 token_room, merge_room, count, used;
    int is_marked; /* " " stands for U+2581, and no token has a space */
    i64 prefix;    /* bytes that are left out of the right part of a merge in what it makes */
} Model;

static i64 after_white(const u8 *p, i64 i, i64 stop)
{
    while (i < stop && (p[i] == ' ' || p[i] - 9u < 5))
        i++;
    return i;
}

/* Returns the value of \uXXXX whose u is at i, or -1. */
static int escaped(const u8 *p, i64 i, i64 stop)
{
    int value = 0;
    if (i + 5 > stop)
        return -1;
    for (int k = 1; k <= 4; k++) {
        u8 c = p[i + k], digit = (u8)(c - '0' < 10u ? c - '0' : (c | 32) - 'a' < 6u ? (c | 32) - 'a' + 10 : 16);
        if (digit == 16)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

static i64 put_code_point(u8 *to, u32 c)
{
    if (c < 0x80)
        return to[0] = (u8)c, 1;
    if (c < 0x800)
        return to[0] = (u8)(0xC0 | c >> 6), to[1] = (u8)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return to[0] = (u8)(0xE0 | c >> 12), to[1] = (u8)(0x80 | (c >> 6 & 63)), to[2] = (u8)(0x80 | (c & 63)), 3;
    to[0] = (u8)(0xF0 | c >> 18), to[1] = (u8)(0x80 | (c >> 12 & 63));
    return to[2] = (u8)(0x80 | (c >> 6 & 63)), to[3] = (u8)(0x80 | (c & 63)), 4;
}

/* Writes the character of the escape at p[*i], '\\', to `to`. Returns its bytes, 0 for a mistake. */
static i64 read_escape(const u8 *p, i64 *i, i64 stop, u8 *to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    u8 c = p[*i + 1];
    const char *name = memchr(names, c, 8);
    if (name) {
        *i += 2;
        return to[0] = (u8)values[name - names], 1;
    }
    int one = c == 'u' ? escaped(p, *i + 1, stop) : -1;
    if (one < 0)
        return 0;
    *i += 6;
    if (one >> 11 != 0xD800 >> 11)
        return put_code_point(to, (u32)one);
    int other = one < 0xDC00 && *i + 2 < stop && p[*i] == '\\' && p[*i + 1] == 'u' ? escaped(p, *i + 1, stop) : -1;
    if (other < 0xDC00 || other > 0xDFFF)
        return 0;
    *i += 6;
    return put_code_point(to, 0x10000 + ((u32)(one - 0xD800) << 10) + (u32)(other - 0xDC00));
}

/* Reads the JSON string that begins at text[i] to `to`. Returns the place after it, or a mistake; `*n`: its bytes.
   If `split` is set, the string has two parts with a space between, which is left out; `*split` becomes its place. */
static i64 read_string(const Model *m, i64 i, i64 stop, u8 *to, i64 *n, i64 *split)
{
    const u8 *p = m->text;
    i64 count = 0;
    if (i >= stop || p[i++] != '"')
        return UNREADABLE;
    while (i < stop && p[i] != '"') {
        i64 more = 1;
        if (p[i] == '\\') {
            if ((more = read_escape(p, &i, stop, to + count)) == 0)
                return UNREADABLE;
        } else
            to[count] = p[i++];
        count += more;
        if (to[count - 1] == ' ' && (split || m->is_marked)) {
            if (!split || *split >= 0)
                return HAS_SPACE;
            *split = --count;
        } else if (m->is_marked && to[count - 1] == 0x81 && count > 2 && to[count - 2] == 0x96 && to[count - 3] == 0xE2)
            to[(count -= 2) - 1] = ' ';
    }
    *n = count;
    return i < stop && count ? i + 1 : UNREADABLE;
}

/* Returns the number of the token p[0 : n], or -1. `*at`: its slot, or a free one. */
static i64 token_number(const Model *m, const u8 *p, i64 n, u64 *at)
{
    u64 hash = key_of(p, n).hash;
    for (*at = hash & m->mask; m->slot[*at]; *at = (*at + 1) & m->mask) {
        i64 k = (i64)(m->slot[*at] & 0xFFFFFFFF) - 1, start = k ? m->ends[k - 1] : 0;
        if (m->slot[*at] >> 32 == hash >> 32 && m->ends[k] - start == n && !memcmp(m->data + start, p, (size_t)n))
            return k;
    }
    *at |= hash >> 32 << 32; /* the hash that belongs into the slot */
    return -1;
}

/* Reads the object text[i : stop] of tokens and ids. Returns 0, or a mistake. */
static i64 read_tokens(Model *m, i64 i, i64 stop)
{
    const u8 *p = m->text;
    for (i = after_white(p, i + 1, stop); i < stop && p[i] == '"'; m->count++) {
        u8 *token = m->data + m->used;
        i64 n;
        u64 at, id = 0;
        if ((i = read_string(m, i, stop, token, &n, NULL)) < 0 || m->count == m->token_room)
            return i < 0 ? i : UNREADABLE;
        i = after_white(p, after_white(p, i, stop) + 1, stop);
        i64 digits = i;
        while (i < stop && p[i] - '0' < 10u && i - digits < 10)
            id = 10 * id + p[i++] - '0';
        if (i == digits || id >= NONE)
            return UNREADABLE;
        if (token_number(m, token, n, &at) >= 0)
            return IS_TWICE;
        m->slot[at & m->mask] = at >> 32 << 32 | (u64)(m->count + 1);
        m->ids[m->count] = (u32)id;
        m->ends[m->count] = m->used += n;
        int size;
        u32 c = code_point(token, &size);
        if (size == n && c < 0x110000)
            m->char_ids[c] = (u32)id;
        i = after_white(p, i, stop);
        i = i < stop && p[i] == ',' ? after_white(p, i + 1, stop) : i;
    }
    return i < stop && p[i] == '}' ? 0 : UNREADABLE;
}

/* Reads one merge, "a b" or ["a", "b"], behind the tokens. Returns the place after it, or a mistake. */
static i64 read_merge(Model *m, i64 i, i64 stop, i64 *split, i64 *n)
{
    const u8 *p = m->text;
    u8 *both = m->data + m->used;
    *split = -1;
    if (p[i] == '"') {
        i = read_string(m, i, stop, both, n, split);
        /* the engine passes over a line that begins so */
        return i > 0 && (*split < 0 || (*n >= 8 && !memcmp(both, "#version", 8))) ? UNREADABLE : i;
    }
    i64 more;
    if ((i = read_string(m, after_white(p, i + 1, stop), stop, both, split, NULL)) < 0)
        return i;
    i = after_white(p, after_white(p, i, stop) + 1, stop);
    if ((i = read_string(m, i, stop, both + *split, &more, NULL)) < 0)
        return i;
    *n = *split + more;
    i = after_white(p, i, stop);
    return i < stop && p[i] == ']' ? i + 1 : UNREADABLE;
}

static void mark_join(Model *m, u32 left, u32 right)
{
    if ((left | right) < 128)
        m->ascii_joins[(left << 7 | right) >> 6] |= (u64)1 << (right & 63);
    u64 bit = join_bit(left, right);
    m->joins[bit >> 6] |= (u64)1 << (bit & 63);
}

/* Reads the array text[i : stop] of merges. Returns how many there are, or a mistake. */
static i64 read_merges(Model *m, i64 i, i64 stop)
{
    const u8 *p = m->text;
    u8 *both = m->data + m->used;
    i64 count = 0, split, n;
    for (i = after_white(p, i + 1, stop); i < stop && (p[i] == '"' || p[i] == '['); count++) {
        if ((i = read_merge(m, i, stop, &split, &n)) < 0)
            return i;
        if (split == 0 || split == n || count == m->merge_room)
            return UNREADABLE;
        u64 at;
        i64 left = token_number(m, both, split, &at), right = token_number(m, both + split, n - split, &at);
        if (m->prefix > n - split)
            return UNREADABLE;
        memmove(both + split, both + split + m->prefix, (size_t)(n - split - m->prefix));
        i64 made = token_number(m, both, n - m->prefix, &at);
        if (left < 0 || right < 0 || made < 0)
            return NO_TOKEN;
        m->left[count] = m->ids[left], m->right[count] = m->ids[right], m->made[count] = m->ids[made];
        int size;
        if (!m->prefix)
            mark_join(m, code_point_before(both, split, &size), code_point(both + split, &size));
        i = after_white(p, i, stop);
        i = i < stop && p[i] == ',' ? after_white(p, i + 1, stop) : i;
    }
    return i < stop && p[i] == ']' ? count : UNREADABLE;
}
