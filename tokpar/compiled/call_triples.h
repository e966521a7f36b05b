/* Cuts that three ASCII characters make sure, in a row of one stage: theorem 63. Part of call.c.

   "ab|c" is one of the form LAST, "a|bc" of the form MIDDLE. Characters that all states of the stage treat alike are of one
   class. Four boxes, each a set of classes for a, b and c, hold most of the sure triples of a form: so six bytes of a
   character tell all sure pairs and the triples of the boxes. Characters with the same six bytes are of one kind: the kind is
   looked up once, and six tables of sixteen bytes tell the rest. */

enum { LAST, MIDDLE, BOXES = 4, MOST_CLASSES = 40, SEEDS = 256 };

typedef struct {
    int count, of[128];
    u8 member[MOST_CLASSES]; /* a character of each class */
    i64 weight[MOST_CLASSES];
    u8 sure[MOST_CLASSES][MOST_CLASSES][MOST_CLASSES], left[MOST_CLASSES][MOST_CLASSES][MOST_CLASSES]; /* left: in no box */
} Triples;

/* True if a pre-token ends between b and c wherever "abc" stands. `after`: where a run may be that has read a. */
static int is_sure_last(const Machine *m, const u32 *after, i64 count, u32 b, u32 c)
{
    u32 go = m->moves[m->begins[0] | b], state = go & STATE, next = m->moves[state | c];
    if (go & DIES || !(next & DIES) || !(next & HIT) || !(m->moves[state | END] & HIT)) /* (a) */
        return 0;
    for (i64 k = 0; k < count; k++) {
        go = m->moves[after[k] | b], state = go & STATE;
        if (go & DIES)
            continue;
        next = m->moves[state | c];
        if (!(next & DIES) || (next ^ m->moves[state | END]) & HIT) /* (b), (c) */
            return 0;
    }
    return 1;
}

/* True if a pre-token ends between a and b wherever "abc" stands. */
static int is_sure_middle(const Machine *m, const u32 *after, i64 count, u32 a, u32 b, u32 c)
{
    u32 first = m->moves[m->begins[0] | a];
    if (first & DIES || !(m->moves[(first & STATE) | b] & HIT)) /* (a) */
        return 0;
    for (i64 k = 0; k < count; k++) {
        u32 go = m->moves[after[k] | b], next = go & DIES ? DIES : m->moves[(go & STATE) | c];
        if ((go ^ m->moves[after[k] | END]) & HIT || !(next & DIES) || next & HIT) /* (b), (c) */
            return 0;
    }
    return 1;
}

/* Puts ASCII characters that all states treat alike into one class. Returns 0 if there are too many. */
static int find_classes(const Machine *m, const u8 *seen, i64 states, Triples *t)
{
    for (u32 c = 0; c < 128; c++) {
        int k = 0;
        for (; k < t->count; k++) {
            i64 s = 0;
            while (s < states && (!seen[s] || m->moves[s << 8 | c] == m->moves[s << 8 | t->member[k]]))
                s++;
            if (s == states)
                break;
        }
        if (k == MOST_CLASSES)
            return 0;
        if (k == t->count)
            t->member[t->count++] = (u8)c;
        t->of[c] = k;
        t->weight[k]++;
    }
    return 1;
}

/* Makes a set of one axis as large as all sure triples of the other two allow. */
static void grow_set(const Triples *t, u64 *set, int axis)
{
    for (int x = 0; x < t->count; x++) {
        u64 tried[3] = {set[0], set[1], set[2]};
        int fits = 1;
        tried[axis] = (u64)1 << x;
        for (int a = 0; a < t->count && fits; a++)
            for (int b = 0; b < t->count && fits && tried[0] >> a & 1; b++)
                for (int c = 0; c < t->count && fits && tried[1] >> b & 1; c++)
                    fits = !(tried[2] >> c & 1) || t->sure[a][b][c];
        if (fits)
            set[axis] |= (u64)1 << x;
    }
}

