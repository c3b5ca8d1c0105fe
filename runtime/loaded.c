/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol look-up in loaded objects; formats: System V gABI "Dynamic Linking", and for DT_GNU_HASH binutils' and glibc's
 * common practice (bloom filter of one word, buckets, chains whose last entry has bit 0 set). */
#include "loaded.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

enum { TREE = 256, HIDDEN = 0x8000 };

struct object {
	uintptr_t base, start, end;
	const char *path;
	const ElfW(Dyn) *dynamic;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const uint16_t *versions;
	const ElfW(Rela) *relocations, *calls; /* of data and of calls, and their bytes */
	size_t relocation_bytes, call_bytes;
};

/* glibc relocates these entries in place; the vDSO's and some architectures' stay offsets. */
static const void *pointer(const struct object *o, const ElfW(Dyn) *entry)
{
	return (const void *)(entry->d_un.d_ptr >= o->base ? entry->d_un.d_ptr : o->base + entry->d_un.d_ptr);
}

static void read_dynamic(struct object *o)
{
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = pointer(o, d);
			break;
		case DT_STRTAB:
			o->strings = pointer(o, d);
			break;
		case DT_GNU_HASH:
			o->gnu_hash = pointer(o, d);
			break;
		case DT_HASH:
			o->hash = pointer(o, d);
			break;
		case DT_VERSYM:
			o->versions = pointer(o, d);
			break;
		case DT_RELA:
			o->relocations = pointer(o, d);
			break;
		case DT_RELASZ:
			o->relocation_bytes = d->d_un.d_val;
			break;
		case DT_JMPREL:
			o->calls = pointer(o, d);
			break;
		case DT_PLTRELSZ:
			o->call_bytes = d->d_un.d_val;
			break;
		}
	}
}

static void read_bounds(const struct dl_phdr_info *info, struct object *o)
{
	*o = (struct object){.base = info->dlpi_addr, .start = UINTPTR_MAX, .path = info->dlpi_name};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_DYNAMIC)
			o->dynamic = (const ElfW(Dyn) *)start;
		if (h->p_type == PT_LOAD && start < o->start)
			o->start = start;
		if (h->p_type == PT_LOAD && start + h->p_memsz > o->end)
			o->end = start + h->p_memsz;
	}
}

static void read_object(const struct dl_phdr_info *info, struct object *o)
{
	read_bounds(info, o);
	read_dynamic(o);
}

static bool holds(const struct object *o, const void *address)
{
	return (uintptr_t)address >= o->start && (uintptr_t)address < o->end;
}

/* Not strcmp: see loaded_next_unasked(). */
static bool is_equal(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static bool is_definition(const struct object *o, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];

	return s->st_shndx != SHN_UNDEF && (s->st_value || s->st_shndx == SHN_ABS) && !(o->versions && o->versions[i] & HIDDEN) &&
	       is_equal(o->strings + s->st_name, name);
}

static uint32_t find_by_gnu_hash(const struct object *o, const char *name)
{
	const uint32_t *table = o->gnu_hash, buckets = table[0], first = table[1], words = table[2], shift = table[3];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
	enum { BITS = sizeof(ElfW(Addr)) * 8 };
	uint32_t hash = 5381;
	ElfW(Addr) word;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	if (!buckets || !words)
		return 0;
	word = bloom[hash / BITS % words];
	if (!(word >> hash % BITS & word >> (hash >> shift) % BITS & 1))
		return 0;
	for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
		uint32_t h = chain[i - first];

		if ((h | 1) == (hash | 1) && is_definition(o, i, name))
			return i;
		if (h & 1)
			break;
	}
	return 0;
}

static uint32_t find_by_hash(const struct object *o, const char *name)
{
	uint32_t buckets = o->hash[0], hash = 0;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0xfffffff;
	}
	for (uint32_t i = buckets ? o->hash[2 + hash % buckets] : 0; i; i = o->hash[2 + buckets + i])
		if (is_definition(o, i, name))
			return i;
	return 0;
}

static void *find_symbol(const struct object *o, const char *name)
{
	const ElfW(Sym) *s;
	uint32_t i;

	if (!o->symbols || !o->strings || (!o->gnu_hash && !o->hash))
		return NULL;
	i = o->gnu_hash ? find_by_gnu_hash(o, name) : find_by_hash(o, name);
	if (!i)
		return NULL;
	s = &o->symbols[i];
	if ((s->st_info & 15) == STT_GNU_IFUNC)
		return ((void *(*)(void))(o->base + s->st_value))();
	return (void *)(o->base + s->st_value);
}

void *loaded_symbol(uintptr_t base, const void *dynamic, const char *symbol)
{
	struct object o = {.base = base, .dynamic = dynamic};

	read_dynamic(&o);
	return find_symbol(&o, symbol);
}

/* ---- after ours ---- */

struct next {
	const char *symbol;
	bool is_after;
	void *found;
};

