/* SPDX-License-Identifier: Apache-2.0 */
/* A build without elfutils: frames are module and offset, and the report states this once. */
#include "report/names/unwind.h"

#include <errno.h>

int symbol_file_open(const char *path, const struct symbol_build *build, struct symbol_file **ret)
{
	(void)path;
	(void)build;
	*ret = NULL;
	return -ENOTSUP;
}

void symbol_file_close(struct symbol_file *f)
{
	(void)f;
}

const char *symbol_file_name(struct symbol_file *f, uint64_t address)
{
	(void)f;
	(void)address;
	return NULL;
}

bool symbol_file_address(struct symbol_file *f, uint64_t offset, uint64_t *ret)
{
	(void)f;
	(void)offset;
	(void)ret;
	return false;
}

bool symbol_file_code(struct symbol_file *f, uint64_t address, uint8_t *ret, size_t size)
{
	(void)f;
	(void)address;
	(void)ret;
	(void)size;
	return false;
}

enum unwind_outcome unwind_step(struct symbol_file *f, uint64_t bias, const struct unwind_memory *memory,
				struct unwind_registers *registers, bool *is_call)
{
	(void)f;
	(void)bias;
	(void)memory;
	(void)registers;
	(void)is_call;
	return UNWIND_STOPPED;
}

bool symbol_file_is_interpreter(struct symbol_file *f)
{
	(void)f;
	return false;
}

size_t symbol_file_lines(struct symbol_file *f, uint64_t address, struct symbol_line ret[SYMBOL_LINES])
{
	(void)f;
	(void)address;
	*ret = (struct symbol_line){0};
	return 1;
}
