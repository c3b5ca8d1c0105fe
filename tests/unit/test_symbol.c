/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/names/python.h"
#include "report/names/symbol.h"
#include "report/names/symbol_file.h"
#include "opened.h"

static struct writer w;
static struct writer_thread t;
static struct model model;
static struct symbols *symbols;

static void setup(void)
{
	writer_init(&w, 1, 50, 1, 1000);
	writer_thread(&w, &t, 50, "main", 16 * TF_PAGE);
}

static void teardown(void)
{
	symbols_free(symbols);
	model_done(&model);
	writer_done(&w);
}

TestSuite(symbol, .init = setup, .fini = teardown);

static void open_model(bool opens_files)
{
	open_written(&model, &w);
	symbols = symbols_new(&model, opens_files);
}

/* The address range of this test program, all of which belongs to its module. */
struct self {
	uint64_t bias, start, end;
};

static int find_self(struct dl_phdr_info *info, size_t size, void *context)
{
	struct self *self = context;

	(void)size;
	*self = (struct self){.bias = info->dlpi_addr, .start = UINT64_MAX};
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = at + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		self->start = at < self->start ? at : self->start;
		self->end = end > self->end ? end : self->end;
	}
	return 1;
}

static uint64_t add_self(const uint8_t *build_id, size_t length)
{
	char path[4096] = "";
	struct self self;

	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	dl_iterate_phdr(find_self, &self);
	writer_module(&t, self.start, self.end, self.bias, build_id, length, path);
	return self.bias;
}

static const char *frame(uint64_t address)
{
	return line_text(symbols_frame(symbols, model.images, address));
}

__attribute__((noinline)) uint64_t a_function_to_find(void);
__attribute__((noinline)) uint64_t a_function_to_find(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

Test(symbol, names_function_file_and_line_of_a_call)
{
	char line[32];
	uint64_t address;

	snprintf(line, sizeof(line), "test_symbol.c:%d)", __LINE__ + 1);
	address = a_function_to_find();
	add_self(NULL, 0);
	open_model(true);
	cr_assert_not_null(strstr(frame(address), line), "%s: no %s", frame(address), line);
	cr_assert_not_null(strstr(frame((uint64_t)(uintptr_t)&a_function_to_find + 1), "a_function_to_find ("), "%s",
			   frame((uint64_t)(uintptr_t)&a_function_to_find + 1));
}

static inline __attribute__((always_inline)) uint64_t inlined_deeper(void)
{
	volatile uint64_t address = a_function_to_find();

	return address; /* no tail call */
}

static inline __attribute__((always_inline)) uint64_t inlined_once(void)
{
	return inlined_deeper();
}

static const struct inlining {
	const char *function;
	int line;
} inlinings[] = {{"inlined_deeper", __LINE__ - 13}, {"inlined_once", __LINE__ - 6}, {"inlines_both", __LINE__ + 5}};

static __attribute__((noinline)) uint64_t inlines_both(void)
{
	/* one line for the call */
	return inlined_once();
}

Test(symbol, inlined_functions_are_frames)
{
	const uint64_t stack[] = {inlines_both(), 0x400020};
	struct symbol_frame frames[8], f;
	char wanted[64];

	add_self(NULL, 0);
	writer_module(&t, 0x400000, 0x500000, 0x400000, NULL, 0, "app");
	writer_blob(&t, TF_BLOB_STACK, 7, stack, sizeof(stack));
	open_model(true);
	cr_assert_eq(symbols_native(symbols, model.images, 7, frames, 8), 2);
	f = frames[0];
	for (size_t i = 0; i < 3; i++) {
		uint32_t line;

		cr_assert(!i || symbols_inlined_in(symbols, &f));
		cr_assert_not_null(symbols_source(symbols, &f, &line));
		cr_assert_eq(line, (uint32_t)inlinings[i].line, "%s: line %u", inlinings[i].function, line);
	}
	cr_assert(!symbols_inlined_in(symbols, &f));
	cr_assert_eq(symbols_cost(symbols).names, 0);
	cr_assert_eq(symbols_frames(symbols, model.images, 7, frames, 8), 4);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_str_eq(frames[i].line->function, inlinings[i].function);
		snprintf(wanted, sizeof(wanted), "test_symbol.c:%d", inlinings[i].line);
		cr_assert(code_line_is_at(frames[i].line->file, frames[i].line->line, wanted), "%s:%u",
			  frames[i].line->file, frames[i].line->line);
		cr_assert_eq(frames[i].exact, frames[i].line);
		cr_assert_eq(frames[i].address, stack[0]);
	}
	cr_assert_str_eq(frames[3].exact->function, "app+0x20");
	cr_assert_str_eq(frames[3].line->function, "[app]", "all of its addresses are one line");
	cr_assert_eq(symbols_frames(symbols, model.images, 7, frames, 2), 2);
}