static int visit_next(struct dl_phdr_info *info, size_t size, void *data)
{
	struct next *n = data;
	struct object o;

	read_object(info, &o);
	if (holds(&o, (const void *)visit_next)) {
		n->is_after = true;
		return 0;
	}
	if (n->is_after)
		n->found = find_symbol(&o, n->symbol);
	return n->found != NULL;
}

void *loaded_next(const char *symbol)
{
	struct next n = {.symbol = symbol};

	dl_iterate_phdr(visit_next, &n);
	return n.found;
}

void *loaded_next_unasked(const char *symbol)
{
	extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
	const ElfW(Phdr) *h = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	struct object program = {0};
	const struct r_debug *list = NULL;
	bool is_after = false;

	for (unsigned long i = 0; h && i < getauxval(AT_PHNUM); i++) {
		if (h[i].p_type == PT_PHDR)
			program.base = (uintptr_t)h - h[i].p_vaddr;
		if (h[i].p_type == PT_DYNAMIC)
			program.dynamic = (const ElfW(Dyn) *)(program.base + h[i].p_vaddr);
	}
	for (const ElfW(Dyn) *d = program.dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			list = (const struct r_debug *)d->d_un.d_ptr;
	for (const struct link_map *m = list ? list->r_map : NULL; m; m = m->l_next) {
		struct object o = {.base = m->l_addr, .dynamic = m->l_ld};
		void *found;

		read_dynamic(&o);
		found = is_after ? find_symbol(&o, symbol) : NULL;
		if (found)
			return found;
		is_after |= m->l_ld == _DYNAMIC;
	}
	return NULL;
}

static int visit_before(struct dl_phdr_info *info, size_t size, void *data)
{
	struct next *n = data;
	struct object o;

	read_object(info, &o);
	if (holds(&o, (const void *)visit_before))
		return 1;
	n->found = find_symbol(&o, n->symbol);
	return n->found != NULL;
}

bool loaded_before(const char *symbol)
{
	struct next n = {.symbol = symbol};

	dl_iterate_phdr(visit_before, &n);
	return n.found;
}

struct each {
	const struct loaded_wanted *wanted;
	size_t count;
	bool is_after;
};

static int visit_each(struct dl_phdr_info *info, size_t size, void *data)
{
	struct each *e = data;
	struct object o;

	read_object(info, &o);
	if (holds(&o, (const void *)visit_each)) {
		e->is_after = true;
		return 0;
	}
	for (size_t i = 0; e->is_after && i < e->count; i++) {
		const struct loaded_wanted *w = &e->wanted[i];
		void *found = __atomic_load_n(w->place, __ATOMIC_RELAXED) == w->initial ? find_symbol(&o, w->symbol) : NULL;

		if (found)
			__atomic_store_n(w->place, found, __ATOMIC_RELEASE);
	}
	return 0;
}

void loaded_next_each(const struct loaded_wanted *wanted, size_t count)
{
	struct each e = {.wanted = wanted, .count = count};

	dl_iterate_phdr(visit_each, &e);
}

/* ---- from a caller ---- */

/* Names of the objects to be searched, in order. They lie in the objects' own string tables. */
struct tree {
	const char *names[TREE];
	int count;
	int at; /* the one looked for now */
	const void *caller;
	const char *symbol;
	bool is_main;
	void *found;
};

static void add_dependencies(struct tree *t, const struct object *o)
{
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL && o->strings; d++) {
		const char *name = o->strings + d->d_un.d_val;
		bool is_known = false;

		if (d->d_tag != DT_NEEDED)
			continue;
		for (int i = 0; i < t->count && !is_known; i++)
			is_known = !strcmp(t->names[i], name);
		if (!is_known && t->count < TREE)
			t->names[t->count++] = name;
	}
}

static const char *soname(const struct object *o)
{
	const char *slash = strrchr(o->path, '/');

	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL && o->strings; d++)
		if (d->d_tag == DT_SONAME)
			return o->strings + d->d_un.d_val;
	return slash ? slash + 1 : o->path;
}

static void search(struct tree *t, const struct object *o)
{
	if (holds(o, (const void *)search))
		return;
	t->found = find_symbol(o, t->symbol);
	if (!t->found)
		add_dependencies(t, o);
}

static int visit_caller(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tree *t = data;
	struct object o;

	read_bounds(info, &o);
	if (!holds(&o, t->caller))
		return 0;
	read_dynamic(&o);
	t->is_main = !o.path[0];
	if (!t->is_main)
		search(t, &o);
	return 1;
}

static int visit_dependency(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tree *t = data;
	struct object o;

	read_object(info, &o);
	if (!o.dynamic || strcmp(soname(&o), t->names[t->at]) != 0)
		return 0;
	search(t, &o);
	return 1;
}

void *loaded_below(const void *caller, const char *symbol)
{
	struct tree t = {.caller = caller, .symbol = symbol};

	dl_iterate_phdr(visit_caller, &t);
	for (; !t.found && t.at < t.count; t.at++)
		dl_iterate_phdr(visit_dependency, &t);
	return t.found;
}

void *loaded_from(const void *caller, const char *symbol)
{
	void *found = loaded_below(caller, symbol);

	return found ? found : loaded_next(symbol);
}

/* ---- objects ---- */

