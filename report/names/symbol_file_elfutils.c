/* SPDX-License-Identifier: Apache-2.0 */
/* Names by elfutils: from DWARF if there is any, else from the symbol table. */
#include "report/names/symbol_file.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/names/symbol_inline.h"

/* The address range of a function, or a label (size 0). Few bytes, as there are many. */
struct range {
	uint64_t from; /* first, see sort_by_number() */
	uint32_t size; /* 4 GB and more: all of them */
	unsigned number : 31; /* in the symbol tables */
	unsigned is_read : 1; /* its name may be that of the interpreter's loop */
};

struct symbol_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct range *ranges; /* sorted by `from`, and by `number`; built when the first name is requested */
	uint64_t *furthest; /* of each range: the highest end of it and all before it */
	size_t range_count;
	Dwarf_CFI *frames; /* NULL: there is no table of them */
	bool has_ranges, has_frames, is_searched, is_interpreter;
	struct inline_units units;
};

/* libdw's own search loads libdebuginfod, which takes 5 ms, even where the user has named no server. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *path,
			  const char *link, GElf_Word sum, char **ret)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	bool is_elsewhere = link || (servers && *servers);

	return (is_elsewhere ? dwfl_standard_find_debuginfo : dwfl_build_id_find_debuginfo)(
		module, data, name, base, path, link, sum, ret);
}

/* Takes ownership of fd. */
static bool report_file(struct symbol_file *f, const char *path, int fd)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
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

static bool is_that_build(Dwfl_Module *module, const struct symbol_build *wanted)
{
	const unsigned char *bits;
	GElf_Addr address;
	int length = dwfl_module_build_id(module, &bits, &address);

	return !wanted->id_length ||
	       (length == (int)wanted->id_length && !memcmp(bits, wanted->id, wanted->id_length));
}

/* As a source file is, it is the one that was recorded unless its size or its time has changed. */
static bool is_that_file(int fd, const struct symbol_build *wanted)
{
	const struct tf_module_file *was = &wanted->file;
	struct stat st;

	if (wanted->id_length || !(was->size | was->mtime_ns))
		return true;
	return !fstat(fd, &st) && (uint64_t)st.st_size == was->size &&
	       (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec == was->mtime_ns &&
	       (!was->inode || st.st_ino == was->inode);
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -ENOEXEC;
}

int symbol_file_open(const char *path, const struct symbol_build *build, struct symbol_file **ret)
{
	int fd = open_regular(path), code;
	struct symbol_file *f;

	*ret = NULL;
	if (fd < 0)
		return fd;
	if (build && !is_that_file(fd, build)) {
		close(fd);
		return -ESTALE;
	}
	f = mem_alloc(sizeof(*f));
	code = !report_file(f, path, fd) ? -ENOEXEC : !build || is_that_build(f->module, build) ? 0 : -ESTALE;
	if (code)
		symbol_file_close(f);
	else
		*ret = f;
	return code;
}

void symbol_file_close(struct symbol_file *f)
{
	if (f && f->frames)
		dwarf_cfi_end(f->frames);
	if (f && f->dwfl)
		dwfl_end(f->dwfl);
	if (f) {
		free(f->ranges);
		free(f->furthest);
		inline_units_done(&f->units);
	}
	free(f);
}

/* ---- names: dwfl_module_addrsym() reads all symbols for each address, which takes minutes for the stacks of a
 * PyTorch job. Some libraries have half a million: their names, tens of MB, are not read here if they are local ---- */

enum { EVALUATION_BYTES = 4096 }; /* the interpreter's loop is longer, should it be local */

static uint64_t end_of(const struct range *r)
{
	return r->size < UINT32_MAX && r->size <= UINT64_MAX - r->from ? r->from + r->size : UINT64_MAX;
}

static void add_range(struct symbol_file *f, int number, const GElf_Sym *symbol, GElf_Addr address)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	if (!symbol->st_name || symbol->st_shndx == SHN_UNDEF || type == STT_OBJECT || type == STT_SECTION ||
	    type == STT_FILE || type == STT_TLS)
		return;
	f->ranges[f->range_count++] = (struct range){
		.from = address,
		.size = symbol->st_size < UINT32_MAX ? (uint32_t)symbol->st_size : UINT32_MAX,
		.number = (unsigned)number & INT32_MAX,
		.is_read = GELF_ST_BIND(symbol->st_info) != STB_LOCAL || symbol->st_size >= EVALUATION_BYTES,
	};
}

static bool is_same_symbol(const GElf_Sym *a, const GElf_Sym *b)
{
	return a->st_name == b->st_name && a->st_value == b->st_value && a->st_size == b->st_size;
}

/* The table with all symbols of the module, so that libdw need not look for each of them. NULL: there are several, or
 * the addresses are not those of the table and the bias. */
