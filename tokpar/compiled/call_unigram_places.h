/* Where the ids of a section of a Unigram are, if its normalizers leave each character as it is, or make a space of it. Part of call_section.h.

   The section goes through call_unigram_text.h. What is written must be the section again, with a mark that is put before the
   section, or behind WhitespaceSplit before each piece. One Unit is noted for each piece of the path; see call_places.h. */

/* Notes where the pieces of the pre-token p[0 : n] are, whose path is in s->work, and whose ids are behind `first`. The byte
   p[prefix] is text[0]. Returns the number of ids, `stop`, or a reason. */
static i64 place_pieces_of_path(const Tables *t, Scratch *s, const u8 *p, i64 n, const u8 *text, int prefix, i64 first, i64 stop)
{
    const Unigram *u = &t->unigram;
    const Best *best = s->work;
    int size;
    if (!has_room((void **)&s->ends, &s->ends_room, n + 1, 4) || !has_pretoken_room(s, n, stop))
        return NO_MEMORY;
    for (u32 end = (u32)n, start; end; end = start) {
        start = best[end].start;
        while (best[end].id == u->unknown && start && best[start].id == u->unknown)
            start = best[start].start;
        s->ends[start] = end;
    }
    code_point(text, &size);
    for (i64 start = 0, end; start < n && first >= 0; start = end) {
        end = s->ends[start];
        i64 from = start > prefix ? start - prefix : 0, to = end > prefix ? end - prefix : size;
        first += best[end].id == u->unknown ? unknown_ids(u, p + start, end - start, s->out + stop) : 1;
        first = add_unit(s, text + from, to - from, first, start ? CONTINUES_WORD : BEGINS_WORD);
    }
    return first < 0 || first == stop ? first : OUTSIDE;
}

/* True if the normalizers before Metaspace change no character of the section p[0 : n]. */
static int is_left_alone(const Unigram *u, const u8 *p, i64 n)
{
    int size;
    if (n && (u->strips | u->strips_first) & STRIPS_LEFT && is_white(code_point(p, &size)))
        return 0;
    for (i64 i = 0; u->charsmap.forms && i < n; i += size)
        if (u->charsmap.forms[code_point(p + i, &size)])
            return 0;
    return 1;
}

/* Writes a space for each control character of ASCII that the normalizers make one, as most tables do with a line end: a byte for
   a byte moves no place. CR LF stays, which is one cluster. */
static void put_spaces(const Charsmap *map, u8 *p, i64 n)
{
    for (i64 i = 0; map->forms && i < n; i++) {
        u32 form = p[i] < ' ' ? map->forms[p[i]] : 0;
        int is_changed = form & IS_CHANGED && (form & IS_CONTEXT) != IS_CONTEXT && !(p[i] == '\r' && p[i + 1] == '\n');
        if (is_changed && !strcmp((const char *)map->texts + (form >> FORM_BITS), " "))
            p[i] = ' ';
    }
}

/* Encodes the section p[0 : n], and notes where its ids are. Returns the new count, OUTSIDE where only the engine knows, or
   NO_MEMORY. */
static i64 place_section(const Tables *t, Scratch *s, u8 *p, i64 n, int is_first, i64 count)
{
    const Unigram *u = &t->unigram;
    put_spaces(&u->charsmap, p, n);
    i64 size = is_left_alone(u, p, n) ? write_pretokens(u, s, p, n, is_first) : OUTSIDE, at = 0, from = 0;
    while (at < size && count >= 0) {
        const u8 *word = s->copy + at;
        i64 stop = pretoken_end(u, s->copy, at, size);
        while (u->splits_white && from < n && p[from] == ' ')
            from++;
        int prefix = *word == MARK_BYTE && from < n && p[from] != ' ' && (!at || u->splits_white);
        i64 own = stop - at - prefix;
        if (own < 1 || from + own > n || memcmp(word + prefix, p + from, (size_t)own))
            return OUTSIDE;
        i64 next = encode_path(t, s, word, stop - at, count);
        count = next < 0 ? next : place_pieces_of_path(t, s, word, stop - at, p + from, prefix, count, next);
        from += own, at = stop;
    }
    while (u->splits_white && from < n && p[from] == ' ')
        from++;
    return size < 0 ? size : from == n || count < 0 ? count : OUTSIDE;
}
