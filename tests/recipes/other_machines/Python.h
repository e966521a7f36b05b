/* As much of Python's interface as call.c uses, for machines without Python: values, their reading and building. No value
   is freed before `free_values`. No file but driver.c includes this one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ptrdiff_t Py_ssize_t;
typedef struct TypeObject PyTypeObject;
typedef struct { PyTypeObject *type; } PyObject;
typedef struct { void *buf; Py_ssize_t len; int readonly; } Py_buffer;
typedef void PyThreadState;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*allocfunc)(PyTypeObject *, Py_ssize_t);
typedef void (*freefunc)(void *);
typedef struct { const char *ml_name; PyCFunction ml_meth; int ml_flags; const char *ml_doc; } PyMethodDef;
typedef struct { int slot; void *value; } PyType_Slot;
typedef struct { const char *name; size_t size; int items; unsigned flags; PyType_Slot *slots; } PyType_Spec;
typedef PyType_Slot PyModuleDef_Slot;
typedef struct PyModuleDef {
    int head;
    const char *name, *doc;
    int size;
    PyMethodDef *methods;
    PyModuleDef_Slot *slots;
    void *traverse, *clear, *free;
} PyModuleDef;
struct TypeObject { PyObject head; const PyType_Spec *spec; };
typedef struct { PyObject *value; char *name; } Named;

/* `data`: the bytes of a str or an array, with a zero behind them. `width`: the bytes of a number of an array. */
typedef struct Value {
    PyObject head;
    struct Value *older;
    long long number;
    Py_ssize_t size;
    char *data;
    int width;
    struct Value **items;
} Value;

#define PyObject_HEAD PyObject head;
#define PyModuleDef_HEAD_INIT 0
#define PyMODINIT_FUNC static PyObject *
enum { METH_VARARGS = 1, METH_O, PyBUF_SIMPLE, Py_TPFLAGS_DEFAULT, Py_mod_exec };
enum { Py_tp_new = 1, Py_tp_dealloc, Py_tp_methods, Py_tp_doc, Py_tp_alloc, Py_tp_free };

static PyTypeObject PyList_Type, PyTuple_Type, PyDict_Type, PyLong_Type, bytes_type, str_type, none_type, error_type;
static PyObject none = {&none_type}, value_error = {&error_type}, memory_error = {&error_type}, unicode_error = {&error_type};
static PyObject *const PyExc_ValueError = &value_error, *const PyExc_MemoryError = &memory_error, *const PyExc_UnicodeDecodeError = &unicode_error;
static PyObject *raised;
static Value *newest;

#define Py_None (&none)
#define Py_TYPE(object) ((object)->type)
#define Py_INCREF(object) ((void)(object))
#define Py_DECREF(object) ((void)(object))
#define Py_XDECREF(object) ((void)(object))
#define Py_CLEAR(object) ((object) = NULL)
#define Py_RETURN_NONE return Py_None
#define Py_BEGIN_ALLOW_THREADS
#define Py_END_ALLOW_THREADS
#define PyEval_SaveThread() ((void *)&none)
#define PyEval_RestoreThread(state) ((void)(state))
#define PyBuffer_Release(buffer) ((void)(buffer))
#define PyUnicode_Check(object) (Py_TYPE(object) == &str_type)
#define PyList_CheckExact(object) (Py_TYPE(object) == &PyList_Type)

static void *room_for(size_t size)
{
    void *room = calloc(size + 1, 1);
    if (!room)
        fprintf(stderr, "no memory\n"), exit(3);
    return room;
}

static Value *new_value(PyTypeObject *type, Py_ssize_t size)
{
    Value *made = room_for(sizeof(Value));
    made->head.type = type, made->size = size, made->older = newest;
    return newest = made;
}

static Value *new_data(PyTypeObject *type, const void *data, Py_ssize_t size)
{
    Value *made = new_value(type, size);
    made->data = room_for((size_t)size);
    if (data && size)
        memcpy(made->data, data, (size_t)size);
    return made;
}

static Value *new_row(PyTypeObject *type, Py_ssize_t size)
{
    Value *made = new_value(type, size);
    made->items = room_for(sizeof(Value *) * (size_t)size);
    return made;
}

static void free_values(void)
{
    for (Value *each = newest, *older; each; each = older) {
        older = each->older;
        free(each->data), free(each->items), free(each);
    }
    newest = NULL;
}

/* ---- errors */