static Elf_Data *whole_table(struct symbol_file *f, int count, GElf_Addr *ret_bias)
{
	Elf_Scn *section = NULL;
	GElf_Sym last, symbol;
	GElf_Addr address;
	GElf_Shdr table;
	GElf_Ehdr head;
	Elf *elf;

	if (!dwfl_module_getsym_info(f->module, count - 1, &last, &address, NULL, &elf, ret_bias) ||
	    !gelf_getehdr(elf, &head) || head.e_type == ET_REL || last.st_value + *ret_bias != address)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		bool is_table = gelf_getshdr(section, &table) &&
				(table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && table.sh_entsize &&
				table.sh_size / table.sh_entsize == (GElf_Xword)count;
		Elf_Data *data = is_table ? elf_getdata(section, NULL) : NULL;

		if (data && gelf_getsym(data, count - 1, &symbol) && is_same_symbol(&symbol, &last))
			return data;
	}
	return NULL;
}

static void read_ranges(struct symbol_file *f, int count)
{
	GElf_Addr bias = 0, address;
	Elf_Data *table = whole_table(f, count, &bias);
	GElf_Sym symbol;

	f->ranges = mem_resize(NULL, (size_t)count * sizeof(*f->ranges));
	for (int i = 0; i < count; i++) {
		if (table && gelf_getsym(table, i, &symbol))
			add_range(f, i, &symbol, symbol.st_value + bias);
		else if (!table && dwfl_module_getsym_info(f->module, i, &symbol, &address, NULL, NULL, NULL))
			add_range(f, i, &symbol, address);
	}
}

static void make_ranges(struct symbol_file *f)
{
	int count = dwfl_module_getsymtab(f->module);
	uint64_t furthest = 0;

	f->has_ranges = true;
	if (count <= 0)
		return;
	read_ranges(f, count);
	sort_by_number(f->ranges, f->range_count, sizeof(*f->ranges));
	f->furthest = mem_resize(NULL, f->range_count * sizeof(*f->furthest) + 1);
	for (size_t i = 0; i < f->range_count; i++) {
		uint64_t end = end_of(&f->ranges[i]);

		furthest = end > furthest ? end : furthest;
		f->furthest[i] = furthest;
	}
}

/* Of its binding: 3 global, 2 weak, 1 local. */
static int rank_of(struct symbol_file *f, const struct range *r)
{
	GElf_Sym symbol;
	GElf_Addr address;
	int binding;

	dwfl_module_getsym_info(f->module, (int)r->number, &symbol, &address, NULL, NULL, NULL);
	binding = GELF_ST_BIND(symbol.st_info);
	return binding == STB_GLOBAL ? 3 : binding == STB_WEAK ? 2 : binding == STB_LOCAL;
}

/* Chooses like dwfl_module_addrsym(): the stronger binding, then the nearer start, then the smaller size. */
static bool is_better(struct symbol_file *f, const struct range *a, const struct range *than)
{
	int order = rank_of(f, a) - rank_of(f, than);

	if (order)
		return order > 0;
	if (a->from != than->from)
		return a->from > than->from;
	return a->size != than->size ? a->size < than->size : a->number < than->number;
}

/* The number of ranges that begin at or before an address. */
static size_t ranges_before(const struct symbol_file *f, uint64_t address)
{
	size_t low = 0, high = f->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->ranges[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The function that has the address; NULL: none has. *ret_count: the number of ranges before it. */
static const struct range *best_range(struct symbol_file *f, uint64_t address, size_t *ret_count)
{
	const struct range *best = NULL;

	if (!f->has_ranges)
		make_ranges(f);
	*ret_count = ranges_before(f, address);
	for (size_t i = *ret_count; i-- > 0 && f->furthest[i] > address;) {
		const struct range *r = &f->ranges[i];

		if (address < end_of(r) && (!best || is_better(f, r, best)))
			best = r;
	}
	return best;
}

bool symbol_file_function(struct symbol_file *f, uint64_t address, uint64_t *ret)
{
	size_t count;
	const struct range *best = best_range(f, address, &count);

	if (best)
		*ret = best->from;
	return best;
}

bool symbol_file_is_interpreter(struct symbol_file *f)
{
	GElf_Sym symbol;
	GElf_Addr address;

	if (!f->has_ranges)
		make_ranges(f);
	for (size_t i = 0; i < f->range_count && !f->is_searched; i++) {
		const struct range *r = &f->ranges[i];
		const char *name = NULL;

		if (r->is_read)
			name = dwfl_module_getsym_info(f->module, (int)r->number, &symbol, &address, NULL, NULL, NULL);
		f->is_interpreter |= name && symbol_is_evaluation(name);
	}
	f->is_searched = true;
	return f->is_interpreter;
}

struct Dwfl_Module *symbol_file_module(struct symbol_file *f)
{
	return f->module;
}

/* libdw takes the table only if its section precedes that of the frames, and else reads all of them for one: of
 * libtorch_cpu.so a quarter of a million. Without names of sections it goes by the program header. */
struct Dwarf_CFI_s *symbol_file_frames(struct symbol_file *f)
{
	GElf_Addr bias;
	Elf *elf = f->has_frames ? NULL : dwfl_module_getelf(f->module, &bias);
	GElf_Ehdr head, nameless;

	f->has_frames = true;
	if (!elf || !gelf_getehdr(elf, &head) || head.e_type == ET_REL)
		return f->frames;
	nameless = head;
	nameless.e_shstrndx = SHN_UNDEF;
	if (gelf_update_ehdr(elf, &nameless)) {
		f->frames = dwarf_getcfi_elf(elf);
		gelf_update_ehdr(elf, &head);
	}
	return f->frames;
}

bool symbol_file_address(struct symbol_file *f, uint64_t offset, uint64_t *ret)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(f->module, &bias);
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || offset < (p.p_offset & -p.p_align) ||
		    offset >= p.p_offset + p.p_filesz)
			continue;
		*ret = p.p_vaddr + (offset - p.p_offset);
		return true;
	}
	return false;
}

