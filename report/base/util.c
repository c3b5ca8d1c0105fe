/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, buffers, maps. */
#include "report/base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* AddressSanitizer finds what reads an array beyond its elements, though there is room for more. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(from, size) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(from, size) ((void)0)
#endif

void (*mem_failed)(void) = abort;

int err_set(struct err *e, int code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(e->text, sizeof(e->text), format, list);
	va_end(list);
	return code;
}

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		mem_failed();
	return p;
}

void *mem_resize(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		mem_failed();
	return p;
}

char *mem_copy_text(const char *text, size_t length)
{
	char *copy = mem_resize(NULL, length + 1);

	if (length)
		memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}

void mem_replace_text(char **place, char *text)
{
	free(*place);
	*place = text;
}

void *mem_grow(void *array, size_t count, size_t *capacity, size_t element)
{
	if (count >= *capacity) {
		*capacity = *capacity ? *capacity * 2 : 8;
		array = mem_resize(array, *capacity * element);
		ASAN_POISON_MEMORY_REGION((char *)array + count * element, (*capacity - count) * element);
	}
	ASAN_UNPOISON_MEMORY_REGION((char *)array + count * element, element);
	return array;
}

void mem_free_pointer(void *pointer_to_it)
{
	void *p;

	memcpy(&p, pointer_to_it, sizeof(p));
	free(p);
}

static void buffer_reserve(struct buffer *b, size_t more)
{
	size_t need = b->size + more + 1;

	if (need <= b->capacity)
		return;
	b->capacity = need < 64 ? 64 : need + need / 2;
	b->data = mem_resize(b->data, b->capacity);
}

void buffer_add(struct buffer *b, const void *data, size_t size)
{
	buffer_reserve(b, size);
	if (size)
		memcpy(b->data + b->size, data, size);
	b->size += size;
	b->data[b->size] = 0;
}

void buffer_text(struct buffer *b, const char *text)
{
	buffer_add(b, text, strlen(text));
}

void buffer_field(struct buffer *b, const char *text)
{
	buffer_add(b, text, strlen(text) + 1);
}

void buffer_vprint(struct buffer *b, const char *format, va_list list)
{
	va_list again;
	int length;

	va_copy(again, list);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		return;
	buffer_reserve(b, (size_t)length);
	vsnprintf(b->data + b->size, (size_t)length + 1, format, list);
	b->size += (size_t)length;
}

void buffer_print(struct buffer *b, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	buffer_vprint(b, format, list);
	va_end(list);
}

void buffer_set(struct buffer *b, const char *format, ...)
{
	va_list list;

	buffer_clear(b);
	va_start(list, format);
	buffer_vprint(b, format, list);
	va_end(list);
}

const char *buffer_string(const struct buffer *b)
{
	return b->data ? b->data : "";
}

void buffer_clear(struct buffer *b)
{
	b->size = 0;
	if (b->data)
		b->data[0] = 0;
}

void buffer_done(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){0};
}

bool text_is(const char *text, const char *other)
{
	return !strcmp(text, other);
}

bool text_has(const char *text, const char *part)
{
	return strstr(text, part);
}

bool text_begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

bool text_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length > tail && !memcmp(text + length - tail, end, tail);
}