/* A function that contains another one, a function with two names, and a label after them. Never called. */
__asm__(".pushsection .text.named, \"ax\", @progbits\n"
	".type named_outer, @function\n.globl named_outer\nnamed_outer: .byte 0\n.byte 0\n"
	".type named_inner, @function\nnamed_inner: .byte 0\n.byte 0\n.size named_inner, . - named_inner\n"
	".byte 0\n.byte 0\n.size named_outer, . - named_outer\n"
	".type named_weakly, @function\n.weak named_weakly\nnamed_weakly:\n"
	".type named_twice, @function\n.globl named_twice\nnamed_twice: .byte 0\n.byte 0\n"
	".size named_twice, . - named_twice\n.size named_weakly, . - named_weakly\n"
	".type named_label, @function\nnamed_label: .byte 0\n.byte 0\n.popsection\n");
extern const char named_outer[], named_twice[];

Test(symbol, a_name_is_that_of_the_nearest_function_which_holds_the_address)
{
	static const struct {
		const char *from;
		unsigned offset;
		const char *name;
	} wanted[] = {
		{named_outer, 1, "named_outer"}, {named_outer, 3, "named_outer"}, {named_outer, 5, "named_outer"},
		{named_twice, 0, "named_twice"}, {named_twice, 1, "named_twice"}, {named_twice, 2, "named_label"},
		{named_twice, 3, "named_label"},
	};

	add_self(NULL, 0);
	open_model(true);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const char *name = frame((uint64_t)wanted[i].from + wanted[i].offset + 1);

		cr_assert_eq(strncmp(name, wanted[i].name, strlen(wanted[i].name)), 0,
			     "%u behind a function: %s instead of %s", wanted[i].offset, name, wanted[i].name);
	}
}

Test(symbol, does_not_believe_a_module_that_has_changed)
{
	static const uint8_t other[20] = {1, 2, 3};
	uint64_t bias = add_self(other, sizeof(other)), address = (uint64_t)(uintptr_t)&a_function_to_find + 1;
	char offset[32];

	open_model(true);
	snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)(address - bias));
	cr_assert_not_null(strstr(frame(address), offset), "%s", frame(address));
	cr_assert_eq(symbols_problems(symbols)->count, 1);
	cr_assert_not_null(strstr(symbols_problems(symbols)->items[0], "changed since"));
}

Test(symbol, does_not_believe_a_file_without_a_build_id_where_one_was_recorded)
{
	static const uint8_t id[20] = {1, 2, 3};
	struct texts changed = {0}, missing = {0};
	char path[] = "/tmp/pillion-symbol-XXXXXX";
	int fd = mkstemp(path);
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
	} file = {{.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		   .e_type = ET_DYN,
		   .e_machine = EM_X86_64,
		   .e_version = EV_CURRENT,
		   .e_phoff = sizeof(file.head),
		   .e_ehsize = sizeof(file.head),
		   .e_phentsize = sizeof(file.segment),
		   .e_phnum = 1},
		  {.p_type = PT_LOAD, .p_filesz = sizeof(file), .p_memsz = sizeof(file), .p_align = 4096}};

	cr_assert_eq(write(fd, &file, sizeof(file)), sizeof(file));
	close(fd);
	writer_module(&t, 0x400000, 0x500000, 0x400000, id, sizeof(id), path);
	writer_module(&t, 0x600000, 0x700000, 0x600000, id, sizeof(id), "/nonexistent/libgone.so");
	writer_module(&t, 0x800000, 0x900000, 0x800000, id, sizeof(id), "linux-vdso.so.1");
	open_model(true);
	symbols_unusable(symbols, &changed, &missing);
	unlink(path);
	cr_assert_eq(changed.count, 1);
	cr_assert_eq(strncmp(changed.items[0], path, strlen(path)), 0, "%s", changed.items[0]);
	cr_assert_eq(missing.count, 1);
	cr_assert_eq(strncmp(missing.items[0], "/nonexistent/libgone.so ", 24), 0, "%s", missing.items[0]);
	texts_done(&changed);
	texts_done(&missing);
}

