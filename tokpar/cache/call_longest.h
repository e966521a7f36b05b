/* The ids of a word of a BPE over bytes without merging: the longest token, if it may stand behind the last one
   (theorem 61). Part of call.c.

   Only canonical tokens count: those that the merges make of their own bytes. The tree of canonical tokens:

     root[symbol]   | DEEPER | PARTIAL | node (22 bits) |     symbol: a byte, or 256 + a character of three bytes
     edges          | DEEPER | PARTIAL | next node | node (22) | symbol (17) |    a slot; 0: free
     best[node]     | size (8) | id (21) |   the longest canonical token that the path to the node begins with

   DEEPER: edges go on from the node; PARTIAL: some of them with the first byte of a character of three.

     tokens[id]               | size | shorter | left | right | rank | level | by_right | by_left |  32 bytes

   size      bytes; 0: the id is of no canonical token
   shorter   the longest canonical token that is a beginning of this one, or NONE
   left, right, rank   its rule: the last merge that makes it; rank NONE: a byte
   level, by_right, by_left   its lambda, r and l (proofs/incremental-bpe.md); -1: a byte */

typedef struct { u32 size, shorter, left, right, rank; int32_t level, by_right, by_left; } Token;

typedef struct { const u64 *edges; u64 mask; const u32 *root, *best; const Token *tokens; } Longest;

enum { NODE = (1 << 22) - 1, PARTIAL = 1 << 22, DEEPER = 1 << 23, EDGE_BITS = 39, ID_OF_BEST = (1 << 21) - 1 };
enum { SYMBOLS = 256 + (1 << 16), LONGEST_TOKEN = 255, PAIRS = 1 << 16 };

/* Returns the symbol at p[0 : n], n > 0, and its bytes. */
static inline u32 symbol_at(const u8 *p, i64 n, i64 *size)
{
    int is_whole = n > 2 && p[0] >> 4 == 14 && p[1] >> 6 == 2 && p[2] >> 6 == 2;
    *size = is_whole ? 3 : 1;
    return is_whole ? 256 + ((p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u)) : p[0];
}

/* Returns the place of the edge in `edges`, or a free one. `key`: node << 17 | symbol. */
static inline u64 edge_place(const u64 *edges, u64 mask, u64 key)
{
    u64 at = key * 0x9E3779B97F4A7C15u >> 24;
    while (edges[at & mask] && (edges[at & mask] & (((u64)1 << EDGE_BITS) - 1)) != key)
        at++;
    return at & mask;
}

/* Returns the node behind a node, with its bits, or 0. `node` 0: the root. */
static inline u32 next_node(const Longest *l, u32 node, u32 symbol)
{
    if (!node)
        return l->root[symbol];
    return (u32)(l->edges[edge_place(l->edges, l->mask, (u64)(node & NODE) << 17 | symbol)] >> EDGE_BITS);
}

/* Returns `best` of the longest canonical token that p[0 : n] begins with; n > 0. */
static inline u32 longest_token(const Longest *l, const u8 *p, i64 n)
{
    i64 size, i = 0;
    u32 node = 0, next = DEEPER | PARTIAL;
    while (i < n && next & DEEPER) {
        u32 symbol = symbol_at(p + i, n - i, &size);
        if ((next = next_node(l, node, symbol)) == 0) {
            int may_go_on = size == 3 && (!node || node & PARTIAL);
            for (i64 k = i; may_go_on && k < i + 2 && (next = next_node(l, node, p[k])); k++)
                node = next;
            break;
        }
        node = next, i += size;
    }
    return l->best[node & NODE];
}

/* True if the merges leave u and v side by side as they are ("Neighbours" of proofs/incremental-bpe.md): the
   steps of both are undone, the later one first. */
static int are_neighbours(const Longest *l, const Merges *m, u32 u, u32 v)
{
    i64 limit = NONE; /* above all ranks */
    for (;;) {
        u32 rank = rank_of(m, u, v);
        const Token *x = l->tokens + u, *y = l->tokens + v;
        if (rank < limit) {
            const Token *made = l->tokens + m->made[rank];
            if (made->size && made->rank == rank && made->left == u && made->right == v)
                return 0;
        }
        if (x->level < 0 && y->level < 0)
            return 1;
        if (x->level > y->level)
            limit = x->by_right, u = x->right;
        else
            limit = (i64)y->by_left + 1, v = y->left;
    }
}