bool text_any_of(bool (*test)(const char *text, const char *other), const char *text, const char *const *others)
{
	while (*others && !test(text, *others))
		others++;
	return *others;
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void texts_add(struct texts *t, const char *format, ...)
{
	struct buffer b = {0};
	va_list list;

	va_start(list, format);
	buffer_vprint(&b, format, list);
	va_end(list);
	t->items = mem_grow(t->items, t->count, &t->capacity, sizeof(*t->items));
	t->items[t->count++] = b.data ? b.data : mem_copy_text("", 0);
}

void texts_done(struct texts *t)
{
	array_free(text, t->items, t->count, free(*text));
	*t = (struct texts){0};
}

static uint64_t mix_bits(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

struct ordering {
	place_compare *compare;
	const void *context;
};

static int compare_places(const void *left, const void *right, void *context)
{
	const struct ordering *o = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;

	return o->compare(a, b, o->context) ?: order_of(a, b);
}

size_t *places_in_order(size_t count, place_compare *compare, const void *context)
{
	size_t *places = mem_alloc((count + 1) * sizeof(*places));

	for (size_t i = 0; i < count; i++)
		places[i] = i;
	qsort_r(places, count, sizeof(*places), compare_places, &(struct ordering){compare, context});
	return places;
}

static uint64_t number_of(const char *item)
{
	uint64_t number;

	memcpy(&number, item, sizeof(number));
	return number;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Inline, so that items are copied by as few instructions as their size needs. */
static inline void sort_sized(char *items, size_t count, const size_t size)
{
	char *from = items, *to = mem_resize(NULL, (count + 1) * size), *swap;
	uint64_t differ = 0;

	for (size_t i = 0; i < count; i++)
		differ |= number_of(from + i * size) ^ number_of(from);
	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS) {
		size_t ends[DIGITS] = {0};

		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		for (size_t i = 0; i < count; i++)
			ends[number_of(from + i * size) >> shift & (DIGITS - 1)]++;
		for (size_t i = 1; i < DIGITS; i++)
			ends[i] += ends[i - 1];
		for (size_t i = count; i-- > 0;)
			memcpy(to + --ends[number_of(from + i * size) >> shift & (DIGITS - 1)] * size, from + i * size,
			       size);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != items) {
		memcpy(items, from, count * size);
		to = from;
	}
	free(to);
}

void sort_by_number(void *items, size_t count, size_t size)
{
	if (size == 8)
		sort_sized(items, count, 8);
	else if (size == 16)
		sort_sized(items, count, 16);
	else
		sort_sized(items, count, size);
}

uint64_t hash_bytes(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t h = 0xcbf29ce484222325ull ^ size, word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = mix_bits(h ^ word) * 0x9e3779b97f4a7c15ull;
	}
	word = 0;
	if (size) /* the address of nothing may be NULL */
		memcpy(&word, p, size);
	return mix_bits(h ^ word);
}

static struct map_slot *map_slot(const struct map *m, uint64_t a, uint64_t b)
{
	size_t at = mix_bits(a * 0x9e3779b97f4a7c15ull ^ mix_bits(b)) & (m->size - 1);

	while (m->slots[at].used && (m->slots[at].a != a || m->slots[at].b != b))
		at = (at + 1) & (m->size - 1);
	return &m->slots[at];
}

uint64_t *map_find(const struct map *m, uint64_t a, uint64_t b)
{
	struct map_slot *s = m->size ? map_slot(m, a, b) : NULL;

	return s && s->used ? &s->value : NULL;
}

/* Whether the last answer is that of (a, b). */
static bool map_is_last(const struct map *m, uint64_t a, uint64_t b)
{
	const struct map_slot *s = m->size ? &m->slots[m->last] : NULL;

	return s && s->used && s->a == a && s->b == b;
}

uint64_t *map_find_again(struct map *m, uint64_t a, uint64_t b)
{
	struct map_slot *s;

	if (map_is_last(m, a, b))
		return &m->slots[m->last].value;
	s = m->size ? map_slot(m, a, b) : NULL;
	if (!s || !s->used)
		return NULL;
	m->last = (size_t)(s - m->slots);
	return &s->value;
}

static void map_resize(struct map *m, size_t size)
{
	struct map old = *m;

	m->slots = mem_alloc(size * sizeof(*m->slots));
	m->size = size;
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].used)
			*map_slot(m, old.slots[i].a, old.slots[i].b) = old.slots[i];
	free(old.slots);
}

uint64_t *map_put(struct map *m, uint64_t a, uint64_t b, bool *ret_new)
{
	struct map_slot *s;

	if (map_is_last(m, a, b)) {
		if (ret_new)
			*ret_new = false;
		return &m->slots[m->last].value;
	}
	if (m->count * 4 >= m->size * 3)
		map_resize(m, m->size ? m->size * 2 : 16);
	s = map_slot(m, a, b);
	m->last = (size_t)(s - m->slots);
	if (ret_new)
		*ret_new = !s->used;
	if (!s->used) {
		*s = (struct map_slot){a, b, 0, true};
		m->count++;
	}
	return &s->value;
}

void map_remove(struct map *m, uint64_t a, uint64_t b)
{
	struct map_slot *s = m->size ? map_slot(m, a, b) : NULL, moved;
	size_t at;

	if (!s || !s->used)
		return;
	s->used = false;
	m->count--;
	/* Entries behind it may be where they are only because its slot was taken. */
	for (at = (size_t)(s - m->slots + 1) & (m->size - 1); m->slots[at].used; at = (at + 1) & (m->size - 1)) {
		moved = m->slots[at];
		m->slots[at].used = false;
		*map_slot(m, moved.a, moved.b) = moved;
	}
}

void map_done(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

/* More runs than this are not merged. */
enum { RUNS = 64 };

/* Merges two runs in succession. `spare` has room for the first one. */
static void merge_runs(char *first, char *second, const char *end, char *spare, size_t size,
		       int (*compare)(const void *, const void *))
{
	char *left = spare, *to = first;
	const char *left_end = spare + (second - first);

	memcpy(spare, first, (size_t)(second - first));
	while (left < left_end && second < end) {
		bool is_left = compare(left, second) <= 0;

		memcpy(to, is_left ? left : second, size);
		*(is_left ? &left : &second) += size;
		to += size;
	}
	memmove(to, left, (size_t)(left_end - left));
}

void sort_unless_sorted(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	char *ends[RUNS + 1] = {items}, *item = items, *spare;
	size_t runs = 0;

	for (size_t i = 1; i <= count; i++, item += size) {
		if (i < count && compare(item, item + size) <= 0)
			continue;
		if (runs == RUNS) {
			qsort(items, count, size, compare);
			return;
		}
		ends[++runs] = item + size;
	}
	if (runs < 2)
		return;
	spare = mem_resize(NULL, count * size);
	for (; runs > 1; runs = (runs + 1) / 2)
		for (size_t i = 0; i < runs; i += 2) {
			if (i + 1 < runs)
				merge_runs(ends[i], ends[i + 1], ends[i + 2], spare, size, compare);
			ends[i / 2 + 1] = ends[i + 1 < runs ? i + 2 : i + 1];
		}
	free(spare);
}
