/* Tables of tokens, for _merges.py and _vocabulary.py. tests/support/kernel_words.py has the same
   functions in Python. A slot has four words of 64 bits; one whose word 3 is 0 is free:

     word 0           word 1            word 2     word 3
     bytes 0-7 of     bytes 8-15 of     the id     bits  0-15  length in bytes, and PIECE
     the token        the token                    bits 32-63  place in `keys` of a token of more than 16 bytes */
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* Returns bytes i to i + 7 as a number, byte i lowest. */
static inline unsigned long long word_at(const unsigned char *p, ptrdiff_t i)
{
    unsigned long long word;
    memcpy(&word, p + i, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

typedef unsigned long long word;

/* Returns bytes i to i + n - 1 as a number, 0 <= n <= 8. Reads eight bytes; has no branch. */
static inline word part_at(const unsigned char *p, ptrdiff_t i, ptrdiff_t n)
{
    word few = (word)n;
    word kept = (((word)1 << (8 * (few & 7))) - 1) | (0 - (few >> 3));
    return word_at(p, i) & kept;
}

/* Return words 0 and 1 of a slot: bytes 0 to 7, and 8 to 15, of a key of n bytes. */
static inline word low_of(const unsigned char *p, ptrdiff_t i, ptrdiff_t n)
{
    return part_at(p, i, n < 8 ? n : 8);
}
static inline word high_of(const unsigned char *p, ptrdiff_t i, ptrdiff_t n)
{
    return part_at(p, i + 8, n < 8 ? 0 : n < 16 ? n - 8 : 8);
}

static inline word mixed(word h, word more)
{
    h = (h ^ more) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}

/* Returns the hash of the key p[i : i + n], whose first 16 bytes are the words k0 and k1. `size` is
   PIECE + n. */
static inline word hash_of(const unsigned char *p, ptrdiff_t i, ptrdiff_t n, word size, word k0,
                           word k1, const word *seeds)
{
    word h = mixed(seeds[0], k0);
    for (ptrdiff_t done = 16; done < n; done += 8)
        h = mixed(h, part_at(p, i + done, n - done < 8 ? n - done : 8));
    h = (h + (k1 ^ seeds[1]) + size) * 0xD6E8FEB86659FD93u;
    return (h >> 32) & seeds[2];
}

/* True if n bytes at both places are equal. Up to 8 bytes behind either may be read. */
static inline int same_bytes(const unsigned char *p, ptrdiff_t i, const unsigned char *q,
                             ptrdiff_t j, ptrdiff_t n)
{
    for (ptrdiff_t done = 0; done < n; done += 8) {
        ptrdiff_t few = n - done < 8 ? n - done : 8;
        if (part_at(p, i + done, few) != part_at(q, j + done, few))
            return 0;
    }
    return 1;
}

enum {
    PROBES = 32,   /* a key stands in one of so many slots in a row */
    PIECE = 0x8000 /* added to the length of a token, so that no slot of one is free; no key is as long */
};

/* Returns the index of word 0 of the slot of a key, or -1. `last`: the number of the last slot. */
static inline ptrdiff_t find_slot(const word *slots, word last, const unsigned char *keys, word h,
                                  word k0, word k1, const unsigned char *p, ptrdiff_t i,
                                  ptrdiff_t n, word size)
{
    word slot = h & last;
    if (n >= PIECE)
        return -1;
    for (int tried = 0; tried < PROBES; tried++) {
        const word *e = slots + 4 * slot;
        int alike = e[0] == k0 && e[1] == k1 && (e[3] & 0xFFFF) == size;
        if (alike && (n <= 16 || same_bytes(p, i, keys, (ptrdiff_t)(e[3] >> 32), n)))
            return (ptrdiff_t)(4 * slot);
        if (e[3] == 0)
            return -1;
        slot = (slot + 1) & last;
    }
    return -1;
}

/* Returns the index of word 0 of a free slot for a key of hash h, or -1. */
static inline ptrdiff_t free_slot(const word *slots, word last, word h)
{
    word slot = h & last;
    for (int tried = 0; tried < PROBES; tried++) {
        if (slots[4 * slot + 3] == 0)
            return (ptrdiff_t)(4 * slot);
        slot = (slot + 1) & last;
    }
    return -1;
}

/* Returns the id of the token p[at : at + n], or -1. The table has tokens as pre-tokens with one id;
   16 bytes behind the token may be read. */
static inline long long token_at(const word *slots, word last, const unsigned char *keys,
                                 const word *seeds, const unsigned char *p, ptrdiff_t at,
                                 ptrdiff_t n)
{
    word k0 = low_of(p, at, n), k1 = high_of(p, at, n), size = PIECE + (word)n;
    word h = hash_of(p, at, n, size, k0, k1, seeds);
    ptrdiff_t e = find_slot(slots, last, keys, h, k0, k1, p, at, n, size);
    return e < 0 ? -1 : (long long)(slots[e + 2] & 0xFFFFFFFF);
}

/* Returns the hash of a pair of ids in the table of merges. */
static inline word pair_hash(word pair)
{
    pair *= 0x9E3779B97F4A7C15u;
    return pair ^ (pair >> 29);
}