/* Two libraries that were loaded as ./libx.so from two directories. */
Test(symbol, distinguishes_files_of_the_same_relative_path)
{
	static const uint8_t a[20] = {0xaa, 0xbb, 0xcc, 0xdd, 0xee}, b[20] = {1};
	static const uint64_t stack[] = {0x400020, 0x600020, 0x800020, 0xa00020};
	struct symbol_frame frames[4];

	writer_module(&t, 0x400000, 0x500000, 0x400000, a, sizeof(a), "./libx.so");
	writer_module(&t, 0x600000, 0x700000, 0x600000, b, sizeof(b), "./libx.so");
	writer_module(&t, 0x800000, 0x900000, 0x800000, NULL, 0, "./libx.so");
	writer_module(&t, 0xa00000, 0xb00000, 0xa00000, NULL, 0, "./libx.so");
	writer_blob(&t, TF_BLOB_STACK, 7, stack, sizeof(stack));
	open_model(true);
	cr_assert_eq(symbols_frames(symbols, model.images, 7, frames, 4), 4);
	cr_assert_str_eq(frames[0].module, "./libx.so@aabbccdd");
	cr_assert_str_eq(frames[0].exact->function, "libx.so@aabbccdd+0x20");
	cr_assert_str_eq(frames[1].module, "./libx.so@01000000");
	cr_assert_str_eq(frames[2].module, "./libx.so");
	cr_assert_neq(frames[2].place, frames[3].place);
}

Test(symbol, falls_back_to_module_and_offset)
{
	writer_module(&t, 0x400000, 0x500000, 0x400000, NULL, 0, "/nonexistent/lib/libfoo.so");
	open_model(true);
	cr_assert_str_eq(frame(0x401234), "libfoo.so+0x1234");
	cr_assert_str_eq(frame(0x700000), "0x700000");
	cr_assert_eq(symbols_problems(symbols)->count, 1);
}

Test(symbol, opens_nothing_when_told_so)
{
	add_self(NULL, 0);
	open_model(false);
	cr_assert_not_null(strstr(frame((uint64_t)(uintptr_t)&a_function_to_find + 1), "+0x"));
}

Test(symbol, takes_the_module_that_was_mapped_last)
{
	writer_module(&t, 0x400000, 0x500000, 0x400000, NULL, 0, "old.so");
	writer_module(&t, 0x400000, 0x480000, 0x400000, NULL, 0, "new.so");
	open_model(true);
	cr_assert_str_eq(frame(0x401234), "new.so+0x1234");
	cr_assert_str_eq(frame(0x490000), "old.so+0x90000");
}

/* This program as a module without a build id, of a file that was so when it was recorded. */
static void add_self_as(const struct tf_module_file *file)
{
	struct {
		struct tf_module module;
		char rest[PATH_MAX + 1 + sizeof(*file)];
	} blob = {0};
	ssize_t length = readlink("/proc/self/exe", blob.rest, PATH_MAX);
	struct self self;

	cr_assert(length > 0);
	dl_iterate_phdr(find_self, &self);
	blob.module.start = self.start;
	blob.module.end = self.end;
	blob.module.bias = self.bias;
	memcpy(blob.rest + length + 1, file, sizeof(*file));
	writer_blob(&t, TF_BLOB_MODULE, 1, &blob, sizeof(blob.module) + (size_t)length + 1 + sizeof(*file));
}

static struct tf_module_file self_file(void)
{
	struct stat st;

