/* SPDX-License-Identifier: Apache-2.0 */
/* A library tells by a weak reference whether a function exists: mpi4py refers so to all functions of MPI 4. The loader
 * binds such a reference to our wrapper, even if no other library defines the function. It is set to NULL here, before
 * the library runs: Python loads an extension module and then looks up its PyInit_*. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "preload/lookup/lookup.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/loader/loader.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/elf_object.h"
#include "runtime/shared/common/sys.h"

#ifdef __aarch64__
enum { ADDRESSED = R_AARCH64_GLOB_DAT, POINTER = R_AARCH64_ABS64 };
#else
enum { ADDRESSED = R_X86_64_GLOB_DAT, POINTER = R_X86_64_64 };
#endif

/* The part of an object that the loader has made read-only after the relocations. */
struct relro {
	const struct link_map *map;
	uintptr_t start, end;
	bool is_writable; /* made so by us */
};

static int visit_relro(struct dl_phdr_info *info, size_t size, void *data)
{
	struct relro *r = data;
	bool is_searched = false;
	uintptr_t page = getauxval(AT_PAGESZ);

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		is_searched |= info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
			       info->dlpi_addr + info->dlpi_phdr[i].p_vaddr == (uintptr_t)r->map->l_ld;
	for (int i = 0; is_searched && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_GNU_RELRO)
			continue;
		r->start = (info->dlpi_addr + segment->p_vaddr) & -page;
		r->end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & -page;
	}
	return is_searched;
}

static bool clear(struct relro *r, uintptr_t *slot)
{
	bool is_protected = (uintptr_t)slot >= r->start && (uintptr_t)slot < r->end;

	if (is_protected && !r->is_writable) {
		if (sys_mprotect((void *)r->start, r->end - r->start, PROT_READ | PROT_WRITE))
			return false;
		r->is_writable = true;
	}
	*slot = 0;
	return true;
}

/* Some libraries have thousands of references; these names are of those that are built for MPI. */
static bool is_of_mpi(const char *path)
{
	for (; *path; path++)
		if ((path[0] | 32) == 'm' && (path[1] | 32) == 'p' && (path[2] | 32) == 'i')
			return true;
	return false;
}

/* Relocations in segments that are not writable: a store there would fault. */
static bool has_text_relocations(const struct link_map *map)
{
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return true;
	return false;
}

static void clear_missing(const struct link_map *map)
{
	struct elf_object o = {.base = map->l_addr, .dynamic = map->l_ld};
	struct relro relro = {.map = map};

	elf_object_read(&o);
	if (!o.symbols || !o.strings || !o.relocations || has_text_relocations(map) ||
	    !loader_each(visit_relro, &relro))
		return;
	for (size_t i = 0; i < o.relocation_bytes / sizeof(*o.relocations); i++) {
		const ElfW(Rela) *r = &o.relocations[i];
		const ElfW(Sym) *s = &o.symbols[ELF64_R_SYM(r->r_info)];
		uintptr_t *slot = (uintptr_t *)(o.base + r->r_offset);
		unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);

		if ((type != ADDRESSED && type != POINTER) || s->st_shndx != SHN_UNDEF ||
		    ELF64_ST_BIND(s->st_info) != STB_WEAK || !lookup_is_ours((void *)*slot))
			continue;
		if (!dso_from(map->l_ld, o.strings + s->st_name) && !clear(&relro, slot))
			return;
	}
	if (relro.is_writable)
		sys_mprotect((void *)relro.start, relro.end - relro.start, PROT_READ);
}

void lookup_clear_weak(void *handle)
{
	const struct link_map *map = handle;
	struct thread_guard guard;

	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !map->l_name || !is_of_mpi(map->l_name))
		return;
	thread_guard_enter(&thread_self, &guard);
	clear_missing(map);
	thread_guard_leave(&thread_self, &guard);
}
