/* SPDX-License-Identifier: Apache-2.0 */
/* libpillion-audit.so, for LD_AUDIT (rtld-audit(7)): what a library is bound to past us, because it was opened with RTLD_DEEPBIND,
 * it gets from us all the same.
 *
 * The loader gives an auditor a name space of its own, with a libc of its own. So this object has none: it needs nothing, and its file
 * is all that a process has to load. It only hears what is bound, and asks libpillion.so of the program's name space, which has begun
 * before any library that a program can open.
 *
 * Bindings of references that are called are shown, at once or at the first call; those of an address in a table (-fno-plt, a pointer to the
 * function) never are. Seen in glibc 2.36. */
#include <link.h>
#include <stdbool.h>

#include "runtime/common/elf_object.h"
#include "preload/lookup/audit.h"

#define EXPORT __attribute__((visibility("default")))

/* All three are written before the program has a second thread. */
static __typeof(pillion_bind) *ask;
static bool is_able, has_begun;

/* The interface's second version came with glibc 2.35; distributions have taken it into older ones. Before it, bindings that are made at once
 * were not shown, and aarch64 lost arguments in vector registers. There we only listen, and libpillion.so is not told of us. */
EXPORT unsigned la_version(unsigned version)
{
	is_able = version >= 2;
	return is_able ? 2 : version;
}

/* Who comes before us is nobody's business: it goes on to us, or is meant. What is loaded at start is bound to us already. */
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	struct elf_object object = {.base = map->l_addr, .dynamic = map->l_ld};

	*cookie = (uintptr_t)map;
	if (!is_able || space != LM_ID_BASE)
		return 0;
	if (ask)
		return has_begun ? LA_FLG_BINDTO | LA_FLG_BINDFROM : LA_FLG_BINDTO;
	if (!has_begun) {
		elf_object_read(&object);
		ask = (__typeof(ask))elf_object_find(&object, "pillion_bind");
	}
	return 0;
}

EXPORT void la_preinit(uintptr_t *program)
{
	(void)program;
	has_begun = true;
	if (ask)
		ask(NULL, 0, NULL, NULL);
}

/* What was asked for by dlsym is libpillion.so's own door's. */
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *in, unsigned *flags, const char *name)
{
	const struct link_map *asker = (const struct link_map *)*from, *library = (const struct link_map *)*in;

	(void)index;
	if (*flags & LA_SYMB_DLSYM || asker == library)
		return symbol->st_value;
	return ask(name, symbol->st_value, asker->l_name, library->l_name);
}
