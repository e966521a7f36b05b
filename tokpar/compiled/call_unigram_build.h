/* Makes the double array of call_unigram.h from the pieces of a Unigram. Part of call.c.

   Needs no GIL. Functions return 0 without memory. */

enum { FEW_LABELS = 8, MOST_TRIED = 1 << 10 };

typedef struct {
    const u8 *data;      /* the pieces, side by side */
    const i64 *ends;
    i64 count;
    u32 *order, *spare;  /* the numbers of the pieces in the order of their bytes */
    Cell *cells;
    u8 *is_used, *is_base; /* of each cell; two nodes never share a base, because labels alone tell their children apart */
    i64 room, top, from[3]; /* cells; behind the last used one; where cells for 1, for few and for many labels are sought */
} Cells;

/* The pieces order[low : high] share their first `depth` bytes, which lead to the cell `cell`. */
typedef struct { u32 cell, low, high, depth; } Branch;

static inline const u8 *piece_bytes(const Cells *c, u32 piece, i64 *n)
{
    i64 start = piece ? c->ends[piece - 1] : 0;
    *n = c->ends[piece] - start;
    return c->data + start;
}

static int compare_pieces(const Cells *c, u32 one, u32 other)
{
    i64 n, m;
    const u8 *p = piece_bytes(c, one, &n), *q = piece_bytes(c, other, &m);
    int found = memcmp(p, q, (size_t)(n < m ? n : m));
    return found ? found : (n > m) - (n < m);
}

/* Sorts the pieces by their bytes; of equal ones the last comes last. */
static void sort_pieces(Cells *c, i64 count)
{
    for (i64 width = 1; width < count; width *= 2) {
        for (i64 low = 0; low < count; low += 2 * width) {
            i64 middle = low + width < count ? low + width : count, high = middle + width < count ? middle + width : count;
            for (i64 i = low, j = middle, k = low; k < high; k++)
                c->spare[k] = j == high || (i < middle && compare_pieces(c, c->order[i], c->order[j]) <= 0) ? c->order[i++]
                                                                                                           : c->order[j++];
        }
        u32 *sorted = c->spare;
        c->spare = c->order, c->order = sorted;
    }
}

/* Makes room for the block of 256 cells that has the cell `at`. */
static int reach_cell(Cells *c, i64 at)
{
    if ((at | 255) < c->room)
        return 1;
    i64 wanted = 2 * (at | 255) + 2;
    Cell *cells = realloc(c->cells, sizeof(Cell) * (size_t)wanted);
    c->cells = cells ? cells : c->cells;
    u8 *is_used = realloc(c->is_used, (size_t)wanted);
    c->is_used = is_used ? is_used : c->is_used;
    u8 *is_base = realloc(c->is_base, (size_t)wanted);
    c->is_base = is_base ? is_base : c->is_base;
    if (!cells || !is_used || !is_base)
        return 0;
    memset(is_used + c->room, 0, (size_t)(wanted - c->room)), memset(is_base + c->room, 0, (size_t)(wanted - c->room));
    c->room = wanted;
    return 1;
}

static int is_free_base(const Cells *c, i64 base, const u8 *labels, int count)
{
    int is_free = base && !c->is_base[base];
    for (int k = 0; is_free && k < count; k++)
        is_free = !c->is_used[base ^ labels[k]];
    return is_free;
}

/* Returns a base at which all labels have a free cell, or 0 without memory. What is searched in vain too long is not searched
   again for as many labels: so building takes time for each node, not for each pair of them. */
static i64 find_base(Cells *c, const u8 *labels, int count)
{
    i64 *from = c->from + (count == 1 ? 0 : count <= FEW_LABELS ? 1 : 2);
    while (*from < c->room && c->is_used[*from])
        ++*from;
    for (i64 at = *from;; at++) {
        if (!reach_cell(c, at))
            return 0;
        if (!c->is_used[at] && is_free_base(c, at ^ labels[0], labels, count)) {
            if (at - *from > MOST_TRIED)
                *from = at;
            return at ^ labels[0];
        }
    }
}

