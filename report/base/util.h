/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the report use: memory, text buffers, a hash map, error messages. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- errors: a module returns -errno and describes the error in a struct err; the verb prints it ---- */

struct err {
	char text[512];
};

/* Formats the text and returns `code`, so that a failure is a single statement. */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- memory: never NULL. mem_failed is called if there is none; main's prints a message and exits ---- */

extern void (*mem_failed)(void);

void *mem_alloc(size_t size); /* zeroed */
void *mem_resize(void *p, size_t size);
char *mem_copy_text(const char *text, size_t length); /* adds the terminating NUL */
void mem_replace_text(char **place, char *text);      /* takes ownership of text, frees the previous one */

/* Makes room for one more element of an array; the caller maintains the count. */
void *mem_grow(void *array, size_t count, size_t *capacity, size_t element);

/* Appends a value, the last argument, to an array; and to a list, which has items, count and capacity. mem_new and
 * list_new have the address of the new element. */
#define mem_new(array, count, capacity, ...)                                                        \
	((array) = mem_grow((array), (count), &(capacity), sizeof(*(array))), (array)[(count)] = __VA_ARGS__, \
	 &(array)[(count)++])
#define mem_append(array, ...) ((void)mem_new(array, __VA_ARGS__))
#define list_new(list, ...) mem_new((list)->items, (list)->count, (list)->capacity, __VA_ARGS__)
#define list_add(list, ...) ((void)list_new(list, __VA_ARGS__))

/* For each item of an array, or of a list, to which nothing is appended meanwhile:
 * array_each(const struct image, image, m->images, m->image_count) */