static PyObject *PyErr_Occurred(void) { return raised; }
static void PyErr_Clear(void) { raised = NULL; }
static int PyErr_ExceptionMatches(PyObject *kind) { return raised == kind; }
static void PyErr_SetString(PyObject *kind, const char *text) { (void)text, raised = kind; }
static PyObject *PyErr_Format(PyObject *kind, const char *text, ...) { return (void)text, raised = kind, NULL; }
static PyObject *PyErr_NoMemory(void) { return raised = PyExc_MemoryError, NULL; }

/* ---- values */

#define VALUE(object) ((Value *)(void *)(object))
static PyObject *PyBytes_FromStringAndSize(const char *data, Py_ssize_t n) { return &new_data(&bytes_type, data, n)->head; }
static char *PyBytes_AsString(PyObject *o) { return VALUE(o)->data; }
static PyObject *PyUnicode_FromStringAndSize(const char *data, Py_ssize_t n) { return &new_data(&str_type, data, n)->head; }
static PyObject *PyUnicode_FromString(const char *text) { return PyUnicode_FromStringAndSize(text, (Py_ssize_t)strlen(text)); }
static PyObject *PyList_New(Py_ssize_t n) { return &new_row(&PyList_Type, n)->head; }
static Py_ssize_t PyList_Size(PyObject *o) { return VALUE(o)->size; }
static Py_ssize_t PyTuple_Size(PyObject *o) { return VALUE(o)->size; }
static PyObject *PyList_GetItem(PyObject *o, Py_ssize_t k) { return &VALUE(o)->items[k]->head; }
static PyObject *PyTuple_GetItem(PyObject *o, Py_ssize_t k) { return &VALUE(o)->items[k]->head; }
static int PyList_SetItem(PyObject *o, Py_ssize_t k, PyObject *item) { return VALUE(o)->items[k] = VALUE(item), 0; }
static long long PyLong_AsLongLong(PyObject *o) { return VALUE(o)->number; }

static long PyLong_AsLongAndOverflow(PyObject *o, int *overflow)
{
    long long number = VALUE(o)->number;
    *overflow = number != (long)number;
    return *overflow ? -1 : (long)number;
}

static Value *new_number(long long number)
{
    Value *made = new_value(&PyLong_Type, 0);
    made->number = number;
    return made;
}

static PyObject *PyBool_FromLong(long number) { return &new_number(number)->head; }

static int PyList_Append(PyObject *list, PyObject *item)
{
    Value *to = VALUE(list);
    Value **items = room_for(sizeof(Value *) * (size_t)(to->size + 1));
    if (to->size)
        memcpy(items, to->items, sizeof(Value *) * (size_t)to->size);
    items[to->size++] = VALUE(item);
    free(to->items);
    to->items = items;
    return 0;
}

/* A str without data has surrogates: it has no UTF-8. */
static const char *PyUnicode_AsUTF8AndSize(PyObject *o, Py_ssize_t *size)
{
    *size = VALUE(o)->size;
    if (!VALUE(o)->data)
        raised = &unicode_error;
    return VALUE(o)->data;
}

static Py_ssize_t PyUnicode_GetLength(PyObject *o)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t k = 0; k < VALUE(o)->size; k++)
        count += (VALUE(o)->data[k] & 0xC0) != 0x80;
    return count;
}

/* Returns the bytes of the character at p, or of what is no UTF-8 there and is replaced by one character, negative. */
static int sequence_size(const unsigned char *p, Py_ssize_t n)
{
    unsigned char c = p[0];
    int size = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0, found = 1;
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80, high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    for (; found < size && found < n && p[found] >= low && p[found] <= high; found++)
        low = 0x80, high = 0xBF;
    return found == size ? size : -found;
}

/* `errors`: "strict" or "replace". */
static PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t n, const char *errors)
{
    Value *text = new_data(&str_type, NULL, 3 * n);
    text->size = 0;
    for (Py_ssize_t i = 0; i < n;) {
        int size = sequence_size((const unsigned char *)data + i, n - i), is_wrong = size < 0;
        if (is_wrong && strcmp(errors, "replace"))
            return raised = &unicode_error, NULL;
        size = is_wrong ? -size : size;
        memcpy(text->data + text->size, is_wrong ? "\xEF\xBF\xBD" : data + i, is_wrong ? 3 : (size_t)size);
        text->size += is_wrong ? 3 : size, i += size;
    }
    return &text->head;
}

static int has_text(const Value *value, const char *text)
{
    return value->size == (Py_ssize_t)strlen(text) && !memcmp(value->data, text, strlen(text));
}