/* Whether a label is in the section that has the address: the one of .init names nothing of .plt. */
static bool has_section_of(struct symbol_file *f, const struct range *label, uint64_t address)
{
	GElf_Addr start, bias;
	GElf_Word section;
	GElf_Sym symbol;
	GElf_Shdr header;
	Elf *elf;

	return dwfl_module_getsym_info(f->module, (int)label->number, &symbol, &start, &section, &elf, &bias) &&
	       gelf_getshdr(elf_getscn(elf, section), &header) && address - bias - header.sh_addr < header.sh_size;
}

const char *symbol_file_name(struct symbol_file *f, uint64_t address)
{
	GElf_Sym symbol;
	GElf_Addr start;
	size_t count;
	const struct range *best = best_range(f, address, &count);

	/* A label names the code after it, up to the end of its section, unless it is inside of a function that ends
	 * before. */
	for (size_t i = best ? 0 : count; i-- > 0 && f->ranges[i].from >= f->furthest[count - 1];)
		if (!f->ranges[i].size && (!best || is_better(f, &f->ranges[i], best)) &&
		    has_section_of(f, &f->ranges[i], address))
			best = &f->ranges[i];
	return best ? dwfl_module_getsym_info(f->module, (int)best->number, &symbol, &start, NULL, NULL, NULL) : NULL;
}

/* ---- lines ---- */

/* Code behind the last function of a unit that has no lines of its own would get that function's lines. */
static bool is_outside_unit(Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Addr base, start, end;

	return dwarf_ranges(unit, 0, &base, &start, &end) > 0 && !dwarf_haspc(unit, address);
}

/* The unit that has a line for the address. clang writes no .debug_aranges, without which libdw does not find the unit
 * of an address: then every unit is searched. */
static Dwarf_Die *find_unit(struct symbol_file *f, uint64_t address, Dwarf_Addr *ret_bias, struct symbol_line *ret)
{
	Dwfl_Line *found = dwfl_module_getsrc(f->module, address);
	Dwarf_Die *unit = dwfl_module_addrdie(f->module, address, ret_bias);

	if (found && (!unit || !is_outside_unit(unit, address - *ret_bias))) {
		ret->file = dwfl_lineinfo(found, NULL, &ret->line, NULL, NULL, NULL);
		return unit;
	}
	unit = NULL;
	while ((unit = dwfl_module_nextcu(f->module, unit, ret_bias))) {
		Dwarf_Addr in_unit = address - *ret_bias;
		Dwarf_Line *line = dwarf_haspc(unit, in_unit) > 0 ? dwarf_getsrc_die(unit, in_unit) : NULL;

		if (line && !dwarf_lineno(line, &ret->line)) {
			ret->file = dwarf_linesrc(line, NULL, NULL);
			return unit;
		}
	}
	return NULL;
}

static const char *unit_compiler(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(unit, DW_AT_producer, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

size_t symbol_file_lines(struct symbol_file *f, uint64_t address, struct symbol_line ret[SYMBOL_LINES])
{
	Dwarf_Die chain[SYMBOL_LINES], *unit;
	Dwarf_Addr bias = 0;
	size_t count;

	*ret = (struct symbol_line){0};
	unit = find_unit(f, address, &bias, ret);
	ret->compiler = unit ? unit_compiler(unit) : NULL;
	count = unit ? inline_chain(&f->units, unit, address - bias, chain, SYMBOL_LINES) : 0;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Die *die = &chain[count - 1 - i];

		ret[i].name = inline_name(die);
		if (i + 1 == count)
			break;
		ret[i + 1] = (struct symbol_line){0};
		ret[i + 1].file = inline_call(unit, die, &ret[i + 1].line);
	}
	return count ? count : 1;
}
