/* From a text to ids: what a call reads (Tables) and writes (Scratch), and the way between. Part of
   call.c. Functions return how many ids they wrote, or one of the negative reasons below. */

enum {
    OUTSIDE = -1,   /* only the engine knows the ids */
    NO_MEMORY = -2,
    MISSES_BYTE = -3, /* a word has a byte that is no token: the engine encodes its segment */
    GROUP = 64,     /* words that are fetched, then looked up */
    MOST_SAMPLES = 64,
    SAMPLED_BYTES = 1 << 14,
    MARGIN = 16,    /* bytes before a text: room for one space that is put before a section */
    OTHER_IDS = 64, /* special tokens around a text, and places that are written behind the ids */
    MET = 1 << 17, FRONT = 1 << 14,
    KEPT_ROOM = 1 << 22
};

typedef struct {
    int is_characters, is_wordpiece, asks_engine, has_longest; /* asks_engine: segments are looked up, see call_listed.h */
    int has_unigram; /* new segments are encoded by the call, else only the engine knows the model */
    u8 sides[256]; /* of spaces at which a text is cut whose model only the engine knows, see `is_space_cut` */
    i64 prefix; /* of texts whose model only the engine knows, see `runs_of_listed` */
    int misses_bytes; /* some byte is no token of a BPE over bytes: its id is NO_BYTE */
    WordPiece wordpiece;
    Unigram unigram;
    Merges merges;
    Longest longest;
    const u32 *byte_ids;
    u32 *of_bytes; /* the ranks of pairs of bytes; NULL if there are no merges of bytes */
    Words words; /* the vocabulary as words; read only */
    Machine machine, of_all; /* of_all: with the symbols of all characters */
    SureCuts sure;
    const u8 *quick_of;
    Characters characters;
    Tree raw, normalized; /* added tokens that are searched before and after the normalizer */
    int may_move; /* the normalizer may make or change what `normalized` has */
    const u8 *flags;
    const u32 *added_ids;
    const u16 *lengths; /* bytes of each token, 0: unknown: by id, or side by side with `length_ids` */
    const u32 *length_ids; /* of ids that lie far apart, rising */
    i64 lengths_count, length_ids_count;
    u64 secret, sample_mask;
    i64 most_learned, most_runs;
    i64 longest_word, longest_from; /* bytes from which on the engine's regex may give up; see LONGEST_FROM */
    int has_pairs; /* the pre-tokenizer looks at pairs of characters, see call_pairs.h; the model is `word` */
    Pairs pairs;
    WordModel word;
    int has_path; /* one path over the whole text, see call_path.h: no words, no added tokens */
    PathModel path;
} Tables;

/* Bytes of the text that the engine encodes, at ids `place`; or a segment of the list: its number, and the row it is in. */
typedef struct { i64 place, start, stop; } Hole;
typedef struct { i64 start, stop, ids; int is_added; } Unit; /* bytes of the text that were encoded as one; ids so far */
enum { BEGINS_WORD = 2, CONTINUES_WORD = 3 }; /* `is_added` of a piece of a Unigram, in its pre-token */
typedef struct { i64 start, stop, first, count; } Sample; /* a new word in `sampled`, and its ids */

typedef struct {
    u8 *text, *copy;
    u32 *out, *ends;
    void *work;
    i64 text_room, copy_room, out_room, ends_room, work_room;
    Words learned, runs;
    i64 refused; /* runs, since the table of runs is full */
    u64 *neighbours; /* pairs of tokens, see may_follow */
    Word *front; /* segments of less than 16 bytes that were looked up last: few pages hold what most texts repeat */
    struct Block *block; /* see call_block.h */
    u32 *met; /* marks of runs and segments that were met, each at one of four places of MET */
    Hole *holes;
    i64 hole_count, hole_room;
    u8 *list, *list_met; /* see call_listed.h: new segments side by side; whether each was met before */
    i64 *list_ends, list_room, list_met_room, list_ends_room, list_count, row, text_bytes;
    Words listed;
    Unit *units; /* see call_places.h; only while `is_placing` */
    i64 unit_count, unit_room;
    int is_placing;
    Sample samples[MOST_SAMPLES];
    u8 sampled[SAMPLED_BYTES];
    int sample_count, was_rejected, home;
    i64 steps;
} Scratch;

