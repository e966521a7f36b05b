/* The ids of a word of a BPE over bytes without merging: the longest token, if it may stand behind the last one
   (theorem 61). Part of call.c.

   Only canonical tokens count: those that the merges make of their own bytes. The tree of canonical tokens:

     root[symbol]   | DEEPER (12) | size (8) | id (21) | PARTIAL | node (22) |   symbol: a byte, or 256 + a character of three
     edges          | node (22) | symbol (17) |, then a word as in `root`        a slot; 0: free

   size, id   of the longest canonical token that the path to the node begins with
   DEEPER     a bit for the hash of the symbol of each edge that goes on from the node, so most symbols without an edge
              cost no look; PARTIAL: some of them with the first byte of a character of three

     joins    (last symbol of the left part, first symbol of the right part) of each rule. 2^20 bits: a bit for the hash of
              each pair with a character of three. AFTER_BYTE, BEFORE_BYTE: bits for the characters of three that stand behind,
              or before, a byte of another one in a pair. OF_BYTES: a bit for each pair of bytes

     tokens[id]               | size | shorter | left | right | rank | level | by_right | by_left |  32 bytes

   size      bytes; 0: the id is of no canonical token
   shorter   the longest canonical token that is a beginning of this one, or NONE
   left, right, rank   its rule: the last merge that makes it; rank NONE: a byte
   level, by_right, by_left   its lambda, r and l (proofs/incremental-bpe.md); -1: a byte */

enum { AHEAD = 96 }; /* bytes whose edges are fetched */

typedef struct { u32 size, shorter, left, right, rank; int32_t level, by_right, by_left; } Token;

typedef struct { u64 *edges, mask, *root, *joins; Token *tokens; } Longest;

enum { NODE = (1 << 22) - 1, PARTIAL = 1 << 22, ID_AT = 23, SIZE_AT = 44, MOST_IDS = 1 << 21, DEEPER_AT = 52 };
enum { SYMBOLS = 256 + (1 << 16), LONGEST_TOKEN = 255, PAIRS = 1 << 16, JOINS = 1 << 20 };
enum { AFTER_BYTE = JOINS / 64, BEFORE_BYTE = AFTER_BYTE + SYMBOLS / 64, OF_BYTES = BEFORE_BYTE + SYMBOLS / 64 };
enum { JOIN_WORDS = OF_BYTES + (1 << 16) / 64 }; /* words of `joins` */
enum { FEW_IDS = 1 << 18 }; /* `tokens` has at most eight times as many items as there are tokens, and so many more */

/* Returns the symbol at p[0 : n], n > 0, and its bytes. */
static inline u32 symbol_at(const u8 *p, i64 n, i64 *size)
{
    int is_whole = n > 2 && p[0] >> 4 == 14 && p[1] >> 6 == 2 && p[2] >> 6 == 2;
    *size = is_whole ? 3 : 1;
    return is_whole ? 256 + ((p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u)) : p[0];
}

/* Returns the last symbol of p[0 : n], n > 0. */
static inline u32 symbol_before(const u8 *p, i64 n)
{
    i64 size = 0;
    u32 whole = n > 2 ? symbol_at(p + n - 3, 3, &size) : 0;
    return size == 3 ? whole : p[n - 1];
}

static inline u64 edge_place(u64 key) { return key * 0x9E3779B97F4A7C15u >> 24; }

/* Returns the slot of an edge, or a free one. `key`: node << 17 | symbol. */
static inline u64 *edge_slot_of(u64 *edges, u64 mask, u64 key)
{
    u64 at = edge_place(key);
    while (edges[2 * (at & mask)] && edges[2 * (at & mask)] != key)
        at++;
    return edges + 2 * (at & mask);
}

static inline u64 edge_bit(u32 symbol) { return (u64)1 << (DEEPER_AT + (symbol * 0x9E3779B1u >> 16) * 12 / 65536); }

static inline u32 id_of(u64 node) { return (u32)(node >> ID_AT) % MOST_IDS; }

static inline i64 size_of(u64 node) { return (u8)(node >> SIZE_AT); }

/* Returns the word of the node behind a node, or 0. `node` 0: the root. */
static inline u64 next_node(const Longest *l, u64 node, u32 symbol)
{
    if (!node)
        return l->root[symbol];
    return node & edge_bit(symbol) ? edge_slot_of(l->edges, l->mask, (node & NODE) << 17 | symbol)[1] : 0;
}

