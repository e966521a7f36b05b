/* One compiled call: a str in, its ids out (docs/design.md). The module tokpar.compiled._call.

   A `Call` is one tokenizer: tables that are only read, so any number of threads may use it at once.
   What a call writes is in a `Scratch`: buffers, and the words and runs that it learned. A call takes a scratch
   from its `Call`, or makes one, and puts it back. No two calls share one, so there are no locks.

     str -> UTF-8 -> added tokens -> sections -> runs that are known            -> ids
                                              -> segments between certain cuts -> words -> ids

   call_added.h finds added tokens, call_pretokens.h cuts at sure places (call_triples.h: of three characters) and finds pre-tokens,
   call_characters.h cuts for a BPE over characters, call_pairs.h finds pre-tokens that two neighbours tell, call_listed.h lists segments for the engine, call_words.h looks
   words up, call_longest.h, call_merges.h and call_lanes.h encode new ones, call_block.h leads 256 segments of a BPE over
   bytes through these, call_runs.h keeps what comes again, call_section.h leads the text through all of this.
   call_decode.h is the way back.
   call_compiler.h has what compilers say in different ways. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "call_compiler.h"
#include "call_words.h"
#include "call_merges.h"
#include "call_lanes.h"
#include "call_longest.h"
#include "call_added.h"
#include "call_pretokens.h"
#include "call_characters.h"
#include "call_wordpiece.h"
#include "call_charsmap.h"
#include "call_unigram.h"
#include "call_path.h"
#include "call_pairs.h"
#include "call_word_model.h"
#include "call_section.h"
#include "call_places.h"
#include "call_checks.h"
#include "call_model.h"
#include "call_unigram_build.h"

enum { SPARE = 16, RELEASE_FROM = 1 << 14, MOST_HELD = 32, MOST_TEXT = 1 << 30 };

#include "call_decode.h"

typedef struct {
    PyObject_HEAD
    Tables tables;
    Py_buffer held[MOST_HELD];
    int held_count, is_seedable;
    u32 before[OTHER_IDS / 4], after[OTHER_IDS / 4];
    i64 before_count, after_count;
    void *spare[SPARE];
} Call;

/* ---- scratches */

/* Returns a scratch, or NULL without memory. `home`: the place of the one that is preferred, >= 0. */
static Scratch *take_scratch(Call *self, i64 home)
{
    for (i64 k = home; k < home + SPARE; k++) {
        void *found = is_taken(self->spare + k % SPARE) ? swapped(self->spare + k % SPARE, NULL) : NULL;
        if (found)
            return found;
    }
    Scratch *s = calloc(1, sizeof(Scratch));
    if (s)
        s->home = (int)(home % SPARE);
    return s;
}

static void free_scratch(Scratch *s)
{
    if (!s)
        return;
    free_buffers(s);
    free_words(&s->learned), free_words(&s->runs), free_words(&s->listed);
    free(s->front), free(s->block), free(s->met), free(s->neighbours), free(s);
}

static void put_scratch(Call *self, Scratch *s)
{
    if (s && s->text_room > KEPT_ROOM)
        free_buffers(s);
    /* to the place that it had: the parts of a text find what was learned of them by the same thread */
    for (int k = 0; k < SPARE && s; k++) {
        int home = (s->home + k) % SPARE;
        if (!is_taken(self->spare + home))
            s->home = home, s = swapped(self->spare + home, s);
    }
    free_scratch(s);
}

/* ---- encoding */

/* Encodes one text at s->out[count:], which the caller made room for. Releases the GIL for long texts. */
static i64 encode_at(Call *self, Scratch *s, i64 n, i64 count)
{
    if (n < RELEASE_FROM)
        return encode_text(&self->tables, s, n, count);
    PyThreadState *state = PyEval_SaveThread();
    count = encode_text(&self->tables, s, n, count);
    PyEval_RestoreThread(state);
    return count;
}

/* Returns the UTF-8 of a str; NULL if it has none, or with MemoryError. */
static const char *utf8_of(PyObject *text, i64 *n)
{
    Py_ssize_t size = 0;
    const char *utf8 = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (!utf8 && !(PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)))
        PyErr_Clear();
    *n = size;
    return size < MOST_TEXT ? utf8 : NULL;
}

