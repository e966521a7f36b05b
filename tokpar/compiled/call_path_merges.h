/* The ids of a SentencePiece BPE or character model (proofs/compiled-call.md). Part of call.c.

   A normalized text begins as symbols: user-defined pieces, else characters. Of all neighbours that together are a normal piece
   the two of the greatest score become one symbol, the leftmost of equal scores, until there are none. In a model of characters
   none are joined.
   ranks    of each piece: 0 for the greatest score, equal for equal ones; FIXED: a user-defined piece, which joins nothing;
            NONE: no two symbols become it */

enum { MOST_MERGED = 1 << 24 }; /* bytes that are merged together */
static const u32 FIXED = 0xFFFFFFFEu;

/* `rank`: of what the symbol and the next one become, with the id `made`; NONE if nothing. `stop`: the place behind it. */
typedef struct { u32 start, stop, next, prev, id, rank, made; } Symbol;

/* Returns the bytes of the longest user-defined piece that p[0 : n] begins with, and its id; or 0. */
static i64 fixed_symbol(const PathModel *m, const u8 *p, i64 n, u32 *id)
{
    i64 used = 0;
    u32 cell = 0;
    for (i64 k = 0; k < n && m->symbol_cells; k++) {
        u32 next = m->cells[cell].base ^ p[k];
        if (label_of(m->cells[next]) != p[k])
            break;
        cell = next;
        u32 piece = piece_of(m->cells[cell]);
        if (piece != NO_PIECE && m->ranks[piece] == FIXED)
            used = k + 1, *id = piece;
    }
    return used;
}

/* Writes the symbols with which p[0 : n] begins to `symbol`. Returns how many there are. */
static u32 first_symbols(const PathModel *m, const u8 *p, i64 n, Symbol *symbol)
{
    u32 count = 0;
    for (i64 at = 0, used; at < n; at += used, count++) {
        u32 id = m->unknown;
        if (!(used = fixed_symbol(m, p + at, n - at, &id))) {
            int size;
            u32 c = code_point(p + at, &size), cell = c < FIRST_CELLS ? m->first[c] : cell_of(m->cells, p + at, size);
            used = size;
            if (cell != NO_PIECE && piece_of(m->cells[cell]) != NO_PIECE)
                id = piece_of(m->cells[cell]);
        }
        symbol[count] = (Symbol){(u32)at, (u32)(at + used), count + 1, count - 1, id, NONE, 0};
    }
    return count;
}

static inline int is_fixed(const PathModel *m, const Symbol *each) { return each->id != m->unknown && m->ranks[each->id] == FIXED; }

/* Finds what symbol k and the next one become. Returns the new number of entries of the heap. */
static i64 offer_pair(const PathModel *m, const u8 *p, Symbol *symbol, u32 count, u32 k, u64 *heap, i64 entries)
{
    Symbol *left = symbol + k, *right = symbol + left->next;
    left->rank = NONE;
    if (left->next == count || is_fixed(m, left) || is_fixed(m, right))
        return entries;
    u32 cell = cell_of(m->cells, p + left->start, right->stop - left->start);
    left->made = cell == NO_PIECE ? NO_PIECE : piece_of(m->cells[cell]);
    if (left->made == NO_PIECE || m->ranks[left->made] >= FIXED)
        return entries;
    left->rank = m->ranks[left->made];
    return push(heap, entries, (u64)left->rank << 32 | k);
}

/* Merges `count` symbols. An entry of the heap, rank << 32 | symbol, is stale unless the symbol still has the rank. */
static void merge_symbols(const PathModel *m, const u8 *p, Symbol *symbol, u32 count, u64 *heap)
{
    i64 entries = 0;
    for (u32 k = 0; k < count; k++)
        entries = offer_pair(m, p, symbol, count, k, heap, entries);
    while (entries) {
        u64 entry = heap[0];
        u32 k = (u32)entry;
        Symbol *left = symbol + k;
        entries = pop(heap, entries);
        if (left->rank != entry >> 32)
            continue;
        Symbol *right = symbol + left->next;
        right->rank = NONE;
        left->id = left->made, left->stop = right->stop, left->next = right->next;
        if (left->next < count)
            symbol[left->next].prev = k;
        entries = offer_pair(m, p, symbol, count, k, heap, entries);
        if (k)
            entries = offer_pair(m, p, symbol, count, left->prev, heap, entries);
    }
}