/* Returns the word of the last node on the way of p[0 : n], n > 0: it has the longest canonical token. */
static inline u64 longest_token(const Longest *l, const u8 *p, i64 n)
{
    i64 size, i = 0;
    u64 node = 0;
    for (; i < n && (!i || node >> DEEPER_AT); i += size) {
        u32 symbol = symbol_at(p + i, n - i, &size);
        u64 next = next_node(l, node, symbol);
        if (!next) {
            int may_go_on = size == 3 && (!node || node & PARTIAL);
            for (i64 k = i; may_go_on && k < i + 2 && (next = next_node(l, node, p[k])); k++)
                node = next;
            break;
        }
        node = next;
    }
    return node;
}

static inline u64 join_place(u32 left, u32 right) { return (((u64)left << 17 | right) * 0x9E3779B97F4A7C15u) >> 44; }

static inline int has_join(const Longest *l, u32 left, u32 right)
{
    u64 bit = join_place(left, right);
    return l->joins[bit >> 6] >> (bit & 63) & 1;
}

static inline int has_bit(const Longest *l, int table, u32 place) { return l->joins[table + (place >> 6)] >> (place & 63) & 1; }

/* True if a rule may join an end of p[0 : at] with a beginning of p[at : n]: both have a whole character beside the
   cut, or only bytes of it. */
static inline int may_join(const Longest *l, const u8 *p, i64 at, i64 n)
{
    i64 size;
    u32 left = symbol_before(p, at), right = symbol_at(p + at, n - at, &size), byte = p[at - 1], first = p[at];
    if (has_bit(l, OF_BYTES, byte << 8 | first))
        return 1;
    if (left < 256 && right < 256)
        return 0;
    return has_join(l, left, right) || (left > 255 && right > 255 &&
           ((has_bit(l, AFTER_BYTE, right) && has_join(l, byte, right)) || (has_bit(l, BEFORE_BYTE, left) && has_join(l, left, first))));
}

