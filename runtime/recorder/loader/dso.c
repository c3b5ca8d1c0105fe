/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/loader/dso.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/recorder/loader/loader.h"
#include "runtime/shared/common/elf_object.h"
#include "runtime/shared/common/hot.h"

enum { TREE = 256 };

static void read_bounds(const struct dl_phdr_info *info, struct elf_object *o)
{
	*o = (struct elf_object){.base = info->dlpi_addr, .start = UINTPTR_MAX, .path = info->dlpi_name};
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

static void read_object(const struct dl_phdr_info *info, struct elf_object *o)
{
	read_bounds(info, o);
	elf_object_read(o);
}

static bool object_holds(const struct elf_object *o, const void *address)
{
	return (uintptr_t)address >= o->start && (uintptr_t)address < o->end;
}

void *dso_symbol(uintptr_t base, const void *dynamic, const char *symbol)
{
	struct elf_object o = {.base = base, .dynamic = dynamic};

	elf_object_read(&o);
	return elf_object_find(&o, symbol);
}

/* ---- after ours ---- */

struct dso_successor {
	const char *symbol;
	bool is_after;
	void *found;
};

static int visit_next(struct dl_phdr_info *info, size_t size, void *data)
{
	struct dso_successor *n = data;
	struct elf_object o;

	read_object(info, &o);
	if (object_holds(&o, (const void *)visit_next)) {
		n->is_after = true;
		return 0;
	}
	if (n->is_after)
		n->found = elf_object_find(&o, n->symbol);
	return n->found != NULL;
}

/* Objects after ours that stay loaded: those of the start, up to libc and the loader. Older glibcs have functions in
 * libraries of their own, of which a dependency of the program may load one after libc, but before the loader. What is
 * in none of them, or where there are more, is found in the list. */
enum { KEPT = 96 };
static struct elf_object kept[KEPT] LARGE;
static size_t kept_count;

struct keeping {
	size_t count;
	bool is_after, has_libc, has_loader;
};

static int visit_kept(struct dl_phdr_info *info, size_t size, void *data)
{
	struct keeping *k = data;
	struct elf_object o;

	read_object(info, &o);
	if (object_holds(&o, (const void *)visit_kept)) {
		k->is_after = true;
		return 0;
	}
	if (!k->is_after)
		return 0;
	kept[k->count++] = o;
	k->has_libc |= elf_object_find(&o, "gnu_get_libc_version") != NULL;
	k->has_loader |= elf_object_find(&o, "_r_debug") != NULL;
	return k->count == KEPT || (k->has_libc && k->has_loader);
}

void dso_keep_next(void)
{
	struct keeping k = {0};

	loader_each(visit_kept, &k);
	__atomic_store_n(&kept_count, k.count, __ATOMIC_RELEASE);
}

void *dso_next(const char *symbol)
{
	size_t count = __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE);
	struct dso_successor n = {.symbol = symbol};
	uint32_t hash = elf_object_hash(symbol);

	for (size_t i = 0; i < count && !n.found; i++)
		n.found = elf_object_find_hashed(&kept[i], symbol, hash);
	if (!n.found)
		loader_each(visit_next, &n);
	return n.found;
}

void *dso_next_unlocked(const char *symbol)
{
	extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
	const ElfW(Phdr) *h = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	struct elf_object program = {0};
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
		struct elf_object o = {.base = m->l_addr, .dynamic = m->l_ld};
		void *found;

		elf_object_read(&o);
		found = is_after ? elf_object_find(&o, symbol) : NULL;
		if (found)
			return found;
		is_after |= m->l_ld == _DYNAMIC;
	}
	return NULL;
}

static int visit_before(struct dl_phdr_info *info, size_t size, void *data)
{
	struct dso_successor *n = data;
	struct elf_object o;

	read_object(info, &o);
	if (object_holds(&o, (const void *)visit_before))
		return 1;
	n->found = elf_object_find(&o, n->symbol);
	return n->found != NULL;
}

bool dso_before(const char *symbol)
{
	struct dso_successor n = {.symbol = symbol};

	loader_each(visit_before, &n);
	return n.found;
}

/* ---- from a caller ---- */