static void free_buffers(Scratch *s)
{
    free(s->text), free(s->copy), free(s->out), free(s->ends), free(s->work), free(s->holes), free(s->units);
    s->text = s->copy = NULL, s->out = s->ends = NULL, s->work = NULL, s->holes = NULL, s->units = NULL;
    free(s->list), free(s->list_met), free(s->list_ends);
    s->list = s->list_met = NULL, s->list_ends = NULL, s->list_room = s->list_met_room = s->list_ends_room = 0;
    s->unit_room = s->text_room = s->copy_room = s->out_room = s->ends_room = s->work_room = s->hole_room = 0;
}

/* Makes `*buffer` hold `wanted` items. Its content is lost. Returns 0 without memory. */
static int has_room(void **buffer, i64 *room, i64 wanted, size_t item)
{
    if (*room >= wanted)
        return 1;
    free(*buffer);
    wanted += wanted / 4 + 256;
    *buffer = malloc((size_t)wanted * item);
    *room = *buffer ? wanted : 0;
    return *buffer != NULL;
}

/* Makes `*buffer` hold `wanted` items, and keeps its content. Returns 0 without memory. */
static int grow_room(void **buffer, i64 *room, i64 wanted, size_t item)
{
    if (*room >= wanted)
        return 1;
    wanted += wanted / 2 + 256;
    void *more = realloc(*buffer, (size_t)wanted * item);
    if (!more)
        return 0;
    *buffer = more, *room = wanted;
    return 1;
}

/* Notes that p[0 : n] has the ids before `count`. Returns `count`, or a reason. */
static i64 add_unit(Scratch *s, const u8 *p, i64 n, i64 count, int is_added)
{
    i64 start = p - (s->text + MARGIN);
    if (count < 0)
        return count;
    if (start < -1 || start + n > s->text_room)
        return OUTSIDE; /* a copy, whose places are others */
    if (s->unit_count == s->unit_room) {
        i64 wanted = 2 * s->unit_room + 64;
        Unit *units = realloc(s->units, sizeof(Unit) * (size_t)wanted);
        if (!units)
            return NO_MEMORY;
        s->units = units, s->unit_room = wanted;
    }
    s->units[s->unit_count++] = (Unit){start, start + n, count, is_added};
    return count;
}

/* ---- words */

/* Encodes one new word of a BPE over bytes by its longest tokens. Returns -1 if that does not tell, or a reason. */
static i64 longest_word(const Tables *t, Scratch *s, const u8 *p, i64 n, u32 *out)
{
    u64 few[16] = {0}, *dead = few;
    if (!s->neighbours && !(s->neighbours = calloc(PAIRS, 8)))
        return NO_MEMORY;
    if (n >= 1024) {
        if (!has_room(&s->work, &s->work_room, n / 8 + 8, 1))
            return NO_MEMORY;
        dead = memset(s->work, 0, (size_t)(n / 64 + 1) * 8);
    }
    return longest_ids(&t->longest, &t->merges, s->neighbours, p, n, out, dead);
}

/* True if each byte of p[0 : n] is a token. */
static int has_all_bytes(const u32 *byte_ids, const u8 *p, i64 n)
{
    u32 is_missing = 0;
    for (i64 i = 0; i < n; i++)
        is_missing |= byte_ids[p[i]] == NO_BYTE;
    return !is_missing;
}

/* Merges the first `count` ids of `out`. `of_bytes`: see `merge_short`. */
static i64 merge_ids(const Tables *t, Scratch *s, const u32 *of_bytes, const u8 *p, u32 *out, i64 count)
{
    if (count <= 1)
        return count;
    if (count <= SHORT)
        return merge_short(&t->merges, of_bytes, p, out, (int)count);
    if (!has_room(&s->work, &s->work_room, (i64)merge_room(count), 1))
        return NO_MEMORY;
    return merge_long(&t->merges, out, count, s->work);
}

