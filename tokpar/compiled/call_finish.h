/* What the engine says of the listed segments (call_listed.h): holes are filled, and segments learned. Part of call.c. */

typedef struct {
    const u32 *ids;   /* those that the call knew */
    const Hole *hole; /* places among them */
    i64 count, holes, segments, found;
    u32 *row;         /* the engine's ids of all segments, one after the other */
    i64 *edge;        /* segment k has row[edge[k] : edge[k + 1]] */
} Answer;

/* Reads the items of two lists of n numbers: ids, and the segment of each, which do not fall. Returns 0 for others. */
static int read_answer(PyObject *ids, PyObject *owners, Answer *a)
{
    i64 next = 0;
    for (i64 k = 0; k < a->found; k++) {
        long long id = PyLong_AsLongLong(PyList_GetItem(ids, (Py_ssize_t)k));
        long long owner = PyLong_AsLongLong(PyList_GetItem(owners, (Py_ssize_t)k));
        if (id < 0 || id > 0xFFFFFFFF || owner < 0 || owner >= a->segments || owner + 1 < next)
            return 0;
        for (; next <= owner; next++)
            a->edge[next] = k;
        a->row[k] = (u32)id;
    }
    for (; next <= a->segments; next++)
        a->edge[next] = a->found;
    return 1;
}

/* Returns the number of all ids, or -1 if the holes do not fit. */
static i64 count_filled(const Answer *a)
{
    i64 total = a->count, place = 0;
    for (i64 k = 0; k < a->holes; place = a->hole[k++].place) {
        if (a->hole[k].place < place || a->hole[k].place > a->count || a->hole[k].start < 0 || a->hole[k].start >= a->segments)
            return -1;
        total += a->edge[a->hole[k].start + 1] - a->edge[a->hole[k].start];
    }
    return total;
}

static void fill_holes(const Answer *a, u32 *to)
{
    for (i64 k = 0, at = 0; k <= a->holes; k++) {
        i64 next = k < a->holes ? a->hole[k].place : a->count;
        memcpy(to, a->ids + at, 4 * (size_t)(next - at));
        to += next - at, at = next;
        if (k == a->holes)
            break;
        i64 first = a->edge[a->hole[k].start], size = a->edge[a->hole[k].start + 1] - first;
        memcpy(to, a->row + first, 4 * (size_t)size);
        to += size;
    }
}

/* Learns a segment of n bytes; 16 bytes behind it may not be read. */
static void learn_segment(const Tables *t, Scratch *s, const char *utf8, i64 n, const u32 *ids, i64 count)
{
    u8 p[LONGEST_KEPT + 16] = {0};
    if (n < 1 || n > LONGEST_KEPT || count > LONGEST_KEPT)
        return;
    memcpy(p, utf8, (size_t)n);
    Key key = key_of(p, n);
    if (!find_word(&t->words, key, p, n) && (!s->learned.slot || !find_word(&s->learned, key, p, n)))
        learn(t, s, key, p, n, ids, count, PART);
}

static void learn_segments(Call *self, PyObject *segments, const Answer *a)
{
    Scratch *s = take_scratch(self, 0);
    for (i64 k = 0; s && k < a->segments; k++) {
        i64 n;
        const char *utf8 = utf8_of(PyList_GetItem(segments, (Py_ssize_t)k), &n);
        if (utf8)
            learn_segment(&self->tables, s, utf8, n, a->row + a->edge[k], a->edge[k + 1] - a->edge[k]);
        else
            PyErr_Clear(); /* without memory it is learned later */
    }
    put_scratch(self, s);
}

/* finish(ids, holes, segments, found, owners) -> the ids with those of the segments in the holes. Learns the segments.
   `found`: the engine's ids of all segments, one after the other; `owners`: the number of the segment of each. */
static PyObject *call_finish(Call *self, PyObject *args)
{
    Py_buffer ids, holes;
    PyObject *segments, *found, *owners, *filled = NULL;
    if (!PyArg_ParseTuple(args, "y*y*O!O!O!", &ids, &holes, &PyList_Type, &segments, &PyList_Type, &found, &PyList_Type, &owners))
        return NULL;
    Answer a = {ids.buf, holes.buf, ids.len / 4, holes.len / 24, PyList_Size(segments), PyList_Size(found), NULL, NULL};
    a.row = malloc(4 * (size_t)(a.found + 1)), a.edge = malloc(8 * (size_t)(a.segments + 1));
    int has_room = a.row && a.edge;
    i64 total = has_room && PyList_Size(owners) == a.found && read_answer(found, owners, &a) ? count_filled(&a) : -1;
    if (total >= 0)
        filled = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(4 * total));
    if (filled) {
        fill_holes(&a, (u32 *)(void *)PyBytes_AsString(filled));
        learn_segments(self, segments, &a);
    }
    free(a.row), free(a.edge);
    PyBuffer_Release(&ids), PyBuffer_Release(&holes);
    if (filled || PyErr_Occurred())
        return filled;
    return has_room ? PyErr_Format(PyExc_ValueError, "the segments and ids do not fit together") : PyErr_NoMemory();
}

/* teach(segments, found, owners) fills the table of words, which must be writable, before texts are encoded: as `finish`,
   but for segments with more ids than bytes, or none. Returns the bytes of `keys` and the items of `more` that are used. */
static PyObject *call_teach(Call *self, PyObject *args)
{
    PyObject *segments, *found, *owners;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &segments, &PyList_Type, &found, &PyList_Type, &owners))
        return NULL;
    Answer a = {NULL, NULL, 0, 0, PyList_Size(segments), PyList_Size(found), NULL, NULL};
    Words *w = &self->tables.words;
    a.row = malloc(4 * (size_t)(a.found + 1)), a.edge = malloc(8 * (size_t)(a.segments + 1));
    int has_room = a.row && a.edge;
    int fits = has_room && self->is_seedable && PyList_Size(owners) == a.found && read_answer(found, owners, &a);
    for (i64 k = 0; fits && k < a.segments; k++) {
        i64 n, count = a.edge[k + 1] - a.edge[k];
        const char *utf8 = utf8_of(PyList_GetItem(segments, (Py_ssize_t)k), &n);
        u8 p[LONGEST_KEPT + 16] = {0};
        fits = utf8 != NULL; /* else without memory, and the error is set */
        if (!fits || n < 1 || n > LONGEST_KEPT || count < 1 || count > n)
            continue;
        memcpy(p, utf8, (size_t)n);
        Key key = key_of(p, n);
        if (!find_word(w, key, p, n))
            put_word(w, key, p, n, a.row + a.edge[k], count, PART); /* what has no room is learned later */
    }
    free(a.row), free(a.edge);
    if (fits)
        return Py_BuildValue("(LL)", (long long)w->keys_used, (long long)w->more_used);
    if (PyErr_Occurred())
        return NULL;
    return has_room ? PyErr_Format(PyExc_ValueError, "the segments and ids do not fit together") : PyErr_NoMemory();
}