/* Names of the objects to be searched, in order. They are in the objects' own string tables. */
struct tree {
	const char *names[TREE];
	int count;
	int at; /* the current one */
	const void *caller;
	const char *symbol;
	bool is_main;
	void *found;
};

static void add_dependencies(struct tree *t, const struct elf_object *o)
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

static const char *own_soname(const struct elf_object *o)
{
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL && o->strings; d++)
		if (d->d_tag == DT_SONAME)
			return o->strings + d->d_un.d_val;
	return NULL;
}

const char *dso_soname(uintptr_t base, const void *dynamic)
{
	struct elf_object o = {.base = base, .dynamic = dynamic};

	elf_object_read(&o);
	return own_soname(&o);
}

static const char *object_soname(const struct elf_object *o)
{
	const char *slash = strrchr(o->path, '/');

	return own_soname(o) ?: slash ? slash + 1 : o->path;
}

static void tree_search(struct tree *t, const struct elf_object *o)
{
	if (object_holds(o, (const void *)tree_search))
		return;
	t->found = elf_object_find(o, t->symbol);
	if (!t->found)
		add_dependencies(t, o);
}

static int visit_caller(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tree *t = data;
	struct elf_object o;

	read_bounds(info, &o);
	if (!object_holds(&o, t->caller))
		return 0;
	elf_object_read(&o);
	t->is_main = !o.path[0];
	if (!t->is_main)
		tree_search(t, &o);
	return 1;
}

static int visit_dependency(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tree *t = data;
	struct elf_object o;

	read_object(info, &o);
	if (!o.dynamic || strcmp(object_soname(&o), t->names[t->at]) != 0)
		return 0;
	tree_search(t, &o);
	return 1;
}

void *dso_below(const void *caller, const char *symbol)
{
	struct tree t = {.caller = caller, .symbol = symbol};

	loader_each(visit_caller, &t);
	for (; !t.found && t.at < t.count; t.at++)
		loader_each(visit_dependency, &t);
	return t.found;
}

void *dso_from(const void *caller, const char *symbol)
{
	void *found = dso_below(caller, symbol);

	return found ? found : dso_next(symbol);
}

/* ---- objects ---- */

struct address_search {
	const void *address;
	struct elf_object object;
	bool is_found;
};

static int visit_place(struct dl_phdr_info *info, size_t size, void *data)
{
	struct address_search *p = data;

	read_bounds(info, &p->object);
	p->is_found = object_holds(&p->object, p->address);
	if (p->is_found)
		elf_object_read(&p->object);
	return p->is_found;
}

void *dso_beside(const void *address, const char *symbol)
{
	struct address_search p = {.address = address};

	loader_each(visit_place, &p);
	return p.is_found ? elf_object_find(&p.object, symbol) : NULL;
}

bool dso_all_beside(const void *address, const char *const *symbols, void **ret, size_t count)
{
	struct address_search p = {.address = address};

	loader_each(visit_place, &p);
	for (size_t i = 0; i < count; i++)
		ret[i] = p.is_found ? elf_object_find(&p.object, symbols[i]) : NULL;
	return p.is_found;
}

const char *dso_name(const void *address)
{
	struct address_search p = {.address = address};

	loader_each(visit_place, &p);
	return p.is_found ? p.object.path : "";
}

bool dso_path(const void *address, char *ret, size_t size)
{
	struct address_search p = {.address = address};

	loader_each(visit_place, &p);
	if (!p.is_found || strlen(p.object.path) >= size)
		return false;
	memcpy(ret, p.object.path, strlen(p.object.path) + 1);
	return true;
}

uintptr_t dso_start(const void *address)
{
	struct address_search p = {.address = address};

	loader_each(visit_place, &p);
	return p.is_found ? p.object.start : (uintptr_t)address;
}

