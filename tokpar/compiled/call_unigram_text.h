/* A segment of a text for a Unigram behind Metaspace: its pre-tokens, and their ids. Part of call_section.h.

   What the normalizers make of a segment (call_charsmap.h) goes through Metaspace, one character at a time. The pre-tokens are
   written to s->copy, one after the other. A mark begins one if the pre-tokenizer splits, and
   CUT_BYTE stands before one that WhitespaceSplit made. */

enum { CUT_BYTE = 0xFF, LONGEST_LEARNED = 64, /* bytes of segments of several pre-tokens that are learned */
       BEGINS_TEXT = 1, BEHIND_WHITE = 2 };

typedef struct {
    const Unigram *u;
    Scratch *s;
    u8 *to, *solid; /* solid: behind the last character that is not white space */
    int is_first, pending, was_space; /* pending: what stands before the next character, 0: another character */
} Marked;

/* Begins a piece of WhitespaceSplit, or the section, before the character c. */
static inline void begin_piece(Marked *m, u32 c)
{
    const Unigram *u = m->u;
    int is_prefixed = c != ' ' && c != 0x2581 && (u->prepends == UNLESS_SPACE || (u->prepends == FIRST && m->is_first));
    if (m->pending == BEHIND_WHITE && !(u->splits && (is_prefixed || c == ' ' || c == 0x2581)))
        *m->to++ = CUT_BYTE;
    if (is_prefixed)
        *m->to++ = MARK_BYTE;
    m->pending = 0;
}

/* Writes the character c, p[0 : size], behind the normalizers before Strip. */
static inline void put_marked(Marked *m, u32 c, const u8 *p, int size)
{
    const Unigram *u = m->u;
    int is_space = c == ' ', was_space = m->was_space, white = (u->splits_white || u->strips) && is_white(c);
    m->was_space = is_space;
    if ((white && m->pending == BEGINS_TEXT && u->strips & STRIPS_LEFT) || (is_space && was_space && u->joins_spaces))
        return;
    if (white && u->splits_white) {
        m->pending = m->pending == BEGINS_TEXT ? BEGINS_TEXT : BEHIND_WHITE;
        return;
    }
    if (m->pending)
        begin_piece(m, c);
    if (is_space || c == 0x2581)
        *m->to++ = MARK_BYTE;
    else
        for (int k = 0; k < size; k++)
            *m->to++ = p[k];
    m->solid = white ? m->solid : m->to;
}

/* Writes a form, before `left` bytes of the segment. Returns 0 without memory. */
static int put_form(Marked *m, const u8 *form, i64 left)
{
    int size;
    i64 used = m->to - m->s->copy, solid = m->solid - m->s->copy, n = (i64)strlen((const char *)form);
    if (!grow_room((void **)&m->s->copy, &m->s->copy_room, used + 2 * (n + left) + 2 + TEXT_PADDING, 1))
        return 0;
    m->to = m->s->copy + used, m->solid = m->s->copy + solid;
    for (i64 i = 0; i < n; i += size) {
        u32 c = code_point(form + i, &size);
        put_marked(m, c, form + i, size);
    }
    return 1;
}

/* Writes the characters p[start : stop] of a cluster one by one. Returns 1, OUTSIDE or NO_MEMORY. */
static i64 put_characters(Marked *m, const u8 *p, i64 start, i64 stop, i64 n)
{
    const Charsmap *map = &m->u->charsmap;
    int size;
    for (; start < stop; start += size) {
        u32 c = code_point(p + start, &size), form = map->forms[c];
        if ((form & IS_CONTEXT) == IS_CONTEXT)
            return OUTSIDE;
        if (!(form & IS_CHANGED))
            put_marked(m, c, p + start, size);
        else if (!put_form(m, map->texts + (form >> FORM_BITS), n - start))
            return NO_MEMORY;
    }
    return 1;
}

/* Writes the cluster p[start : stop] of several characters. Returns 1, OUTSIDE or NO_MEMORY. */
static i64 put_cluster(Marked *m, const u8 *p, i64 start, i64 stop, i64 n)
{
    const u8 *whole = stop - start < LEAST_LONG ? replacement_of(&m->u->charsmap, p + start, stop - start) : NULL;
    if (whole)
        return put_form(m, whole, n - start) ? 1 : NO_MEMORY;
    return put_characters(m, p, start, stop, n);
}

/* Writes what the normalizers make of p[0 : n]. Returns 1, OUTSIDE or NO_MEMORY. */
static i64 put_normalized(Marked *m, const u8 *p, i64 n)
{
    const Charsmap *map = &m->u->charsmap;
    int size, next_size;
    u32 c = code_point(p, &size), form = map->forms[c], next, next_form;
    i64 done = has_pattern(map, p, n) ? OUTSIDE : 1;
    for (i64 i = 0, stop; i < n && done > 0; i = stop, c = next, size = next_size, form = next_form) {
        stop = i + size;
        next = code_point(p + stop, &next_size), next_form = map->forms[next];
        if (stop < n && (next_form & JOINS_LEFT || (c == '\r' && next == '\n'))) {
            /* a line end that a stage before Precompiled changes is IS_CONTEXT, and in no cluster */
            stop = next != '\n' ? cluster_end(map, p, i, stop, n, form) : (form | next_form) & JOINS_LEFT ? -1 : stop + 1;
            if (stop < 0)
                return OUTSIDE;
            done = put_cluster(m, p, i, stop, n);
            next = code_point(p + stop, &next_size), next_form = map->forms[next];
        } else if (form)
            done = put_characters(m, p, i, stop, n);
        else if (c > 0x3000 && !m->pending)
            memcpy(m->to, p + i, 4), m->to += size, m->solid = m->to, m->was_space = 0;
        else if (c > ' ' && c < 0x80 && !m->pending)
            *m->to++ = (u8)c, m->solid = m->to, m->was_space = 0;
        else
            put_marked(m, c, p + i, size);
    }
    return done;
}