#define array_each(type, item, array, n) \
	for (type *item = (array), *item##_end = (n) ? item + (n) : item; item < item##_end; item++)
#define list_each(type, item, list) array_each(type, item, (list)->items, (list)->count)

/* The first item of an array, or of a list, for which the last argument holds; NULL: there is none.
 * array_find(image, m->images, m->image_count, image->pid == pid) */
#define array_find(item, array, n, ...)                                                      \
	({                                                                                   \
		__typeof__(*(array)) *item = (array), *item##_end = (n) ? item + (n) : item; \
		while (item < item##_end && !(__VA_ARGS__))                                  \
			item++;                                                              \
		item < item##_end ? item : NULL;                                             \
	})
#define list_find(item, list, ...) array_find(item, (list)->items, (list)->count, __VA_ARGS__)

/* The sum of the last argument, and for how many items it holds: array_sum(run, m->runs, m->run_count, run->cost_ns) */
#define array_sum(item, array, n, ...)                                                       \
	({                                                                                   \
		__typeof__(*(array)) *item = (array), *item##_end = (n) ? item + (n) : item; \
		__typeof__(0ull + (__VA_ARGS__)) item##_sum = 0;                             \
		for (; item < item##_end; item++)                                            \
			item##_sum += (__VA_ARGS__);                                         \
		item##_sum;                                                                  \
	})

/* Frees an array, after the last argument has been evaluated for each of its items:
 * array_free(text, t->items, t->count, free(*text)) */
#define array_free(item, array, n, ...)                                                      \
	do {                                                                                 \
		array_each(__typeof__(*(array)), item, array, n)                             \
			__VA_ARGS__;                                                         \
		free(array);                                                                 \
	} while (0)

/* A local variable of a struct for which its _done function is called at the end of its block:
 * SCOPED(buffer) text = {0}; */
#define SCOPED(type) __attribute__((cleanup(type##_done))) struct type
/* Likewise a pointer to memory that is freed: SCOPED_MEMORY char *name = ...; */
#define SCOPED_MEMORY __attribute__((cleanup(mem_free_pointer)))
void mem_free_pointer(void *pointer_to_it);

/* ---- a growing text buffer ---- */

struct buffer {
	char *data; /* terminated by NUL once anything was added */
	size_t size, capacity;
};

void buffer_add(struct buffer *b, const void *data, size_t size);
void buffer_text(struct buffer *b, const char *text);
void buffer_field(struct buffer *b, const char *text); /* with its NUL */
void buffer_print(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text in place of what was there. */
void buffer_set(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprint(struct buffer *b, const char *format, va_list list)
	__attribute__((format(printf, 2, 0), nonnull(2)));
const char *buffer_string(const struct buffer *b); /* "" where nothing was added */
void buffer_clear(struct buffer *b);
void buffer_done(struct buffer *b);

/* ---- a list of texts ---- */

struct texts {
	char **items;
	size_t count, capacity;
};

void texts_add(struct texts *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void texts_done(struct texts *t);

bool text_is(const char *text, const char *other);
bool text_has(const char *text, const char *part);
bool text_begins_with(const char *text, const char *begin);
/* False if there is nothing before the end. */
bool text_ends_with(const char *text, const char *end);

/* Whether one of these tests holds for any of several texts. */
#define text_any(test, text, ...) text_any_of(test, text, (const char *const[]){__VA_ARGS__, NULL})
bool text_any_of(bool (*test)(const char *text, const char *other), const char *text, const char *const *others);

/* What follows the last slash. */
const char *path_name(const char *path);

/* ---- a map from two words to one ---- */

struct map_slot {
	uint64_t a, b, value;
	bool used;
};

struct map {
	struct map_slot *slots;
	size_t count, size; /* size: a power of two, or 0 */
	size_t last;	    /* the slot of the last answer of map_put or map_find_again: it is often asked for again */
};

/* The address of the value for (a, b), or NULL. Borrowed until the next map_put. */
uint64_t *map_find(const struct map *m, uint64_t a, uint64_t b);

/* Likewise, for what is often asked several times in succession: it remembers the answer, and so is not for maps that
 * several threads read. */
uint64_t *map_find_again(struct map *m, uint64_t a, uint64_t b);

/* Like map_find, created with value 0 if it does not exist; *ret_new (may be NULL) is set to whether it was created. */
uint64_t *map_put(struct map *m, uint64_t a, uint64_t b, bool *ret_new);
void map_remove(struct map *m, uint64_t a, uint64_t b);
/* The place in an array of what (a, b) identifies, of which the map has the place; the last argument is appended to the
 * array if there is none yet. That may move the array: neither &array[map_place(...)] nor an item that itself appends
 * to the array is right. */
#define map_place(map, a, b, array, count, capacity, ...)                              \
	({                                                                             \
		bool is_new_;                                                          \
		uint64_t *place_ = map_put((map), (a), (b), &is_new_);                 \
		size_t at_ = is_new_ ? (*place_ = (count)) : *place_;                  \
		if (is_new_)                                                           \
			mem_append((array), (count), (capacity), __VA_ARGS__);         \
		at_;                                                                   \
	})
void map_done(struct map *m);

/* ---- comparison: for comparators, as in order_of(a->pid, b->pid) ?: order_of(a->start, b->start) ---- */

static inline int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static inline uint64_t smaller_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* 0 below 0, and of what is no number; the largest number above it. */
static inline uint64_t whole_of(double number)
{
	return number >= 0x1p64 ? UINT64_MAX : number > 0 ? (uint64_t)number : 0;
}

/* 0 where the part is larger. */
static inline uint64_t rest_of(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* A comparator; `order` is an expression of a and b: COMPARATOR(by_pid, struct process, order_of(a->pid, b->pid)) */
#define COMPARATOR(name, type, order)                        \
	static int name(const void *left, const void *right) \
	{                                                    \
		const type *a = left;                        \
		const type *b = right;                       \
                                                             \
		return order;                                \
	}

/* qsort, for the items of an array that may be empty, and then NULL. */
#define array_sort(array, count, compare)                                                \
	do {                                                                             \
		if (count)                                                               \
			qsort((array), (count), sizeof(*(array)), (compare));            \
	} while (0)

/* Like qsort, for items that are already sorted in most cases. */
void sort_unless_sorted(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

/* The first index of [from, to) for which `is_before` (an expression of `at`) is false, or `to`. It must be true for
 * all smaller ones. */
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

/* The indices 0 to count - 1 of items that are not moved, sorted by `compare`; the sort is stable. The caller frees
 * them. */
typedef int place_compare(size_t a, size_t b, const void *context);
size_t *places_in_order(size_t count, place_compare *compare, const void *context);
/* Such a comparator, if `context` is the array of the items; as COMPARATOR. */
#define PLACE_COMPARATOR(name, type, order)                                  \
	static int name(size_t left, size_t right, const void *items)        \
	{                                                                    \
		const type *a = (const type *)items + left;                  \
		const type *b = (const type *)items + right;                 \
                                                                             \
		return order;                                                \
	}

/* Sorts items by the uint64_t that they begin with, 11 bits at a time, without comparing. Equal ones stay in order. */
void sort_by_number(void *items, size_t count, size_t size);
#define sort_numbers(numbers, count) sort_by_number(numbers, count, sizeof(uint64_t))

uint64_t hash_bytes(const void *data, size_t size);
