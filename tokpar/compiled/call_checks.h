/* What a call believes of its arrays, tested once when it is made: then no text reads or writes beside a buffer, and
   every loop ends. That the ids are right is not tested here: the seal of a file and drawn texts do that. Part of call.c.

   A check returns 1 if the arrays fit together, else 0; or NO_MEMORY. None needs the GIL. */

/* The items of arrays that have no count in Tables. */
typedef struct { i64 pairs, made, moves, begins, edges, tokens, form_bytes, affixes; } Sizes;

/* The added tokens: their bytes side by side (and 8 more), where each ends, and whether it is searched in the normalized
   text: 0: it is not; MAY_MOVE: it is; 2: it is, and the normalizer neither makes nor changes what it is made of. */
enum { MAY_MOVE = 1 };

typedef struct {
    const u8 *data, *is_normalized;
    const i64 *ends;
    i64 count, bytes;
} Added;

static int is_power(i64 n) { return n > 0 && !(n & (n - 1)); }

/* `rank_of` ends at a free slot, and a rank is a place in `made`. */
static int check_merges(const Merges *m, const Sizes *size)
{
    i64 free_slots = 0, wrong = !is_power(size->pairs);
    for (i64 k = 0; k < size->pairs; k++) {
        int is_free = m->pairs[k] == ~(u64)0;
        free_slots += is_free;
        wrong |= !is_free & ((i64)(m->pairs[k] & 0x3FFFFF) >= size->made);
    }
    return !wrong && free_slots;
}

/* Returns the bytes of the word of a slot, 0 if no lookup finds it, -1 if they do not lie in `keys`. */
static i64 bytes_of_word(const Words *w, const Word *slot)
{
    u64 place = slot->b & (((u64)1 << 56) - 1);
    if (slot->b >> 56 != 255)
        return slot->b >> 60 ? 0 : slot->b >> 56;
    if (place < 4 || place > (u64)w->keys_room)
        return -1;
    i64 n = long_length(w, slot);
    return n <= w->keys_room - (i64)place ? n : -1;
}

/* A word has at most as many ids as bytes: so many have room behind a text. */
static int check_words(const Words *w)
{
    for (u64 k = 0; k <= w->mask; k++) {
        const Word *slot = w->slot + k;
        if (!slot->b)
            continue;
        i64 n = bytes_of_word(w, slot), count = slot->id[0] >> 28;
        if (count == MANY) {
            count = slot->id[2];
            if ((i64)slot->id[1] + count > w->more_room)
                return 0;
        } else if (count > 4)
            return 0;
        if (n < 0 || count < 1 || count > n)
            return 0;
    }
    return 1;
}

/* Each move goes to a state of the table, and each symbol is a column of it. */
static int check_machine(const Machine *m, const Machine *of_all, const Sizes *size)
{
    u32 stop = (u32)(size->moves / 256 << 8), most = 0;
    if (m->symbols >= END - 128 || size->begins < 1 || size->begins > MOST_STAGES || size->moves / 256 > STATE >> 8)
        return 0;
    for (i64 k = 0; k < size->begins; k++)
        if (m->begins[k] & 255 || m->begins[k] >= stop)
            return 0;
    for (i64 k = 0; k < size->moves; k++) {
        u32 next = m->moves[k] & DIES ? 0 : m->moves[k] & STATE;
        most = next > most ? next : most;
    }
    u8 last = 0;
    for (u32 c = 0; c < 0x110000; c++) {
        last = m->symbol_of[c] > last ? m->symbol_of[c] : last;
        last = of_all->symbol_of[c] > last ? of_all->symbol_of[c] : last;
    }
    return most < stop && last <= m->symbols;
}

/* Returns the bytes of each canonical token, 0 for other ids and for tokens that are too long; NULL without memory. So
   small an array is read in no order without waiting for memory. */
static u8 *sizes_of_tokens(const Longest *l, i64 count)
{
    u8 *sizes = malloc((size_t)count + 1);
    for (i64 k = 0; sizes && k < count; k++)
        sizes[k] = l->tokens[k].size > LONGEST_TOKEN ? 0 : (u8)l->tokens[k].size;
    return sizes;
}

/* True if the id of a node is a token of as many bytes as the node says. */
static inline int is_node(const u8 *sizes, i64 count, u64 node)
{
    i64 id = id_of(node);
    return size_of(node) && id < count && sizes[id] == size_of(node);
}