struct place {
	const void *address;
	struct object object;
	bool is_found;
};

static int visit_place(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *p = data;

	read_bounds(info, &p->object);
	p->is_found = holds(&p->object, p->address);
	if (p->is_found)
		read_dynamic(&p->object);
	return p->is_found;
}

void *loaded_beside(const void *address, const char *symbol)
{
	struct place p = {.address = address};

	dl_iterate_phdr(visit_place, &p);
	return p.is_found ? find_symbol(&p.object, symbol) : NULL;
}

bool loaded_all_beside(const void *address, const char *const *symbols, void **ret, size_t count)
{
	struct place p = {.address = address};

	dl_iterate_phdr(visit_place, &p);
	for (size_t i = 0; i < count; i++)
		ret[i] = p.is_found ? find_symbol(&p.object, symbols[i]) : NULL;
	return p.is_found;
}

bool loaded_path(const void *address, char *ret, size_t size)
{
	struct place p = {.address = address};

	dl_iterate_phdr(visit_place, &p);
	if (!p.is_found || strlen(p.object.path) >= size)
		return false;
	memcpy(ret, p.object.path, strlen(p.object.path) + 1);
	return true;
}

uintptr_t loaded_start(const void *address)
{
	struct place p = {.address = address};

	dl_iterate_phdr(visit_place, &p);
	return p.is_found ? p.object.start : (uintptr_t)address;
}

struct library {
	const char *prefix;
	struct object object;
	bool is_found;
};

static int visit_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library *l = data;
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	if (strncmp(name, l->prefix, strlen(l->prefix)) != 0)
		return 0;
	read_object(info, &l->object);
	l->is_found = true;
	return 1;
}

bool loaded_library(const char *prefix, char *ret, size_t size)
{
	struct library l = {.prefix = prefix};

	dl_iterate_phdr(visit_library, &l);
	if (!l.is_found || strlen(l.object.path) >= size)
		return false;
	memcpy(ret, l.object.path, strlen(l.object.path) + 1);
	return true;
}

void *loaded_in(const char *prefix, const char *symbol)
{
	struct library l = {.prefix = prefix};

	dl_iterate_phdr(visit_library, &l);
	return l.is_found ? find_symbol(&l.object, symbol) : NULL;
}

void loaded_ours(uintptr_t *ret_start, uintptr_t *ret_end)
{
	struct place p = {.address = (const void *)visit_place};

	dl_iterate_phdr(visit_place, &p);
	*ret_start = p.is_found ? p.object.start : 0;
	*ret_end = p.is_found ? p.object.end : 0;
}

/* ---- what is bound past us ---- */

#ifdef __aarch64__
enum { CALLED = R_AARCH64_JUMP_SLOT, ADDRESSED = R_AARCH64_GLOB_DAT };
#else
enum { CALLED = R_X86_64_JUMP_SLOT, ADDRESSED = R_X86_64_GLOB_DAT };
#endif

struct past {
	bool (*is_wanted)(const char *symbol);
	void (*say)(const char *path, const char *symbol);
	uintptr_t at; /* which object lies around it? */
	bool is_after;
};

static int visit_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	struct past *p = data;
	struct object o;

	read_bounds(info, &o);
	if (holds(&o, (const void *)p->at))
		return 1;
	p->is_after |= holds(&o, (const void *)visit_definition);
	return 0;
}

/* Of calls not yet bound, the place still leads into the object itself. Who comes before us goes on to us, or is meant. */
static bool is_past(struct past *p, const struct object *o, uintptr_t at)
{
	p->at = at;
	p->is_after = false;
	return at && !holds(o, (const void *)at) && dl_iterate_phdr(visit_definition, p) && p->is_after;
}

static const char *find_past(struct past *p, const struct object *o, const ElfW(Rela) *list, size_t bytes)
{
	for (size_t i = 0; list && i < bytes / sizeof(*list); i++) {
		unsigned type = (unsigned)ELF64_R_TYPE(list[i].r_info);
		const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(list[i].r_info)];

		if ((type == CALLED || type == ADDRESSED) && s->st_shndx == SHN_UNDEF && p->is_wanted(o->strings + s->st_name) &&
		    is_past(p, o, *(const uintptr_t *)(o->base + list[i].r_offset)))
			return o->strings + s->st_name;
	}
	return NULL;
}

static int visit_past(struct dl_phdr_info *info, size_t size, void *data)
{
	struct past *p = data;
	const char *symbol;
	struct object o;

	read_object(info, &o);
	if (!o.symbols || !o.strings || holds(&o, (const void *)visit_past))
		return 0;
	symbol = find_past(p, &o, o.calls, o.call_bytes);
	if (!symbol)
		symbol = find_past(p, &o, o.relocations, o.relocation_bytes);
	if (symbol)
		p->say(o.path, symbol);
	return 0;
}

void loaded_past(bool (*is_wanted)(const char *symbol), void (*say)(const char *path, const char *symbol))
{
	struct past p = {.is_wanted = is_wanted, .say = say};

	dl_iterate_phdr(visit_past, &p);
}
