/* SPDX-License-Identifier: Apache-2.0 */
/* libpillion-audit.so, for LD_AUDIT (rtld-audit(7)). A library that is opened with RTLD_DEEPBIND is bound to its own
 * dependencies instead of to us; this auditor redirects those bindings to our wrappers.
 *
 * The loader gives an auditor its own namespace with its own libc. This object therefore uses no libc, so its file is
 * all that a process has to load. It only receives bindings, and asks libpillion.so in the program's namespace, which
 * has been initialised before any library that the program can open.
 *
 * The loader reports references that are called, when they are bound or at the first call. It never reports an
 * address in a table (-fno-plt, a pointer to the function). Observed in glibc 2.36. */
#include <link.h>
#include <stdbool.h>

#include "runtime/common/elf_object.h"
#include "preload/lookup/audit.h"

#define EXPORT __attribute__((visibility("default")))

/* All three are written before the program has a second thread. */
static __typeof(pillion_bind) *ask;
static bool is_supported, has_begun;

/* Version 2 of the interface came with glibc 2.35, and distributions have backported it. Before it, bindings made at
 * load time were not reported, and aarch64 lost arguments in vector registers: there the auditor does nothing. */
EXPORT unsigned la_version(unsigned version)
{
	is_supported = version >= 2;
	return is_supported ? 2 : version;
}

/* Objects before ours are ignored: they call ours, or override it on purpose. What is loaded at start is bound to us
 * already. */
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	struct elf_object object = {.base = map->l_addr, .dynamic = map->l_ld};

	*cookie = (uintptr_t)map;
	if (!is_supported || space != LM_ID_BASE)
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

/* What dlsym() finds, libpillion.so replaces itself. */
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *in, unsigned *flags,
			      const char *name)
{
	const struct link_map *caller = (const struct link_map *)*from;
	const struct link_map *library = (const struct link_map *)*in;

	(void)index;
	if (*flags & LA_SYMB_DLSYM || caller == library)
		return symbol->st_value;
	return ask(name, symbol->st_value, caller->l_name, library->l_name);
}
