/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/shared/common/elf_object.h"

static struct elf_object object_of(const char *library)
{
	struct link_map *map = dlopen(library, RTLD_NOW);
	struct elf_object o = {0};

	cr_assert(map, "%s", dlerror());
	o.base = map->l_addr;
	o.dynamic = map->l_ld;
	elf_object_read(&o);
	return o;
}

Test(elf_object, finds_what_dlsym_finds)
{
	static const char *const names[] = {"read", "malloc", "qsort", "getenv", "pthread_create"};
	struct elf_object libc = object_of("libc.so.6");
	void *handle = dlopen("libc.so.6", RTLD_NOW);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect(elf_object_find(&libc, names[i]) == dlsym(handle, names[i]), "%s", names[i]);
}

Test(elf_object, resolves_indirect_functions)
{
	struct elf_object libc = object_of("libc.so.6");

	cr_expect(elf_object_find(&libc, "strlen") == dlsym(dlopen("libc.so.6", RTLD_NOW), "strlen"));
}

Test(elf_object, finds_nothing_that_is_only_referred_to_or_absent)
{
	struct elf_object libm = object_of("libm.so.6");

	cr_expect(elf_object_find(&libm, "fma"));
	cr_expect_null(elf_object_find(&libm, "malloc"));
	cr_expect_null(elf_object_find(&libm, "no_such_function"));
	cr_expect_null(elf_object_find(&libm, ""));
}

Test(elf_object, goes_without_the_gnu_hash)
{
	struct elf_object libc = object_of("libc.so.6");
	void *wanted = elf_object_find(&libc, "getenv");

	if (!libc.hash)
		cr_skip_test("this libc has no other");
	libc.gnu_hash = NULL;
	cr_expect(elf_object_find(&libc, "getenv") == wanted);
	cr_expect_null(elf_object_find(&libc, "no_such_function"));
}

Test(elf_object, without_tables_finds_nothing)
{
	ElfW(Dyn) end = {.d_tag = DT_NULL};
	struct elf_object o = {.dynamic = &end};

	elf_object_read(&o);
	cr_expect_null(elf_object_find(&o, "read"));
	o.dynamic = NULL;
	elf_object_read(&o);
	cr_expect_null(elf_object_find(&o, "read"));
}
