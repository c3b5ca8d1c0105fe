/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/elf_object.h"

#include <elf.h>
#include <stdbool.h>

enum { HIDDEN = 0x8000 };

/* glibc relocates these entries in place; those of the vDSO and on some architectures remain offsets. */
static const void *pointer(const struct elf_object *o, const ElfW(Dyn) *entry)
{
	return (const void *)(entry->d_un.d_ptr >= o->base ? entry->d_un.d_ptr : o->base + entry->d_un.d_ptr);
}

void elf_object_read(struct elf_object *o)
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

/* Not strcmp: see dso_next_unlocked(). */
static bool is_equal(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static bool is_definition(const struct elf_object *o, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];

	if (s->st_shndx == SHN_UNDEF || (!s->st_value && s->st_shndx != SHN_ABS))
		return false;
	return !(o->versions && o->versions[i] & HIDDEN) && is_equal(o->strings + s->st_name, name);
}

uint32_t elf_object_hash(const char *name)
{
	uint32_t hash = 5381;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	return hash;
}

static uint32_t find_by_gnu_hash(const struct elf_object *o, const char *name, uint32_t hash)
{
	const uint32_t *table = o->gnu_hash, buckets = table[0], first = table[1], words = table[2], shift = table[3];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
	enum { BITS = sizeof(ElfW(Addr)) * 8 };
	ElfW(Addr) word;

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

static uint32_t find_by_hash(const struct elf_object *o, const char *name)
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

void *elf_object_find(const struct elf_object *o, const char *name)
{
	return elf_object_find_hashed(o, name, elf_object_hash(name));
}

void *elf_object_find_hashed(const struct elf_object *o, const char *name, uint32_t name_hash)
{
	const ElfW(Sym) *s;
	uint32_t i;

	if (!o->symbols || !o->strings || (!o->gnu_hash && !o->hash))
		return NULL;
	i = o->gnu_hash ? find_by_gnu_hash(o, name, name_hash) : find_by_hash(o, name);
	if (!i)
		return NULL;
	s = &o->symbols[i];
	if ((s->st_info & 15) == STT_GNU_IFUNC)
		return ((void *(*)(void))(o->base + s->st_value))();
	return (void *)(o->base + s->st_value);
}