/* Returns None, or NULL without memory, for what has no UTF-8. */
static PyObject *no_answer(void)
{
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *bytes_of(const void *data, i64 n) { return PyBytes_FromStringAndSize(data, (Py_ssize_t)n); }

/* Returns [(word, its ids), ...], to be compared with the engine. */
static PyObject *samples_of(const Scratch *s)
{
    PyObject *samples = PyList_New(0);
    for (int k = 0; samples && k < s->sample_count; k++) {
        const Sample *each = s->samples + k;
        PyObject *pair = Py_BuildValue("(NN)", bytes_of(s->sampled + each->start, each->stop - each->start),
                                       bytes_of(s->out + each->first, 4 * each->count));
        if (!pair || PyList_Append(samples, pair) < 0)
            Py_CLEAR(samples);
        Py_XDECREF(pair);
    }
    return samples;
}

/* Returns [(place of its ids, bytes), ...] of the holes. */
static PyObject *holes_of(const Scratch *s)
{
    PyObject *holes = PyList_New(0);
    for (i64 k = 0; holes && k < s->hole_count; k++) {
        const Hole *each = s->holes + k;
        PyObject *pair = Py_BuildValue("(LN)", (long long)each->place,
                                       bytes_of(s->text + MARGIN + each->start, each->stop - each->start));
        if (!pair || PyList_Append(holes, pair) < 0)
            Py_CLEAR(holes);
        Py_XDECREF(pair);
    }
    return holes;
}

/* Returns the listed segments. */
static PyObject *list_of(const Scratch *s)
{
    PyObject *segments = PyList_New((Py_ssize_t)s->list_count);
    for (i64 k = 0, start = 0; segments && k < s->list_count; start = s->list_ends[k++]) {
        PyObject *text = PyUnicode_FromStringAndSize((const char *)s->list + start, (Py_ssize_t)(s->list_ends[k] - start));
        if (!text || PyList_SetItem(segments, (Py_ssize_t)k, text) < 0)
            Py_CLEAR(segments);
    }
    return segments;
}

/* (holes: int64 (n, 3), the place among the ids, number and row of each; the segments; a byte for each: it was met before) */
static PyObject *listed(const Scratch *s)
{
    PyObject *segments = list_of(s);
    return segments ? Py_BuildValue("(NNN)", bytes_of(s->holes, 24 * s->hole_count), segments, bytes_of(s->list_met, s->list_count))
                    : NULL;
}

/* (ids, holes, samples); the holes of a call that looks segments up are what `listed` returns. */
static PyObject *unfinished(const Tables *t, const Scratch *s, i64 count)
{
    PyObject *holes = t->asks_engine ? listed(s) : holes_of(s), *samples = holes ? samples_of(s) : NULL;
    if (samples)
        return Py_BuildValue("(NNN)", bytes_of(s->out, 4 * count), holes, samples);
    Py_XDECREF(holes);
    return NULL;
}

static PyObject *encode(Call *self, const char *utf8, i64 n, int is_plain, i64 home)
{
    i64 count = is_plain ? 0 : self->before_count;
    if (!utf8)
        return no_answer();
    Scratch *s = take_scratch(self, home);
    if (!s || !take_text(s, utf8, n, 0)) {
        put_scratch(self, s);
        return PyErr_NoMemory();
    }
    s->sample_count = 0;
    cut_list(s, 0, 0);
    memcpy(s->out, self->before, 4 * (size_t)count);
    count = encode_at(self, s, n, count);
    PyObject *found = NULL;
    if (count >= 0) {
        i64 more = is_plain ? 0 : self->after_count;
        memcpy(s->out + count, self->after, 4 * (size_t)more);
        count += more;
        found = s->hole_count || s->sample_count ? unfinished(&self->tables, s, count) : bytes_of(s->out, 4 * count);
    } else if (count == OUTSIDE) {
        found = Py_None;
        Py_INCREF(found);
    } else
        PyErr_NoMemory();
    put_scratch(self, s);
    return found;
}

static PyObject *call_encode(Call *self, PyObject *text)
{
    i64 n;
    const char *utf8 = utf8_of(text, &n);
    return encode(self, utf8, n, 0, 0);
}

static PyObject *call_encode_plain(Call *self, PyObject *text)
{
    i64 n;
    const char *utf8 = utf8_of(text, &n);
    return encode(self, utf8, n, 1, 0);
}

/* Returns where a code point begins in n bytes of UTF-8, counted by blocks; n if there are fewer. */
static i64 byte_of(const char *utf8, i64 n, i64 index)
{
    enum { BLOCK = 4096 };
    i64 at = 0;
    for (; at + BLOCK <= n; at += BLOCK) {
        int count = 0;
        for (int k = 0; k < BLOCK; k++)
            count += (signed char)utf8[at + k] >= -64;
        if (count > index)
            break;
        index -= count;
    }
    for (; at < n; at++)
        if ((signed char)utf8[at] >= -64 && !index--)
            break;
    return at;
}

/* Encodes text[start:stop] as encode_plain, from the UTF-8 that the whole str keeps. `home`: see take_scratch. */
static PyObject *call_encode_part(Call *self, PyObject *args)
{
    PyObject *text;
    Py_ssize_t start, stop, home = 0;
    i64 n;
    if (!PyArg_ParseTuple(args, "Unn|n", &text, &start, &stop, &home))
        return NULL;
    if (start < 0 || stop < start || home < 0)
        return PyErr_Format(PyExc_ValueError, "start and stop do not fit");
    const char *utf8 = utf8_of(text, &n);
    if (!utf8)
        return no_answer();
    int is_ascii = PyUnicode_GetLength(text) == n;
    i64 first = is_ascii ? (start < n ? start : n) : byte_of(utf8, n, start);
    i64 last = is_ascii ? (stop < n ? stop : n) : first + byte_of(utf8 + first, n - first, stop - start);
    return encode(self, utf8 + first, last - first, 1, home);
}

/* (ids, where each begins and stops in code points as int64 (n, 2), the number of its pre-token as int64 (n,),
   samples); None if only the engine knows them. See call_places.h. */
static PyObject *call_encode_places(Call *self, PyObject *text)
{
    i64 n;
    const char *utf8 = utf8_of(text, &n);
    const Tables *t = &self->tables;
    if (!utf8 || (t->asks_engine && !t->has_unigram) || t->has_pairs || t->has_path)
        return no_answer();
    Scratch *s = take_scratch(self, 0);
    if (!s || !take_text(s, utf8, n, 0)) {
        put_scratch(self, s);
        return PyErr_NoMemory();
    }
    s->sample_count = 0, s->unit_count = 0, s->is_placing = 1;
    cut_list(s, 0, 0);
    i64 count = encode_at(self, s, n, 0);
    s->is_placing = 0;
    i64 known = count < 0 ? 0 : count;
    PyObject *spans = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(16 * known)), *found = NULL;
    PyObject *words = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(8 * known));
    PyObject *samples = spans && words && count != NO_MEMORY ? samples_of(s) : NULL;
    if (samples && count >= 0 && !s->hole_count &&
        write_places(&self->tables, s, n, count, (i64 *)(void *)PyBytes_AsString(spans), (i64 *)(void *)PyBytes_AsString(words)))
        found = Py_BuildValue("(NOOO)", bytes_of(s->out, 4 * count), spans, words, samples);
    else if (samples) {
        found = Py_None;
        Py_INCREF(found);
    }
    Py_XDECREF(spans), Py_XDECREF(words), Py_XDECREF(samples);
    put_scratch(self, s);
    return found || PyErr_Occurred() ? found : PyErr_NoMemory();
}

