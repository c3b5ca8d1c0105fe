/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from a frame to its caller by what a file says of its frames. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/names/unwind.h"

enum { CALLER = 0x1234 };

static bool read_word(void *context, uint64_t address, uint64_t *ret)
{
	(void)context;
	(void)address;
	*ret = CALLER;
	return true;
}

static bool is_return(void *context, uint64_t address, uint64_t function)
{
	(void)context;
	(void)address;
	(void)function;
	return false;
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

static char *read_self(size_t *ret)
{
	FILE *f = fopen("/proc/self/exe", "rb");
	char *bytes;

	cr_assert_not_null(f);
	fseek(f, 0, SEEK_END);
	*ret = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*ret);
	cr_assert_eq(fread(bytes, 1, *ret, f), *ret);
	fclose(f);
	return bytes;
}

/* Puts the section of the frames before that of the table, as some linkers do, and has the frames end after the first
 * entry, so that only the table leads to the others. */
static void damage(char *bytes)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)bytes;
	ElfW(Shdr) *sections = (ElfW(Shdr) *)(bytes + head->e_shoff), *table = NULL, *frames = NULL, first;
	const char *names = bytes + sections[head->e_shstrndx].sh_offset;
	uint32_t length, end = 0;

	for (unsigned i = 0; i < head->e_shnum; i++) {
		if (!strcmp(names + sections[i].sh_name, ".eh_frame_hdr"))
			table = &sections[i];
		if (!strcmp(names + sections[i].sh_name, ".eh_frame"))
			frames = &sections[i];
	}
	cr_assert(table && frames);
	memcpy(&length, bytes + frames->sh_offset, sizeof(length));
	memcpy(bytes + frames->sh_offset + sizeof(length) + length, &end, sizeof(end));
	first = *table;
	if (table < frames) {
		*table = *frames;
		*frames = first;
	}
}

Test(unwind_files, frames_are_found_by_their_table_wherever_its_section_is)
{
	char path[] = "/tmp/pillion-unwind.XXXXXX", *bytes;
	const struct unwind_memory memory = {read_word, is_return, NULL};
	struct unwind_registers r = {.known = (1u << UNWIND_REGISTERS) - 1};
	int fd = mkstemp(path);
	struct symbol_file *f;
	bool is_call = false;
	uint64_t bias = 0;
	size_t size;
	int code;

	bytes = read_self(&size);
	damage(bytes);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	free(bytes);
	code = symbol_file_open(path, NULL, &f);
	unlink(path);
	if (code == -ENOTSUP)
		cr_skip_test("no elfutils");
	cr_assert_eq(code, 0);
	dl_iterate_phdr(find_bias, &bias);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		r.value[i] = CALLER; /* the return address may be in a register */
	r.value[UNWIND_SP] = 0x1000;
	r.value[UNWIND_PC] = (uint64_t)(uintptr_t)&find_bias;
#if defined(__x86_64__) /* elsewhere the stack pointer is the caller's at the first instruction, and it stops there */
	cr_assert_eq(unwind_step(f, bias, &memory, &r, &is_call), UNWIND_GOES_ON);
	cr_assert_eq(r.value[UNWIND_PC], CALLER);
	cr_assert(is_call);
#endif
	symbol_file_close(f);
}
