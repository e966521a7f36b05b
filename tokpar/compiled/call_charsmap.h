/* What the normalizers before a Unigram make of each character and cluster (proofs/compiled-call.md). Part of call.c.

   forms    of each code point: three flags, and above them the place of its form in `texts`, if it IS_CHANGED
   texts    forms and replacements, each with a zero behind it
   keys     the double array of Precompiled (facts/charsmap.py)
   patterns strings of ASCII that a Replace looks for, each with a zero behind it, and one more zero

   Precompiled replaces a grapheme cluster below LEAST_LONG bytes by the shortest key at its start, else each character by its
   form. A cluster is a character and those behind it that JOIN, or CR LF. A character with all three flags, IS_CONTEXT, and one
   that IS_STRICT before one that joins, are left to the engine. */

enum { IS_CHANGED = 1, JOINS_LEFT = 2, IS_STRICT = 4, IS_CONTEXT = 7, FORM_BITS = 3, LEAST_LONG = 6 };
enum { STRIPS_LEFT = 1, STRIPS_RIGHT = 2 };

typedef struct {
    const u32 *forms, *keys; /* forms: NULL without normalizers */
    const u8 *texts, *key_texts, *patterns;
    i64 text_bytes, key_count, key_text_bytes, pattern_bytes;
} Charsmap;

static inline u32 key_offset(u32 unit) { return unit >> 10 << ((unit & 512) >> 6); }

/* Returns the replacement of the shortest key that p[0 : n] begins with, or NULL. */
static const u8 *replacement_of(const Charsmap *m, const u8 *p, i64 n)
{
    i64 at = m->key_count ? key_offset(m->keys[0]) : 0;
    for (i64 k = 0; k < n; k++) {
        at ^= p[k];
        u32 unit = at < m->key_count ? m->keys[at] : 0;
        if ((unit & 0x800000FFu) != p[k])
            return NULL;
        at ^= key_offset(unit);
        if (unit >> 8 & 1) {
            i64 place = at < m->key_count ? m->keys[at] & 0x7FFFFFFF : m->key_text_bytes;
            return place < m->key_text_bytes ? m->key_texts + place : NULL;
        }
    }
    return NULL;
}

/* True if a Replace finds something in p[0 : n]. */
static int has_pattern(const Charsmap *m, const u8 *p, i64 n)
{
    for (const u8 *each = m->patterns; m->pattern_bytes && *each; each += strlen((const char *)each) + 1) {
        i64 size = (i64)strlen((const char *)each);
        for (const u8 *at = p; (at = memchr(at, *each, (size_t)(p + n - at))) && at + size <= p + n; at++)
            if (!memcmp(at, each, (size_t)size))
                return 1;
    }
    return 0;
}

/* Returns where the cluster ends whose first character is before p[i], or -1 for one that is left to the engine.
   `form`: of the first character. */
static i64 cluster_end(const Charsmap *m, const u8 *p, i64 start, i64 i, i64 n, u32 form)
{
    int size, is_joiner = 0;
    i64 first = i - start;
    while (i < n) {
        u32 c = code_point(p + i, &size), next = m->forms[c];
        if (!(next & JOINS_LEFT))
            break;
        if ((next & IS_CONTEXT) == IS_CONTEXT || form & IS_STRICT || (first == 3 && i == start + 3 && size == 2))
            return -1; /* a syllable, picture or consonant may be in a longer cluster */
        is_joiner = c == 0x200D, i += size;
    }
    return is_joiner && i < n && p[i] >= 0x80 ? -1 : i;
}