	cr_assert(!stat("/proc/self/exe", &st));
	return (struct tf_module_file){(uint64_t)st.st_size,
				       (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
				       st.st_ino};
}

Test(symbol, names_the_file_that_was_mapped_and_no_other_at_its_path)
{
	static const struct {
		int64_t size, mtime_ns;
		uint64_t is_gone;
		bool has_name;
	} cases[] = {{0, 0, 0, true}, {1, 0, 0, false}, {0, 1, 0, false}, {0, 0, TF_MODULE_GONE, false}};
	struct texts changed = {0}, missing = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tf_module_file file = self_file();

		file.size = cases[i].is_gone ? cases[i].is_gone : file.size + (uint64_t)cases[i].size;
		file.mtime_ns += (uint64_t)cases[i].mtime_ns;
		if (i) {
			teardown();
			setup();
		}
		add_self_as(&file);
		open_model(true);
		cr_expect_eq(strstr(frame((uint64_t)(uintptr_t)&a_function_to_find + 1), "a_function_to_find") != NULL,
			     cases[i].has_name, "%zu", i);
		symbols_unusable(symbols, &changed, &missing);
		cr_expect_eq(changed.count, !cases[i].has_name);
		texts_done(&changed);
		texts_done(&missing);
		changed = missing = (struct texts){0};
	}
}

static void add_module_after(unsigned unloads, const char *path)
{
	struct {
		struct tf_module module;
		char path[16];
	} blob = {{.start = 0x400000, .end = 0x500000, .bias = 0x400000, .unloads = (uint16_t)unloads}, ""};

	memcpy(blob.path, path, strlen(path));
	writer_blob(&t, TF_BLOB_MODULE, 100 + unloads, &blob, sizeof(blob.module) + strlen(path));
}

Test(symbol, takes_the_module_that_lay_there_when_the_stack_was_taken)
{
	static const char *const wanted[] = {"first.so+0x20", "second.so+0x20", "second.so+0x20", "fourth.so+0x20"};
	struct buffer text = {0};

	add_module_after(3, "fourth.so"); /* of another thread's chunk */
	add_module_after(0, "first.so");
	add_module_after(1, "second.so");
	for (uint64_t i = 0; i < 4; i++)
		writer_blob(&t, TF_BLOB_STACK, (uint32_t)(7 + i),
			    (uint64_t[]){i ? TF_STACK_UNLOADS | i : 0x400020, 0x400020}, i ? 16 : 8);
	open_model(true);
	for (uint32_t i = 0; i < 4; i++) {
		buffer_clear(&text);
		symbols_stack(symbols, model.images, 7 + i, &text);
		cr_assert_str_eq(text.data, wanted[i], "%s", text.data);
	}
	buffer_done(&text);
}

Test(symbol, leaves_the_recorders_own_frames_out)
{
	static const uint64_t stack[] = {0x600010, 0x400020, 0x600030};
	struct buffer text = {0};

	writer_module(&t, 0x400000, 0x500000, 0x400000, NULL, 0, "app");
	writer_module(&t, 0x600000, 0x700000, 0x600000, NULL, 0, "lib/libpillion.so");
	writer_blob(&t, TF_BLOB_STACK, 7, stack, sizeof(stack));
	open_model(true);
	symbols_stack(symbols, model.images, 7, &text);
	cr_assert_str_eq(text.data, "app+0x20");
	buffer_clear(&text);
	symbols_stack(symbols, model.images, 8, &text);
	cr_assert_str_eq(text.data, "(stack lost)");
	buffer_done(&text);
}

/* ---- Python frames in place of the native frames of the interpreter's loop ---- */

__attribute__((noinline)) uint64_t _PyEval_EvalFrameDefault(void);
__attribute__((noinline)) uint64_t _PyEval_EvalFrameDefault(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

enum { LOOP, OTHER }; /* native frames: the interpreter's loop, anything else */

static void add_stack(const unsigned *frames, size_t count, const struct tf_python_frame *python, size_t python_bytes)
{
	uint64_t addresses[8];

	writer_module(&t, 0x1000, 0x2000, 0x1000, NULL, 0, "c.so");
	for (size_t i = 0; i < count; i++)
		addresses[i] = frames[i] == LOOP ? (uint64_t)(uintptr_t)&_PyEval_EvalFrameDefault + 1 : 0x1001 + i;
	writer_blob(&t, TF_BLOB_STACK, 9, addresses, count * sizeof(*addresses));
	writer_blob(&t, TF_BLOB_PYTHON_STACK, 9, python, python_bytes);
}

/* Writes codes 1, 2... for functions a, b..., all at line 10. */
static void add_codes(uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++) {
		struct {
			struct tf_python_code head;
			char text[5];
		} code = {{.first_line = 10, .version = 0x30c, .file_bytes = 4, .name_bytes = 1},
			  {'f', '.', 'p', 'y', (char)('a' + i - 1)}};

		writer_blob(&t, TF_BLOB_PYTHON_CODE, i, &code, sizeof(code.head) + sizeof(code.text));
	}
}