/* The items of a dict are its names and values in turn. */
static PyObject *PyDict_GetItemWithError(PyObject *dict, PyObject *name)
{
    for (Py_ssize_t k = 0; k < VALUE(dict)->size; k += 2)
        if (has_text(VALUE(dict)->items[k], VALUE(name)->data))
            return &VALUE(dict)->items[k + 1]->head;
    return NULL;
}

static int PyObject_GetBuffer(PyObject *o, Py_buffer *buffer, int flags)
{
    (void)flags;
    buffer->buf = VALUE(o)->data, buffer->len = VALUE(o)->size, buffer->readonly = 0;
    if (Py_TYPE(o) != &bytes_type)
        return raised = PyExc_ValueError, -1;
    return 0;
}

/* ---- arguments, and what is returned */

typedef struct { va_list list; } Given;

/* Reads arguments by a format as far as it or they go. Returns the format behind them, or NULL with an error. */
static const char *read_arguments(const char *f, Value *row, Given *to)
{
    Py_ssize_t k = 0;
    for (; *f && *f != ')'; f++) {
        if (*f == '|')
            continue;
        if (k == row->size)
            return f + strlen(f);
        Value *each = row->items[k++];
        PyObject *type;
        switch (*f) {
        case '(':
            if (!(f = read_arguments(f + 1, each, to)))
                return NULL;
            break;
        case 'y':
        case 'w':
            f++;
            if (PyObject_GetBuffer(&each->head, va_arg(to->list, Py_buffer *), 0))
                return NULL;
            break;
        case 'O':
            if (f[1] == '!') {
                f++;
                type = va_arg(to->list, PyObject *);
                if ((PyObject *)each->head.type != type)
                    return raised = PyExc_ValueError, NULL;
            }
            *va_arg(to->list, PyObject **) = &each->head;
            break;
        case 'U': *va_arg(to->list, PyObject **) = &each->head; break;
        case 's': *va_arg(to->list, const char **) = each->data; break;
        case 'n': *va_arg(to->list, Py_ssize_t *) = (Py_ssize_t)each->number; break;
        case 'L': *va_arg(to->list, long long *) = each->number; break;
        case 'i': *va_arg(to->list, int *) = (int)each->number; break;
        case 'I': *va_arg(to->list, unsigned *) = (unsigned)each->number; break;
        default: fprintf(stderr, "the format %s is not known here\n", f), exit(3);
        }
    }
    return f;
}

static int PyArg_ParseTuple(PyObject *args, const char *format, ...)
{
    Given to;
    va_start(to.list, format);
    const char *rest = read_arguments(format, VALUE(args), &to);
    va_end(to.list);
    return rest != NULL;
}

static int PyArg_ParseTupleAndKeywords(PyObject *args, PyObject *names, const char *format, char **allowed, ...)
{
    (void)names;
    Given to;
    va_start(to.list, allowed);
    const char *rest = read_arguments(format, VALUE(args), &to);
    va_end(to.list);
    return rest != NULL;
}

/* Formats of L, N and O in one pair of brackets. */
static PyObject *Py_BuildValue(const char *format, ...)
{
    Value *row = new_row(&PyTuple_Type, (Py_ssize_t)strlen(format) - 2);
    va_list given;
    va_start(given, format);
    for (Py_ssize_t k = 0; row && k < row->size; k++) {
        row->items[k] = format[k + 1] == 'L' ? new_number(va_arg(given, long long)) : VALUE(va_arg(given, PyObject *));
        if (!row->items[k])
            row = NULL;
    }
    va_end(given);
    return row ? &row->head : NULL;
}

/* ---- types */

static PyObject *new_object(PyTypeObject *type, Py_ssize_t items)
{
    (void)items;
    PyObject *made = calloc(1, type->spec->size);
    if (made)
        made->type = type;
    return made;
}

static void *PyType_GetSlot(PyTypeObject *type, int slot)
{
    if (slot == Py_tp_alloc)
        return (void *)new_object;
    if (slot == Py_tp_free)
        return (void *)free;
    for (PyType_Slot *each = type->spec->slots; each->slot; each++)
        if (each->slot == slot)
            return each->value;
    return NULL;
}

static PyTypeObject made_type;
static PyObject *PyType_FromSpec(const PyType_Spec *spec) { return made_type.spec = spec, &made_type.head; }
static int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value) { return (void)module, (void)name, !value; }
static PyObject *PyModuleDef_Init(PyModuleDef *module) { return (void *)module; }