/* Takes the best box of sure triples. Returns 0 if none is left. */
static int take_box(Triples *t, u64 *best)
{
    i64 most = 0, open = 0, step, at = 0;
    for (int a = 0; a < t->count; a++)
        for (int b = 0; b < t->count; b++)
            for (int c = 0; c < t->count; c++)
                open += t->left[a][b][c];
    step = open / SEEDS + 1;
    for (int a = 0; a < t->count; a++)
        for (int b = 0; b < t->count; b++)
            for (int c = 0; c < t->count; c++) {
                if (!t->left[a][b][c] || at++ % step)
                    continue;
                u64 set[3] = {(u64)1 << a, (u64)1 << b, (u64)1 << c};
                grow_set(t, set, 2), grow_set(t, set, 1), grow_set(t, set, 0);
                i64 gain = 0;
                for (int x = 0; x < t->count; x++)
                    for (int y = 0; y < t->count && set[0] >> x & 1; y++)
                        for (int z = 0; z < t->count && set[1] >> y & 1; z++)
                            if (set[2] >> z & 1 && t->left[x][y][z])
                                gain += t->weight[x] * t->weight[y] * t->weight[z];
                if (gain > most)
                    most = gain, memcpy(best, set, sizeof set);
            }
    for (int x = 0; most && x < t->count; x++)
        for (int y = 0; y < t->count; y++)
            for (int z = 0; z < t->count; z++)
                if (best[0] >> x & best[1] >> y & best[2] >> z & 1)
                    t->left[x][y][z] = 0;
    return most > 0;
}

/* Fills the rows of the triples of one form. */
static void find_form(const Machine *m, const u8 (*sure)[256], Triples *t, int form, SureCuts *found, u8 *seen, u32 *open, i64 states)
{
    u8 *rows[2][3] = {{found->far, found->near, found->here}, {found->near, found->here, found->next}};
    u64 box[3];
    for (int a = 0; a < t->count; a++) {
        i64 count = states_after(m, seen, states, t->member[a], open);
        for (int b = 0; b < t->count; b++)
            for (int c = 0; c < t->count; c++) {
                u32 x = t->member[a], y = t->member[b], z = t->member[c];
                int is_pair = (form == LAST ? sure[y][z] : sure[x][y]) == IS_SURE;
                t->sure[a][b][c] = (u8)(form == LAST ? is_sure_last(m, open, count, y, z) : is_sure_middle(m, open, count, x, y, z));
                t->left[a][b][c] = t->sure[a][b][c] && !is_pair;
            }
    }
    for (int k = 0; k < BOXES && take_box(t, box); k++)
        for (int axis = 0; axis < 3; axis++)
            for (int c = 0; c < 128; c++)
                if (box[axis] >> t->of[c] & 1)
                    rows[form][axis][c] |= (u8)(1 << (BOXES * form + k));
}

/* Finds the kinds of characters. Without classes, or with more than 16 kinds, pairs alone are looked up. */
static void find_kinds(SureCuts *f)
{
    const u8 *tables[6] = {f->left, f->right, f->far, f->near, f->here, f->next};
    int count = 1; /* kind 0 is that of what is not ASCII */
    for (int c = 0; c < 128; c++) {
        int k = 0, differs = 1;
        while (differs && ++k < count)
            for (int j = differs = 0; j < 6; j++)
                differs |= f->by_kind[j][k] != tables[j][c];
        if (k == 16)
            return;
        for (int j = 0; j < 6; j++)
            f->by_kind[j][k] = tables[j][c];
        count += k == count;
        f->kind_of[c] = (u8)k;
    }
    f->has_kinds = 1;
}

/* Returns 0 without memory. */
static int find_triples(const Machine *m, i64 states, const u8 (*sure)[256], SureCuts *found, u8 *seen, u32 *open)
{
    Triples *t = calloc(1, sizeof *t);
    memset(seen, 0, (size_t)states);
    reach(m, 0, seen, open);
    if (t && m->stages == 1 && find_classes(m, seen, states, t)) {
        memset(found->far, 0xF0, 128), memset(found->next, 0x0F, 128); /* the form that does not look there */
        find_form(m, sure, t, LAST, found, seen, open, states);
        find_form(m, sure, t, MIDDLE, found, seen, open, states);
        find_kinds(found);
    }
    free(t);
    return t != NULL;
}