/* Going from a token to its parts, or to a shorter one, ends: sizes fall. */
static inline int check_token(const u8 *sizes, i64 count, const Token *t)
{
    int is_last = t->shorter == NONE || (t->shorter < count && sizes[t->shorter] && sizes[t->shorter] < t->size);
    if (!t->size || t->level < 0)
        return !t->size || is_last;
    return is_last && t->left < count && t->right < count && sizes[t->left] && sizes[t->right] &&
           sizes[t->left] + (u32)sizes[t->right] == t->size;
}

/* Each node has a token, and each byte that is a token has a node; `edge_slot_of` ends at a free slot. */
static int check_tree(const Longest *l, const Merges *m, const u32 *byte_ids, const Sizes *size, const u8 *sizes)
{
    i64 free_edges = 0, wrong = !is_power(size->edges), count = size->tokens;
    for (i64 k = 0; k < size->made; k++)
        wrong |= m->made[k] >= count;
    for (i64 k = 0; k < count; k++)
        wrong |= !check_token(sizes, count, l->tokens + k);
    for (i64 k = 0; k < SYMBOLS; k++)
        wrong |= l->root[k] ? !is_node(sizes, count, l->root[k]) : k < 256 && byte_ids[k] != NO_BYTE;
    for (i64 k = 0; k < size->edges; k++) {
        free_edges += !l->edges[2 * k];
        wrong |= l->edges[2 * k + 1] && !is_node(sizes, count, l->edges[2 * k + 1]);
    }
    return !wrong && free_edges;
}

static int check_longest(const Longest *l, const Merges *m, const u32 *byte_ids, const Sizes *size)
{
    u8 *sizes = sizes_of_tokens(l, size->tokens);
    int fits = sizes ? check_tree(l, m, byte_ids, size, sizes) : NO_MEMORY;
    free(sizes);
    return fits;
}

/* A form has at most as many code points as its character has bytes: each has at most one id. */
static int check_form(const WordPiece *w, i64 form_bytes, u32 form, i64 size)
{
    i64 n = form >> 3 & 31, place = form >> 8, points = 0;
    if ((form & 7) == SAME || !n)
        return 1;
    if (n > GROWTH * size || place + n > form_bytes || (w->form_bytes[place] & 0xC0) == 0x80)
        return 0;
    for (i64 k = 0; k < n; k++)
        points += (w->form_bytes[place + k] & 0xC0) != 0x80;
    return points <= size;
}

static int check_wordpiece(const WordPiece *w, i64 form_bytes)
{
    for (int k = 0; k < 2; k++)
        if (w->longest[k] < 0 || w->longest[k] > LONGEST_KEPT)
            return 0;
    if (w->prefix < 0 || w->prefix > LONGEST_KEPT)
        return 0;
    for (u32 c = 0; c < 0x110000; c++)
        if (!check_form(w, form_bytes, w->forms[c], c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4))
            return 0;
    return 1;
}

/* Each text, each replacement and the patterns end with a zero. */
static int check_charsmap(const Charsmap *m)
{
    int wrong = m->patterns[m->pattern_bytes - 1] || (m->pattern_bytes > 1 && m->patterns[m->pattern_bytes - 2]);
    for (int k = 1; k <= 4; k++) /* a text that is no UTF-8 is not read further */
        wrong |= m->texts[m->text_bytes - k] || m->key_texts[m->key_text_bytes - k];
    for (u32 c = 0; !wrong && m->forms && c < 0x110000; c++)
        wrong = (m->forms[c] & IS_CONTEXT) != IS_CONTEXT && m->forms[c] & IS_CHANGED && m->forms[c] >> FORM_BITS >= m->text_bytes;
    return !wrong;
}

/* True if each cell leads to cells, and each piece that ends in one is below `pieces`. */
static int are_cells(const Cell *cells, i64 count, i64 pieces)
{
    i64 wrong = 0;
    for (i64 k = 0; k < count; k++)
        wrong |= ((i64)(cells[k].base | 255) >= count) | ((i64)(cells[k].tag >> LABEL_BITS) > pieces);
    return !wrong;
}

/* Each cell leads to cells, and each piece that ends in one has a score. */
static int check_unigram(const Unigram *u)
{
    i64 wrong = u->cell_count < 1 || u->prepends < NEVER || u->prepends > FIRST || !are_cells(u->cells, u->cell_count, u->piece_count);
    for (u32 c = 0; c < FIRST_CELLS; c++)
        wrong |= u->first[c] != NO_PIECE && u->first[c] >= u->cell_count;
    return !wrong;
}

