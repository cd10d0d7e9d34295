/*
 * Random operations on a file of a mount, against a copy in memory.
 *
 *     exerciser PATH SEED OPERATIONS [SPOILT]
 *
 * Every choice comes from SEED, so that the same arguments do the same again. With SPOILT an octet
 * of the file is changed by nobody's wish before that operation, which has to be noticed.
 *
 * Out: lines `fact NAME VALUE`, status 0; or where the first difference is, with seed and
 * operation, status 1; or what the system refused, status 2.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the file; more than two blocks of a mount with 65,536. */
#define SIZE_MAX_OCTETS 200000
/* Of an operation: more than a block. */
#define LENGTH_MAX 70001
#define PAGE 4096

enum kind {
    READ,
    DIRECT_READ,
    MAPPED_READ,
    WRITE,
    DIRECT_WRITE,
    MAPPED_WRITE,
    HOLE,
    CUT,
    GROW,
    KINDS
};
static const char *const names[KINDS] = {
    "read", "direct-read", "mapped-read", "write", "direct-write", "mapped-write", "hole", "cut",
    "grow",
};

static const char *path;
static uint64_t seed, state;
static long operation;
static const char *doing = "open";
/* The file as it should be, and what is read of it. */
static uint8_t model[SIZE_MAX_OCTETS], octets[SIZE_MAX_OCTETS];
static size_t size;
static int cached, direct;

static void end(int status, const char *format, ...)
{
    va_list arguments;

    printf("exerciser: seed %llu, operation %ld, %s: ", (unsigned long long)seed, operation,
           doing);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(status);
}

static void must(int is_right, const char *call)
{
    if (!is_right)
        end(2, "%s of %s: %s", call, path, strerror(errno));
}

/* SplitMix64: each seed has another sequence, 0 included. */
static uint64_t random_word(void)
{
    uint64_t word = state += 0x9e3779b97f4a7c15u;

    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

/* One of 0 .. most. */
static size_t up_to(size_t most)
{
    return random_word() % (most + 1);
}

/* A length from 1 on: short ones, those around a page or a block, and any. */
static size_t some_length(size_t most)
{
    static const size_t near[] = { 4, 1024, 4096, 65536 };
    size_t length = 0;

    switch (up_to(3)) {
    case 0:
        length = 1 + up_to(16);
        break;
    case 1:
        length = near[up_to(3)] - 2 + up_to(4);
        break;
    default:
        length = 1 + up_to(LENGTH_MAX - 1);
    }
    return length < most ? length : most;
}

static void fill(uint8_t *at, size_t length)
{
    for (size_t index = 0; index < length; index += sizeof(uint64_t)) {
        uint64_t word = random_word();
        size_t left = length - index;

        memcpy(at + index, &word, left < sizeof(word) ? left : sizeof(word));
    }
}

static void compare(const uint8_t *found, size_t offset, size_t length)
{
    for (size_t index = 0; index < length; index++)
        if (found[index] != model[offset + index])
            end(1, "%zu octets at %zu: octet %zu is %02x, not %02x", length, offset,
                offset + index, found[index], model[offset + index]);
}

/* What is read next comes from the server. */
static void forget(void)
{
    must(fsync(cached) == 0, "fsync");
    must(posix_fadvise(cached, 0, 0, POSIX_FADV_DONTNEED) == 0, "posix_fadvise");
}

static void read_at(int file, size_t offset, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t count = pread(file, octets + done, length - done, offset + done);

        must(count >= 0, "pread");
        if (count == 0)
            end(1, "the file ends at octet %zu, not %zu", offset + done, size);
        done += count;
    }
    compare(octets, offset, length);
}

static void write_at(int file, size_t offset, size_t length)
{
    size_t done = 0;

    if (offset > size)
        memset(model + size, 0, offset - size);
    fill(model + offset, length);
    while (done < length) {
        ssize_t count = pwrite(file, model + offset + done, length - done, offset + done);

        must(count > 0, "pwrite");
        done += count;
    }
    if (offset + length > size)
        size = offset + length;
}