/* Writes p[0 : n] as it is, behind no normalizer or behind Strip and Replace. */
static void put_plain(Marked *m, const u8 *p, i64 n)
{
    int size;
    for (i64 i = 0; i < n; i += size) {
        u32 c = code_point(p + i, &size);
        if (c > ' ' && c < 0x80 && !m->pending)
            *m->to++ = (u8)c, m->solid = m->to, m->was_space = 0;
        else
            put_marked(m, c, p + i, size);
    }
}

/* Writes the pre-tokens of the segment p[0 : n] to s->copy. Returns their bytes, OUTSIDE or NO_MEMORY. */
static i64 write_pretokens(const Unigram *u, Scratch *s, const u8 *p, i64 n, int is_first)
{
    int size;
    i64 done = 1;
    while (u->strips_first & STRIPS_LEFT && n && is_white(code_point(p, &size)))
        p += size, n -= size;
    while (u->strips_first & STRIPS_RIGHT && n && is_white(code_point_before(p, n, &size)))
        n -= size;
    /* white space before a character may become two bytes: a cut and a mark */
    if (!has_room((void **)&s->copy, &s->copy_room, 2 * n + 2 + TEXT_PADDING, 1))
        return NO_MEMORY;
    Marked m = {u, s, s->copy, s->copy, is_first, BEGINS_TEXT, 0};
    if (u->charsmap.forms)
        done = put_normalized(&m, p, n);
    else
        put_plain(&m, p, n);
    if (done < 0)
        return done;
    m.to = u->strips & STRIPS_RIGHT ? m.solid : m.to;
    memset(m.to, 0, TEXT_PADDING);
    return m.to - s->copy;
}

/* Returns where the pre-token ends that begins at p[start]. */
static inline i64 pretoken_end(const Unigram *u, const u8 *p, i64 start, i64 n)
{
    u8 mark = u->splits ? MARK_BYTE : CUT_BYTE;
    for (start++; start < n && p[start] != mark && p[start] != CUT_BYTE; start++)
        ;
    return start;
}

/* The key of a pre-token, which no segment with the same bytes has: these are before the normalizer. */
static inline Key pretoken_key(const u8 *p, i64 n)
{
    Key key = key_of(p, n);
    if (n < 16) {
        key.b |= (u64)1 << 61;
        key.hash = mixed(key.a, key.b);
    } else
        key.a = key.hash = key.hash ^ 0x9E3779B97F4A7C15u;
    return key;
}

/* Makes room for the ids of a pre-token of n bytes, at most three for each, and for the ids of the rest of the text. Returns
   0 without memory. */
static inline int has_pretoken_room(Scratch *s, i64 n, i64 count)
{
    i64 wanted = count + 3 * n + 2 * s->text_bytes + OTHER_IDS;
    return wanted <= s->out_room || grow_room((void **)&s->out, &s->out_room, wanted, 4);
}

/* Writes the ids of the pre-token p[0 : n] from `count` on, by the best path. */
static i64 encode_path(const Tables *t, Scratch *s, const u8 *p, i64 n, i64 count)
{
    if (n >= (i64)NO_PIECE)
        return OUTSIDE;
    if (!has_pretoken_room(s, n, count) || !has_room(&s->work, &s->work_room, n + 1, sizeof(Best)))
        return NO_MEMORY;
    i64 found = unigram_ids(&t->unigram, p, n, s->work, s->out + count);
    return found < 0 ? OUTSIDE : count + found;
}

/* The same for one of several pre-tokens of a segment, which are looked up and learned. */
static i64 encode_pretoken(const Tables *t, Scratch *s, const u8 *p, i64 n, i64 count)
{
    if (n > LONGEST_KEPT)
        return encode_path(t, s, p, n, count);
    Key key = pretoken_key(p, n);
    const Word *known = s->learned.slot ? find_word(&s->learned, key, p, n) : NULL;
    if (known)
        return has_pretoken_room(s, n, count) ? count + copy_ids(&s->learned, known, s->out + count) : NO_MEMORY;
    i64 stop = encode_path(t, s, p, n, count);
    if (stop > count)
        learn(t, s, key, p, n, s->out + count, stop - count, PART);
    return stop;
}

/* Encodes the segment p[0 : n], which is a text of its own. Returns the new count, OUTSIDE if only the engine knows the ids, or
   NO_MEMORY. */
static i64 encode_natively(const Tables *t, Scratch *s, const u8 *p, i64 n, int is_first, i64 count)
{
    const Unigram *u = &t->unigram;
    i64 size = write_pretokens(u, s, p, n, is_first), at = 0;
    while (at < size && count >= 0) {
        at += s->copy[at] == CUT_BYTE;
        i64 stop = pretoken_end(u, s->copy, at, size);
        if (at == 0 && stop == size && n <= LONGEST_LEARNED)
            return encode_path(t, s, s->copy, size, count);
        count = encode_pretoken(t, s, s->copy + at, stop - at, count);
        at = stop;
    }
    return size < 0 ? size : count;
}

/* The same for a segment that was looked up: it is learned, and perhaps compared with the engine. */
static i64 encode_new_segment(const Tables *t, Scratch *s, Key key, const u8 *p, i64 n, i64 count)
{
    i64 stop = encode_natively(t, s, p, n, 1, count);
    if (stop < 0)
        return stop;
    if (!(mixed(key.hash, t->secret) & t->sample_mask))
        add_sample(s, p, n, count, stop - count);
    if (n <= LONGEST_LEARNED)
        learn(t, s, key, p, n, s->out + count, stop - count, PART);
    return stop;
}