/* Notes a rule whose left part ends with `left`, and whose right part begins with `right`. */
static void add_join(u64 *joins, u32 left, u32 right)
{
    if (left < 256 && right < 256) {
        joins[OF_BYTES + (left << 2 | right >> 6)] |= (u64)1 << (right & 63);
        return;
    }
    u64 bit = join_place(left, right);
    joins[bit >> 6] |= (u64)1 << (bit & 63);
    if (left >= 0x80 && left < 256)
        joins[AFTER_BYTE + (right >> 6)] |= (u64)1 << (right & 63);
    if (right >= 0x80 && right < 256)
        joins[BEFORE_BYTE + (left >> 6)] |= (u64)1 << (left & 63);
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

/* Fetches the first edge of what may begin at each place of p[at : stop]. */
static inline void fetch_edges(const Longest *l, const u8 *p, i64 at, i64 stop, i64 n)
{
    i64 size, next;
    if (at >= n)
        return;
    u32 symbol = symbol_at(p + at, n - at, &size);
    for (; at < stop && at + size < n; at += size, size = next) {
        u64 node = l->root[symbol];
        u32 left = symbol;
        symbol = symbol_at(p + at + size, n - at - size, &next);
        fetch(l->joins + (join_place(left, symbol) >> 6));
        if (node & edge_bit(symbol))
            fetch(l->edges + 2 * (edge_place((node & NODE) << 17 | symbol) & l->mask));
    }
}

/* Writes the ids of p[0 : n], and returns how many there are; -1 if canonical tokens of the tree do not make the
   word. `dead`: n / 64 + 1 zeros, a bit for each place behind which nothing fits. */
static i64 longest_ids(const Longest *l, const Merges *m, u64 *known, const u8 *p, i64 n, u32 *id, u64 *dead)
{
    i64 count = 0, at = 0, fetched = AHEAD;
    fetch_edges(l, p, 0, fetched, n);
    u64 node = longest_token(l, p, n);
    u32 token = id_of(node);
    i64 end = size_of(node);
    for (;;) {
        if (end > n)
            return -1; /* a damaged tree: the merges encode the word */
        if (!(dead[end >> 6] >> (end & 63) & 1) &&
            (!count || !may_join(l, p, at, n) || may_follow(l, m, known, id[count - 1], token))) {
            id[count++] = token;
            if ((at = end) == n)
                return count;
            if (fetched < at + AHEAD / 2) {
                fetched = at + AHEAD;
                fetch_edges(l, p, at + AHEAD / 2, fetched, n);
            }
            node = longest_token(l, p + at, n - at);
            token = id_of(node);
            end = at + size_of(node);
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

typedef struct { Longest tree; u64 nodes; Words canonical; } Planting;

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

/* Returns size and id of the longest canonical token that p[0 : n] begins with, as the word of a node; 0: none. */
static u64 longest_beginning(const Words *canonical, const u8 *p, i64 n)
{
    const Word *found = NULL;
    while (n > 0 && !(found = find_word(canonical, key_of(p, n), p, n)))
        n--;
    return found ? (u64)n << SIZE_AT | (u64)first_id(canonical, found) << ID_AT : 0;
}

/* Adds a canonical token, p[0 : n], to the tree. */
static void plant_token(Planting *plant, const u8 *p, i64 n)
{
    Longest *l = &plant->tree;
    u64 *word = NULL; /* of the node */
    for (i64 i = 0, size; i < n; i += size) {
        u32 symbol = symbol_at(p + i, n - i, &size);
        u64 key = word ? (*word & NODE) << 17 | symbol : 0;
        u64 *slot = word ? edge_slot_of(l->edges, l->mask, key) : NULL;
        if (word)
            *word |= edge_bit(symbol) | (p[i] >> 4 == 14 && size == 1 ? PARTIAL : 0), *slot = key;
        word = word ? slot + 1 : l->root + symbol;
        if (!*word)
            *word = longest_beginning(&plant->canonical, p, i + size) | ++plant->nodes;
    }
}

static void free_planting(Planting *plant)
{
    Longest *l = &plant->tree;
    free(l->edges), free(l->root), free(l->joins), free(l->tokens);
    free_words(&plant->canonical);
}

/* Moves the edges into a table that is at most two thirds full. Returns 0 without memory. */
static int pack_edges(Planting *plant)
{
    Longest *l = &plant->tree;
    u64 slots = 16, *edges;
    while (2 * slots < 3 * plant->nodes)
        slots *= 2;
    if (!(edges = calloc((size_t)slots, 16)))
        return 0;
    for (u64 k = 0; k <= l->mask; k++)
        if (l->edges[2 * k])
            memcpy(edge_slot_of(edges, slots - 1, l->edges[2 * k]), l->edges + 2 * k, 16);
    free(l->edges);
    l->edges = edges, l->mask = slots - 1;
    return 1;
}

/* Makes the tree of `count` tokens: their bytes, where each ends, and their ids, all less than `top`. Returns 0
   without memory; then, too, the tree is to be freed. */
static int plant_tokens(Planting *plant, const Merges *m, const u32 *byte_ids, const u8 *data, const i64 *ends,
                        const u32 *ids, i64 count, i64 top)
{
    Longest *l = &plant->tree;
    Words *words = &plant->canonical;
    i64 total = count ? ends[count - 1] : 0;
    u64 slots = 16, room = 16;
    int has_room = total < NODE && top <= MOST_IDS && top <= 8 * count + FEW_IDS;
    for (i64 k = 0, start = 0; k < count; start = ends[k++])
        has_room &= ends[k] - start <= LONGEST_TOKEN && ids[k] < top;
    if (!has_room)
        return 1; /* no tree, because all rules count, or ids lie far apart: the merges encode all words */
    while ((i64)slots < 2 * total)
        slots *= 2;
    while ((i64)room < 4 * count)
        room *= 2;
    l->mask = slots - 1, words->mask = room - 1;
    words->keys_room = total + 4 * count + 16;
    l->edges = calloc((size_t)slots, 16), l->root = calloc(SYMBOLS, 8), l->joins = calloc(JOIN_WORDS, 8);
    l->tokens = calloc((size_t)top, sizeof(Token));
    words->slot = calloc((size_t)room, sizeof(Word)), words->keys = malloc((size_t)words->keys_room);
    if (!l->edges || !l->root || !l->joins || !l->tokens || !words->slot || !words->keys)
        return 0;
    for (i64 k = 0, start = 0; k < count; start = ends[k++]) {
        i64 n = ends[k] - start;
        if (n < 1)
            continue;
        find_rule(m, byte_ids, data + start, n, ids[k], l->tokens + ids[k]);
        if (l->tokens[ids[k]].size)
            put_word(words, key_of(data + start, n), data + start, n, ids + k, 1, 0);
    }
    for (i64 k = 0, start = 0, size; k < count; start = ends[k++]) {
        Token *token = l->tokens + ids[k];
        const u8 *p = data + start;
        if (!token->size)
            continue;
        find_level(l->tokens, token);
        u64 shorter = longest_beginning(words, p, token->size - 1);
        token->shorter = shorter ? id_of(shorter) : NONE;
        plant_token(plant, p, token->size);
        if (token->rank == NONE)
            continue;
        i64 at = l->tokens[token->left].size;
        add_join(l->joins, symbol_before(p, at), symbol_at(p + at, token->size - at, &size));
    }
    return pack_edges(plant);
}
