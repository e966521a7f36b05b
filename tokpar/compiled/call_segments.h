/* A cache of segments, for a tokenizer whose ids only the engine knows: the bytes between two certified
   cuts before a space, and their ids (theorem 27). Part of call.c.

   The table is that of call_words.h: it grows up to `most` slots, then begins anew. One thread at a time has the
   table: a call takes it out of the Segments and puts it back, and another thread, which a Python without GIL may have,
   waits. A child that was forked while a thread of its parent had the table begins with an empty one. */

typedef struct {
    Words words;
    Scratch s; /* its buffers `text` and `out` */
} SegmentTable;

typedef struct {
    PyObject_HEAD
    void *table;   /* a SegmentTable; NULL: a thread has it */
    void *process; /* the process that made a table last; NULL: none did */
    i64 most;
    u8 sides[256]; /* see `is_space_cut` */
} Segments;

static void free_table(SegmentTable *t)
{
    if (!t)
        return;
    free_buffers(&t->s);
    free_words(&t->words);
    free(t);
}

/* Takes the table, which `put_table` puts back. Returns NULL without memory. */
static SegmentTable *take_table(Segments *self)
{
    SegmentTable *t;
    while (!(t = swapped(&self->table, NULL))) {
        void *here = this_process();
        if (swapped(&self->process, here) != here) {
            if ((t = calloc(1, sizeof *t)))
                break;
            swapped(&self->process, NULL); /* or who waits would wait for ever */
            return NULL;
        }
        PyThreadState *state = PyEval_SaveThread();
        let_others_run();
        PyEval_RestoreThread(state);
    }
    return t;
}

/* TOKPAR_YIELDS: another thread runs while one has the table, as without a GIL (tests/recipes/plain_c.py). */
static inline void yield_in_trials(void)
{
#if defined(TOKPAR_YIELDS)
    PyThreadState *state = PyEval_SaveThread();
    let_others_run();
    PyEval_RestoreThread(state);
#endif
}

static void put_table(Segments *self, SegmentTable *t)
{
    if (t->s.text_room > KEPT_ROOM)
        free_buffers(&t->s);
    free_table(swapped(&self->table, t));
}

/* What one lookup found besides the ids in s.out: for each miss, the number of ids before it, and its row. */
typedef struct {
    PyObject *missed;
    i64 (*at)[2];
    i64 count, room, ids, segments;
} Found;

/* Notes a segment that the table does not have. Returns 0 without memory. */
static int add_miss(Found *f, const u8 *p, i64 n, i64 row)
{
    if (f->count == f->room) {
        i64 wanted = 2 * f->room + 256;
        void *at = realloc(f->at, sizeof *f->at * (size_t)wanted);
        if (!at)
            return 0;
        f->at = at, f->room = wanted;
    }
    f->at[f->count][0] = f->ids, f->at[f->count++][1] = row;
    PyObject *text = PyUnicode_FromStringAndSize((const char *)p, (Py_ssize_t)n);
    int failed = !text || PyList_Append(f->missed, text) < 0;
    Py_XDECREF(text);
    return !failed;
}

/* Looks up a group, and empties it. Returns 0 without memory. */
static int look_up_group(SegmentTable *t, Found *f, Group *g, i64 row)
{
    const Words *w = &t->words;
    yield_in_trials();
    for (int k = 0; k < g->count; k++) {
        const u8 *p = g->p + g->start[k];
        const Word *known = w->slot ? find_word(w, g->key[k], p, g->size[k]) : NULL;
        if (!known) {
            if (!add_miss(f, p, g->size[k], row))
                return 0;
            continue;
        }
        if (!take_out(&t->s, f->ids, 4 + (known->id[0] >> 28 == MANY ? known->id[2] : 0)))
            return 0;
        f->ids += copy_ids(w, known, t->s.out + f->ids);
    }
    f->segments += g->count;
    g->count = 0;
    return 1;
}

static int look_up_row(SegmentTable *t, const u8 *sides, Found *f, Row text, i64 row)
{
    if (!take_text(&t->s, text.utf8, text.size, f->ids))
        return 0;
    Group g;
    u8 *p = t->s.text + MARGIN;
    i64 n = text.size;
    g.p = p, g.count = 0;
    for (i64 start = 0, at = 1; start < n; at++) {
        if (at < n && (p[at] != ' ' || !is_space_cut(sides, p, at, 0, n)))
            continue;
        int k = g.count++;
        g.start[k] = (int32_t)start, g.size[k] = (int32_t)(at - start);
        g.key[k] = key_of(p + start, at - start);
        if (t->words.slot)
            fetch(t->words.slot + (g.key[k].hash & t->words.mask));
        if ((g.count == GROUP || at == n) && !look_up_group(t, f, &g, row))
            return 0;
        start = at;
    }
    return 1;
}

/* Looks up rows, and writes the number of ids of each to `lengths`. Returns the ids, or NULL. Makes no object that
   the garbage collector knows while the table is taken: it might call this. */
static PyObject *look_up_rows(Segments *self, Found *f, const Row *rows, i64 n, i64 *lengths)
{
    SegmentTable *t = take_table(self);
    int is_done = t != NULL;
    for (i64 k = 0; is_done && k < n; k++) {
        i64 before = f->ids;
        is_done = !rows[k].utf8 || look_up_row(t, self->sides, f, rows[k], k);
        lengths[k] = rows[k].utf8 ? f->ids - before : -1;
    }
    PyObject *ids = is_done ? bytes_of(t->s.out, 4 * f->ids) : NULL;
    if (t)
        put_table(self, t);
    return ids;
}

