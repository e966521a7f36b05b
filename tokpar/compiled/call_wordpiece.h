/* WordPiece behind BERT's stages (theorem 33): words of a text, what the normalizer makes of their characters,
   and the longest tokens of a word. Part of call.c.

   forms       of each code point: what it is (3 bits), the length of its form (5 bits), the place of the
               form in `form_bytes` (24 bits)
   words       also has the tokens that begin a word, behind the byte 0xFE, and those that go on, without
               their prefix, behind 0xFF: no text has these bytes */

enum {
    SAME,     /* of a word, and the normalizer leaves it as it is */
    CHANGED,  /* of a word; the form may be empty */
    BLANK,    /* ends a word */
    ISOLATED, /* a word by itself */
    CONTEXT   /* only the engine knows its form, which may depend on its neighbours */
};
enum { BEGINS = 0xFE, GOES_ON = 0xFF, GROWTH = 4 /* most bytes of a form for each byte of the character */ };

typedef struct {
    const u32 *forms;
    const u8 *form_bytes;
    u32 unknown;
    i64 most_characters, longest[2]; /* longest token in bytes that begins a word, or goes on */
    i64 prefix; /* bytes of the prefix of tokens that go on */
    u8 ascii_kind[128];
} WordPiece;

/* Writes the form of the word p[0 : n] to `to`. Returns its bytes; `*characters`: its code points. */
static i64 form_of(const WordPiece *w, const u8 *p, i64 n, u8 *to, i64 *characters)
{
    i64 count = 0;
    int size;
    *characters = 0;
    for (i64 i = 0; i < n; i += size) {
        u32 form = w->forms[code_point(p + i, &size)];
        if ((form & 7) == SAME) {
            memcpy(to + count, p + i, (size_t)size);
            count += size, ++*characters;
            continue;
        }
        const u8 *from = w->form_bytes + (form >> 8);
        for (u32 k = 0; k < (form >> 3 & 31); k++) {
            *characters += (from[k] & 0xC0) != 0x80;
            to[count++] = from[k];
        }
    }
    memset(to + count, 0, 16);
    return count;
}

/* Writes the ids of the longest tokens, from the left to the right, of the form p[0 : n] to `out`, and returns
   how many there are; 0 if no token fits at some place. p[-1] may be written, 16 bytes behind the form read. */
static i64 longest_tokens(const WordPiece *w, const Words *words, u8 *p, i64 n, u32 *out)
{
    i64 count = 0;
    for (i64 at = 0, length; at < n; at += length) {
        const Word *token = NULL;
        u8 *key = p + at - 1, before = *key;
        *key = at ? GOES_ON : BEGINS;
        length = w->longest[at > 0] < n - at ? w->longest[at > 0] : n - at;
        for (; length; length--)
            if ((p[at + length] & 0xC0) != 0x80 &&
                (token = find_word(words, key_of(key, length + 1), key, length + 1)))
                break;
        *key = before;
        if (!token)
            return 0;
        out[count++] = first_id(words, token);
    }
    return count;
}

/* Writes the ids of a word to `out`; `room` has space for GROWTH * n bytes, one before and 16 behind. */
static i64 pieces_of(const WordPiece *w, const Words *words, const u8 *p, i64 n, u8 *room, u32 *out)
{
    i64 characters, size = form_of(w, p, n, room, &characters);
    i64 count = characters > w->most_characters ? 0 : longest_tokens(w, words, room, size, out);
    if (count || !size)
        return count;
    out[0] = w->unknown;
    return 1;
}