/* ---- many texts */

typedef struct { const char *utf8; i64 size; } Row;

/* Returns the rows of a tuple of n texts, or NULL without memory. */
static Row *rows_in(PyObject *texts, i64 n)
{
    Row *rows = malloc(sizeof(Row) * (size_t)(n + 1));
    for (i64 k = 0; rows && k < n; k++)
        if (!(rows[k].utf8 = utf8_of(PyTuple_GetItem(texts, (Py_ssize_t)k), &rows[k].size)) && PyErr_Occurred()) {
            free(rows);
            return NULL;
        }
    return rows;
}

/* Encodes rows side by side. Writes the number of ids of each to `lengths`, -1 for a row that only
   the engine knows. Returns the number of all ids, or NO_MEMORY. */
static i64 encode_rows(const Tables *t, Scratch *s, const Row *rows, i64 n, i64 *lengths)
{
    i64 count = 0;
    for (i64 k = 0; k < n; k++) {
        lengths[k] = -1;
        if (!rows[k].utf8)
            continue;
        if (!take_text(s, rows[k].utf8, rows[k].size, count))
            return NO_MEMORY;
        i64 holes = t->asks_engine ? s->hole_count : 0, segments = s->list_count;
        s->row = k;
        i64 stop = encode_text(t, s, rows[k].size, count);
        if (stop == NO_MEMORY)
            return stop;
        if (stop < 0 && t->asks_engine)
            cut_list(s, segments, holes);
        if (stop < 0 || (s->hole_count && !t->asks_engine)) {
            while (s->sample_count && s->samples[s->sample_count - 1].first >= count)
                s->sample_count--; /* the next row is written over its ids */
            continue;
        }
        lengths[k] = stop - count;
        count = stop;
    }
    return count;
}

/* Returns (ids of all rows, int64 lengths, samples, what `listed` returns or None). Releases the GIL for many bytes. */
static PyObject *rows_of(Call *self, const Row *rows, i64 n, i64 home)
{
    i64 total = 0;
    i64 *lengths = malloc(8 * (size_t)(n + 1));
    Scratch *s = rows && lengths ? take_scratch(self, home) : NULL;
    PyObject *found = NULL;
    if (s) {
        s->sample_count = 0;
        cut_list(s, 0, 0);
        for (i64 k = 0; k < n; k++)
            total += rows[k].size;
        PyThreadState *state = total < RELEASE_FROM ? NULL : PyEval_SaveThread();
        i64 count = encode_rows(&self->tables, s, rows, n, lengths);
        if (state)
            PyEval_RestoreThread(state);
        PyObject *samples = count < 0 ? NULL : samples_of(s), *segments = Py_None;
        if (samples && s->hole_count)
            segments = listed(s);
        else
            Py_INCREF(segments);
        if (samples && segments)
            found = Py_BuildValue("(NNNN)", bytes_of(s->out, 4 * count), bytes_of(lengths, 8 * n), samples, segments);
        else {
            Py_XDECREF(samples);
            Py_XDECREF(segments);
        }
        put_scratch(self, s);
    }
    free(lengths);
    return found || PyErr_Occurred() ? found : PyErr_NoMemory();
}

static PyObject *call_encode_rows(Call *self, PyObject *args)
{
    PyObject *texts;
    Py_ssize_t home = 0;
    if (!PyArg_ParseTuple(args, "O!|n", &PyTuple_Type, &texts, &home))
        return NULL;
    if (home < 0)
        return PyErr_Format(PyExc_ValueError, "home does not fit");
    i64 n = PyTuple_Size(texts);
    Row *rows = rows_in(texts, n);
    PyObject *found = rows_of(self, rows, n, home);
    free(rows);
    return found;
}

/* Rows of one buffer of valid UTF-8. `edges`: int64, where each row begins, and the end of the last. */
static PyObject *call_encode_utf8(Call *self, PyObject *args)
{
    Py_buffer data, edges;
    Py_ssize_t home = 0;
    if (!PyArg_ParseTuple(args, "y*y*|n", &data, &edges, &home))
        return NULL;
    const i64 *edge = edges.buf;
    i64 n = edges.len / 8 - 1;
    Row *rows = n < 0 ? NULL : malloc(sizeof(Row) * (size_t)(n + 1));
    int is_inside = n >= 0 && home >= 0;
    for (i64 k = 0; rows && is_inside && k < n; k++) {
        is_inside = edge[k] >= 0 && edge[k] <= edge[k + 1] && edge[k + 1] <= data.len;
        rows[k].utf8 = (const char *)data.buf + edge[k];
        rows[k].size = edge[k + 1] - edge[k];
        if (rows[k].size >= MOST_TEXT)
            rows[k].utf8 = NULL;
    }
    PyObject *found = is_inside ? rows_of(self, rows, n, home) : PyErr_Format(PyExc_ValueError, "the edges do not fit");
    free(rows);
    PyBuffer_Release(&data), PyBuffer_Release(&edges);
    return found;
}

#include "call_finish.h"

/* ---- tables */

