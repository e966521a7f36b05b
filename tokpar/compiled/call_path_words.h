/* The best path over a whole text, word by word (theorem 65, proofs/65-words-with-room.md). Part of call.c.

   A word goes from one MARK_BYTE to the next; all paths meet there. The path of a word is found once, from 0 and in 64 bits,
   with its *room*: sums of 32 bits choose the same path wherever one addition is off by less than the room. A learned word
   has its ids, and behind them the extent of its sums, a whole number, over ROOM_BITS of the room: the greatest e with
   2^e below it, plus ROOM_ZERO; sums below 100,000 need no e beyond -8. */

enum { ROOM_BITS = 5, ROOM_ZERO = 32, MOST_EXTENT = 100000, HALF_UNIT = 127 + 24 };
static const double DOUBLE_ERROR = 4.0 / 9007199254740992.0; /* of a lead, for each addition: two sums, twice 2^-53 */

/* `second`: the greatest score of another candidate for the place. `chars`: of the word up to it. */
typedef struct { double score, second; u32 start, id, chars; } RoomNode;
typedef struct { RoomNode *nodes; double extent; } RoomPath;

static inline void offer_room(RoomPath *path, i64 stop, double score, i64 start, u32 id)
{
    RoomNode *to = path->nodes + stop;
    if (score > path->extent || -score > path->extent)
        path->extent = score < 0 ? -score : score;
    if (to->start == NO_PIECE || score > to->score)
        to->second = to->start == NO_PIECE ? to->second : to->score, to->score = score, to->start = (u32)start, to->id = id;
    else if (score > to->second)
        to->second = score;
}

/* Finds the best path over the word p[0 : n] from the sum 0, in 64 bits. */
static void find_room_path(const PathModel *m, const u8 *p, i64 n, RoomPath *path)
{
    RoomNode *nodes = path->nodes;
    for (i64 k = 0; k <= n; k++)
        nodes[k] = (RoomNode){0.0, -INFINITY, NO_PIECE, 0, 0};
    for (i64 from = 0, single; from < n; from = single) {
        int size;
        u32 c = code_point(p + from, &size), cell = c < FIRST_CELLS ? m->first[c] : cell_of(m->cells, p + from, size);
        i64 at = single = from + size;
        int has_single = cell != NO_PIECE && piece_of(m->cells[cell]) != NO_PIECE;
        double here = nodes[from].score;
        nodes[single].chars = nodes[from].chars + 1;
        if (has_single)
            offer_room(path, single, here + m->scores[piece_of(m->cells[cell])], from, piece_of(m->cells[cell]));
        while (cell != NO_PIECE && at < n) {
            u32 next = m->cells[cell].base ^ p[at];
            Cell found = m->cells[next];
            if (label_of(found) != p[at])
                break;
            cell = next, at++;
            if (piece_of(found) != NO_PIECE)
                offer_room(path, at, here + m->scores[piece_of(found)], from, piece_of(found));
        }
        if (!has_single)
            offer_room(path, single, here + m->scores[m->piece_count], from, m->unknown);
    }
}

/* Returns the greatest e below 0 with 2^e below the room of the path over n bytes; -ROOM_ZERO: less room, or none. */
static int room_of(const RoomPath *path, i64 n)
{
    double room = INFINITY;
    for (u32 at = (u32)n; at; at = path->nodes[at].start) {
        const RoomNode *each = path->nodes + at;
        double own = (each->score - each->second - DOUBLE_ERROR * each->chars * path->extent) / (2.0 * each->chars);
        room = own < room ? own : room;
    }
    int e = -ROOM_ZERO;
    for (double power = 1.0 / 2147483648.0; e < -1 && power < room; power *= 2) /* 2^-31 */
        e++;
    return e;
}

/* Writes the row of a learned word: ids, extent and room. Returns its items, 0 for a word that is not learned: a character is
   unknown, or the sums are too large. */
static i64 room_row(const PathModel *m, const RoomPath *path, i64 n, u32 *row)
{
    i64 count = 0;
    if (!(path->extent < MOST_EXTENT))
        return 0;
    for (u32 at = (u32)n; at; at = path->nodes[at].start) {
        if (path->nodes[at].id == m->unknown)
            return 0;
        row[count++] = path->nodes[at].id;
    }
    for (i64 i = 0, j = count - 1; i < j; i++, j--) {
        u32 last = row[j];
        row[j] = row[i], row[i] = last;
    }
    row[count] = ((u32)path->extent + 2) << ROOM_BITS | (u32)(room_of(path, n) + ROOM_ZERO);
    return count + 1;
}

/* True if 32 bits choose the path of a learned word behind the sum `base`. No sum of the word is farther from 0 than 1.01 times
   |base| and the extent: at most LONGEST_KEPT additions, each off by 2^-24 of the sum. */
static inline int has_enough_room(u32 head, float base)
{
    union { float number; u32 bits; } far = {1.01f * ((base < 0 ? -base : base) + (float)(head >> ROOM_BITS))};
    int half_unit = (int)(far.bits >> 23) - HALF_UNIT;
    return far.number < SUM_LIMIT && half_unit <= (int)(head & ((1u << ROOM_BITS) - 1)) - ROOM_ZERO;
}

typedef struct { float base; int ends_unknown; } PathState;

/* Writes the ids of p[0 : n], behind the sum of the state, to s->out[count:]. Returns the new count or NO_MEMORY. */
static i64 encode_from(const PathModel *m, Scratch *s, const u8 *p, i64 n, i64 count, PathState *state)
{
    if (!has_room(&s->work, &s->work_room, (n + 1) * (i64)sizeof(PathNode), 1))
        return NO_MEMORY;
    PathNode *best = s->work;
    state->base = find_path(m, p, n, state->base, best);
    return count + path_ids(m, p, n, best, s->out + count, &state->ends_unknown);
}

/* Writes the row of the word p[0 : n] to `row`. Returns its items, 0 if it has none, or NO_MEMORY. */
static i64 word_row(const Tables *t, Scratch *s, const u8 *p, i64 n, u32 *row)
{
    Key key = key_of(p, n);
    const Word *known = s->learned.slot ? find_word(&s->learned, key, p, n) : NULL;
    if (LIKELY(known != NULL))
        return copy_ids(&s->learned, known, row);
    if (!has_room(&s->work, &s->work_room, (n + 1) * (i64)sizeof(RoomNode), 1))
        return NO_MEMORY;
    RoomPath path = {s->work, 0.0};
    find_room_path(&t->path, p, n, &path);
    i64 count = room_row(&t->path, &path, n, row);
    if (count)
        learn(t, s, key, p, n, row, count, PART);
    return count;
}

/* The same as `encode_from` for a word. */
static i64 encode_path_word(const Tables *t, Scratch *s, const u8 *p, i64 n, i64 count, PathState *state)
{
    u32 *row = s->out + count;
    i64 items = n > LONGEST_KEPT ? 0 : word_row(t, s, p, n, row);
    if (items < 0)
        return items;
    if (!items || !has_enough_room(row[items - 1], state->base))
        return encode_from(&t->path, s, p, n, count, state);
    for (i64 k = 0; k < items - 1; k++)
        state->base = t->path.scores[row[k]] + state->base;
    state->ends_unknown = 0;
    return count + items - 1;
}