/* Encodes one new word behind a pre-tokenizer that looks at pairs. */
static i64 model_word(const Tables *t, Scratch *s, const u8 *p, i64 n, u32 *out)
{
    const WordModel *w = &t->word;
    if (!has_room((void **)&s->copy, &s->copy_room, GROWTH * n + MARGIN + TEXT_PADDING, 1))
        return NO_MEMORY;
    u8 *form = s->copy + MARGIN;
    if (w->kind == WORD_PIECE)
        return pieces_of(&t->wordpiece, &t->words, p, n, form, out);
    i64 characters;
    if (w->has_forms)
        n = form_of(&t->wordpiece, p, n, form, &characters);
    else
        memcpy(form, p, (size_t)n), memset(form + n, 0, 16);
    if (!n)
        return 0;
    int is_looked_up = w->kind == WORD_LEVEL || w->ignores_merges;
    u32 whole = is_looked_up ? token_id(&t->words, form, n) : NONE;
    if (whole != NONE || w->kind == WORD_LEVEL) {
        out[0] = whole != NONE ? whole : w->unknown;
        return out[0] == NO_TOKEN_ID ? OUTSIDE : 1;
    }
    i64 count = atoms_of_word(w, &t->words, form, n, out);
    return count < 0 ? OUTSIDE : merge_ids(t, s, NULL, form, out, count);
}

/* Encodes one new word by its longest tokens, or by the merges. */
NEVER_INLINE i64 merge_word(const Tables *t, Scratch *s, const u8 *p, i64 n, u32 *out)
{
    i64 count = n;
    if (t->misses_bytes && !has_all_bytes(t->byte_ids, p, n))
        return MISSES_BYTE;
    if (t->has_pairs)
        return model_word(t, s, p, n, out);
    if (t->is_wordpiece) {
        if (!has_room((void **)&s->copy, &s->copy_room, GROWTH * n + MARGIN + TEXT_PADDING, 1))
            return NO_MEMORY;
        return pieces_of(&t->wordpiece, &t->words, p, n, s->copy + MARGIN, out);
    }
    if (t->has_longest && (n >= t->longest_from || (p[0] | p[n - 1]) >= 0x80) && (count = longest_word(t, s, p, n, out)) != -1)
        return count;
    count = n;
    if (t->is_characters)
        count = atoms_of(&t->characters, t->byte_ids, p, n, out);
    else
        for (i64 i = 0; i < n; i++)
            out[i] = t->byte_ids[p[i]];
    return merge_ids(t, s, t->of_bytes, p, out, count);
}

static void learn(const Tables *t, Scratch *s, Key key, const u8 *p, i64 n, const u32 *ids, i64 count,
                  int kind)
{
    if (t->most_learned && !put_word(&s->learned, key, p, n, ids, count, kind))
        if (grow_words(&s->learned, t->most_learned, 16, 2))
            put_word(&s->learned, key, p, n, ids, count, kind);
}

/* Keeps a new word for a comparison with the engine, if there is room. */
static void add_sample(Scratch *s, const u8 *p, i64 n, i64 first, i64 count)
{
    int k = s->sample_count;
    i64 start = k ? s->samples[k - 1].stop : 0;
    if (k == MOST_SAMPLES || start + n > SAMPLED_BYTES)
        return;
    memcpy(s->sampled + start, p, (size_t)n);
    s->samples[s->sample_count++] = (Sample){start, start + n, first, count};
}

/* Encodes one word at out[count:]. Returns the new count. */
ALWAYS_INLINE i64 encode_word(const Tables *t, Scratch *s, Key key, const u8 *p, i64 n, int is_alone, i64 count)
{
    u32 *out = s->out + count;
    const Word *known = find_word(&t->words, key, p, n);
    if (known)
        return count + copy_ids(&t->words, known, out);
    known = s->learned.slot ? find_word(&s->learned, key, p, n) : NULL;
    if (known) {
        if (is_alone)
            ((Word *)known)->id[0] |= IS_ALONE;
        return count + copy_ids(&s->learned, known, out);
    }
    i64 found = merge_word(t, s, p, n, out);
    if (found < 0)
        return found;
    if (!(mixed(key.hash, t->secret) & t->sample_mask))
        add_sample(s, p, n, count, found);
    learn(t, s, key, p, n, out, found, is_alone);
    return count + found;
}