/* Places the children of a branch. Puts them on the stack, and returns their number; -1 without memory. */
static int place_children(Cells *c, Branch b, Branch *stack)
{
    u8 labels[256];
    int count = 0;
    i64 n;
    u32 k = b.low;
    while (k < b.high && (piece_bytes(c, c->order[k], &n), n == b.depth))
        k++;
    for (; k < b.high; k++) {
        u8 label = piece_bytes(c, c->order[k], &n)[b.depth];
        if (!count || labels[count - 1] != label)
            labels[count] = label, stack[count++] = (Branch){0, k, k, b.depth + 1};
        stack[count - 1].high = k + 1;
    }
    i64 base = count ? find_base(c, labels, count) : 0;
    if (count && !base)
        return -1;
    c->is_base[base] = count > 0;
    c->cells[b.cell].base = (u32)base; /* 0: it has no children */
    for (int j = 0; j < count; j++) {
        i64 at = base ^ labels[j];
        u32 ends = 0;
        for (u32 i = stack[j].low; i < stack[j].high && (piece_bytes(c, c->order[i], &n), n == b.depth + 1); i++)
            ends = c->order[i] + 1; /* the last of equal pieces */
        c->cells[at] = (Cell){0, labels[j] | ends << LABEL_BITS};
        c->is_used[at] = 1, c->top = at >= c->top ? at + 1 : c->top;
        stack[j].cell = (u32)at;
    }
    return count;
}

/* Gives the cells without children, and the free ones, a base in a block of free cells, the last one. */
static int close_cells(Cells *c)
{
    i64 empty = (c->top + 255) & ~(i64)255;
    if (!reach_cell(c, empty))
        return 0;
    for (i64 k = 0; k < empty + 256; k++) {
        if (k && !c->is_used[k])
            c->cells[k] = (Cell){(u32)empty, FREE_LABEL};
        else if (!c->cells[k].base)
            c->cells[k].base = (u32)empty;
    }
    c->top = empty + 256;
    return 1;
}

/* Makes the cells of the pieces that have bytes. `c` has `data`, `ends`, `count` and zeros. */
static int make_cells(Cells *c)
{
    u32 kept = 0;
    i64 most = 1 << 16, waiting = 0, n;
    Branch *stack = malloc(sizeof(Branch) * (size_t)most);
    c->order = malloc(4 * (size_t)(c->count + 1)), c->spare = malloc(4 * (size_t)(c->count + 1));
    int done = stack && c->order && c->spare && reach_cell(c, 0);
    for (u32 k = 0; done && k < c->count; k++)
        if (piece_bytes(c, k, &n), n)
            c->order[kept++] = k;
    if (done) {
        sort_pieces(c, kept);
        c->cells[0] = (Cell){0, FREE_LABEL};
        c->is_used[0] = 1, c->top = 1;
        stack[waiting++] = (Branch){0, 0, kept, 0};
    }
    while (done && waiting) {
        if (waiting + 256 > most) {
            Branch *more = realloc(stack, sizeof(Branch) * (size_t)(most *= 2));
            stack = more ? more : stack, done = more != NULL;
        }
        Branch next = stack[--waiting];
        int count = done ? place_children(c, next, stack + waiting) : -1;
        done = count >= 0, waiting += count;
    }
    free(stack);
    return done && close_cells(c);
}

static void free_cells(Cells *c)
{
    free(c->order), free(c->spare), free(c->cells), free(c->is_used), free(c->is_base);
}

/* Writes the cell of each character below U+10000 (call_unigram.h). */
static void write_first_cells(const Cell *cells, u32 *first)
{
    u8 p[4];
    for (u32 c = 0; c < FIRST_CELLS; c++)
        first[c] = cell_of(cells, p, put_code_point(p, c));
}
