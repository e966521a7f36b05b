/* The ids of a SentencePiece Unigram, in the arithmetic of its library (proofs/compiled-call.md). Part of call.c.

   The library normalizes a text, then takes one best path over all of it, with sums of 32 bits.
   cells    the double array of call_unigram.h, of the pieces that a text may have: normal and user-defined ones
   symbols  such an array of the user-defined pieces, which the normalizer leaves as they are
   scores   of each piece, 32 bits; behind them the score of an unknown character
   keys     the double array of the replacements (facts/charsmap.py)
   begins   a bit for each two bytes: a key or user-defined piece may begin with them, or with the first alone
   Where spaces are escaped, MARK_BYTE stands for U+2581 in pieces, and in the normalized text. */

enum { MOST_MATCHES = 32, LONGEST_REPLACEMENT = 1 << 12, MOST_PATH = 1 << 30 };
static const float SUM_LIMIT = 100000.0f; /* beyond it the sum of a place is taken off all open places */

typedef struct {
    const Cell *cells, *symbols;
    const u32 *first, *byte_ids, *keys, *ranks;
    const float *scores;
    const u8 *key_texts, *begins;
    i64 cell_count, symbol_cells, piece_count, key_count, key_text_bytes;
    u32 unknown;
    int falls_back, adds_prefix, adds_suffix, removes_spaces, escapes;
    int has_words; /* spaces are escaped, and no piece has U+2581 behind its first character: see call_path_words.h */
    int merges;    /* symbols are merged: see call_path_merges.h. Then has_words: no piece has U+2581 behind another character */
} PathModel;

/* The best path to a place of the normalized text: its score, and its last piece. start NO_PIECE: there is no path yet. */
typedef struct { float score; u32 start, id; } PathNode;

static inline void offer_node(PathNode *to, float score, u32 start, u32 id)
{
    if (to->start == NO_PIECE || score > to->score)
        to->score = score, to->start = start, to->id = id;
}

/* Offers all pieces that begin at p[from], `here` being the sum there. Returns the last place that was offered. */
static inline i64 offer_path(const PathModel *m, const u8 *p, i64 from, i64 n, float here, PathNode *best, i64 *single)
{
    int size, has_single;
    u32 c = code_point(p + from, &size), cell = c < FIRST_CELLS ? m->first[c] : cell_of(m->cells, p + from, size);
    i64 at = from + size, farthest = at;
    *single = at;
    has_single = cell != NO_PIECE && piece_of(m->cells[cell]) != NO_PIECE;
    if (has_single)
        offer_node(best + at, m->scores[piece_of(m->cells[cell])] + here, (u32)from, piece_of(m->cells[cell]));
    while (cell != NO_PIECE && at < n) {
        u32 next = m->cells[cell].base ^ p[at];
        Cell found = m->cells[next];
        if (label_of(found) != p[at])
            break;
        cell = next, at++;
        if (piece_of(found) != NO_PIECE)
            farthest = at, offer_node(best + at, m->scores[piece_of(found)] + here, (u32)from, piece_of(found));
    }
    if (!has_single)
        offer_node(best + *single, m->scores[m->piece_count] + here, (u32)from, m->unknown);
    return farthest;
}

/* Takes the sum of the place `from` off all places from there to `farthest` that have a path. */
static void take_off(PathNode *best, i64 from, i64 farthest)
{
    float sum = best[from].score;
    for (i64 k = from; k <= farthest; k++)
        if (k == from || best[k].start != NO_PIECE)
            best[k].score -= sum;
}

/* Finds the best path over p[0 : n], whose beginning has the sum `base`. `best` has room for n + 1. Returns the sum at the end. */
static float find_path(const PathModel *m, const u8 *p, i64 n, float base, PathNode *best)
{
    i64 farthest = 0;
    for (i64 k = 1; k <= n; k++)
        best[k].start = NO_PIECE;
    best[0] = (PathNode){base, 0, NO_PIECE};
    for (i64 from = 0, next; from < n; from = next) {
        float here = best[from].score;
        if (here < -SUM_LIMIT || here > SUM_LIMIT)
            take_off(best, from, farthest), here = 0.0f;
        i64 reached = offer_path(m, p, from, n, here, best, &next);
        farthest = reached > farthest ? reached : farthest;
    }
    return best[n].score;
}

/* Writes, last id first, the ids of the bytes of an unknown character. Returns how many. */
static i64 put_bytes(const PathModel *m, const u8 *p, i64 n, u32 *out)
{
    static const u8 mark[] = {0x81, 0x96, 0xE2}; /* U+2581, last byte first */
    i64 count = 0;
    for (i64 k = n - 1; k >= 0; k--) {
        int is_mark = m->escapes && p[k] == MARK_BYTE;
        for (int j = 0; j < (is_mark ? 3 : 1); j++)
            out[count++] = m->byte_ids[is_mark ? mark[j] : p[k]];
    }
    return count;
}

/* Writes the ids of the best path to p[0 : n], at most 3 n. Unknown characters side by side are one id, or all bytes of each.
   `*ends_unknown`: what stands before p is unknown; then, whether p ends so. Returns how many ids there are. */
static i64 path_ids(const PathModel *m, const u8 *p, i64 n, const PathNode *best, u32 *out, int *ends_unknown)
{
    i64 count = 0;
    int after_unknown = 0, before_unknown = *ends_unknown;
    *ends_unknown = best[n].id == m->unknown;
    for (u32 stop = (u32)n, start; stop; stop = start) {
        int is_unknown = best[stop].id == m->unknown;
        start = best[stop].start;
        if (is_unknown && m->falls_back)
            count += put_bytes(m, p + start, stop - start, out + count);
        else if (!is_unknown || !after_unknown)
            out[count++] = best[stop].id;
        after_unknown = is_unknown;
    }
    count -= before_unknown && after_unknown && !m->falls_back; /* one id with what stands before */
    for (i64 i = 0, j = count - 1; i < j; i++, j--) {
        u32 last = out[j];
        out[j] = out[i], out[i] = last;
    }
    return count;
}
