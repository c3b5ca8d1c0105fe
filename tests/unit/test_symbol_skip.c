/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the C library, and of the interpreter, without their lines. Here this test is called as they are. */
#include <criterion/criterion.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/names/symbol.h"
#include "opened.h"

/* By it a file is an interpreter. */
int _PyEval_EvalFrameDefault(void);
int _PyEval_EvalFrameDefault(void)
{
	return 0;
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)&here + 1;
}

static void check_line(const char *name, bool has_line)
{
	char directory[] = "/tmp/pillion-skip.XXXXXX", program[PATH_MAX] = "", path[64];
	struct model model;
	struct symbols *symbols;
	struct writer w;
	struct writer_thread t;
	uint64_t bias = 0;
	const struct code_line *line;

	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	cr_assert_gt(readlink("/proc/self/exe", program, sizeof(program) - 1), 0);
	cr_assert_eq(symlink(program, path), 0);
	dl_iterate_phdr(find_bias, &bias);
	writer_init(&w, 1, 50, 1, 1000);
	writer_thread(&w, &t, 50, "main", 16 * TF_PAGE);
	writer_module(&t, bias, bias + (1 << 30), bias, NULL, 0, path);
	open_written(&model, &w);
	symbols = symbols_new(&model, true);
	symbols_skip_c_library(symbols);
	line = symbols_frame(symbols, model.images, here());
	cr_expect_str_eq(line->function, "here");
	cr_expect_eq(line->file != NULL, has_line, "%s", name);
	symbols_free(symbols);
	model_done(&model);
	writer_done(&w);
	unlink(path);
	rmdir(directory);
}

Test(symbol_skip, frames_of_the_c_library_and_the_interpreter_have_functions_only)
{
	check_line("libc.so.6", false);
	check_line("ld-linux-x86-64.so.2", false);
	check_line("libpython3.12.so.1.0", false);
	check_line("libcrypt.so.1", true);
	check_line("ld-solver", true); /* a program */
}