/* Words that are fetched ahead. */
typedef struct {
    const u8 *p;
    int count;
    Key key[GROUP];
    int32_t start[GROUP], size[GROUP];
} Group;

static inline void fetch_word(const Tables *t, const Scratch *s, Key key)
{
    fetch(t->words.slot + (key.hash & t->words.mask));
    if (s->learned.slot)
        fetch(s->learned.slot + (key.hash & s->learned.mask));
}

static inline Key add_key(Group *g, i64 start, i64 stop)
{
    int k = g->count++;
    g->start[k] = (int32_t)start;
    g->size[k] = (int32_t)(stop - start);
    return g->key[k] = key_of(g->p + start, stop - start);
}

static inline void add_to_group(const Tables *t, const Scratch *s, Group *g, i64 start, i64 stop)
{
    fetch_word(t, s, add_key(g, start, stop));
}

static i64 encode_group(const Tables *t, Scratch *s, Group *g, int is_alone, i64 count)
{
    for (int k = 0; k < g->count && count >= 0; k++) {
        count = encode_word(t, s, g->key[k], g->p + g->start[k], g->size[k], is_alone, count);
        if (s->is_placing)
            count = add_unit(s, g->p + g->start[k], g->size[k], count, 0);
    }
    g->count = 0;
    return count;
}

/* ---- BPE over bytes: segments between sure cuts, and their pre-tokens */

static i64 add_hole(Scratch *s, const u8 *p, i64 start, i64 stop, i64 count)
{
    if (s->hole_count == s->hole_room) {
        i64 wanted = 2 * s->hole_room + 16;
        Hole *holes = realloc(s->holes, sizeof(Hole) * (size_t)wanted);
        if (!holes)
            return NO_MEMORY;
        s->holes = holes;
        s->hole_room = wanted;
    }
    i64 from = p - (s->text + MARGIN);
    s->holes[s->hole_count++] = (Hole){count, from + start, from + stop};
    return count;
}

/* Leaves a segment to the engine whose ids were written from `count` on up to a word that misses a byte. */
static i64 add_hole_at(Scratch *s, const u8 *p, i64 start, i64 stop, i64 count)
{
    while (s->sample_count && s->samples[s->sample_count - 1].first >= count)
        s->sample_count--; /* what follows is written over its ids */
    return add_hole(s, p, start, stop, count);
}

/* Encodes a segment by its pre-tokens. Returns the new count. */
static i64 encode_segment(const Tables *t, Scratch *s, const u8 *p, i64 start, i64 stop, i64 count)
{
    if (!has_room((void **)&s->ends, &s->ends_room, stop - start + 1, 4))
        return NO_MEMORY;
    i64 ends = pretoken_ends(&t->machine, 0, p, start, stop, s->ends, 0, &s->steps);
    if (ends < 0 && s->steps >= 0 && is_normal(t->quick_of, p, start, stop))
        ends = pretoken_ends(&t->of_all, 0, p, start, stop, s->ends, 0, &s->steps);
    if (ends < 0)
        return s->steps < 0 ? OUTSIDE : add_hole(s, p, start, stop, count);
    Group g;
    g.p = p, g.count = 0;
    i64 first = count, at = start;
    for (i64 k = 0; k < ends; at = s->ends[k++]) {
        if (s->ends[k] - at > t->longest_word)
            return OUTSIDE;
        add_to_group(t, s, &g, at, s->ends[k]);
        if (g.count == GROUP || k + 1 == ends)
            if ((count = encode_group(t, s, &g, ends == 1, count)) < 0)
                return count == MISSES_BYTE ? add_hole_at(s, p, start, stop, first) : count;
    }
    return count;
}

#include "call_block.h"

/* ---- what was met */

