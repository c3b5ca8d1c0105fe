/* SPDX-License-Identifier: Apache-2.0 */
/* The exported symbols of a file. The file is read, not mapped: it may be truncated meanwhile. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/outside/where.h"

enum { TABLE_MOST = 64 << 20, SECTIONS_MOST = 4096 };

/* NULL: it is not within the file, or too large. The caller frees it. */
static void *part_read(int fd, uint64_t offset, uint64_t size)
{
	char *bytes = size && size <= TABLE_MOST ? malloc(size) : NULL;

	if (bytes && pread(fd, bytes, size, (off_t)offset) == (ssize_t)size)
		return bytes;
	free(bytes);
	return NULL;
}

/* The address of the file's address 0 if its first byte is mapped at `start`. */
static bool bias_find(int fd, const ElfW(Ehdr) *head, uint64_t start, uint64_t *ret)
{
	ElfW(Phdr) *segments = part_read(fd, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*segments));
	bool is_found = false;

	for (unsigned i = 0; segments && i < head->e_phnum && !is_found; i++) {
		is_found = segments[i].p_type == PT_LOAD;
		*ret = start - (segments[i].p_vaddr - segments[i].p_offset);
	}
	free(segments);
	return is_found;
}

static void symbols_match(const ElfW(Sym) *table, size_t table_count, const char *strings, size_t size, uint64_t bias,
			  struct where_symbol *symbols, size_t count)
{
	for (size_t i = 0; i < table_count; i++) {
		const ElfW(Sym) *s = &table[i];
		const char *name = strings + s->st_name;

		if (s->st_shndx == SHN_UNDEF || !s->st_value || s->st_name >= size)
			continue;
		for (size_t k = 0; k < count; k++)
			if (!symbols[k].address && !strcmp(name, symbols[k].name))
				symbols[k].address = bias + s->st_value;
	}
}

static bool sections_search(int fd, const ElfW(Ehdr) *head, uint64_t bias, struct where_symbol *symbols, size_t count)
{
	ElfW(Shdr) *sections = part_read(fd, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections));
	bool is_found = false;

	for (unsigned i = 0; sections && i < head->e_shnum && !is_found; i++) {
		ElfW(Shdr) *names = sections[i].sh_link < head->e_shnum ? &sections[sections[i].sh_link] : NULL;
		ElfW(Sym) *table;
		char *strings;

		if (sections[i].sh_type != SHT_DYNSYM || !names)
			continue;
		table = part_read(fd, sections[i].sh_offset, sections[i].sh_size);
		strings = part_read(fd, names->sh_offset, names->sh_size);
		is_found = table && strings && !strings[names->sh_size - 1];
		if (is_found)
			symbols_match(table, sections[i].sh_size / sizeof(*table), strings, names->sh_size, bias,
				      symbols, count);
		free(table);
		free(strings);
	}
	free(sections);
	return is_found;
}

bool where_symbols(const char *path, uint64_t start, struct where_symbol *symbols, size_t count)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ElfW(Ehdr) *head = fd < 0 ? NULL : part_read(fd, 0, sizeof(*head));
	uint64_t bias = 0;
	bool is_found;

	is_found = head && !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_phentsize == sizeof(ElfW(Phdr)) &&
		   head->e_shentsize == sizeof(ElfW(Shdr)) && head->e_shnum <= SECTIONS_MOST &&
		   bias_find(fd, head, start, &bias) && sections_search(fd, head, bias, symbols, count);
	free(head);
	if (fd >= 0)
		close(fd);
	return is_found;
}
