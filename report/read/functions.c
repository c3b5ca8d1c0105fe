/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of function names, each stored once. */
#include "report/read/functions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct classes {
	classify_function *classify;
	struct classes *next;
	uint8_t of[]; /* by function */
};

static struct functions *tables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void functions_parse(struct functions *f)
{
	const uint8_t *p = f->bytes, *end = p + f->size;
	size_t used = 0;

	/* An entry is two bytes and a name: there are at most as many names and NULs as bytes. */
	f->names = mem_alloc(f->size);
	f->items = mem_alloc(f->size / 2 * sizeof(*f->items));
	while (f->count < f->wanted && end - p >= 2 && end - p - 2 >= p[1]) {
		memcpy(f->names + used, p + 2, p[1]);
		f->items[f->count++] =
			(struct function){f->names + used, p[0], function_kind_of(f->names + used, p[0])};
		used += p[1] + 1u;
		p += 2 + p[1];
	}
	f->items = mem_resize(f->items, f->count * sizeof(*f->items));
}

static struct functions *functions_find(const uint8_t *bytes, size_t size, uint32_t wanted, uint64_t hash)
{
	struct functions *f = tables;

	while (f && (f->hash != hash || f->size != size || f->wanted != wanted ||
		     (size && memcmp(f->bytes, bytes, size) != 0)))
		f = f->next;
	return f;
}

struct functions *functions_take(const uint8_t *bytes, size_t size, uint32_t wanted)
{
	uint64_t hash = hash_bytes(bytes, size);
	struct functions *f;

	pthread_mutex_lock(&lock);
	f = functions_find(bytes, size, wanted, hash);
	if (!f) {
		f = mem_alloc(sizeof(*f));
		*f = (struct functions){.size = size, .hash = hash, .wanted = wanted, .next = tables};
		f->bytes = (uint8_t *)mem_copy_text((const char *)bytes, size);
		functions_parse(f);
		tables = f;
	}
	f->users++;
	pthread_mutex_unlock(&lock);
	return f;
}

const uint8_t *functions_classes(struct functions *f, classify_function *classify)
{
	struct classes *c;

	pthread_mutex_lock(&lock);
	c = f->classes;
	while (c && c->classify != classify)
		c = c->next;
	if (!c) {
		c = mem_alloc(sizeof(*c) + f->count + 1);
		c->classify = classify;
		c->next = f->classes;
		for (uint32_t i = 0; i < f->count; i++)
			c->of[i] = classify(&f->items[i]);
		f->classes = c;
	}
	pthread_mutex_unlock(&lock);
	return c->of;
}

static void functions_free(struct functions *f)
{
	while (f->classes) {
		struct classes *next = f->classes->next;

		free(f->classes);
		f->classes = next;
	}
	free(f->items);
	free(f->names);
	free(f->bytes);
	free(f);
}

struct functions *functions_share(struct functions *f)
{
	pthread_mutex_lock(&lock);
	f->users++;
	pthread_mutex_unlock(&lock);
	return f;
}

void functions_give(struct functions *f)
{
	struct functions **at = &tables;

	if (!f)
		return;
	pthread_mutex_lock(&lock);
	if (!--f->users) {
		while (*at != f)
			at = &(*at)->next;
		*at = f->next;
		functions_free(f);
	}
	pthread_mutex_unlock(&lock);
}
