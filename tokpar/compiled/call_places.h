/* Where the tokens of a text are, and of which pre-token each is a part (proofs/compiled-call.md). Part of call.c.

   A call that looks for places notes a Unit for each word, segment or added token that it encodes. A unit that
   begins before the last one stops has the space that is put before a section. */

typedef struct { const u8 *p; i64 at, count; } Cursor; /* `count` code points before p[at] */

static i64 points_before(Cursor *c, i64 at)
{
    for (; c->at < at; c->at++)
        c->count += (c->p[c->at] & 0xC0) != 0x80;
    for (; c->at > at; c->at--)
        c->count -= (c->p[c->at - 1] & 0xC0) != 0x80;
    return c->count;
}

/* Writes the code points that p[start : stop] touches. */
static void write_span(Cursor *c, i64 start, i64 stop, i64 *span)
{
    while (start && (c->p[start] & 0xC0) == 0x80)
        start--;
    while ((c->p[stop] & 0xC0) == 0x80)
        stop++;
    span[0] = points_before(c, start);
    span[1] = points_before(c, stop);
}

static i64 known_length(const Tables *t, u32 id)
{
    i64 low = 0, high = t->length_ids_count, middle;
    if (!high)
        return id < t->lengths_count ? t->lengths[id] : 0;
    while (low + 1 < high) {
        middle = (low + high) / 2;
        if (t->length_ids[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    return t->length_ids[low] == id ? t->lengths[low] : 0;
}

/* Returns the bytes of a token of a BPE that begins at p[at]; 0 if they are not known. */
static i64 token_length(const Tables *t, const u8 *p, i64 at, i64 stop, u32 id, int is_prefix)
{
    const Characters *c = &t->characters;
    int size;
    if (!t->is_characters || is_prefix)
        return known_length(t, id);
    if (c->falls_back)
        return (p[at] & 0xC0) == 0x80 || c->char_ids[code_point(p + at, &size)] == NONE ? 1 : known_length(t, id);
    if (c->char_ids[code_point(p + at, &size)] != NONE)
        return known_length(t, id);
    i64 end = at + size;
    while (c->fuses && end < stop && c->char_ids[code_point(p + end, &size)] == NONE)
        end += size;
    return end - at;
}

/* Writes the places of the ids of a unit of a BPE. Returns 0 if the lengths of tokens do not fill it. */
static int place_tokens(const Tables *t, Cursor *c, const Unit *u, const u32 *ids, i64 n, int is_prefixed, i64 *spans)
{
    i64 at = u->start, first = u->start + is_prefixed;
    int size;
    for (i64 k = 0; k < n; k++) {
        i64 length = token_length(t, c->p, at, u->stop, ids[k], at < first), stop = at + length;
        if (length < 1 || stop > u->stop)
            return 0;
        if (stop > first)
            write_span(c, at < first ? first : at, stop, spans + 2 * k);
        else { /* the space alone is where the first character is */
            code_point(c->p + first, &size);
            write_span(c, first, first + size, spans + 2 * k);
        }
        at = stop;
    }
    return at == u->stop;
}

/* The same for a word of WordPiece: a token is where the characters are whose forms it shares bytes with. */
static int place_pieces(const Tables *t, Cursor *c, const Unit *u, const u32 *ids, i64 n, i64 *spans)
{
    const WordPiece *w = &t->wordpiece;
    int size = 0, is_unknown = n == 1 && ids[0] == w->unknown;
    i64 at = u->start, end = 0, wanted = 0; /* the form of the character at `at` ends at `end` */
    for (i64 k = 0; k < n; k++) {
        i64 length = is_unknown ? 1 : known_length(t, ids[k]) - (k ? w->prefix : 0), start = -1, stop = 0;
        wanted += length;
        if (length < 1)
            return 0;
        if (end > wanted - length)
            start = at, stop = at + size;
        while (is_unknown || end < wanted) {
            if ((at += size) >= u->stop)
                break;
            u32 form = w->forms[code_point(c->p + at, &size)];
            i64 more = (form & 7) == SAME ? size : form >> 3 & 31;
            if (more)
                start = start < 0 ? at : start, stop = at + size;
            end += more;
        }
        if (start < 0 || (!is_unknown && end < wanted))
            return 0;
        write_span(c, start, stop, spans + 2 * k);
    }
    return 1;
}

/* Writes where each id is, and the number of its pre-token. Returns 0 where only the engine tells. */
static int write_places(const Tables *t, const Scratch *s, i64 size, i64 count, i64 *spans, i64 *words)
{
    const u8 *p = s->text + MARGIN;
    Cursor c = {p, 0, 0};
    i64 first = 0, word = -1, last_stop = 0;
    int was_added = 1;
    for (i64 k = 0; k < s->unit_count; k++) {
        const Unit *u = s->units + k;
        int is_prefixed = u->start < last_stop, is_done = u->stop <= size;
        int goes_on = t->is_characters && !was_added && !u->is_added && !(t->characters.splits && p[u->start] == ' ');
        i64 n = u->ids - first;
        word += n && !goes_on && u->is_added != CONTINUES_WORD;
        for (i64 i = first; i < u->ids; i++)
            words[i] = word;
        if (u->is_added >= BEGINS_WORD)
            for (i64 i = first; i < u->ids; i++)
                write_span(&c, u->start, u->stop, spans + 2 * i);
        else if (u->is_added && is_done)
            write_span(&c, u->start + is_prefixed, u->stop > last_stop ? u->stop : u->stop + 1, spans + 2 * first);
        else if (is_done)
            is_done = t->is_wordpiece ? place_pieces(t, &c, u, s->out + first, n, spans + 2 * first)
                                      : place_tokens(t, &c, u, s->out + first, n, is_prefixed, spans + 2 * first);
        if (!is_done)
            return 0;
        first = u->ids, was_added = u->is_added, last_stop = u->stop;
    }
    return first == count;
}