/* Returns the buffer `name` of a dict as an array of items; NULL with an error. */
static const void *take_array(Call *self, PyObject *arrays, const char *name, size_t item, i64 least, i64 *count)
{
    PyObject *key = PyUnicode_FromString(name), *array = key ? PyDict_GetItemWithError(arrays, key) : NULL;
    Py_XDECREF(key);
    if (!array || self->held_count == MOST_HELD) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "the array %s is missing", name);
        return NULL;
    }
    Py_buffer *buffer = self->held + self->held_count;
    if (PyObject_GetBuffer(array, buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    self->held_count++;
    i64 found = (i64)((size_t)buffer->len / item);
    if (found < least) {
        PyErr_Format(PyExc_ValueError, "the array %s has %lld items, not %lld", name, (long long)found,
                     (long long)least);
        return NULL;
    }
    if ((uintptr_t)buffer->buf % (item < 8 ? item : 8)) {
        PyErr_Format(PyExc_ValueError, "the array %s is not aligned", name);
        return NULL;
    }
    if (count)
        *count = found;
    return buffer->buf;
}

static int take_merges(Call *self, PyObject *arrays, Sizes *size)
{
    Merges *m = &self->tables.merges;
    if (!(m->pairs = take_array(self, arrays, "pairs", 8, 2, &size->pairs)) ||
        !(m->may_be = take_array(self, arrays, "may_be", 8, 1 << 16, NULL)) ||
        !(m->made = take_array(self, arrays, "made", 4, 0, &size->made)) ||
        !(self->tables.byte_ids = take_array(self, arrays, "byte_ids", 4, 256, NULL)))
        return 0;
    m->mask = (u64)size->pairs - 1;
    m->shift = 64;
    for (i64 slots = size->pairs; slots > 1; slots >>= 1)
        m->shift--;
    return 1;
}

/* The tree of canonical tokens: empty while the words are made. */
static int take_longest(Call *self, PyObject *arrays, Sizes *size)
{
    Longest *l = &self->tables.longest;
    i64 root, bits;
    if (!(l->edges = (u64 *)take_array(self, arrays, "edges", 16, 0, &size->edges)) ||
        !(l->root = (u64 *)take_array(self, arrays, "root", 8, 0, &root)) ||
        !(l->joins = (u64 *)take_array(self, arrays, "rule_joins", 8, 0, &bits)) ||
        !(l->tokens = (Token *)take_array(self, arrays, "tokens", sizeof(Token), 0, &size->tokens)))
        return 0;
    l->mask = (u64)size->edges - 1;
    self->tables.has_longest = size->edges > 0;
    return !size->edges || (root == SYMBOLS && bits == JOIN_WORDS);
}

static int take_words(Call *self, PyObject *arrays)
{
    Words *w = &self->tables.words;
    i64 items;
    if (!(w->slot = (Word *)take_array(self, arrays, "words", sizeof(Word), 2, &items)))
        return 0;
    self->is_seedable = !self->held[self->held_count - 1].readonly;
    w->mask = (u64)items - 1;
    if (!(w->keys = (u8 *)take_array(self, arrays, "keys", 1, 0, &w->keys_room)))
        return 0;
    self->is_seedable &= !self->held[self->held_count - 1].readonly;
    if (!(w->more = (u32 *)take_array(self, arrays, "more", 4, 0, &w->more_room)))
        return 0;
    self->is_seedable &= !self->held[self->held_count - 1].readonly;
    return is_power(items);
}

static int take_machine(Call *self, PyObject *arrays, const i64 *settings, Sizes *size)
{
    Tables *t = &self->tables;
    Machine *m = &t->machine;
    if (!(m->moves = take_array(self, arrays, "moves", 4, 256, &size->moves)) ||
        !(m->begins = take_array(self, arrays, "begins", 4, 1, &size->begins)) ||
        !(m->symbol_of = take_array(self, arrays, "symbol_of", 1, 0x110000, NULL)) ||
        !(t->quick_of = take_array(self, arrays, "quick_of", 1, 0x110000, NULL)))
        return 0;
    m->stages = (int)size->begins;
    m->symbols = (u32)settings[1];
    t->of_all = *m;
    t->of_all.symbol_of = take_array(self, arrays, "symbol_of_all", 1, 0x110000, NULL);
    for (int k = 0; k < 256; k++)
        t->misses_bytes |= t->byte_ids[k] == NO_BYTE;
    return t->of_all.symbol_of && take_longest(self, arrays, size);
}

static int take_characters(Call *self, PyObject *arrays, const i64 *settings)
{
    Characters *c = &self->tables.characters;
    c->unknown = (u32)settings[1];
    c->falls_back = (int)settings[2];
    c->fuses = (int)settings[3];
    c->is_normalizer = (int)settings[4];
    c->prepends = (int)settings[5];
    c->splits = (int)(settings[6] & 1);
    c->has_marks = !(settings[6] & 2);
    return (c->char_ids = take_array(self, arrays, "char_ids", 4, 0x110000, NULL)) &&
           (c->ascii_joins = take_array(self, arrays, "ascii_joins", 8, 256, NULL)) &&
           (c->joins = take_array(self, arrays, "joins", 8, 1 << 17, NULL));
}

static int take_forms(Call *self, PyObject *arrays, Sizes *size)
{
    WordPiece *w = &self->tables.wordpiece;
    return (w->forms = take_array(self, arrays, "forms", 4, 0x110000, NULL)) &&
           (w->form_bytes = take_array(self, arrays, "form_bytes", 1, 0, &size->form_bytes));
}

static int take_wordpiece(Call *self, PyObject *arrays, const i64 *settings, Sizes *size)
{
    WordPiece *w = &self->tables.wordpiece;
    w->unknown = (u32)settings[1];
    w->most_characters = settings[2];
    w->longest[0] = settings[3];
    w->longest[1] = settings[4];
    w->prefix = settings[5];
    int found = take_forms(self, arrays, size);
    for (int c = 0; found && c < 128; c++)
        w->ascii_kind[c] = w->forms[c] & 7;
    return found;
}

/* `model`: the id of the unknown token, whether characters have forms, fallback to bytes, fuse_unk, ignore_merges, bytes of
   the prefix and the suffix, and of WordPiece most characters of a word and bytes of the longest tokens. */
static int take_word_model(Call *self, PyObject *arrays, int kind, Sizes *size)
{
    Tables *t = &self->tables;
    WordModel *w = &t->word;
    const i64 *model = take_array(self, arrays, "model", 8, 10, NULL);
    if (!model)
        return 0;
    w->kind = kind, w->unknown = t->wordpiece.unknown = (u32)model[0];
    w->has_forms = (int)model[1], w->falls_back = (int)model[2], w->fuses = (int)model[3], w->ignores_merges = (int)model[4];
    w->prefix = t->wordpiece.prefix = model[5], w->suffix = model[6];
    t->wordpiece.most_characters = model[7], t->wordpiece.longest[0] = model[8], t->wordpiece.longest[1] = model[9];
    w->byte_ids = t->byte_ids;
    if (w->kind == WORD_BPE &&
        (!(w->char_ids = take_array(self, arrays, "char_ids", 4, 0x110000, NULL)) ||
         !(w->affixes = take_array(self, arrays, "affixes", 1, 0, &size->affixes))))
        return 0;
    return (!w->has_forms && w->kind != WORD_PIECE) || take_forms(self, arrays, size);
}

static int take_pairs(Call *self, PyObject *arrays, const i64 *settings, Sizes *size)
{
    Pairs *w = &self->tables.pairs;
    w->is_local = settings[1] != 0;
    return (w->symbol_of = take_array(self, arrays, "symbol_of", 1, 0x110000, NULL)) &&
           (w->cuts = take_array(self, arrays, "cuts", 8, SYMBOLS_OF_PAIRS, NULL)) && take_word_model(self, arrays, (int)settings[2], size);
}

static int take_sides(Call *self, PyObject *arrays, const i64 *settings)
{
    const u8 *sides = take_array(self, arrays, "sides", 1, 256, NULL);
    self->tables.prefix = settings[1];
    if (sides)
        memcpy(self->tables.sides, sides, 256);
    return sides != NULL;
}

/* An array `unigram_forms` without items: there are no normalizers. */
static int take_charsmap(Call *self, PyObject *arrays, Charsmap *m)
{
    i64 forms;
    if (!(m->forms = take_array(self, arrays, "unigram_forms", 4, 0, &forms)) ||
        !(m->texts = take_array(self, arrays, "unigram_texts", 1, 4, &m->text_bytes)) ||
        !(m->keys = take_array(self, arrays, "unigram_keys", 4, 0, &m->key_count)) ||
        !(m->key_texts = take_array(self, arrays, "unigram_key_texts", 1, 4, &m->key_text_bytes)) ||
        !(m->patterns = take_array(self, arrays, "unigram_patterns", 1, 1, &m->pattern_bytes)))
        return 0;
    m->forms = forms ? m->forms : NULL;
    return !forms || forms == 0x110000;
}

/* Arrays without items: only the engine knows the model. */
static int take_unigram(Call *self, PyObject *arrays)
{
    Unigram *u = &self->tables.unigram;
    i64 scores, first, byte_ids, count;
    const i64 *numbers = take_array(self, arrays, "unigram_settings", 8, 0, &count);
    if (!numbers || !(u->cells = take_array(self, arrays, "unigram_cells", sizeof(Cell), 0, &u->cell_count)) ||
        !(u->first = take_array(self, arrays, "unigram_first", 4, 0, &first)) ||
        !(u->scores = take_array(self, arrays, "unigram_scores", 8, 0, &scores)) ||
        !(u->byte_ids = take_array(self, arrays, "unigram_bytes", 4, 0, &byte_ids)))
        return 0;
    if (!count)
        return 1;
    u->piece_count = scores - 1;
    if (count < 9 || !take_charsmap(self, arrays, &u->charsmap) || first != FIRST_CELLS || byte_ids != 256 || scores < 2)
        return 0;
    u->unknown = (u32)numbers[0], u->falls_back = numbers[1] != 0, u->prepends = (int)numbers[2];
    u->splits = numbers[3] != 0, u->splits_white = numbers[4] != 0, u->may_list = numbers[5] != 0;
    u->joins_spaces = numbers[6] != 0, u->strips_first = (int)numbers[7], u->strips = (int)numbers[8];
    return self->tables.has_unigram = 1;
}

/* `path_settings`: the id of the unknown piece, fallback to bytes, whether a mark is put before and behind a text, whether
   spaces are joined, and escaped; whether there are words; and whether symbols are merged instead of a path. */
static int take_path(Call *self, PyObject *arrays)
{
    PathModel *m = &self->tables.path;
    i64 scores;
    const i64 *numbers = take_array(self, arrays, "path_settings", 8, 8, NULL);
    if (!numbers || !(m->cells = take_array(self, arrays, "path_cells", sizeof(Cell), 1, &m->cell_count)) ||
        !(m->symbols = take_array(self, arrays, "path_symbols", sizeof(Cell), 0, &m->symbol_cells)) ||
        !(m->first = take_array(self, arrays, "path_first", 4, FIRST_CELLS, NULL)) ||
        !(m->scores = take_array(self, arrays, "path_scores", 4, 1, &scores)) ||
        !(m->byte_ids = take_array(self, arrays, "path_bytes", 4, 256, NULL)) ||
        !(m->ranks = take_array(self, arrays, "path_ranks", 4, numbers[7] ? scores - 1 : 0, NULL)) ||
        !(m->keys = take_array(self, arrays, "path_keys", 4, 0, &m->key_count)) ||
        !(m->key_texts = take_array(self, arrays, "path_key_texts", 1, 4, &m->key_text_bytes)) ||
        !(m->begins = take_array(self, arrays, "path_begins", 1, 1 << 13, NULL)))
        return 0;
    m->piece_count = scores - 1;
    m->unknown = (u32)numbers[0], m->falls_back = numbers[1] != 0, m->adds_prefix = numbers[2] != 0;
    m->adds_suffix = numbers[3] != 0, m->removes_spaces = numbers[4] != 0, m->escapes = numbers[5] != 0;
    m->has_words = numbers[6] != 0, m->merges = numbers[7] != 0;
    return 1;
}

static int take_added(Call *self, PyObject *arrays, Added *a)
{
    Tables *t = &self->tables;
    return (a->data = take_array(self, arrays, "added_bytes", 1, 8, &a->bytes)) &&
           (a->ends = take_array(self, arrays, "added_ends", 8, 0, &a->count)) &&
           (t->flags = take_array(self, arrays, "added_flags", 1, a->count, NULL)) &&
           (t->added_ids = take_array(self, arrays, "added_ids", 4, a->count, NULL)) &&
           (a->is_normalized = take_array(self, arrays, "added_normalized", 1, a->count, NULL));
}

static int take_others(Call *self, PyObject *arrays)
{
    const u32 *before = take_array(self, arrays, "before", 4, 0, &self->before_count), *after;
    if (!before || !(after = take_array(self, arrays, "after", 4, 0, &self->after_count)))
        return 0;
    if (self->before_count > OTHER_IDS / 4 || self->after_count > OTHER_IDS / 4)
        return 0;
    memcpy(self->before, before, 4 * (size_t)self->before_count);
    memcpy(self->after, after, 4 * (size_t)self->after_count);
    return 1;
}

static int take_tables(Call *self, PyObject *arrays, const i64 *settings, Sizes *size, Added *added)
{
    Tables *t = &self->tables;
    t->is_characters = settings[0] == 1;
    t->is_wordpiece = settings[0] == 2;
    t->asks_engine = settings[0] == 3;
    t->has_pairs = settings[0] == 4;
    t->has_path = settings[0] == 5;
    t->most_learned = t->most_runs = settings[7];
    t->secret = (u64)settings[8];
    t->sample_mask = (u64)settings[9];
    t->longest_word = settings[10], t->longest_from = settings[11];
    if (t->has_path)
        return take_path(self, arrays) && take_words(self, arrays) && take_added(self, arrays, added) && take_others(self, arrays);
    int has_merges = !t->is_wordpiece && !t->asks_engine && !(t->has_pairs && settings[2] != WORD_BPE);
    return (!has_merges || take_merges(self, arrays, size)) && take_words(self, arrays) &&
           take_added(self, arrays, added) && take_others(self, arrays) &&
           (t->lengths = take_array(self, arrays, "lengths", 2, 0, &t->lengths_count)) &&
           (t->length_ids = take_array(self, arrays, "length_ids", 4, 0, &t->length_ids_count)) &&
           t->length_ids_count <= t->lengths_count &&
           (t->is_characters  ? take_characters(self, arrays, settings)
            : t->is_wordpiece ? take_wordpiece(self, arrays, settings, size)
            : t->has_pairs    ? take_pairs(self, arrays, settings, size)
            : t->asks_engine  ? take_sides(self, arrays, settings) && take_unigram(self, arrays)
                              : take_machine(self, arrays, settings, size));
}

/* Makes what a call computes from arrays that fit together. Returns 0 without memory. */
static int derive_tables(Tables *t, const Added *added, const Sizes *size, int uses_avx2)
{
    if (!plant_added(&t->raw, &t->normalized, added))
        return 0;
    for (i64 k = 0; k < added->count; k++)
        t->may_move |= added->is_normalized[k] == MAY_MOVE;
    if (t->is_characters || t->is_wordpiece || t->asks_engine || t->has_pairs || t->has_path)
        return 1;
    if (!(t->of_bytes = malloc(4 << 16)))
        return 0;
    for (u32 k = 0; k < 1 << 16; k++)
        t->of_bytes[k] = rank_of(&t->merges, t->byte_ids[k >> 8], t->byte_ids[k & 255]);
    return find_sure(&t->machine, size->moves / 256, &t->sure, uses_avx2);
}

static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *arrays;
    static char *allowed[] = {"arrays", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, names, "O!", allowed, &PyDict_Type, &arrays))
        return NULL;
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Call *self = (Call *)make(type, 0);
    if (!self)
        return NULL;
    Tables *t = &self->tables;
    Sizes size = {0};
    Added added = {0};
    const i64 *settings = take_array(self, arrays, "settings", 8, 13, NULL);
    int done = settings && settings[0] >= 0 && settings[0] <= 5 && take_tables(self, arrays, settings, &size, &added);
    if (done) {
        Py_BEGIN_ALLOW_THREADS
        done = check_added(&added) ? check_tables(t, &size) : 0;
        if (done == 1 && !derive_tables(t, &added, &size, settings[12] != 0))
            done = NO_MEMORY;
        Py_END_ALLOW_THREADS
    }
    if (done == 1)
        return (PyObject *)self;
    if (done == NO_MEMORY)
        PyErr_NoMemory();
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit together");
    Py_DECREF(self);
    return NULL;
}

