/* Normalizes a text as SentencePiece does (call_path.h). Part of call.c. */

/* The normalized text while it is written. */
typedef struct { u8 *at; int after_space; } Normalized;

/* ---- the normalizer */

/* Writes to *from the replacement of the longest key that p[0 : n] begins with, and its bytes to *size. Returns the bytes of
   the key, 0 if there is none, or OUTSIDE: the library looks at so many keys only, or the key ends inside a character. */
static i64 longest_key(const PathModel *m, const u8 *p, i64 n, const u8 **from, i64 *size)
{
    i64 at = m->key_count ? key_offset(m->keys[0]) : 0, used = 0, place = 0;
    int matches = 0;
    for (i64 k = 0; k < n && m->key_count; k++) {
        at ^= p[k];
        u32 unit = at < m->key_count ? m->keys[at] : 0;
        if ((unit & 0x800000FFu) != p[k])
            break;
        at ^= key_offset(unit);
        if (unit >> 8 & 1) {
            if (at >= m->key_count || ++matches > MOST_MATCHES)
                return OUTSIDE;
            used = k + 1, place = (i64)(m->keys[at] & 0x7FFFFFFF);
        }
    }
    if (!used)
        return 0;
    if (place >= m->key_text_bytes || (used < n && (p[used] & 0xC0) == 0x80))
        return OUTSIDE;
    *from = m->key_texts + place, *size = (i64)strlen((const char *)*from);
    return *size > LONGEST_REPLACEMENT ? OUTSIDE : used;
}

/* Returns the bytes of the longest user-defined piece that p[0 : n] begins with, 0 if there is none, or OUTSIDE. */
static i64 longest_symbol(const PathModel *m, const u8 *p, i64 n)
{
    i64 used = 0;
    u32 cell = 0;
    int matches = 0;
    for (i64 k = 0; k < n && m->symbol_cells; k++) {
        u32 next = m->symbols[cell].base ^ p[k];
        if (label_of(m->symbols[next]) != p[k])
            break;
        cell = next;
        if (piece_of(m->symbols[cell]) != NO_PIECE)
            used = k + 1, matches++;
    }
    return matches > MOST_MATCHES ? OUTSIDE : used;
}

/* Finds what the normalizer makes of the beginning of p[0 : n]. Returns how many bytes it is made of, or OUTSIDE. */
static i64 next_form(const PathModel *m, const u8 *p, i64 n, const u8 **from, i64 *size)
{
    u32 pair = (u32)p[0] << 8 | (n > 1 ? p[1] : 0u);
    int length = 1;
    if (m->begins[pair >> 3] >> (pair & 7) & 1) {
        i64 used = longest_symbol(m, p, n);
        if (used) {
            *from = p, *size = used;
            return used;
        }
        if ((used = longest_key(m, p, n, from, size)))
            return used;
    }
    code_point(p, &length);
    *from = p, *size = length;
    return length;
}

/* Writes p[0 : n], of which a space is one mark where spaces are escaped, as U+2581 is. */
static void put_escaped(const PathModel *m, Normalized *o, const u8 *p, i64 n)
{
    while (o->after_space && n && *p == ' ')
        p++, n--;
    if (!n)
        return;
    o->after_space = m->removes_spaces && p[n - 1] == ' ';
    for (i64 k = 0; k < n; k++) {
        int is_mark = m->escapes && k + 2 < n && p[k] == 0xE2 && p[k + 1] == 0x96 && p[k + 2] == 0x81;
        *o->at++ = is_mark ? MARK_BYTE : p[k];
        k += 2 * is_mark;
    }
}

/* Makes room for n more bytes of the normalized text. Returns 0 without memory. */
static int grow_copy(Scratch *s, Normalized *o, i64 n)
{
    i64 used = o->at - s->copy;
    if (!grow_room((void **)&s->copy, &s->copy_room, used + n, 1))
        return 0;
    o->at = s->copy + used;
    return 1;
}

/* Writes to s->copy what the normalizer makes of p[0 : n]. Returns its bytes, OUTSIDE or NO_MEMORY. */
static i64 normalize_text(const PathModel *m, Scratch *s, const u8 *p, i64 n)
{
    const u8 *from;
    i64 size, used, i = 0, left = 0;
    Normalized o = {s->copy, m->removes_spaces};
    for (; m->removes_spaces && i < n; i += used)
        if ((used = next_form(m, p + i, n - i, &from, &size)) < 0 || size != 1 || *from != ' ') {
            if (used < 0)
                return used;
            break;
        }
    if (i == n)
        return 0;
    if (!grow_copy(s, &o, n + TEXT_PADDING))
        return NO_MEMORY;
    if (m->adds_prefix)
        *o.at++ = ' ';
    while (i < n) {
        u32 pair = (u32)p[i] << 8 | p[i + 1]; /* there are zeros behind the text */
        if (p[i] > ' ' && p[i] < 0x80 && !(m->begins[pair >> 3] >> (pair & 7) & 1)) {
            *o.at++ = p[i++], o.after_space = 0;
            continue;
        }
        if ((used = next_form(m, p + i, n - i, &from, &size)) < 0)
            return used;
        left = size + (n - i) + TEXT_PADDING;
        if (s->copy + s->copy_room - o.at < left && !grow_copy(s, &o, left))
            return NO_MEMORY;
        put_escaped(m, &o, from, size);
        i += used;
    }
    while (m->removes_spaces && o.at > s->copy && o.at[-1] == ' ')
        o.at--;
    if (m->adds_suffix)
        *o.at++ = ' ';
    memset(o.at, 0, 8);
    return o.at - s->copy;
}
