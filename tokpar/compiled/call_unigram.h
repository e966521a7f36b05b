/* The ids of one pre-token of a Unigram, in the engine's arithmetic (proofs/compiled-call.md). Part of call.c.

   A pre-token is UTF-8, with the byte MARK_BYTE for U+2581.
   cells    a double array over the bytes of the pieces: byte c leads from the cell v to the cell x = cells[v].base ^ c, if
            the label of x is c
   first    the cell of each character below U+10000; NO_PIECE: no piece begins with the character
   scores   of each piece, 64 bits; behind them the score of an unknown character */

enum { MARK_BYTE = 32, FREE_LABEL = 256, LABEL_BITS = 9, FIRST_CELLS = 1 << 16, PIECE_BITS = 23 };
static const u32 NO_PIECE = 0xFFFFFFFFu;

typedef struct { u32 base, tag; } Cell; /* tag: the label, and above it the number of the piece that ends here + 1, or 0 */

typedef struct {
    const Cell *cells;
    const u32 *first, *byte_ids; /* byte_ids: of <0x00> to <0xFF>, NO_PIECE for one that is no piece */
    const double *scores;
    i64 cell_count, piece_count;
    u32 unknown; /* id of the unknown piece, NO_PIECE if there is none */
    int falls_back, prepends, splits, splits_white, may_list;
    int joins_spaces, strips_first, strips; /* two spaces and more are one; what Strip does before, behind the rest */
    Charsmap charsmap;
} Unigram;

/* The best path to a place of a pre-token: its score, and its last piece. start NO_PIECE: there is no path yet. */
typedef struct { double score; u32 start, id; } Best;

static inline u32 label_of(Cell cell) { return cell.tag & ((1u << LABEL_BITS) - 1); }

/* Returns the id of the piece that ends at a cell, NO_PIECE if none does. */
static inline u32 piece_of(Cell cell) { return (cell.tag >> LABEL_BITS) - 1; }

/* Returns the cell to which p[0 : n] leads from the root, or NO_PIECE. */
static u32 cell_of(const Cell *cells, const u8 *p, i64 n)
{
    u32 at = 0;
    for (i64 k = 0; k < n; k++) {
        u32 next = cells[at].base ^ p[k];
        if (label_of(cells[next]) != p[k])
            return NO_PIECE;
        at = next;
    }
    return at;
}

/* Takes a candidate for the path to a place. The engine offers candidates by rising start: the first one stands, and a later
   one wins only if its score is greater. So NaN never wins. */
static inline void offer(Best *to, double score, u32 start, u32 id)
{
    if (to->start == NO_PIECE || score > to->score)
        to->score = score, to->start = start, to->id = id;
}

/* Offers all pieces that begin at p[from]. Returns 0 if an unknown character is on the path and there is no unknown piece. */
static inline int offer_pieces(const Unigram *u, const u8 *p, i64 from, i64 n, Best *best)
{
    double here = best[from].score;
    int size, has_single;
    u32 c = code_point(p + from, &size), cell = c < FIRST_CELLS ? u->first[c] : cell_of(u->cells, p + from, size);
    i64 at = from + size, single = at;
    has_single = cell != NO_PIECE && piece_of(u->cells[cell]) != NO_PIECE;
    if (has_single)
        offer(best + single, u->scores[piece_of(u->cells[cell])] + here, (u32)from, piece_of(u->cells[cell]));
    while (cell != NO_PIECE && at < n) {
        u32 next = u->cells[cell].base ^ p[at];
        Cell found = u->cells[next];
        if (label_of(found) != p[at])
            break;
        cell = next, at++;
        if (piece_of(found) != NO_PIECE)
            offer(best + at, u->scores[piece_of(found)] + here, (u32)from, piece_of(found));
    }
    if (!has_single)
        offer(best + single, u->scores[u->piece_count] + here, (u32)from, u->unknown);
    return has_single || best[single].start != from || best[single].id != NO_PIECE;
}

/* Writes, last id first, what the engine makes of p[0 : n], characters of the unknown piece: the piece that they are together,
   else one for each byte if all have one, else the unknown piece. Returns how many. */
static i64 unknown_ids(const Unigram *u, const u8 *p, i64 n, u32 *out)
{
    static const u8 mark[] = {0x81, 0x96, 0xE2}; /* U+2581, last byte first */
    u32 cell = cell_of(u->cells, p, n), whole = cell == NO_PIECE ? NO_PIECE : piece_of(u->cells[cell]);
    i64 count = 0;
    out[0] = whole == NO_PIECE ? u->unknown : whole;
    if (whole != NO_PIECE || !u->falls_back)
        return 1;
    for (i64 k = n - 1; k >= 0; k--)
        for (int j = 0; j < (p[k] == MARK_BYTE ? 3 : 1); j++)
            if ((out[count++] = u->byte_ids[p[k] == MARK_BYTE ? mark[j] : p[k]]) == NO_PIECE)
                return out[0] = u->unknown, 1;
    return count;
}

/* Writes the ids of the pre-token p[0 : n], at most 3 n. Returns how many, or -1: the engine fails, since it has no unknown
   piece. `best` has room for n + 1. */
static i64 unigram_ids(const Unigram *u, const u8 *p, i64 n, Best *best, u32 *out)
{
    i64 count = 0;
    int size;
    for (i64 k = 1; k <= n; k++)
        best[k].start = NO_PIECE;
    best[0].score = 0.0;
    for (i64 from = 0; from < n; from += size) {
        if (!offer_pieces(u, p, from, n, best))
            return -1;
        code_point(p + from, &size);
    }
    for (u32 stop = (u32)n, start; stop; stop = start) {
        start = best[stop].start;
        if (best[stop].id == u->unknown) {
            while (start && best[start].id == u->unknown)
                start = best[start].start;
            count += unknown_ids(u, p + start, stop - start, out + count);
        } else
            out[count++] = best[stop].id;
    }
    for (i64 i = 0, j = count - 1; i < j; i++, j--) {
        u32 last = out[j];
        out[j] = out[i], out[i] = last;
    }
    return count;
}
