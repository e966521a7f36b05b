cdef extern from "words.h" nogil:
    unsigned long long low_of(const unsigned char *p, Py_ssize_t i, Py_ssize_t n)
    unsigned long long high_of(const unsigned char *p, Py_ssize_t i, Py_ssize_t n)
    unsigned long long hash_of(const unsigned char *p, Py_ssize_t i, Py_ssize_t n, unsigned long long size, unsigned long long k0, unsigned long long k1, const unsigned long long *seeds)
    Py_ssize_t find_slot(const unsigned long long *slots, unsigned long long last, const unsigned char *keys, unsigned long long h, unsigned long long k0, unsigned long long k1, const unsigned char *p, Py_ssize_t i, Py_ssize_t n, unsigned long long size)
    Py_ssize_t free_slot(const unsigned long long *slots, unsigned long long last, unsigned long long h)
    long long token_at(const unsigned long long *slots, unsigned long long last, const unsigned char *keys, const unsigned long long *seeds, const unsigned char *p, Py_ssize_t at, Py_ssize_t n)
    unsigned long long pair_hash(unsigned long long pair)