static void call_free(Call *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    for (int k = 0; k < self->held_count; k++)
        PyBuffer_Release(self->held + k);
    for (int k = 0; k < SPARE; k++)
        free_scratch(self->spare[k]);
    free(self->tables.of_bytes);
    free_tree(&self->tables.raw);
    free_tree(&self->tables.normalized);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Returns the code points of p[0 : n], or -1 if this is no UTF-8. What is longer than need be, or is a surrogate, counts
   as UTF-8: it only has to be a place in the tables of code points. */
static i64 characters_in(const u8 *p, i64 n)
{
    i64 count = 0;
    for (i64 i = 0; i < n; count++) {
        int size = p[i] < 0x80 ? 1 : p[i] < 0xC2 ? 9 : p[i] < 0xE0 ? 2 : p[i] < 0xF0 ? 3 : p[i] < 0xF5 ? 4 : 9;
        if (i + size > n)
            return -1;
        for (int k = 1; k < size; k++)
            if ((p[i + k] & 0xC0) != 0x80)
                return -1;
        if (code_point(p + i, &size) >= 0x110000)
            return -1;
        i += size;
    }
    return count;
}

enum { IS_FULL = 0 };

/* Puts one token into the table of words: its own id if it stays whole, else what the merges make. Returns 1,
   IS_FULL or NO_MEMORY. */
static int seed_word(Tables *t, Scratch *s, const u8 *p, i64 n, u32 id, int is_whole)
{
    int is_token = (t->is_wordpiece || t->has_pairs) && n > 1 && n <= 512 && p[0] >= BEGINS; /* without it ids would be wrong */
    if (n < 1 || n > 512 || (!is_token && characters_in(p, n) < 0))
        return 1;
    Key key = key_of(p, n);
    s->out[0] = id;
    if (is_token)
        return put_word(&t->words, key, p, n, s->out, 1, 1) && find_word(&t->words, key, p, n);
    i64 count = is_whole ? 1 : merge_word(t, s, p, n, s->out);
    int is_alone = t->is_characters || t->is_wordpiece || t->has_pairs;
    s->steps = 1 << 20;
    if (count <= 0)
        return count == NO_MEMORY ? NO_MEMORY : count == 0 || count == MISSES_BYTE || count == OUTSIDE;
    if (!is_alone)
        is_alone = pretoken_ends(&t->machine, 0, p, 0, n, s->ends, 0, &s->steps) == 1;
    return find_word(&t->words, key, p, n) || put_word(&t->words, key, p, n, s->out, count, is_alone);
}

/* Fills the table of words, and plants the tree of a BPE over bytes. Returns 1, IS_FULL or NO_MEMORY. */
static int seed_words(Tables *t, Planting *plant, const u8 *data, const i64 *stop, const u32 *ids,
                      const u8 *is_whole, i64 total)
{
    Scratch *s = calloc(1, sizeof(Scratch));
    int done = s && has_room((void **)&s->out, &s->out_room, 1024, 4) &&
                       has_room((void **)&s->ends, &s->ends_room, 1024, 4)
                   ? 1
                   : NO_MEMORY;
    for (i64 k = 0, start = 0; done == 1 && k < total; start = stop[k++])
        done = seed_word(t, s, data + start, stop[k] - start, ids[k], is_whole[k]);
    i64 top = t->length_ids_count ? MOST_IDS + 1 : t->lengths_count;
    if (done == 1 && !t->is_characters && !t->is_wordpiece && !t->has_pairs &&
        !plant_tokens(plant, &t->merges, t->byte_ids, data, stop, ids, total, top))
        done = NO_MEMORY;
    free_scratch(s);
    return done;
}

/* (bytes of `keys`, items of `more` that are used, edges, root, rule_joins, tokens) */
static PyObject *seeded(const Tables *t, const Longest *l)
{
    return Py_BuildValue("(LLNNNN)", (long long)t->words.keys_used, (long long)t->words.more_used,
                         bytes_of(l->edges, l->edges ? 16 * (i64)(l->mask + 1) : 0),
                         bytes_of(l->root, l->edges ? 8 * SYMBOLS : 0),
                         bytes_of(l->joins, l->edges ? JOIN_WORDS * 8 : 0),
                         bytes_of(l->tokens, l->edges ? (i64)sizeof(Token) * t->lengths_count : 0));
}

/* seed(data, ends, ids, is_whole) fills the table of words, which must be writable, once. `data`: the
   bytes of the tokens, and 16 more. Returns the bytes of `keys` and the items of `more` that are used, and for a
   BPE over bytes the tables `edges`, `root`, `rule_joins` and `tokens` of call_longest.h. */
static PyObject *call_seed(Call *self, PyObject *args)
{
    Py_buffer data, ends, ids, is_whole;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &data, &ends, &ids, &is_whole))
        return NULL;
    const i64 *stop = ends.buf;
    i64 total = ends.len / 8;
    int fits = self->is_seedable && !self->tables.asks_engine && !self->tables.has_path && ids.len / 4 >= total && is_whole.len >= total &&
               are_places(stop, total, data.len - 16), done = IS_FULL;
    Planting plant = {0};
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        done = seed_words(&self->tables, &plant, data.buf, stop, ids.buf, is_whole.buf, total);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&data), PyBuffer_Release(&ends), PyBuffer_Release(&ids), PyBuffer_Release(&is_whole);
    PyObject *found = done == 1 ? seeded(&self->tables, &plant.tree) : NULL;
    free_planting(&plant);
    if (done == NO_MEMORY)
        return PyErr_NoMemory();
    if (done == IS_FULL)
        PyErr_SetString(PyExc_ValueError, fits ? "the table of words is too small" : "the tokens do not fit together");
    return found;
}

