/* Runs: parts of a section, each of several words, that are known from their second meeting on. Part of call.c. Each ends where
   a segment may end, so it has its ids by itself ("Corollary (runs)" of proofs/compiled-call.md), whichever runs are looked up. */

enum {
    LEAST_RUN = 64, NEAR = 48, /* bytes of a run, and how far behind them a line end is preferred */
    STRETCH = 1 << 14, ASKED_BYTES = 1 << 11,
    MOST_UNMET = 1 << 10, MET_COUNTS = 16 /* a run that was met counts as so many that were not */
};

typedef i64 (*Encode)(const Tables *, Scratch *, u8 *, i64, i64, i64);

/* True if a segment may end before p[i]: then a section up to there has its ids, whatever follows. */
static inline int ends_segment(const Tables *t, const u8 *p, i64 i)
{
    int size;
    if ((p[i] & 0xC0) == 0x80)
        return 0;
    if (t->has_pairs)
        return is_pair_cut(&t->pairs, p, i);
    if (t->is_wordpiece) {
        u32 kind = p[i] < 0x80 ? t->wordpiece.ascii_kind[p[i]] : t->wordpiece.forms[code_point(p + i, &size)] & 7;
        return kind == BLANK || kind == ISOLATED;
    }
    u32 left = code_point_before(p, i, &size), right = code_point(p + i, &size);
    return is_cut(&t->characters, left, right);
}

/* Returns the first place from i on at which a segment of a BPE over bytes may end, or stop. */
static i64 next_sure_cut(const Tables *t, const u8 *p, i64 i, i64 stop)
{
    int size, next_size;
    while ((p[i] & 0xC0) == 0x80)
        i++;
    u32 left = code_point_before(p, i, &size), right = code_point(p + i, &size), next;
    for (; i < stop; i += size, size = next_size, left = right, right = next) {
        next = code_point(p + i + size, &next_size);
        if (!t->quick_of[left] && !t->quick_of[right] && !t->quick_of[next] &&
            is_sure(&t->sure, t->of_all.symbol_of, t->of_all.symbols, left, right))
            return i;
    }
    return stop;
}

/* Returns the first place from i on at which the section that begins at `start` may be cut, or stop. */
static i64 next_run_cut(const Tables *t, const u8 *p, i64 i, i64 start, i64 stop)
{
    if (t->asks_engine)
        return next_space_cut(t->sides, p, i - 1, start, stop);
    if (!t->is_characters && !t->is_wordpiece && !t->has_pairs)
        return next_sure_cut(t, p, i, stop);
    while (i < stop && !ends_segment(t, p, i))
        i++;
    return i;
}

/* Returns the end of the run that begins at `start`. Line ends are preferred: so texts that share lines
   share runs. */
static inline i64 run_end(const Tables *t, const u8 *p, i64 start, i64 stop)
{
    i64 i = start + LEAST_RUN;
    if (i + NEAR >= stop)
        return stop;
    const u8 *line = memchr(p + i, '\n', NEAR);
    return next_run_cut(t, p, line ? line - p + 1 : i + NEAR, start, stop);
}

/* Returns the key of p[0 : n], n >= 16: as key_of, but no product waits for the last one. */
static inline Key key_of_run(const u8 *p, i64 n)
{
    static const u64 step = 0x9E3779B97F4A7C15u;
    u64 hash = mixed(word_at(p + n - 16), word_at(p + n - 8)) + (u64)n, salt = step;
    for (i64 i = 0; i + 16 <= n; i += 16, salt += step)
        hash += mixed(word_at(p + i) ^ salt, word_at(p + i + 8) + salt);
    hash ^= hash >> 32;
    return (Key){hash, (u64)255 << 56, hash};
}

typedef struct { i64 end, size; Key key; } Run; /* size 0: it is not kept */

/* Returns the run between two places, and fetches what is known of it. */
static inline Run run_to(const Scratch *s, const u8 *p, i64 start, i64 stop)
{
    Run run = {stop, 0, {0}};
    i64 n = stop - start;
    if (n < LEAST_RUN || n > LONGEST_KEPT)
        return run;
    run.size = n;
    run.key = key_of_run(p + start, n);
    fetch(marks_of(s, run.key));
    if (s->runs.slot)
        fetch(s->runs.slot + (run.key.hash & s->runs.mask));
    return run;
}

/* Parts of a section, at whose ends runs end. After MOST_UNMET runs that were not met, only those in the first ASKED_BYTES of a
   stretch are looked up: new text is encoded as if nothing were kept, and text that was seen is noticed. */
typedef struct { i64 first, start, stop; int unmet, unmet_here; } Stretch; /* first: of the section; unmet_here: runs in its first bytes */

