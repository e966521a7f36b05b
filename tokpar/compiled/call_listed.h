/* Texts of a tokenizer whose model only the engine knows: a segment between two certified cuts before a space is looked up
   (theorem 27), and listed if it is new, each once. Part of call_section.h; call_finish.h takes the engine's ids. */

/* True if the character before byte `at` of a row is white space: one of the 25 characters of \s. */
static int is_white_before(const u8 *p, i64 at)
{
    u8 c = p[at - 1], b = at > 1 ? p[at - 2] : 0, a = at > 2 ? p[at - 3] : 0;
    if (c < 0x80)
        return c == ' ' || (9 <= c && c <= 13);
    if (b == 0xC2)
        return c == 0x85 || c == 0xA0;
    if (a == 0xE2 && b == 0x80)
        return c <= 0x8A || c == 0xA8 || c == 0xA9 || c == 0xAF;
    return (a == 0xE1 && b == 0x9A && c == 0x80) || (a == 0xE2 && b == 0x81 && c == 0x9F) ||
           (a == 0xE3 && b == 0x80 && c == 0x80);
}

/* True if the part p[first : stop] of a text is cut at the space p[at], first < at. `sides` says where each byte may stand:
   two places before the space (bit 1), before it (bit 0), behind it (bit 2). */
static inline int is_space_cut(const u8 *sides, const u8 *p, i64 at, i64 first, i64 stop)
{
    return sides[p[at - 1]] & 1 && !is_white_before(p, at) && (at - 1 <= first || sides[p[at - 2]] & 2) &&
           (at + 1 >= stop || sides[p[at + 1]] & 4);
}

/* Returns the place of the first cut of p[first : stop] behind `at`, or `stop`. */
static inline i64 next_space_cut(const u8 *sides, const u8 *p, i64 at, i64 first, i64 stop)
{
    while (++at < stop) {
        const u8 *space = memchr(p + at, ' ', (size_t)(stop - at));
        if (!space || is_space_cut(sides, p, at = space - p, first, stop))
            return space ? at : stop;
        while (p[at + 1] == ' ') /* bytes behind a text are zeros */
            at++;
    }
    return stop;
}

enum { FEW_LISTED = 16, MOST_LISTED = 1 << 20 }; /* so many segments are looked through; slots of the table of others */

/* Appends a segment to the list. Returns 0 without memory. */
static int append_segment(Scratch *s, Key key, const u8 *p, i64 n)
{
    i64 k = s->list_count, used = k ? s->list_ends[k - 1] : 0;
    if (!grow_room((void **)&s->list, &s->list_room, used + n, 1) ||
        !grow_room((void **)&s->list_ends, &s->list_ends_room, k + 1, 8) ||
        !grow_room((void **)&s->list_met, &s->list_met_room, k + 1, 1) || (!s->met && !(s->met = calloc(MET, sizeof *s->met))))
        return 0;
    s->list_met[k] = n <= LONGEST_KEPT && was_met(s, key, OF_SEGMENT); /* a longer one is never learned */
    memcpy(s->list + used, p, (size_t)n);
    s->list_ends[k] = used + n;
    s->list_count++;
    return 1;
}

/* Notes the number of a segment of the list, so that the list has it once. Without memory it stands there twice. */
static void note_segment(Scratch *s, Key key, const u8 *p, i64 n, u32 number)
{
    Words *w = &s->listed;
    if (number < FEW_LISTED || number > ID_BITS)
        return;
    if (!put_word(w, key, p, n, &number, 1, PART) && grow_words(w, MOST_LISTED, 16, 1))
        put_word(w, key, p, n, &number, 1, PART);
}

/* Returns the number of a segment of the list, or the next one. */
static i64 segment_number(const Scratch *s, Key key, const u8 *p, i64 n)
{
    for (i64 k = 0, start = 0; k < s->list_count && k < FEW_LISTED; start = s->list_ends[k++])
        if (s->list_ends[k] - start == n && !memcmp(s->list + start, p, (size_t)n))
            return k;
    const Word *found = n <= LONGEST_KEPT && s->listed.slot ? find_word(&s->listed, key, p, n) : NULL;
    return found ? (i64)(found->id[0] & ID_BITS) : s->list_count;
}