static const u32 OF_RUN = 0, OF_SEGMENT = 0x9E3779B8; /* a run and a segment of the same bytes have marks of their own */

static inline u32 *marks_of(const Scratch *s, Key key) { return s->met + ((key.hash >> 32) % MET & ~3ull); }

/* True if a run or segment was met lately; else it is noted, at one of four places. */
static inline int was_met(Scratch *s, Key key, u32 kind)
{
    u32 mark = ((u32)key.hash ^ kind) | 1, *four = marks_of(s, key);
    if ((four[0] == mark) | (four[1] == mark) | (four[2] == mark) | (four[3] == mark))
        return 1;
    four[3] = four[2], four[2] = four[1], four[1] = four[0], four[0] = mark;
    return 0;
}

#include "call_unigram_text.h"
#include "call_unigram_places.h"
#include "call_listed.h"
#include "call_path_text.h"
#include "call_path_words.h"
#include "call_path_merges.h"

/* ---- BPE over characters */

static i64 encode_characters(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count)
{
    const Characters *c = &t->characters;
    Group g;
    g.p = p, g.count = 0;
    int size;
    u32 left = code_point(p + start, &size), right;
    for (i64 i = start + size; i < stop; i += size, left = right) {
        right = code_point(p + i, &size);
        if (!is_cut(c, left, right))
            continue;
        add_to_group(t, s, &g, start, i);
        start = i;
        if (g.count == GROUP && (count = encode_group(t, s, &g, 1, count)) < 0)
            return count;
    }
    add_to_group(t, s, &g, start, stop);
    return encode_group(t, s, &g, 1, count);
}

/* ---- WordPiece */

/* Encodes the words of a section. What has a character in it that only the engine knows is a hole. */
static i64 encode_words(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count)
{
    const WordPiece *w = &t->wordpiece;
    Group g;
    g.p = p, g.count = 0;
    int size, is_hole = 0;
    for (i64 i = start; i <= stop; i += size) {
        size = 1;
        u32 kind = i == stop ? BLANK : p[i] < 0x80 ? w->ascii_kind[p[i]] : w->forms[code_point(p + i, &size)] & 7;
        if (kind <= CHANGED)
            continue;
        if (kind == CONTEXT) {
            is_hole = 1;
            continue;
        }
        if (g.count > GROUP - 2 || is_hole)
            if ((count = encode_group(t, s, &g, 1, count)) < 0)
                return count;
        if (is_hole && (count = add_hole(s, p, start, i, count)) < 0)
            return count;
        if (start < i && !is_hole)
            add_to_group(t, s, &g, start, i);
        if (kind == ISOLATED)
            add_to_group(t, s, &g, i, i + size);
        start = i + size;
        is_hole = 0;
    }
    return encode_group(t, s, &g, 1, count);
}

/* ---- pre-tokens between pairs of characters */

/* Encodes the pre-tokens of a part of a section without OPEN characters. */
static i64 encode_pretokens(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count)
{
    const Pairs *w = &t->pairs;
    Group g;
    g.p = p, g.count = 0;
    u8 last = GAP, symbol;
    int size;
    for (i64 i = start; i < stop; i += size) {
        symbol = pair_symbol(w, p, i, &size);
        if (symbol == PASS || !(w->cuts[last] >> symbol & 1)) {
            last = symbol == PASS ? last : symbol;
            continue;
        }
        if (last != GAP) {
            add_to_group(t, s, &g, start, i);
            if (g.count == GROUP && (count = encode_group(t, s, &g, 1, count)) < 0)
                return count;
        }
        start = i, last = symbol;
    }
    if (last != GAP)
        add_to_group(t, s, &g, start, stop);
    return encode_group(t, s, &g, 1, count);
}

/* Encodes a section. An OPEN character, and what stands around it up to the next ASCII gaps, is a hole. Nobody asks for holes
   that are more than half of a text. */