static PyObject *segments_look_up(Segments *self, PyObject *texts)
{
    if (!PyTuple_Check(texts))
        return PyErr_Format(PyExc_TypeError, "look_up takes a tuple");
    i64 n = PyTuple_Size(texts);
    Row *rows = rows_in(texts, n);
    i64 *lengths = malloc(8 * (size_t)(n + 1));
    Found f = {rows && lengths ? PyList_New(0) : NULL, NULL, 0, 0, 0, 0};
    PyObject *ids = f.missed ? look_up_rows(self, &f, rows, n, lengths) : NULL, *found = NULL;
    if (ids)
        found = Py_BuildValue("(NNNOL)", ids, bytes_of(lengths, 8 * n), bytes_of(f.at, 16 * f.count), f.missed,
                              (long long)f.segments);
    Py_XDECREF(f.missed);
    free(f.at), free(lengths), free(rows);
    return found || PyErr_Occurred() ? found : PyErr_NoMemory();
}

/* Puts one segment into the table, which does not have it. Returns 0 without memory. */
static int put_segment(SegmentTable *t, i64 most, Row segment, const u32 *ids, i64 count)
{
    i64 n = segment.size;
    if (n < 1 || n > LONGEST_KEPT || count < 0 || count > LONGEST_KEPT)
        return 1; /* long segments hardly repeat */
    if (!take_text(&t->s, segment.utf8, n, 0))
        return 0;
    const u8 *p = t->s.text + MARGIN;
    Key key = key_of(p, n);
    Words *w = &t->words;
    yield_in_trials();
    if (w->slot && find_word(w, key, p, n))
        return 1;
    if (w->slot && put_word(w, key, p, n, ids, count, 0))
        return 1;
    return grow_words(w, most, 16, 2) && put_word(w, key, p, n, ids, count, 0);
}

/* Puts segments into the table. Returns 0 without memory. */
static int learn_rows(Segments *self, const Row *segments, i64 n, const u32 *ids, const i64 *edge)
{
    SegmentTable *t = take_table(self);
    int is_done = t != NULL;
    for (i64 k = 0; is_done && k < n; k++)
        is_done = put_segment(t, self->most, segments[k], ids + edge[k], edge[k + 1] - edge[k]);
    if (t)
        put_table(self, t);
    return is_done;
}

static PyObject *segments_learn(Segments *self, PyObject *args)
{
    PyObject *list;
    Py_buffer ids, edges;
    if (!PyArg_ParseTuple(args, "O!y*y*", &PyList_Type, &list, &ids, &edges))
        return NULL;
    const i64 *edge = edges.buf;
    PyObject *segments = PyList_AsTuple(list);
    i64 n = segments ? PyTuple_Size(segments) : 0;
    Row *rows = segments ? rows_in(segments, n) : NULL;
    int fits = edges.len / 8 == n + 1, is_done = 0;
    for (i64 k = 0; rows && fits && k < n; k++)
        fits = rows[k].utf8 && 0 <= edge[k] && edge[k] <= edge[k + 1] && edge[k + 1] <= ids.len / 4;
    if (rows && fits)
        is_done = learn_rows(self, rows, n, ids.buf, edge);
    PyBuffer_Release(&ids), PyBuffer_Release(&edges);
    Py_XDECREF(segments);
    free(rows);
    if (is_done)
        Py_RETURN_NONE;
    if (rows && !fits)
        PyErr_SetString(PyExc_ValueError, "the segments and ids do not fit together");
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static PyObject *segments_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    (void)names;
    Py_buffer sides;
    long long most;
    if (!PyArg_ParseTuple(args, "y*L", &sides, &most))
        return NULL;
    int fits = sides.len == 256 && is_power(most) && most >= 1024;
    Segments *self = fits ? (Segments *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0) : NULL;
    if (self)
        self->most = most, memcpy(self->sides, sides.buf, 256);
    PyBuffer_Release(&sides);
    return fits ? (PyObject *)self : PyErr_Format(PyExc_ValueError, "256 bytes, and a power of two");
}

static void segments_free(Segments *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    free_table(self->table);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef segments_methods[] = {
    {"look_up", (PyCFunction)segments_look_up, METH_O,
     "look_up(texts) -> (uint32 ids of the known segments, int64 number of ids of each text or -1 if it has no\n"
     "UTF-8, int64 (n, 2) the ids before each miss and its text, the segments that are missed, their count)."},
    {"learn", (PyCFunction)segments_learn, METH_VARARGS,
     "learn(segments, ids, edges): segment k has ids[edges[k] : edges[k + 1]]."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot segments_slots[] = {
    {Py_tp_new, segments_new},
    {Py_tp_dealloc, segments_free},
    {Py_tp_methods, segments_methods},
    {Py_tp_doc, "Segments(sides, most): a cache of segments with at most so many slots of 56 bytes."},
    {0, NULL},
};
static PyType_Spec segments_spec = {"tokpar.compiled._call.Segments", sizeof(Segments), 0, Py_TPFLAGS_DEFAULT,
                                    segments_slots};
