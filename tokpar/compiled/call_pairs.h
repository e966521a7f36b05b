/* Pre-tokens of a pre-tokenizer that looks at two neighbours at a time (theorem 4.8): Whitespace, WhitespaceSplit,
   Punctuation, Digits, BertPreTokenizer, a Split at one character, and rows of them. Part of call.c.

   symbol_of   of each code point, as the pre-tokenizer sees what the normalizer makes of it
   cuts        cuts[a] has bit b if a pre-token ends between two characters of the symbols a and b */

/* GAP: a character between pre-tokens. OPEN: only the engine knows its form, which may depend on its neighbours. PASS: the
   normalizer leaves nothing of it. */
enum { GAP = 61, OPEN = 62, PASS = 63, SYMBOLS_OF_PAIRS = 64 };

typedef struct {
    const u8 *symbol_of;
    const u64 *cuts;
    int is_local; /* the normalizer looks at each character by itself */
} Pairs;

static inline u8 pair_symbol(const Pairs *w, const u8 *p, i64 i, int *size)
{
    return w->symbol_of[code_point(p + i, size)];
}

/* True if ASCII white space between pre-tokens is p[i]: it composes with nothing, so normalizer and pre-tokenizer treat what
   stands before it, and what begins with it, as texts of their own. */
static inline int is_ascii_gap(const Pairs *w, const u8 *p, i64 i) { return p[i] <= ' ' && w->symbol_of[p[i]] == GAP; }

/* True if a section may be cut before p[i], the first byte of a character. */
static inline int is_pair_cut(const Pairs *w, const u8 *p, i64 i)
{
    int size;
    if (is_ascii_gap(w, p, i))
        return 1;
    if (!w->is_local)
        return 0;
    u8 left = w->symbol_of[code_point_before(p, i, &size)], right = pair_symbol(w, p, i, &size);
    return left < OPEN && right < OPEN && (w->cuts[left] >> right & 1 || right == GAP);
}

/* Returns the place of the first OPEN character of p[i : stop], or `stop`. */
static i64 find_open(const Pairs *w, const u8 *p, i64 i, i64 stop)
{
    for (int size; i < stop; i += size) {
        if (!(word_at(p + i) & 0x8080808080808080u))
            size = 8; /* no ASCII character is OPEN */
        else if (pair_symbol(w, p, i, &size) == OPEN)
            return i;
    }
    return stop;
}