static void assert_stack(const char *wanted)
{
	struct buffer text = {0};

	open_model(true);
	symbols_stack(symbols, model.images, 9, &text);
	cr_assert_str_eq(text.data, wanted);
	buffer_done(&text);
}

#define ENTRY TF_PYTHON_ENTRY
#define LEFT_OVER "(Python frames whose position is unknown)"

Test(symbol, puts_python_frames_in_the_place_of_the_loop_that_ran_them)
{
	static const unsigned native[] = {OTHER, LOOP, OTHER, LOOP};
	static const struct tf_python_frame python[] = {{1, 0}, {2, ENTRY}, {3, ENTRY}};

	add_self(NULL, 0);
	add_codes(3);
	add_stack(native, 4, python, sizeof(python));
	assert_stack("c.so+0x1 <- a (f.py:10) <- b (f.py:10) <- c.so+0x3 <- c (f.py:10)");
}

static bool is_f(const char *file)
{
	return !strcmp(file, "f.py");
}

static bool is_g(const char *file)
{
	return !strcmp(file, "g.py");
}

Test(symbol, knows_the_files_of_python_code)
{
	add_self(NULL, 0);
	add_codes(2);
	open_model(true);
	cr_assert(python_has_code(model.images->trace, is_f) && python_has_code(model.images->trace, python_any_file));
	cr_assert_not(python_has_code(model.images->trace, is_g) || python_has_code(NULL, python_any_file));
}

Test(symbol, an_invocation_that_has_just_begun_has_no_python_frame)
{
	static const unsigned native[] = {LOOP, OTHER, LOOP};
	static const struct tf_python_frame python[] = {{1, ENTRY}};
	struct symbol_frame frames[4];

	add_self(NULL, 0);
	add_codes(1);
	add_stack(native, 3, python, sizeof(python));
	assert_stack("c.so+0x2 <- a (f.py:10)");
	cr_assert_eq(symbols_frames(symbols, model.images, 9, frames, 4), 3);
	cr_assert(frames[0].is_interpreter && frames[2].is_python);
}

Test(symbol, marks_python_frames_that_find_no_place)
{
	static const unsigned native[] = {OTHER, LOOP};
	static const struct tf_python_frame python[] = {{1, ENTRY}, {2, ENTRY}, {0, ENTRY}, {3, 0}};

	add_self(NULL, 0);
	add_codes(3);
	add_stack(native, 2, python, sizeof(python));
	assert_stack("c.so+0x1 <- a (f.py:10) <- " LEFT_OVER " <- b (f.py:10) <- c (f.py:10)");
}

Test(symbol, a_python_side_that_was_cut_is_met_from_the_innermost_frame_on)
{
	static const unsigned native[] = {LOOP, OTHER, LOOP, LOOP};
	static const struct tf_python_frame python[] = {{1, ENTRY}, {0, 0}};

	add_self(NULL, 0);
	add_codes(1);
	add_stack(native, 4, python, sizeof(python));
	assert_stack("a (f.py:10) <- c.so+0x2");
}

Test(symbol, damaged_python_frames_name_nothing)
{
	static const unsigned native[] = {LOOP, OTHER};
	static const struct tf_python_frame python[] = {{77, 0}, {2, ENTRY}, {1, ENTRY}};
	struct {
		struct tf_python_code head;
		char text[3];
	} code = {{.first_line = UINT32_MAX, .version = 0x30c, .file_bytes = UINT16_MAX, .name_bytes = UINT16_MAX},
		  "abc"};

	add_self(NULL, 0);
	writer_blob(&t, TF_BLOB_PYTHON_CODE, 1, &code, sizeof(code));
	writer_blob(&t, TF_BLOB_PYTHON_CODE, 2, &code, 3);
	add_stack(native, 2, python, sizeof(python) - 3);
	assert_stack("Python code that could not be read <- Python code that could not be read <- c.so+0x2");
}

