cdef extern from "words.h" nogil:
    unsigned long long low_of(const unsigned char *p, Py_ssize_t i, Py_ssize_t n)
    long long token_at(const unsigned long long *slots, unsigned long long last, const unsigned char *keys, const unsigned long long *seeds, const unsigned char *p, Py_ssize_t at, Py_ssize_t n)
