/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of the report leans on: memory, text buffers, a hash map, error texts. */
#ifndef PILLION_UTIL_H
#define PILLION_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- errors: a module returns -errno and explains in a struct err; main prints it ---- */

struct err {
	char text[512];
};

/* Fills in the text and returns `code`, so that a failure is one statement. */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- memory: never NULL. mem_failed is called when there is none; main makes it say so and exit ---- */

extern void (*mem_failed)(void);

void *mem_alloc(size_t size); /* zeroed */
void *mem_resize(void *p, size_t size);
char *mem_copy_text(const char *text, size_t length); /* adds the NUL */
void mem_replace_text(char **place, char *text);      /* takes it, frees what was there */

/* Makes room for one more element of an array that the caller counts. */
void *mem_grow(void *array, size_t count, size_t *capacity, size_t element);

/* ---- a growing text ---- */

struct buffer {
	char *data; /* NUL-terminated once anything was added */
	size_t size, capacity;
};

void buffer_add(struct buffer *b, const void *data, size_t size);
void buffer_text(struct buffer *b, const char *text);
void buffer_print(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprint(struct buffer *b, const char *format, va_list list) __attribute__((format(printf, 2, 0), nonnull(2)));
void buffer_clear(struct buffer *b);
void buffer_done(struct buffer *b);

/* ---- a list of texts ---- */

struct texts {
	char **items;
	size_t count, capacity;
};

void texts_add(struct texts *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void texts_done(struct texts *t);

/* ---- a map from two words to one ---- */

struct map_slot {
	uint64_t a, b, value;
	bool used;
};

struct map {
	struct map_slot *slots;
	size_t count, size; /* size: a power of two, or 0 */
};

/* The value's place for (a, b), or NULL. Borrowed until the next map_put. */
uint64_t *map_find(const struct map *m, uint64_t a, uint64_t b);

/* Likewise, made with value 0 if it was not there; *ret_new (may be NULL) tells. */
uint64_t *map_put(struct map *m, uint64_t a, uint64_t b, bool *ret_new);
void map_remove(struct map *m, uint64_t a, uint64_t b);
void map_done(struct map *m);

/* ---- order: for comparators, as in order_of(a->pid, b->pid) ?: order_of(a->start, b->start) ---- */

static inline int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The first place of [from, to) of which `is_before` (an expression of `at`) is false, being true of all ahead of it; or `to`. */
#define first_place(at, from, to, is_before)                  \
	({                                                    \
		size_t low_ = (from), high_ = (to);           \
		while (low_ < high_) {                        \
			size_t at = low_ + (high_ - low_) / 2; \
			if (is_before)                        \
				low_ = at + 1;                \
			else                                  \
				high_ = at;                   \
		}                                             \
		low_;                                         \
	})

/* The places 0 to count - 1 of things that stay where they are, in the order that `compare` gives them, equal ones as they were.
 * To be freed. */
typedef int place_compare(size_t a, size_t b, const void *context);
size_t *places_in_order(size_t count, place_compare *compare, const void *context);

uint64_t hash_bytes(const void *data, size_t size);

#endif