Test(symbol, a_stack_is_not_cut_whose_python_frames_are_known_up_to_the_outermost_one)
{
	static const uint64_t native[] = {TF_STACK_UNLOADS | TF_STACK_CUT, 0x1001};
	static const uint64_t whole[] = {TF_STACK_UNLOADS, 0x1001};
	static const struct tf_python_frame known[] = {{1, 0}, {2, ENTRY}}, begun[] = {{1, ENTRY}, {0, ENTRY}},
					    cut[] = {{1, ENTRY}, {0, 0}};
	static const bool wanted[] = {true, false, false, true, false};

	for (uint32_t i = 0; i < 5; i++)
		writer_blob(&t, TF_BLOB_STACK, i + 1, i < 4 ? native : whole, sizeof(native));
	writer_blob(&t, TF_BLOB_PYTHON_STACK, 2, known, sizeof(known));
	writer_blob(&t, TF_BLOB_PYTHON_STACK, 3, begun, sizeof(begun));
	writer_blob(&t, TF_BLOB_PYTHON_STACK, 4, cut, sizeof(cut));
	open_model(true);
	for (uint32_t i = 0; i < 5; i++) {
		const struct trace *trace = model.images->trace;
		const struct blob *stack = trace_definition(trace, TF_BLOB_STACK, i + 1);

		cr_expect_eq(trace_stack_is_cut(trace, stack), wanted[i], "%u", i);
	}
}

/* ---- names that the capture has kept ---- */

static const char names_kept[] = "module\tpath=/nonexistent/libgone.so\tbuild=0102\n"
				 "frame\tat=0x1f\tname=_Z5innerv\tfile=/src/a\\x09b.c\tline=3\n"
				 "frame\tat=0x1f\tname=outer\tfile=/src/a.c\tline=7\n"
				 "frame\tat=0x2f\tname=next\n";

Test(symbol, uses_names_that_the_capture_has_kept)
{
	static const uint8_t id[] = {1, 2};
	static const uint64_t stack[] = {0x400020, 0x400030, 0x400040};
	struct buffer text = {0}, again = {0};

	writer_module(&t, 0x400000, 0x500000, 0x400000, id, sizeof(id), "/nonexistent/libgone.so");
	writer_blob(&t, TF_BLOB_STACK, 7, stack, sizeof(stack));
	open_written(&model, &w);
	texts_add(&model.symbols, "%s", names_kept);
	texts_add(&model.symbols, "%s", names_kept);
	symbols = symbols_new(&model, true);
	symbols_keep(symbols, &again);
	symbols_stack(symbols, model.images, 7, &text);
	cr_assert_str_eq(text.data, "inner() (/src/a\\x09b.c:3) <- outer (/src/a.c:7) <- next <- libgone.so+0x40", "%s",
			 text.data);
	cr_assert_eq(symbols_problems(symbols)->count, 0);
	cr_assert_str_eq(again.data, names_kept);
	buffer_done(&text);
	buffer_done(&again);
}

Test(symbol, kept_names_of_another_build_are_not_used)
{
	static const uint8_t id[] = {1, 3};

	writer_module(&t, 0x400000, 0x500000, 0x400000, id, sizeof(id), "/nonexistent/libgone.so");
	open_written(&model, &w);
	texts_add(&model.symbols, "%s", names_kept);
	symbols = symbols_new(&model, true);
	cr_assert_str_eq(frame(0x400030), "libgone.so+0x30");
}

Test(symbol, an_interpreter_is_known_by_its_symbols)
{
	const char *files[] = {"/proc/self/exe", "/bin/sh"};
	struct symbol_file *f;

	for (size_t i = 0; i < 2; i++) {
		int code = symbol_file_open(files[i], NULL, &f);

		if (code == -ENOTSUP)
			cr_skip_test("no elfutils");
		cr_assert_eq(code, 0);
		cr_assert_eq(symbol_file_is_interpreter(f), i == 0, "%s", files[i]);
		symbol_file_close(f);
	}
}
