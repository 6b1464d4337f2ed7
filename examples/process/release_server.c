/* release_server.c: cc -o release_server release_server.c -lm */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct { char id[17]; double sum; } prepared[9];

/* All coins come from the seed, by splitmix64. */
static double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/* The place of a data set, or of the first free one. */
static int place(const char *id) {
    for (int k = 0; k < 9; k++)
        if (!strncmp(prepared[k].id, id, 16)) return k;
    return *id ? place("") : 0;
}

static void prepare(const char *id, const char *data) {
    int k = place(id);
    memcpy(prepared[k].id, id, 16);
    prepared[k].sum = 0;
    for (; *data && *data != ']'; data += *data == ',') {
        prepared[k].sum += strtod(data, NULL);
        data += strcspn(data, ",]");
    }
}

/* The sum of numbers in [0, 1] with Laplace noise of scale 1. */
static void sample(const char *id, long size, uint64_t seed) {
    printf("{\"answers\":[");
    for (long trial = 0; trial < size; trial++) {
        double noise = log(uniform(&seed)) - log(uniform(&seed));
        printf("%s%.17g", trial ? "," : "", prepared[place(id)].sum + noise);
    }
    puts("]}");
}

/* dpassay writes keys in the order of the page, without spaces: no JSON library is needed. */
static const char *after(const char *line, const char *key) {
    const char *found = strstr(line, key);
    return found ? found + strlen(key) : "";
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *op = after(line, "\"op\":\""), *id = after(line, "\"id\":\"");
        if (!strncmp(op, "sample", 6)) {
            sample(id, atol(after(line, "\"size\":")), strtoull(after(line, "\"seed\":"), NULL, 10));
        } else if (!strncmp(op, "hello", 5)) {
            puts("{\"seeded\":true,\"batch\":1000,\"queries\":false}");
        } else {
            if (!strncmp(op, "prepare", 7)) prepare(id, after(line, "\"data\":["));
            if (!strncmp(op, "forget", 6)) prepared[place(id)].id[0] = 0;
            puts("{\"ok\":true}");
        }
        fflush(stdout);
    }
    return 0;
}
