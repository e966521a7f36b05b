/* Included before call.c by tests/compiled/test_call_memory.py: counts the allocations of the kernel, and lets one fail. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

long until_failure = -1; /* allocations before the one that fails; negative: none fails */
long alive;              /* blocks that were not freed */

static int fails(void) { return until_failure >= 0 && until_failure-- == 0; }

static void *counted_malloc(size_t size)
{
    void *block = fails() ? NULL : malloc(size);
    alive += block != NULL;
    return block;
}

static void *counted_calloc(size_t count, size_t size)
{
    void *block = fails() ? NULL : calloc(count, size);
    alive += block != NULL;
    return block;
}

static void *counted_realloc(void *old, size_t size)
{
    void *block = fails() ? NULL : realloc(old, size);
    alive += block != NULL && !old;
    return block;
}

static void counted_free(void *block)
{
    alive -= block != NULL;
    free(block);
}

static int no_memory(void) { return PyErr_NoMemory() ? 0 : -1; }

#define malloc counted_malloc
#define calloc counted_calloc
#define realloc counted_realloc
#define free counted_free
#define PyBytes_FromStringAndSize(data, size) (fails() ? PyErr_NoMemory() : PyBytes_FromStringAndSize(data, size))
#define PyUnicode_FromStringAndSize(data, size) (fails() ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(data, size))
#define PyUnicode_DecodeUTF8(data, size, errors) (fails() ? PyErr_NoMemory() : PyUnicode_DecodeUTF8(data, size, errors))
#define PyUnicode_FromString(data) (fails() ? PyErr_NoMemory() : PyUnicode_FromString(data))
#define PyUnicode_AsUTF8AndSize(text, size) (fails() ? (no_memory(), NULL) : PyUnicode_AsUTF8AndSize(text, size))
#define PyList_New(size) (fails() ? PyErr_NoMemory() : PyList_New(size))
#define PyList_Append(list, item) (fails() ? no_memory() : PyList_Append(list, item))