static i64 encode_pairs(const Tables *t, Scratch *s, u8 *p, i64 start, i64 stop, i64 count)
{
    const Pairs *w = &t->pairs;
    while (start < stop && count >= 0) {
        i64 open = find_open(w, p, start, stop), from = open, to = open;
        while (open < stop && from > start && !is_ascii_gap(w, p, from))
            from--;
        while (to < stop && !is_ascii_gap(w, p, to))
            to++;
        if (from < to && 2 * (to - from) > s->text_bytes)
            return OUTSIDE;
        count = encode_pretokens(t, s, p, start, from, count);
        if (from < to && count >= 0)
            count = add_hole(s, p, from, to, count);
        start = to;
    }
    return count;
}

#include "call_runs.h"

/* OF_TEXT: a text gets a prefix, a section behind an added token none. FOR_SPACE: each section gets a prefix, which stands
   for the space at a cut (theorem 6.4). */
enum { OF_TEXT = 1, FOR_SPACE = 2 };

static i64 runs_of_listed(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    if (s->is_placing)
        return t->prefix == FOR_SPACE ? OUTSIDE : place_section(t, s, p + lo, hi - lo, t->prefix != OF_TEXT || !lo, count);
    if (t->prefix == OF_TEXT && lo > 0 && p[lo] != ' ') { /* the first segment, which alone would get the prefix */
        i64 stop = next_space_cut(t->sides, p, lo, lo, hi);
        count = t->has_unigram ? encode_natively(t, s, p + lo, stop - lo, 0, count) : OUTSIDE;
        if (count < 0 || stop == hi)
            return count;
        lo = stop;
    }
    if (t->prefix == FOR_SPACE && (p[lo] == ' ' || p[hi - 1] == ' '))
        return OUTSIDE; /* the first segment would be taken for one behind a cut, the last one for none */
    return encode_runs(t, s, encode_listed, p, lo, hi, count);
}

/* Returns the place of U+2581 in p[i : stop], or stop. */
static i64 find_mark(const u8 *p, i64 i, i64 stop)
{
    for (; i < stop; i++) {
        const u8 *at = memchr(p + i, 0xE2, (size_t)(stop - i));
        if (!at)
            return stop;
        i = at - p;
        if (p[i + 1] == 0x96 && p[i + 2] == 0x81)
            return i;
    }
    return stop;
}

/* Copies a section with " " for U+2581 to s->copy. Returns its length, or NO_MEMORY. */
static i64 copy_section(Scratch *s, const u8 *p, i64 start, i64 stop)
{
    if (!has_room((void **)&s->copy, &s->copy_room, stop - start + MARGIN + TEXT_PADDING, 1))
        return NO_MEMORY;
    u8 *to = s->copy + MARGIN;
    for (i64 mark; start < stop; start = mark + 3) {
        mark = find_mark(p, start, stop);
        memcpy(to, p + start, (size_t)(mark - start));
        to += mark - start;
        if (mark < stop)
            *to++ = ' ';
    }
    memset(to, 0, TEXT_PADDING);
    return to - (s->copy + MARGIN);
}

/* ---- sections between added tokens */

/* Finds the tokens of a tree in the sentence p[lo : hi], and encodes the sections between them.
   Returns the new count. */
static i64 encode_sentence(const Tables *t, Scratch *s, const Tree *tree, Encode section, u8 *p, i64 lo,
                           i64 hi, i64 count)
{
    i64 taken = lo, from = lo;
    while (tree->count) {
        Match m;
        int found = find_token(tree, p, from, hi, &s->steps, &m);
        if (found <= 0) {
            if (found < 0)
                return OUTSIDE;
            break;
        }
        from = m.stop;
        found = apply_flags(t->flags[m.token], p, lo, hi, taken, &m);
        if (found < 0)
            return OUTSIDE;
        s->was_rejected |= !found;
        if (!found)
            continue;
        if (m.start > taken && (count = section(t, s, p, taken, m.start, count)) < 0)
            return count;
        s->out[count++] = t->added_ids[m.token];
        if (s->is_placing && (count = add_unit(s, p + m.start, m.stop - m.start, count, 1)) < 0)
            return count;
        taken = m.stop;
    }
    return hi > taken ? section(t, s, p, taken, hi, count) : count;
}

