cdef extern from "words.h" nogil:
    unsigned long long word_at(const unsigned char *p, Py_ssize_t i)
    void fetch(const unsigned long long *words, Py_ssize_t i)
    Py_ssize_t spaces_at(const unsigned char *p, Py_ssize_t lo, Py_ssize_t hi, unsigned long long *found, int *wide)

cdef extern from "words.h":
    unsigned char *utf8_of(object text, Py_ssize_t *size) except NULL