/* read_characters(text, vocab, merges, room, is_marked, prefix): see call_model.h. `vocab`, `merges`: (start, stop) of their
   values. `room`: the arrays data, ends, ids, left, right, made, slots, char_ids, ascii_joins, joins, the
   first 16 bytes longer than the text. Returns (tokens, merges or a mistake, bytes of the tokens). */
static PyObject *read_characters(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer text, b[10];
    long long i, j, k, l, prefix = 0;
    int is_marked = 1;
    if (!PyArg_ParseTuple(args, "y*(LL)(LL)(w*w*w*w*w*w*w*w*w*w*)|iL", &text, &i, &j, &k, &l, b, b + 1, b + 2, b + 3,
                          b + 4, b + 5, b + 6, b + 7, b + 8, b + 9, &is_marked, &prefix))
        return NULL;
    Model m = {text.buf, b[0].buf, b[1].buf, b[2].buf, b[3].buf, b[4].buf, b[5].buf, b[6].buf,
               (u64)b[6].len / 8 - 1, b[7].buf, b[8].buf, b[9].buf, b[1].len / 8, b[3].len / 4, 0, 0, is_marked, prefix};
    i64 found = UNREADABLE, longest = text.len;
    int fits = 0 <= prefix && 0 <= i && i <= j && j <= longest && 0 <= k && k <= l && l <= longest && b[0].len >= longest + 16 &&
               b[2].len >= 4 * m.token_room && b[4].len >= 4 * m.merge_room && b[5].len >= 4 * m.merge_room &&
               is_power(b[6].len / 8) && b[6].len / 8 > m.token_room && b[7].len >= 4 * 0x110000 &&
               b[8].len >= 8 << 8 && b[9].len >= 8 << 17;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        found = read_tokens(&m, i, j);
        if (!found)
            found = read_merges(&m, k, l);
        Py_END_ALLOW_THREADS
    } else
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit together");
    PyBuffer_Release(&text);
    for (int each = 0; each < 10; each++)
        PyBuffer_Release(b + each);
    return fits ? Py_BuildValue("(LLL)", (long long)m.count, (long long)found, (long long)m.used) : NULL;
}

