/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of one loaded object, read from its ELF tables. No lock, no allocation, no call into libc: the loader's
 * auditor has none. Formats: System V gABI "Dynamic Linking"; DT_GNU_HASH as binutils and glibc implement it (bloom
 * filter of one word, buckets, chains whose last entry has bit 0 set).
 *
 * May be called from any thread and any signal handler while the object is loaded. */
#pragma once

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct elf_object {
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

/* Fills in the fields that follow from `base` (the load bias) and `dynamic`. */
void elf_object_read(struct elf_object *o);

/* The default version of `symbol` in this object, with an indirect function resolved; NULL: not defined. */
void *elf_object_find(const struct elf_object *o, const char *symbol);
/* Likewise, with the hash of the name. */
uint32_t elf_object_hash(const char *symbol);
void *elf_object_find_hashed(const struct elf_object *o, const char *symbol, uint32_t hash);