/* Leaves a hole for a segment that is not known, and lists the segment. Returns `count`, or NO_MEMORY. */
static i64 list_segment(Scratch *s, Key key, const u8 *p, i64 n, i64 count)
{
    i64 number = segment_number(s, key, p, n);
    if (number == s->list_count) {
        if (!append_segment(s, key, p, n))
            return NO_MEMORY;
        note_segment(s, key, p, n, (u32)number);
    }
    if (!grow_room((void **)&s->holes, &s->hole_room, s->hole_count + 1, sizeof(Hole)))
        return NO_MEMORY;
    s->holes[s->hole_count++] = (Hole){count, number, s->row};
    return count;
}

/* Makes the list what it was before a row: with `segments` segments and `holes` holes. A row that is the engine's may hold an
   added token that was left out because of what stands beside it; alone it would be found, and learned. */
static void cut_list(Scratch *s, i64 segments, i64 holes)
{
    Words *w = &s->listed; /* without it, segments of other rows may stand there twice */
    if (w->count && w->mask >= 1 << 12)
        free_words(w); /* the table of a long text would cost each later call */
    else if (w->count) {
        memset(w->slot, 0, sizeof(Word) * (size_t)(w->mask + 1));
        w->count = w->keys_used = w->more_used = 0;
    }
    s->list_count = segments, s->hole_count = holes;
}

/* Makes room for the ids of a known part of n bytes: a normalizer may make more of it than two for each byte. Returns 0
   without memory. */
static int has_ids_room(Scratch *s, const Word *known, i64 n, i64 count)
{
    i64 ids = known->id[0] >> 28 == MANY ? known->id[2] : known->id[0] >> 28;
    i64 wanted = count + ids + 2 * s->text_bytes + OTHER_IDS;
    if (ids <= 2 * n || wanted <= s->out_room)
        return 1;
    return grow_room((void **)&s->out, &s->out_room, wanted, 4);
}

/* Encodes a segment that is not known, or lists it where only the engine knows its ids. */
static i64 encode_unknown_segment(const Tables *t, Scratch *s, Key key, const u8 *p, i64 n, i64 count)
{
    i64 stop = t->has_unigram ? encode_new_segment(t, s, key, p, n, count) : OUTSIDE;
    if (stop != OUTSIDE || (t->has_unigram && !t->unigram.may_list))
        return stop;
    return list_segment(s, key, p, n, count);
}

static inline Word *front_of(const Scratch *s, Key key) { return s->front + (key.hash >> 40) % FRONT; }

/* Writes the ids of the segments of a group, and lists those that only the engine knows. */
static i64 encode_listed_group(const Tables *t, Scratch *s, Group *g, i64 count)
{
    for (int k = 0; k < g->count && count >= 0; k++) {
        const u8 *p = g->p + g->start[k];
        i64 n = g->size[k];
        Word *front = n < 16 ? front_of(s, g->key[k]) : NULL;
        const Words *w = &t->words;
        const Word *known = front && front->a == g->key[k].a && front->b == g->key[k].b ? front : NULL;
        if (!known && n <= LONGEST_KEPT && !(known = find_word(w, g->key[k], p, n)) && s->learned.slot)
            known = find_word(w = &s->learned, g->key[k], p, n);
        if (!known) {
            count = encode_unknown_segment(t, s, g->key[k], p, n, count);
            continue;
        }
        if (front && known != front && known->id[0] >> 28 != MANY)
            *front = *known;
        if (!has_ids_room(s, known, n, count))
            return NO_MEMORY;
        count += copy_ids(w, known, s->out + count);
    }
    g->count = 0;
    return count;
}

/* Encodes a part of a section, which is a text of its own. */
static i64 encode_listed(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count)
{
    Group g;
    g.p = p, g.count = 0;
    if (!s->front && !(s->front = calloc(FRONT, sizeof(Word))))
        return NO_MEMORY;
    for (i64 first = start, at; start < stop; start = at) {
        at = next_space_cut(t->sides, p, start, first, stop);
        Key key = add_key(&g, start, at);
        if (at - start < 16)
            fetch(front_of(s, key));
        fetch_word(t, s, key);
        if (g.count == GROUP && (count = encode_listed_group(t, s, &g, count)) < 0)
            return count;
    }
    return encode_listed_group(t, s, &g, count);
}
