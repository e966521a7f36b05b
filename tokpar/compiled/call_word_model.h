/* The ids of one word by the file of its model, behind a pre-tokenizer that looks at pairs: WordLevel, WordPiece, or a BPE
   over characters with all its settings. Part of call.c.

   The table of words also has the vocabulary, each token behind the byte BEGINS (call_wordpiece.h). */

enum { WORD_LEVEL, WORD_PIECE, WORD_BPE };
enum { LONGEST_AFFIX = 64 };
static const u32 NO_TOKEN_ID = 0xFFFFFFFE; /* `unk_token` is no token: the engine raises an error */

typedef struct {
    int kind, has_forms; /* has_forms: a normalizer changes characters, see `forms` */
    u32 unknown;         /* NONE: unknown characters vanish */
    int falls_back, fuses, ignores_merges;
    i64 prefix, suffix;  /* bytes of what a BPE puts before all characters of a word but the first, and behind the last */
    const u8 *affixes;   /* the prefix, then the suffix */
    const u32 *char_ids, *byte_ids; /* NONE: no token */
} WordModel;

/* Returns the id of the token p[0 : n], or NONE. p[-1] may be written, and 16 bytes behind the token read. */
static inline u32 token_id(const Words *words, u8 *p, i64 n)
{
    u8 before = p[-1];
    p[-1] = BEGINS;
    const Word *found = n < LONGEST_KEPT ? find_word(words, key_of(p - 1, n + 1), p - 1, n + 1) : NULL;
    p[-1] = before;
    return found ? first_id(words, found) : NONE;
}

/* Returns the id of a character with the prefix, the suffix, or both, or NONE. */
static u32 affixed_id(const WordModel *w, const Words *words, const u8 *p, int size, int is_first, int is_last)
{
    u8 name[2 * LONGEST_AFFIX + 32] = {0};
    i64 n = 1;
    if (!is_first)
        memcpy(name + n, w->affixes, (size_t)w->prefix), n += w->prefix;
    memcpy(name + n, p, (size_t)size), n += size;
    if (is_last)
        memcpy(name + n, w->affixes + w->prefix, (size_t)w->suffix), n += w->suffix;
    return token_id(words, name + 1, n - 1);
}

static int have_names(const u32 *byte_ids, const u8 *p, int size)
{
    int all = 1;
    for (int k = 0; k < size; k++)
        all &= byte_ids[p[k]] != NONE;
    return all;
}

/* Writes the atoms of a word to `id`, and returns how many there are, or OUTSIDE_WORD. As the engine does: an unknown
   token waits for the next character that is known; bytes do not end its waiting. */
enum { OUTSIDE_WORD = -1 };
static i64 atoms_of_word(const WordModel *w, const Words *words, const u8 *p, i64 n, u32 *id)
{
    i64 count = 0;
    int size, waits = 0;
    for (i64 i = 0; i < n; i += size) {
        u32 c = code_point(p + i, &size), known;
        size = i + size > n ? (int)(n - i) : size; /* arrays of a damaged file may have forms that are no UTF-8 */
        int is_first = !i, is_last = i + size >= n;
        int is_bare = (is_first || !w->prefix) && (!is_last || !w->suffix);
        known = is_bare ? (c < 0x110000 ? w->char_ids[c] : NONE) : affixed_id(w, words, p + i, size, is_first, is_last);
        if (known != NONE) {
            if (waits)
                id[count++] = w->unknown;
            id[count++] = known;
            waits = 0;
        } else if (w->falls_back && have_names(w->byte_ids, p + i, size)) {
            for (int k = 0; k < size; k++)
                id[count++] = w->byte_ids[p[i + k]];
        } else if (w->unknown == NO_TOKEN_ID) {
            return OUTSIDE_WORD;
        } else if (w->unknown != NONE) {
            if (waits && !w->fuses)
                id[count++] = w->unknown;
            waits = 1;
        }
    }
    if (waits)
        id[count++] = w->unknown;
    return count;
}