/* Writes the ids of the bytes p[0 : n] of an unknown symbol, first id first. Returns how many. */
static i64 put_symbol_bytes(const PathModel *m, const u8 *p, i64 n, u32 *out)
{
    i64 count = 0;
    for (i64 k = 0; k < n; k++) {
        count += put_bytes(m, p + k, 1, out + count);
        if (count > 2 && m->escapes && p[k] == MARK_BYTE) { /* last byte first */
            u32 last = out[count - 1];
            out[count - 1] = out[count - 3], out[count - 3] = last;
        }
    }
    return count;
}

/* Writes the ids of symbols over p to `out`; see `path_ids`. `*is_known`: no id depends on what stands before the symbols. */
static i64 symbol_ids(const PathModel *m, const u8 *p, const Symbol *symbol, u32 count, u32 *out, int *ends_unknown, int *is_known)
{
    i64 written = 0;
    *is_known = 1;
    for (u32 k = 0; k < count; k = symbol[k].next) {
        int is_unknown = symbol[k].id == m->unknown;
        if (is_unknown && m->falls_back)
            written += put_symbol_bytes(m, p + symbol[k].start, symbol[k].stop - symbol[k].start, out + written);
        else if (!is_unknown || !*ends_unknown)
            out[written++] = symbol[k].id;
        *ends_unknown = is_unknown, *is_known &= !is_unknown || m->falls_back;
    }
    return written;
}

/* Writes the ids of the word p[0 : n] to s->out[count:]. Returns the new count, OUTSIDE or NO_MEMORY. */
static i64 encode_merged(const Tables *t, Scratch *s, const u8 *p, i64 n, i64 count, int *ends_unknown)
{
    Key key = key_of(p, n);
    const Word *known = n <= LONGEST_KEPT && s->learned.slot ? find_word(&s->learned, key, p, n) : NULL;
    if (LIKELY(known != NULL)) {
        *ends_unknown = 0;
        return count + copy_ids(&s->learned, known, s->out + count);
    }
    if (n > MOST_MERGED)
        return OUTSIDE;
    if (!has_room(&s->work, &s->work_room, (n + 1) * (i64)(sizeof(Symbol) + 3 * sizeof(u64)), 1))
        return NO_MEMORY;
    u64 *heap = s->work;
    Symbol *symbol = (Symbol *)(heap + 3 * n);
    int is_known;
    u32 symbols = first_symbols(&t->path, p, n, symbol);
    merge_symbols(&t->path, p, symbol, symbols, heap);
    i64 ids = symbol_ids(&t->path, p, symbol, symbols, s->out + count, ends_unknown, &is_known);
    if (is_known && n <= LONGEST_KEPT)
        learn(t, s, key, p, n, s->out + count, ids, PART);
    return count + ids;
}

/* Returns the place behind the word that begins at `from`: no merge of two symbols reaches over it. */
static i64 merged_word_end(const PathModel *m, const u8 *p, i64 from, i64 n)
{
    const u8 *next = m->has_words ? p + from : NULL;
    do
        next = next ? memchr(next + 1, MARK_BYTE, (size_t)(p + n - next - 1)) : NULL;
    while (next && next[-1] == MARK_BYTE);
    return next ? next - p : n;
}

/* Writes the ids of the text p[0 : n] to s->out[count:]. Returns the new count, OUTSIDE or NO_MEMORY. */
static i64 encode_by_path(const Tables *t, Scratch *s, const u8 *p, i64 n, i64 count)
{
    const PathModel *m = &t->path;
    n = normalize_text(m, s, p, n);
    if (n <= 0)
        return n < 0 ? n : count;
    if (n >= MOST_PATH)
        return OUTSIDE;
    if (!grow_room((void **)&s->out, &s->out_room, count + (m->falls_back ? 3 : 1) * n + OTHER_IDS, 4))
        return NO_MEMORY;
    PathState state = {0.0f, 0};
    for (i64 from = 0, stop; from < n && count >= 0; from = stop) {
        const u8 *word = s->copy + from;
        if (m->merges) {
            stop = merged_word_end(m, s->copy, from, n);
            count = encode_merged(t, s, word, stop - from, count, &state.ends_unknown);
            continue;
        }
        const u8 *next = m->has_words ? memchr(word + 1, MARK_BYTE, (size_t)(n - from - 1)) : NULL;
        stop = next ? next - s->copy : n;
        count = m->has_words ? encode_path_word(t, s, word, stop - from, count, &state)
                             : encode_from(m, s, word, stop - from, count, &state);
    }
    return count;
}
