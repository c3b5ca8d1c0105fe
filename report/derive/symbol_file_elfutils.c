/* SPDX-License-Identifier: Apache-2.0 */
/* Names by elfutils: DWARF where there is some, else the symbol table. */
#include "symbol_file.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
};

/* Takes fd. */
static bool report_file(struct symbol_file *f, const char *path, int fd)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};

	f->dwfl = dwfl_begin(&callbacks);
	if (!f->dwfl) {
		close(fd);
		return false;
	}
	dwfl_report_begin(f->dwfl);
	f->module = dwfl_report_elf(f->dwfl, path, path, fd, 0, true);
	if (!f->module)
		close(fd);
	dwfl_report_end(f->dwfl, NULL, NULL);
	return f->module;
}

static bool is_that_build(Dwfl_Module *module, const uint8_t *build_id, size_t wanted)
{
	const unsigned char *bits;
	GElf_Addr address;
	int length = dwfl_module_build_id(module, &bits, &address);

	if (!wanted || length <= 0)
		return true; /* nothing to tell them apart by */
	return (size_t)length == wanted && !memcmp(bits, build_id, wanted);
}

/* -1: cannot be opened, or is nothing to look into. */
static int open_regular(const char *path, struct texts *problems)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0) {
		texts_add(problems, "%s: %s, its functions have no names", path, strerror(errno));
		return -1;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -1;
}

struct symbol_file *symbol_file_open(const char *path, const uint8_t *build_id, size_t length, struct texts *problems)
{
	int fd = open_regular(path, problems);
	struct symbol_file *f;

	if (fd < 0)
		return NULL;
	f = mem_alloc(sizeof(*f));
	if (!report_file(f, path, fd)) {
		symbol_file_close(f);
		return NULL;
	}
	if (!is_that_build(f->module, build_id, length)) {
		texts_add(problems, "%s: changed since it was recorded, its functions have no names", path);
		symbol_file_close(f);
		return NULL;
	}
	return f;
}

void symbol_file_close(struct symbol_file *f)
{
	if (f && f->dwfl)
		dwfl_end(f->dwfl);
	free(f);
}

const char *symbol_file_name(struct symbol_file *f, uint64_t address)
{
	return dwfl_module_addrname(f->module, address);
}

/* What lies behind a unit's last function and has no lines of its own would be given that function's. */
static bool is_behind(struct symbol_file *f, uint64_t address)
{
	Dwarf_Addr bias, base, start, end;
	Dwarf_Die *unit = dwfl_module_addrdie(f->module, address, &bias);

	return unit && dwarf_ranges(unit, 0, &base, &start, &end) > 0 && !dwarf_haspc(unit, address - bias);
}

/* clang writes no .debug_aranges, and without it libdw finds no unit by an address: then every unit is asked. */
const char *symbol_file_source(struct symbol_file *f, uint64_t address, int *ret_line)
{
	Dwfl_Line *found = dwfl_module_getsrc(f->module, address);
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	if (found && !is_behind(f, address))
		return dwfl_lineinfo(found, NULL, ret_line, NULL, NULL, NULL);
	while ((unit = dwfl_module_nextcu(f->module, unit, &bias))) {
		Dwarf_Line *line = dwarf_haspc(unit, address - bias) > 0 ? dwarf_getsrc_die(unit, address - bias) : NULL;

		if (line && !dwarf_lineno(line, ret_line))
			return dwarf_linesrc(line, NULL, NULL);
	}
	return NULL;
}
