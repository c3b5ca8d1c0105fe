/* SPDX-License-Identifier: Apache-2.0 */
/* libpillion-audit.so, for LD_AUDIT (rtld-audit(7)). A library that is opened with RTLD_DEEPBIND is bound to its own
 * dependencies instead of to us; this auditor redirects those bindings to our wrappers.
 *
 * The loader gives an auditor its own namespace with its own libc. This object therefore uses no libc, so that the
 * loader need not load a second one. It only receives bindings and passes them to libpillion.so in the program's
 * namespace, which is initialised before the program can open any library.
 *
 * The loader reports references through the PLT, when they are bound or at the first call. It never reports references
 * through the GOT (-fno-plt, a pointer to the function). Observed in glibc 2.36. */
#include "preload/lookup/audit.h"

#include <link.h>
#include <stdbool.h>

#include "runtime/shared/common/elf_object.h"

#define EXPORT __attribute__((visibility("default")))

/* All three are written before the program creates its second thread. */
static __typeof(pillion_bind) *bind_in_program;
static bool is_supported, has_begun;

/* Version 2 of the interface came with glibc 2.35, and distributions have backported it. Version 1 did not report
 * bindings made at load time, and lost arguments in vector registers on aarch64: with it the auditor does nothing. */
EXPORT unsigned la_version(unsigned version)
{
	is_supported = version >= 2;
	return is_supported ? 2 : version;
}

/* Objects before ours are ignored: they call ours, or override it intentionally. Objects loaded at start are bound to
 * us already. */
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	struct elf_object object = {.base = map->l_addr, .dynamic = map->l_ld};

	*cookie = (uintptr_t)map;
	if (!is_supported || space != LM_ID_BASE)
		return 0;
	if (bind_in_program)
		return has_begun ? LA_FLG_BINDTO | LA_FLG_BINDFROM : LA_FLG_BINDTO;
	if (!has_begun) {
		elf_object_read(&object);
		bind_in_program = (__typeof(bind_in_program))elf_object_find(&object, "pillion_bind");
	}
	return 0;
}

EXPORT void la_preinit(uintptr_t *program)
{
	(void)program;
	has_begun = true;
	if (bind_in_program)
		bind_in_program(NULL, 0, NULL, NULL);
}

/* Results of dlsym() are ignored here, because libpillion.so replaces them itself. */
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *in, unsigned *flags,
			      const char *name)
{
	const struct link_map *caller = (const struct link_map *)*from;
	const struct link_map *library = (const struct link_map *)*in;

	(void)index;
	if (*flags & LA_SYMB_DLSYM || caller == library)
		return symbol->st_value;
	return bind_in_program(name, symbol->st_value, caller->l_name, library->l_name);
}