/* Returns the run that begins at `at`, or the rest of a stretch as one that is not kept. */
static inline Run next_run(const Tables *t, const Scratch *s, const u8 *p, Stretch *of, i64 at, i64 stop)
{
    if (at == of->stop) {
        i64 end = at + STRETCH;
        of->start = at, of->unmet_here = 0;
        of->stop = end + NEAR < stop ? next_run_cut(t, p, end, at, stop) : stop;
    }
    if (of->unmet >= MOST_UNMET && at - of->start >= ASKED_BYTES)
        return (Run){of->stop, 0, {0, 0, 0}};
    i64 end = run_end(t, p, at, of->stop);
    return run_to(s, p, at, of->stop - end < LEAST_RUN && of->stop < stop ? of->stop : end);
}

static inline void count_met(Stretch *of) { of->unmet -= of->unmet < MET_COUNTS ? of->unmet : MET_COUNTS; }

/* True if a run was met, or stands behind runs that were met, where nothing may have been looked up when they were. The last run of
   a stretch counts for the next one, which has begun: the run after it is found first. */
static inline int is_met(Scratch *s, Stretch *of, Run run)
{
    int is_first = run.end - of->start < ASKED_BYTES, was = was_met(s, run.key, OF_RUN);
    if (was || (!is_first && of->unmet_here < ASKED_BYTES / LEAST_RUN / 8 && of->start - of->first >= MOST_UNMET * LEAST_RUN)) {
        count_met(of);
        return 1;
    }
    of->unmet += of->unmet < MOST_UNMET, of->unmet_here += is_first;
    return 0;
}

/* Fetches the bytes and the ids of a run that is known. */
static inline void fetch_run(const Words *w, Run run)
{
    const Word *slot = run.size && w->slot ? w->slot + (run.key.hash & w->mask) : NULL;
    if (!slot || slot->a != run.key.a)
        return;
    fetch(w->keys + (slot->b & (((u64)1 << 56) - 1)));
    fetch(w->keys + (slot->b & (((u64)1 << 56) - 1)) + 64);
    fetch(w->more + slot->id[1]);
    fetch(w->more + slot->id[1] + 16);
}

/* True if a run may be put into the table. A full table stays as it is until as many runs as it has slots were
   refused: so a text that is larger than the table does not drive out what is known of it. */
static int may_learn_run(const Tables *t, Scratch *s)
{
    if (!s->refused)
        return 1;
    if (s->refused++ <= t->most_runs)
        return 0;
    s->refused = 0;
    return grow_words(&s->runs, t->most_runs, LEAST_RUN + NEAR + 16, 40);
}

static i64 encode_new_run(const Tables *t, Scratch *s, Encode part, Key key, u8 *p, i64 start, i64 stop, i64 count)
{
    i64 first = count, holes = s->hole_count;
    Words *w = &s->runs;
    count = part(t, s, p, start, stop, count);
    if (count < first || s->hole_count > holes || put_word(w, key, p + start, stop - start, s->out + first, count - first, 0))
        return count;
    s->refused = w->slot && (i64)(w->mask + 1) >= t->most_runs;
    if (!s->refused && grow_words(w, t->most_runs, LEAST_RUN + NEAR + 16, 40))
        put_word(w, key, p + start, stop - start, s->out + first, count - first, 0);
    return count;
}

/* Encodes a section by its runs. */
static i64 encode_runs(const Tables *t, Scratch *s, Encode part, u8 *p, i64 start, i64 stop, i64 count)
{
    i64 done = start; /* what lies between `done` and `start` is new */
    if (stop - start < LEAST_RUN || !t->most_runs || s->is_placing || (!s->met && !(s->met = calloc(MET, sizeof *s->met))))
        return part(t, s, p, start, stop, count);
    Stretch of = {start, start, start, 0, 0};
    for (Run run = next_run(t, s, p, &of, start, stop), next; start < stop; start = run.end, run = next) {
        next = next_run(t, s, p, &of, run.end, stop); /* what is fetched arrives while this run is looked up */
        if (!run.size)
            continue;
        const Word *known = s->runs.slot ? find_word(&s->runs, run.key, p + start, run.size) : NULL;
        fetch_run(&s->runs, next);
        if (known)
            count_met(&of);
        else if (!is_met(s, &of, run) || !may_learn_run(t, s))
            continue;
        if (done < start && (count = part(t, s, p, done, start, count)) < 0)
            return count;
        if (known && t->asks_engine && !has_ids_room(s, known, run.size, count))
            return NO_MEMORY;
        count = known ? count + copy_ids(&s->runs, known, s->out + count)
                      : encode_new_run(t, s, part, run.key, p, start, run.end, count);
        if (count < 0)
            return count;
        done = run.end;
    }
    return done < stop ? part(t, s, p, done, stop, count) : count;
}

static i64 runs_of_bytes(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    return encode_runs(t, s, encode_bytes, p, lo, hi, count);
}

static i64 runs_of_characters(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    return encode_runs(t, s, encode_characters, p, lo, hi, count);
}

static i64 runs_of_words(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    return encode_runs(t, s, encode_words, p, lo, hi, count);
}

static i64 runs_of_pairs(const Tables *t, Scratch *s, u8 *p, i64 lo, i64 hi, i64 count)
{
    return encode_runs(t, s, encode_pairs, p, lo, hi, count);
}