struct library {
	const char *prefix;
	struct elf_object object;
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

struct libraries {
	const char *const *prefixes;
	size_t count;
	bool is_found;
};

static int visit_libraries(struct dl_phdr_info *info, size_t size, void *data)
{
	struct libraries *l = data;
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	for (size_t i = 0; i < l->count && !l->is_found; i++)
		l->is_found = !strncmp(name, l->prefixes[i], strlen(l->prefixes[i]));
	return l->is_found;
}

bool dso_has_library(const char *const *prefixes, size_t count)
{
	struct libraries l = {.prefixes = prefixes, .count = count};

	loader_each(visit_libraries, &l);
	return l.is_found;
}

bool dso_library(const char *prefix, char *ret, size_t size)
{
	struct library l = {.prefix = prefix};

	loader_each(visit_library, &l);
	if (!l.is_found || strlen(l.object.path) >= size)
		return false;
	memcpy(ret, l.object.path, strlen(l.object.path) + 1);
	return true;
}

void *dso_library_symbol(const char *prefix, const char *symbol)
{
	struct library l = {.prefix = prefix};

	loader_each(visit_library, &l);
	return l.is_found ? elf_object_find(&l.object, symbol) : NULL;
}

void dso_own_range(uintptr_t *ret_start, uintptr_t *ret_end)
{
	struct address_search p = {.address = (const void *)visit_place};

	loader_each(visit_place, &p);
	*ret_start = p.is_found ? p.object.start : 0;
	*ret_end = p.is_found ? p.object.end : 0;
}

/* Defined by the linker at the start of our object, where the load bias is, because a shared object begins at 0. */
void *dso_own_symbol(const char *symbol)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

	return dso_symbol((uintptr_t)__ehdr_start, _DYNAMIC, symbol);
}

/* ---- what is bound past us ---- */

#ifdef __aarch64__
enum { CALLED = R_AARCH64_JUMP_SLOT, ADDRESSED = R_AARCH64_GLOB_DAT };
#else
enum { CALLED = R_X86_64_JUMP_SLOT, ADDRESSED = R_X86_64_GLOB_DAT };
#endif

struct dso_bypass {
	bool (*is_wanted)(const char *symbol);
	void (*say)(const char *path, const char *symbol);
	uintptr_t at; /* an address in the object that is searched for */
	bool is_after;
};

static int visit_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	struct dso_bypass *p = data;
	struct elf_object o;

	read_bounds(info, &o);
	if (object_holds(&o, (const void *)p->at))
		return 1;
	p->is_after |= object_holds(&o, (const void *)visit_definition);
	return 0;
}

/* Whether the reference at `at` is bound to an object after ours. The reference of a call that is not yet bound points
 * into the object itself. An object before ours either calls our function or intentionally replaces it. */
static bool is_past(struct dso_bypass *p, const struct elf_object *o, uintptr_t at)
{
	p->at = at;
	p->is_after = false;
	return at && !object_holds(o, (const void *)at) && loader_each(visit_definition, p) && p->is_after;
}

static const char *find_past(struct dso_bypass *p, const struct elf_object *o, const ElfW(Rela) *list, size_t bytes)
{
	for (size_t i = 0; list && i < bytes / sizeof(*list); i++) {
		unsigned type = (unsigned)ELF64_R_TYPE(list[i].r_info);
		const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(list[i].r_info)];

		if ((type != CALLED && type != ADDRESSED) || s->st_shndx != SHN_UNDEF)
			continue;
		if (p->is_wanted(o->strings + s->st_name) &&
		    is_past(p, o, *(const uintptr_t *)(o->base + list[i].r_offset)))
			return o->strings + s->st_name;
	}
	return NULL;
}

static int visit_past(struct dl_phdr_info *info, size_t size, void *data)
{
	struct dso_bypass *p = data;
	const char *symbol;
	struct elf_object o;

	read_object(info, &o);
	if (!o.symbols || !o.strings || object_holds(&o, (const void *)visit_past))
		return 0;
	symbol = find_past(p, &o, o.calls, o.call_bytes);
	if (!symbol)
		symbol = find_past(p, &o, o.relocations, o.relocation_bytes);
	if (symbol)
		p->say(o.path, symbol);
	return 0;
}

void dso_bound_past_us(bool (*is_wanted)(const char *symbol), void (*say)(const char *path, const char *symbol))
{
	struct dso_bypass p = {.is_wanted = is_wanted, .say = say};

	loader_each(visit_past, &p);
}
