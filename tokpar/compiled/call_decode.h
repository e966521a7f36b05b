/* Texts of ids: the bytes of the tokens side by side, read as UTF-8 once (proofs/decoding.md, (f)).

   A table has the bytes of all tokens in one array, which is PAD bytes longer, and two places for each id, in
   the first token of a text and in a later one: start << 16 | size. */
enum { PAD = 16, ASKED = 0xFFFF, LEFT_OUT = 0xFFFE };

typedef struct {
    const char *data, *errors;
    const u64 *first, *later;
    u64 size, count;
} TokenBytes;

#ifdef Py_GIL_DISABLED
#define GET_ITEM PyTuple_GetItem
#else
#define GET_ITEM PyList_GetItem /* no code in Python runs while the list is read */
#endif

/* Reads ids as places. Returns the sum of the sizes, or -1 if only the engine knows the text. `items`: a
   list, without a GIL a tuple of its items; or NULL, then `ids` are read. */
static i64 read_places(const TokenBytes *t, PyObject *items, const u32 *ids, i64 count, u64 *places)
{
    const u64 *of_id = t->first;
    i64 total = 0;
    for (i64 k = 0; k < count; k++) {
        u64 id;
        if (items) {
            PyObject *item = GET_ITEM(items, k);
            int overflow = 0;
            if (Py_TYPE(item) != &PyLong_Type)
                return -1;
            id = (u64)PyLong_AsLongAndOverflow(item, &overflow); /* a negative number is more than count */
        } else
            id = ids[k];
        if (id >= t->count)
            return -1;
        u64 place = of_id[id], size = place & 0xFFFF;
        if (size == LEFT_OUT) {
            places[k] = 0;
            continue;
        }
        if (size == ASKED || (place >> 16) + size + PAD > t->size)
            return -1;
        of_id = t->later;
        places[k] = place;
        total += (i64)size;
    }
    return total;
}

static void gather(const char *data, const u64 *places, i64 count, char *out)
{
    for (i64 k = 0; k < count; k++) {
        u64 size = places[k] & 0xFFFF;
        const char *from = data + (places[k] >> 16);
        memcpy(out, from, PAD);
        if (size > PAD)
            memcpy(out + PAD, from + PAD, size - PAD);
        out += size;
    }
}

/* Returns the text of a row, None if only the engine knows it, or NULL with an error. */
static PyObject *text_of_places(const TokenBytes *t, PyObject *items, const u32 *ids, i64 count)
{
    u64 *places = malloc(8 * (size_t)count + 8);
    i64 total = places ? read_places(t, items, ids, count, places) : 0;
    char *out = places && total >= 0 ? malloc((size_t)total + PAD) : NULL;
    PyObject *text = NULL;
    if (total < 0) {
        Py_INCREF(Py_None);
        text = Py_None;
    } else if (!out)
        PyErr_NoMemory();
    else if (total < RELEASE_FROM)
        gather(t->data, places, count, out);
    else {
        Py_BEGIN_ALLOW_THREADS
        gather(t->data, places, count, out);
        Py_END_ALLOW_THREADS
    }
    if (out)
        text = PyUnicode_DecodeUTF8(out, total, t->errors);
    free(out);
    free(places);
    if (!text && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        Py_INCREF(Py_None);
        return Py_None;
    }
    return text;
}

/* A row is a list, or an array of uint32. */
static PyObject *text_of_row(const TokenBytes *t, PyObject *row)
{
    PyObject *text;
    if (PyList_CheckExact(row)) {
#ifdef Py_GIL_DISABLED
        PyObject *items = PyList_AsTuple(row); /* another thread may change the list */
        if (!items)
            return NULL;
        text = text_of_places(t, items, NULL, PyTuple_Size(items));
        Py_DECREF(items);
        return text;
#else
        return text_of_places(t, row, NULL, PyList_Size(row));
#endif
    }
    Py_buffer ids;
    if (PyObject_GetBuffer(row, &ids, PyBUF_SIMPLE) < 0)
        return NULL;
    text = text_of_places(t, NULL, ids.buf, ids.len / 4);
    PyBuffer_Release(&ids);
    return text;
}

/* texts_of(rows, data, first, later, errors): see functions[] in call.c. */
static PyObject *texts_of(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows;
    Py_buffer data, first, later;
    const char *errors;
    if (!PyArg_ParseTuple(args, "O!y*y*y*s", &PyTuple_Type, &rows, &data, &first, &later, &errors))
        return NULL;
    TokenBytes t = {data.buf, errors, first.buf, later.buf, (u64)data.len, (u64)later.len / 8};
    Py_ssize_t count = PyTuple_Size(rows);
    PyObject *texts = NULL;
    if (first.len != later.len || data.len < PAD)
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit together");
    else
        texts = PyList_New(count);
    for (Py_ssize_t k = 0; texts && k < count; k++) {
        PyObject *text = text_of_row(&t, PyTuple_GetItem(rows, k));
        if (!text || PyList_SetItem(texts, k, text) < 0)
            Py_CLEAR(texts);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&first);
    PyBuffer_Release(&later);
    return texts;
}
