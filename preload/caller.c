/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's own lists are read, not dlsym or dlopen: these take the lock that dlopen holds while it runs constructors
 * (a thread that one of them waits for would wait for ever), allocate, and leave their errors in the program's dlerror(). */
#include "caller.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "../runtime/file.h"
#include "../runtime/module.h"
#include "../runtime/thread.h"

struct table caller_known;
uint64_t caller_epoch;

/* ---- one loaded object ---- */

struct object {
	uintptr_t base;
	const ElfW(Dyn) *dynamic;
	const char *strings;
	const ElfW(Sym) *symbols;
	const uint32_t *gnu_hash, *hash;
	const uint16_t *versions;
	const char *soname;
};

/* glibc makes most of these absolute in place; the vDSO's and other loaders' stay relative. */
static const void *absolute(const struct object *o, uintptr_t value)
{
	return (const void *)(value < o->base ? value + o->base : value);
}

static bool read_object(struct object *o, const struct dl_phdr_info *info)
{
	uintptr_t soname = 0;

	*o = (struct object){.base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			o->dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			o->strings = absolute(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_SYMTAB)
			o->symbols = absolute(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_GNU_HASH)
			o->gnu_hash = absolute(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_HASH)
			o->hash = absolute(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_VERSYM)
			o->versions = absolute(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_SONAME)
			soname = d->d_un.d_val;
	}
	if (!o->strings || !o->symbols)
		return false;
	if (soname)
		o->soname = o->strings + soname;
	return true;
}

static bool is_segment_of(const struct dl_phdr_info *info, uintptr_t address, uintptr_t *ret_end)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz) {
			*ret_end = start + segment->p_memsz;
			return true;
		}
	}
	return false;
}

/* ---- a symbol in it ---- */

static void *symbol_if(const struct object *o, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];

	if (s->st_shndx == SHN_UNDEF || !s->st_value || ELF64_ST_TYPE(s->st_info) != STT_FUNC)
		return NULL;
	if (ELF64_ST_BIND(s->st_info) == STB_LOCAL || (o->versions && o->versions[i] & 0x8000))
		return NULL; /* not for others, or an old version that only who names it gets */
	return strcmp(o->strings + s->st_name, name) ? NULL : (void *)(o->base + s->st_value);
}

static void *gnu_find(const struct object *o, const char *name)
{
	uint32_t buckets = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2], shift = o->gnu_hash[3], hash = 5381, i;
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(o->gnu_hash + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
	enum { BITS = sizeof(*bloom) * 8 };

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!buckets || !words || !(bloom[hash / BITS % words] >> hash % BITS & bloom[hash / BITS % words] >> (hash >> shift) % BITS & 1))
		return NULL;
	for (i = bucket[hash % buckets]; i >= first; i++) {
		void *found = (chain[i - first] | 1) == (hash | 1) ? symbol_if(o, i, name) : NULL;

		if (found || chain[i - first] & 1)
			return found;
	}
	return NULL;
}

static void *hash_find(const struct object *o, const char *name)
{
	uint32_t buckets = o->hash[0], count = o->hash[1], hash = 0;
	const uint32_t *bucket = o->hash + 2, *chain = bucket + buckets;

	for (const char *c = name; *c; c++) {
		uint32_t high;

		hash = (hash << 4) + (unsigned char)*c;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i && i < count; i = chain[i]) {
		void *found = symbol_if(o, i, name);

		if (found)
			return found;
	}
	return NULL;
}

static void *object_find(const struct object *o, const char *name)
{
	return o->gnu_hash ? gnu_find(o, name) : o->hash ? hash_find(o, name) : NULL;
}

/* ---- all of them ---- */

struct search {
	uintptr_t caller;
	const char *name;
	struct object owner; /* of the caller */
	bool has_owner, is_program;
	void *found;
	uint64_t rank; /* of `found` among what the owner needs */
};

static int find_owner(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *s = context;
	uintptr_t end;

	(void)size;
	if (!is_segment_of(info, s->caller, &end))
		return 0;
	s->has_owner = read_object(&s->owner, info);
	s->is_program = !*info->dlpi_name;
	return 1;
}

/* The owner was linked with the library whose function it calls: of those it names, the first one that has it. */
static int find_needed(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *s = context;
	struct object o;
	uint64_t rank = 0;
	void *found;

	(void)size;
	if (!read_object(&o, info) || !o.soname)
		return 0;
	for (const ElfW(Dyn) *d = s->owner.dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag != DT_NEEDED || ++rank >= s->rank || strcmp(s->owner.strings + d->d_un.d_val, o.soname) != 0)
			continue;
		found = object_find(&o, s->name);
		if (found && !module_is_ours((uintptr_t)found)) {
			s->found = found;
			s->rank = rank;
		}
	}
	return 0;
}

/* As RTLD_NEXT from us: the program's libraries in the order of loading, other preloaded objects before them. */
static int find_next(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *s = context;
	struct object o;
	void *found = read_object(&o, info) ? object_find(&o, s->name) : NULL;

	(void)size;
	if (found && !module_is_ours((uintptr_t)found))
		s->found = found;
	return s->found != NULL;
}

void *caller_resolve(unsigned function, uintptr_t caller)
{
	struct search s = {.caller = caller, .name = file_functions[function].name, .rank = UINT64_MAX};
	struct thread_guard guard;

	thread_guard_enter(&thread_self, &guard);
	if (!module_is_ours((uintptr_t)caller_resolve))
		module_init(); /* a call that comes before our constructor */
	dl_iterate_phdr(find_owner, &s);
	if (s.has_owner && !s.is_program)
		dl_iterate_phdr(find_needed, &s);
	/* Also where the caller is none of the callers it was made for: a tail call, libffi, compiled at run time. */
	if (!s.found)
		dl_iterate_phdr(find_next, &s);
	if (s.found)
		table_set(&caller_known, caller_key(function, caller), (uint64_t)s.found);
	thread_guard_leave(&thread_self, &guard);
	return s.found;
}

static int count_unloads(struct dl_phdr_info *info, size_t size, void *ret_count)
{
	(void)size;
	*(uint64_t *)ret_count = info->dlpi_subs;
	return 1;
}

void caller_unloaded(void)
{
	int error = errno;
	uint64_t count = 0;

	dl_iterate_phdr(count_unloads, &count);
	__atomic_store_n(&caller_epoch, count, __ATOMIC_RELAXED);
	errno = error;
}

struct text {
	const char *at;
	int64_t length;
};

static int measure(struct dl_phdr_info *info, size_t size, void *context)
{
	struct text *t = context;
	uintptr_t end;

	(void)size;
	if (!is_segment_of(info, (uintptr_t)t->at, &end))
		return 0;
	t->length = (int64_t)strnlen(t->at, end - (uintptr_t)t->at);
	return 1;
}

int64_t caller_text_length(const char *text)
{
	struct text t = {text, -1};

	dl_iterate_phdr(measure, &t);
	return t.length;
}