/* unigram_cells(data, ends): see call_unigram_build.h. Returns the arrays `unigram_cells` and `unigram_first`. `data`: the
   bytes of the pieces, side by side; a piece without bytes is left out. */
static PyObject *unigram_cells(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer data, ends;
    if (!PyArg_ParseTuple(args, "y*y*", &data, &ends))
        return NULL;
    Cells c = {data.buf, ends.buf, ends.len / 8, NULL, NULL, NULL, NULL, NULL, 0, 0, {0, 0, 0}};
    int fits = c.count >> PIECE_BITS == 0 && data.len < (i64)NO_PIECE && are_places(c.ends, c.count, data.len), done = 0;
    u32 *first = malloc(4 * FIRST_CELLS);
    if (fits && first) {
        Py_BEGIN_ALLOW_THREADS
        done = make_cells(&c);
        if (done)
            write_first_cells(c.cells, first);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&data), PyBuffer_Release(&ends);
    PyObject *found = done ? Py_BuildValue("(NN)", bytes_of(c.cells, (i64)sizeof(Cell) * c.top), bytes_of(first, 4 * FIRST_CELLS)) : NULL;
    free(first);
    free_cells(&c);
    if (!done)
        return fits ? PyErr_NoMemory() : PyErr_Format(PyExc_ValueError, "the pieces do not fit together");
    return found;
}