/* Encodes a section whose spaces are marks: with " " for U+2581, and perhaps a space before it. */
static i64 encode_marked(const Tables *t, Scratch *s, Encode part, u8 *p, i64 lo, i64 hi, i64 count)
{
    const Characters *c = &t->characters;
    int is_first = lo == 0;
    if (c->has_marks && find_mark(p, lo, hi) < hi) {
        hi = copy_section(s, p, lo, hi);
        if (hi < 0)
            return hi;
        p = s->copy + MARGIN, lo = 0;
    }
    int prepends = c->prepends == ALWAYS ||
                   (p[lo] != ' ' && (c->prepends == UNLESS_SPACE || (c->prepends == FIRST && is_first)));
    u8 before = p[lo - prepends];
    if (prepends)
        p[--lo] = ' ';
    count = part(t, s, p, lo, hi, count);
    if (prepends)
        p[lo] = before;
    return count;
}

static i64 encode_metaspace(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    return encode_marked(t, s, runs_of_characters, p, lo, hi, count);
}

static i64 encode_normalized(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    return encode_sentence(t, s, &t->normalized, runs_of_characters, p, lo, hi, count);
}

/* Encodes a section between added tokens: a normalizer marks it before the second search for added
   tokens, a pre-tokenizer after it. */
static i64 encode_section(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    if (t->is_wordpiece)
        return encode_sentence(t, s, &t->normalized, runs_of_words, p, lo, hi, count);
    if (t->has_pairs || t->asks_engine) /* there is no normalizer, or no added token is searched behind it */
        return encode_sentence(t, s, &t->normalized, t->has_pairs ? runs_of_pairs : runs_of_listed, p, lo, hi, count);
    if (!t->is_characters && t->may_move && !is_normal(t->quick_of, p, lo, hi))
        return OUTSIDE; /* the second search for added tokens is in the normalized section */
    if (!t->is_characters)
        return encode_sentence(t, s, &t->normalized, runs_of_bytes, p, lo, hi, count);
    if (t->characters.is_normalizer)
        return encode_marked(t, s, encode_normalized, p, lo, hi, count);
    return encode_sentence(t, s, &t->normalized, encode_metaspace, p, lo, hi, count);
}

/* Encodes the text of n bytes that is in s->text, from s->out[count] on. Returns the new count. */
static i64 encode_text(const Tables *t, Scratch *s, i64 n, i64 count)
{
    s->steps = 64 * n + 1024;
    s->was_rejected = 0;
    if (t->has_path) {
        s->hole_count = 0;
        return encode_by_path(t, s, s->text + MARGIN, n, count);
    }
    i64 holes = t->asks_engine ? s->hole_count : 0; /* rows share a list */
    s->hole_count = holes;
    count = encode_sentence(t, s, &t->raw, encode_section, s->text + MARGIN, 0, n, count);
    if (count < 0 || s->hole_count == holes)
        return count;
    /* the engine gets a hole alone: what is found there must not hang on what stands beside it */
    return s->was_rejected || t->may_move ? OUTSIDE : count;
}

/* Makes room for the ids of n more bytes behind the first `count`, which stay: each byte, and each
   space that is put before a section, has at most one id. Returns 0 without memory. */
static int take_out(Scratch *s, i64 count, i64 n)
{
    i64 wanted = count + 2 * n + OTHER_IDS;
    if (wanted <= s->out_room)
        return 1;
    wanted += wanted / 4 + 256;
    u32 *out = realloc(s->out, 4 * (size_t)wanted);
    if (!out)
        return 0;
    s->out = out;
    s->out_room = wanted;
    return 1;
}

/* Puts a text of n bytes into the scratch, with room for its ids from `count` on. */
static int take_text(Scratch *s, const char *text, i64 n, i64 count)
{
    if (!has_room((void **)&s->text, &s->text_room, n + MARGIN + TEXT_PADDING, 1) || !take_out(s, count, n))
        return 0;
    s->text_bytes = n;
    memcpy(s->text + MARGIN, text, (size_t)n);
    memset(s->text + MARGIN + n, 0, TEXT_PADDING);
    return 1;
}