static int check_path(const PathModel *m)
{
    i64 wrong = 0;
    for (u32 c = 0; c < FIRST_CELLS; c++)
        wrong |= m->first[c] != NO_PIECE && m->first[c] >= m->cell_count;
    return !wrong && !m->key_texts[m->key_text_bytes - 1] && are_cells(m->cells, m->cell_count, m->piece_count) &&
           are_cells(m->symbols, m->symbol_cells, m->piece_count);
}

/* Each symbol is a row of `cuts`, and no ASCII character is OPEN. Where bytes have names, a form has as many bytes as its
   character at most: each has at most one id. */
static int check_pairs(const Tables *t, const Sizes *size)
{
    const WordModel *w = &t->word;
    int has_forms = w->has_forms || w->kind == WORD_PIECE, wrong = w->kind < WORD_LEVEL || w->kind > WORD_BPE;
    for (u32 c = 0; c < 0x110000; c++)
        wrong |= t->pairs.symbol_of[c] >= SYMBOLS_OF_PAIRS || (c < 128 && t->pairs.symbol_of[c] == OPEN);
    for (u32 c = 0; has_forms && w->falls_back && c < 0x110000; c++)
        wrong |= (t->wordpiece.forms[c] & 7) != SAME && (t->wordpiece.forms[c] >> 3 & 31) > (c < 0x80 ? 1u : c < 0x800 ? 2u : c < 0x10000 ? 3u : 4u);
    if (w->kind == WORD_BPE)
        wrong |= w->prefix < 0 || w->prefix > LONGEST_AFFIX || w->suffix < 0 || w->suffix > LONGEST_AFFIX ||
                 w->prefix + w->suffix > size->affixes || (w->falls_back && w->prefix + w->suffix) || !check_merges(&t->merges, size);
    return !wrong && (!has_forms || check_wordpiece(&t->wordpiece, size->form_bytes));
}

/* True if places rise, and none is behind `last`. */
static int are_places(const i64 *ends, i64 count, i64 last)
{
    i64 from = 0, is_rising = 1;
    for (i64 k = 0; is_rising && k < count; from = ends[k++])
        is_rising = ends[k] >= from;
    return is_rising && from <= last;
}

/* True if p[0 : n] is characters that each have as many bytes as the first one says. */
static int is_whole(const u8 *p, i64 n)
{
    i64 rest = 0;
    for (i64 k = 0; k < n; k++) {
        int is_inside = (p[k] & 0xC0) == 0x80;
        if (is_inside != (rest > 0))
            return 0;
        rest = is_inside ? rest - 1 : char_size(p[k]) - 1;
    }
    return !rest;
}

/* The number of a node of the tree of added tokens has 24 bits. A token of whole characters cuts no character of a text. */
static int check_added(const Added *a)
{
    if (!are_places(a->ends, a->count, a->bytes - 8) || a->bytes > (1 << 24) + 16)
        return 0;
    for (i64 k = 0, start = 0; k < a->count; start = a->ends[k++])
        if (!is_whole(a->data + start, a->ends[k] - start))
            return 0;
    return 1;
}

/* `grow_words` makes 1,024 slots, and four times as many until there are `most`. */
static int check_learned(i64 most) { return !most || (is_power(most) && most <= 1 << 24); }

static int check_tables(const Tables *t, const Sizes *size)
{
    if (!check_learned(t->most_learned) || !check_words(&t->words))
        return 0;
    if (t->has_path)
        return check_path(&t->path);
    if (t->asks_engine)
        return !t->has_unigram || (check_unigram(&t->unigram) && check_charsmap(&t->unigram.charsmap));
    if (t->has_pairs)
        return check_pairs(t, size);
    if (t->is_wordpiece)
        return check_wordpiece(&t->wordpiece, size->form_bytes);
    if (!check_merges(&t->merges, size))
        return 0;
    if (t->is_characters || !check_machine(&t->machine, &t->of_all, size))
        return t->is_characters;
    return t->has_longest ? check_longest(&t->longest, &t->merges, t->byte_ids, size) : 1;
}

/* Makes the trees of the added tokens. Returns 0 without memory. */
static int plant_added(Tree *raw, Tree *normalized, const Added *a)
{
    if (!make_tree(raw, a->bytes) || !make_tree(normalized, a->bytes))
        return 0;
    for (i64 k = 0, start = 0; k < a->count; start = a->ends[k++])
        if (a->ends[k] > start)
            add_token(a->is_normalized[k] ? normalized : raw, a->data + start, a->ends[k] - start, (u32)k);
    return 1;
}