/* Reads or writes through memory; after the end of the file its last page is zeros. */
static void mapped(int is_write, size_t offset, size_t length)
{
    size_t begin = offset / PAGE * PAGE, whole = offset + length - begin;
    size_t last = (size + PAGE - 1) / PAGE * PAGE;
    uint8_t *at = mmap(NULL, whole, is_write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
               cached, begin);

    must(at != MAP_FAILED, "mmap");
    if (is_write) {
        fill(model + offset, length);
        memcpy(at + offset - begin, model + offset, length);
        must(msync(at, whole, MS_SYNC) == 0, "msync");
    }
    compare(at, begin, whole);
    if (offset + length == size)
        for (size_t index = whole; begin + index < last; index++)
            if (at[index] != 0)
                end(1, "octet %zu after the end is %02x, not 0", begin + index, at[index]);
    must(munmap(at, whole) == 0, "munmap");
}

static void resize(size_t octets_wanted)
{
    must(ftruncate(cached, octets_wanted) == 0, "ftruncate");
    if (octets_wanted > size)
        memset(model + size, 0, octets_wanted - size);
    size = octets_wanted;
}

static void check_size(void)
{
    struct stat known;

    must(fstat(cached, &known) == 0, "fstat");
    if ((size_t)known.st_size != size)
        end(1, "the file has %lld octets, not %zu", (long long)known.st_size, size);
}

static void step(enum kind kind)
{
    size_t offset = 0, length = 0;

    doing = names[kind];
    if (kind <= MAPPED_READ || kind == MAPPED_WRITE) {
        if (size == 0)
            return;
        offset = up_to(size - 1);
        length = some_length(size - offset);
    } else if (kind == WRITE || kind == DIRECT_WRITE) {
        offset = up_to(size < SIZE_MAX_OCTETS ? size : SIZE_MAX_OCTETS - 1);
        length = some_length(SIZE_MAX_OCTETS - offset);
    }
    if (kind <= MAPPED_READ && up_to(1) == 0)
        forget();
    switch (kind) {
    case READ:
    case DIRECT_READ:
        read_at(kind == READ ? cached : direct, offset, length);
        break;
    case MAPPED_READ:
    case MAPPED_WRITE:
        mapped(kind == MAPPED_WRITE, offset, length);
        break;
    case WRITE:
    case DIRECT_WRITE:
        write_at(kind == WRITE ? cached : direct, offset, length);
        break;
    case HOLE:
        if (size + 2 > SIZE_MAX_OCTETS)
            resize(up_to(size));
        offset = size + 1 + up_to(SIZE_MAX_OCTETS - size - 2);
        write_at(up_to(1) ? cached : direct, offset, some_length(SIZE_MAX_OCTETS - offset));
        break;
    case CUT:
        resize(up_to(size));
        break;
    default:
        resize(size + up_to(SIZE_MAX_OCTETS - size));
    }
    check_size();
}

static void spoil(void)
{
    uint8_t wrong;

    if (size == 0)
        resize(1);
    wrong = model[size / 2] ^ 0x10;
    must(pwrite(cached, &wrong, 1, size / 2) == 1, "pwrite");
}

int main(int count, char **arguments)
{
    long operations, spoilt, counts[KINDS] = { 0 };

    if (count < 4) {
        fprintf(stderr, "exerciser: write exerciser PATH SEED OPERATIONS [SPOILT]\n");
        return 2;
    }
    path = arguments[1];
    state = seed = strtoull(arguments[2], NULL, 0);
    operations = strtol(arguments[3], NULL, 0);
    spoilt = count > 4 ? strtol(arguments[4], NULL, 0) : 0;
    cached = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(cached >= 0, "open");
    direct = open(path, O_RDWR | O_DIRECT);
    must(direct >= 0, "open with O_DIRECT");
    for (operation = 1; operation <= operations; operation++) {
        enum kind kind = up_to(KINDS - 1);

        if (operation == spoilt)
            spoil();
        step(kind);
        counts[kind]++;
    }
    doing = "the end";
    forget();
    if (size > 0)
        read_at(cached, 0, size);
    check_size();
    printf("fact operations %ld\nfact size %zu\n", operations, size);
    for (int kind = 0; kind < KINDS; kind++)
        printf("fact %s %ld\n", names[kind], counts[kind]);
    return 0;
}