/* is_sure(a, b): true if a pre-token ends between two characters, given as numbers, wherever they stand. */
static PyObject *call_is_sure(Call *self, PyObject *args)
{
    const Tables *t = &self->tables;
    unsigned int a, b;
    if (!PyArg_ParseTuple(args, "II", &a, &b))
        return NULL;
    int is_inside = !t->is_characters && !t->is_wordpiece && !t->asks_engine && !t->has_pairs && !t->has_path && a < 0x110000 && b < 0x110000;
    return PyBool_FromLong(is_inside && is_sure(&t->sure, t->of_all.symbol_of, t->of_all.symbols, a, b));
}

/* ---- the module */

static PyMethodDef functions[] = {
    {"read_characters", read_characters, METH_VARARGS, "Reads the model of a BPE over characters."},
    {"unigram_cells", unigram_cells, METH_VARARGS,
     "unigram_cells(data, ends) -> (cells, first): the double array of the pieces of a Unigram."},
    {"texts_of", texts_of, METH_VARARGS,
     "texts_of(rows, data, first, later, errors) -> the text of each row of ids, None if only the engine knows it."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef methods[] = {
    {"encode", (PyCFunction)call_encode, METH_O,
     "encode(text) -> bytes of uint32 ids, special tokens included; None if only the engine knows them;\n"
     "(ids, holes, samples) if the engine is asked for parts of the text, or to compare words; (ids, (holes, segments,\n"
     "met), samples) if the engine is asked for segments, see finish."},
    {"encode_plain", (PyCFunction)call_encode_plain, METH_O, "encode_plain(text): as encode, without special tokens."},
    {"encode_part", (PyCFunction)call_encode_part, METH_VARARGS,
     "encode_part(text, start, stop, home=0): as encode_plain of text[start:stop]. home: the number of what was learned\n"
     "that is preferred, so that a part of the same place finds it again, whichever thread encodes it."},
    {"encode_rows", (PyCFunction)call_encode_rows, METH_VARARGS,
     "encode_rows(texts, home=0) -> (ids, lengths, samples, None or (holes, segments, met)) of a tuple, without special tokens;\n"
     "length -1: see encode."},
    {"encode_places", (PyCFunction)call_encode_places, METH_O,
     "encode_places(text) -> (ids, int64 starts and stops in code points, int64 numbers of pre-tokens, samples)."},
    {"is_sure", (PyCFunction)call_is_sure, METH_VARARGS, "is_sure(a, b): a pre-token ends between these two code points."},
    {"encode_utf8", (PyCFunction)call_encode_utf8, METH_VARARGS,
     "encode_utf8(data, edges, home=0): as encode_rows, of texts side by side in one buffer of valid UTF-8."},
    {"finish", (PyCFunction)call_finish, METH_VARARGS,
     "finish(ids, holes, segments, found, owners) -> the ids with those of the segments: found[k] is of segment owners[k]."},
    {"teach", (PyCFunction)call_teach, METH_VARARGS,
     "teach(segments, found, owners): fill the table of words with segments whose ids the engine gave."},
    {"seed", (PyCFunction)call_seed, METH_VARARGS, "seed(data, ends, ids, is_whole): fill the table of words."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, call_new},
    {Py_tp_dealloc, call_free},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Call(arrays): the tables of one tokenizer, and its encode. Safe from any number of threads."},
    {0, NULL},
};
static PyType_Spec spec = {"tokpar.compiled._call.Call", sizeof(Call), 0, Py_TPFLAGS_DEFAULT, slots};

static int fill_module(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    int failed = !type || PyModule_AddObjectRef(module, "Call", type) < 0;
    Py_XDECREF(type);
    return -failed;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, fill_module},
#if !defined(Py_LIMITED_API) && defined(Py_mod_gil)
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_call", NULL, 0, functions, module_slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__call(void) { return PyModuleDef_Init(&module); }