/* The same, answered from `known`, of PAIRS slots, if it was asked lately. */
static inline int may_follow(const Longest *l, const Merges *m, u64 *known, u32 u, u32 v)
{
    u64 key = ((u64)u << 21 | v) + 1, *slot = known + (key * 0x9E3779B97F4A7C15u >> 48);
    if (*slot >> 1 != key)
        *slot = key << 1 | (u64)are_neighbours(l, m, u, v);
    return *slot & 1;
}

/* Writes the ids of p[0 : n], and returns how many there are; -1 if canonical tokens of the tree do not make the
   word. `dead`: n / 64 + 1 zeros, a bit for each place behind which nothing fits. */
static i64 longest_ids(const Longest *l, const Merges *m, u64 *known, const u8 *p, i64 n, u32 *id, u64 *dead)
{
    i64 count = 0, at = 0;
    u32 best = longest_token(l, p, n), token = best & ID_OF_BEST;
    i64 end = best >> 21;
    for (;;) {
        if (!(dead[end >> 6] >> (end & 63) & 1) && (!count || may_follow(l, m, known, id[count - 1], token))) {
            id[count++] = token;
            if ((at = end) == n)
                return count;
            best = longest_token(l, p + at, n - at), token = best & ID_OF_BEST;
            end = at + (best >> 21);
            continue;
        }
        while ((token = l->tokens[token].shorter) == NONE) {
            if (!count)
                return -1;
            dead[at >> 6] |= (u64)1 << (at & 63);
            token = id[--count];
            at -= l->tokens[token].size;
        }
        end = at + l->tokens[token].size;
    }
}

/* ---- making the tree */

typedef struct { u64 *edges; u64 mask; u32 *root, *best, nodes; Token *tokens; Words canonical; } Planting;

/* Makes a token canonical if the merges make it of its bytes p[0 : n]. */
static void find_rule(const Merges *m, const u32 *byte_ids, const u8 *p, i64 n, u32 id, Token *token)
{
    u32 part[LONGEST_TOKEN], least = NONE, left = 0, right = 0, rank = NONE, size = (u32)n;
    for (i64 i = 0; i < n; i++)
        part[i] = byte_ids[p[i]];
    for (; n > 1; n--, rank = least) {
        i64 at = 0;
        least = NONE;
        for (i64 i = 0; i + 1 < n; i++) {
            u32 found = rank_of(m, part[i], part[i + 1]);
            if (found < least)
                least = found, at = i;
        }
        if (least == NONE)
            return;
        left = part[at], right = part[at + 1];
        part[at] = m->made[least];
        memmove(part + at + 1, part + at + 2, 4 * (size_t)(n - at - 2));
    }
    if (part[0] == id)
        *token = (Token){size, NONE, left, right, rank, rank == NONE ? -1 : -2, -1, -1};
}

/* Computes the levels of a canonical token behind those of its parts. */
static void find_level(Token *tokens, Token *t)
{
    if (t->level != -2)
        return;
    Token *p = tokens + t->left, *s = tokens + t->right;
    find_level(tokens, p), find_level(tokens, s);
    int32_t rank = (int32_t)t->rank, behind = s->level > rank ? s->level : rank;
    t->level = p->level > behind ? p->level : behind;
    t->by_right = t->level > s->level ? t->level : rank;
    t->by_left = behind == t->level ? t->level : rank;
}

/* Returns `best` of the longest canonical token that p[0 : n] begins with, or NONE. */
static u32 longest_beginning(const Words *canonical, const u8 *p, i64 n)
{
    for (; n > 0; n--) {
        const Word *found = find_word(canonical, key_of(p, n), p, n);
        if (found)
            return (u32)n << 21 | (found->id[0] & ID_OF_BEST);
    }
    return NONE;
}

