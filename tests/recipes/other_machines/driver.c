/* Asks call.c for the answers of cases that another machine made, and compares them. Reads cases.py's file from its input.

   driver <cases     ends with 0 if all answers are equal, 1 if one differs; 3: the file cannot be read

   A file is steps. Each begins with a letter; numbers are little-endian, 64 bits:
     T name                        begins a tokenizer
     C reseeds arrays answer       makes the `Call`; `reseeds`: with the tables that `seed` or `teach` filled
     M name arguments answer       calls a method of it
     F name arguments answer       calls a function of the module; an array of its arguments is compared behind it
     .                             ends the file
   A value is a letter and what follows: N; E: an error; I number; S bytes, a str; U: a str without UTF-8; B width bytes,
   an array of numbers of so many bytes; L, K, D and a count of values: list, tuple, dict. */
#include "call.c"

enum { SHOWN = 5 };
static long long answers, differing, tokenizers;
static char tokenizer[256];

/* ---- reading */

static void must(int claim, const char *what)
{
    if (!claim)
        fprintf(stderr, "the file of cases: %s\n", what), exit(3);
}

static int letter(void)
{
    int found = getchar();
    must(found != EOF, "it ends too soon");
    return found;
}

static u64 read_number(void)
{
    u64 number = 0;
    for (int k = 0; k < 64; k += 8)
        number |= (u64)letter() << k;
    return number;
}

static int is_big_endian(void)
{
    const u32 one = 1;
    return !*(const u8 *)(const void *)&one;
}

/* The numbers of an array as this machine has them. */
static void turn(char *data, Py_ssize_t size, int width)
{
    for (Py_ssize_t at = 0; is_big_endian() && at + width <= size; at += width)
        for (int k = 0; k < width / 2; k++) {
            char swap = data[at + k];
            data[at + k] = data[at + width - 1 - k], data[at + width - 1 - k] = swap;
        }
}

static Value *read_data(PyTypeObject *type, int width)
{
    Value *made = new_data(type, NULL, (Py_ssize_t)read_number());
    must(fread(made->data, 1, (size_t)made->size, stdin) == (size_t)made->size, "it ends too soon");
    made->width = width;
    turn(made->data, made->size, width);
    return made;
}

static Value *read_value(void);

static Value *read_row(PyTypeObject *type)
{
    Value *made = new_row(type, (Py_ssize_t)read_number());
    for (Py_ssize_t k = 0; k < made->size; k++)
        made->items[k] = read_value();
    return made;
}

static Value *read_value(void)
{
    int kind = letter();
    switch (kind) {
    case 'N': return VALUE(Py_None);
    case 'E': return NULL;
    case 'I': return new_number((long long)read_number());
    case 'S': return read_data(&str_type, 1);
    case 'U': return new_value(&str_type, 0);
    case 'B': return read_data(&bytes_type, (int)read_number());
    case 'L': return read_row(&PyList_Type);
    case 'K': return read_row(&PyTuple_Type);
    case 'D': return read_row(&PyDict_Type);
    default: must(0, "a letter of no value"); return NULL;
    }
}

/* ---- comparing */

static int are_equal(const Value *a, const Value *b)
{
    if (!a || !b || a->head.type != b->head.type)
        return a == b;
    if (a == b)
        return 1;
    if (a->size != b->size || a->head.type == &PyLong_Type)
        return a->size == b->size && a->number == b->number;
    if (!a->items)
        return !a->size || !memcmp(a->data, b->data, (size_t)a->size);
    for (Py_ssize_t k = 0; k < a->size; k++)
        if (!are_equal(a->items[k], b->items[k]))
            return 0;
    return 1;
}

static void compare(const char *name, const Value *found, const Value *expected)
{
    answers++;
    if (are_equal(found, expected))
        return;
    if (++differing <= SHOWN)
        printf("%s: answer %lld, %s, differs\n", tokenizer, answers, name);
}

/* ---- steps */

static Call *made;
static Value *seeding, *seeded_answer; /* the arrays of the call before, and what `seed` returned */

static Value **place_of(Value *arrays, const char *name)
{
    for (Py_ssize_t k = 0; k < arrays->size; k += 2)
        if (has_text(arrays->items[k], name))
            return arrays->items + k + 1;
    return must(0, "an array is missing"), NULL;
}

/* The tables of words and tokens as this machine fills them. */
static void take_seeded(Value *arrays)
{
    static const char *const filled[] = {"words", "keys", "more"}, *const tree[] = {"edges", "root", "rule_joins", "tokens"};
    for (int k = 0; k < 3; k++) {
        Value **to = place_of(arrays, filled[k]), *from = *place_of(seeding, filled[k]);
        must((*to)->size <= from->size, "a table of words is too long");
        memcpy((*to)->data, from->data, (size_t)(*to)->size);
    }
    for (int k = 0; seeded_answer && k < 4; k++)
        *place_of(arrays, tree[k]) = seeded_answer->items[2 + k];
}

static void free_call(void)
{
    if (made)
        call_free(made);
    made = NULL;
}

static void make_call(void)
{
    int reseeds = letter() == '1';
    Value *arrays = read_value(), *expected = read_value(), *args = new_row(&PyTuple_Type, 1);
    if (reseeds && seeding)
        take_seeded(arrays);
    free_call();
    args->items[0] = seeding = arrays;
    made = (Call *)(void *)call_new(&made_type, &args->head, NULL);
    raised = NULL;
    compare("Call", made ? VALUE(Py_None) : NULL, expected);
}

static PyMethodDef *find_function(PyMethodDef *in, const Value *name)
{
    for (; in->ml_name; in++)
        if (has_text(name, in->ml_name))
            return in;
    return must(0, "a function has another name"), NULL;
}

static void ask(PyMethodDef *in, void *self)
{
    const PyMethodDef *function = find_function(in, read_value());
    Value *args = read_value(), *expected = read_value();
    if (in == methods && !made) {
        compare(function->ml_name, NULL, expected);
        return;
    }
    Value *found = VALUE(function->ml_meth(self, function->ml_flags == METH_O ? &args->items[0]->head : &args->head));
    raised = NULL;
    compare(function->ml_name, found, expected);
    if (!strcmp(function->ml_name, "seed"))
        seeded_answer = found;
    if (in == functions)
        compare("its arrays", args, read_value());
}

static void begin(void)
{
    free_call();
    free_values();
    seeding = seeded_answer = NULL;
    tokenizers++;
    Value *name = read_value();
    snprintf(tokenizer, sizeof tokenizer, "%s", name->data);
}

int main(void)
{
    PyType_FromSpec(&spec);
    for (int step = letter(); step != '.'; step = letter()) {
        must(step == 'T' || step == 'C' || step == 'M' || step == 'F', "a letter of no step");
        if (step == 'T')
            begin();
        else if (step == 'C')
            make_call();
        else if (step == 'M')
            ask(methods, made);
        else
            ask(functions, NULL);
    }
    free_call();
    free_values();
    printf("%lld tokenizers, %lld answers, %lld differ; %s-endian, %d bits\n", tokenizers, answers, differing,
           is_big_endian() ? "big" : "little", (int)(8 * sizeof(void *)));
    return differing != 0;
}