/* Adds a canonical token, p[0 : n], to the tree. */
static void plant_token(Planting *tree, const u8 *p, i64 n)
{
    u64 *edge = NULL; /* to the node */
    u32 node = 0, first = 0, next;
    for (i64 i = 0, size; i < n; i += size, node = next & NODE) {
        u32 symbol = symbol_at(p + i, n - i, &size), bits = DEEPER | (p[i] >> 4 == 14 && size == 1 ? PARTIAL : 0);
        u64 key = (u64)node << 17 | symbol, place = edge_place(tree->edges, tree->mask, key);
        if (edge)
            *edge |= (u64)bits << EDGE_BITS;
        else if (i)
            tree->root[first] |= bits;
        next = i ? (u32)(tree->edges[place] >> EDGE_BITS) : tree->root[first = symbol];
        if (!next) {
            next = ++tree->nodes;
            tree->best[next] = longest_beginning(&tree->canonical, p, i + size);
            if (i)
                tree->edges[place] = (u64)next << EDGE_BITS | key;
            else
                tree->root[symbol] = next;
        }
        edge = i ? tree->edges + place : NULL;
    }
}

static void free_planting(Planting *tree)
{
    free(tree->edges), free(tree->root), free(tree->best), free(tree->tokens);
    free_words(&tree->canonical);
}

/* Moves the edges into a table that is at most two thirds full. Returns 0 without memory. */
static int pack_edges(Planting *tree)
{
    u64 slots = 16;
    while (2 * slots < 3 * (u64)tree->nodes)
        slots *= 2;
    u64 *edges = calloc((size_t)slots, 8);
    for (u64 k = 0; edges && k <= tree->mask; k++)
        if (tree->edges[k])
            edges[edge_place(edges, slots - 1, tree->edges[k] & (((u64)1 << EDGE_BITS) - 1))] = tree->edges[k];
    free(tree->edges);
    tree->edges = edges, tree->mask = slots - 1;
    return edges != NULL;
}

/* Makes the tree of `count` tokens: their bytes, where each ends, and their ids, all less than `top`. Returns 0
   without memory; then, too, the tree is to be freed. */
static int plant(Planting *tree, const Merges *m, const u32 *byte_ids, const u8 *data, const i64 *ends, const u32 *ids,
                 i64 count, i64 top)
{
    i64 total = count ? ends[count - 1] : 0;
    u64 slots = 16, words = 16;
    while ((i64)slots < 2 * total)
        slots *= 2;
    while ((i64)words < 4 * count)
        words *= 2;
    tree->mask = slots - 1, tree->canonical.mask = words - 1;
    tree->canonical.keys_room = total + 4 * count + 16;
    tree->edges = calloc((size_t)slots, 8), tree->root = calloc(SYMBOLS, 4), tree->best = malloc(4 * (size_t)total + 4);
    tree->tokens = calloc((size_t)top, sizeof(Token)), tree->canonical.slot = calloc((size_t)words, sizeof(Word));
    tree->canonical.keys = malloc((size_t)tree->canonical.keys_room);
    if (!tree->edges || !tree->root || !tree->best || !tree->tokens || !tree->canonical.slot || !tree->canonical.keys)
        return 0;
    tree->best[0] = NONE;
    for (i64 k = 0, start = 0; k < count; start = ends[k++]) {
        i64 n = ends[k] - start;
        Token *token = tree->tokens + ids[k];
        if (n < 1 || n > LONGEST_TOKEN)
            continue;
        find_rule(m, byte_ids, data + start, n, ids[k], token);
        if (token->size)
            put_word(&tree->canonical, key_of(data + start, n), data + start, n, ids + k, 1, 0);
    }
    for (i64 k = 0, start = 0; k < count; start = ends[k++]) {
        Token *token = tree->tokens + ids[k];
        if (!token->size)
            continue;
        find_level(tree->tokens, token);
        u32 shorter = longest_beginning(&tree->canonical, data + start, token->size - 1);
        token->shorter = shorter == NONE ? NONE : shorter & ID_OF_BEST;
        plant_token(tree, data + start, token->size);
    }
    return pack_edges(tree);
}
