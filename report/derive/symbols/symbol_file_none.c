/* SPDX-License-Identifier: Apache-2.0 */
/* A build without elfutils: frames are module and offset, and the report states this once. */
#include "report/derive/symbols/symbol_file.h"

struct symbol_file *symbol_file_open(const char *path, const uint8_t *build_id, size_t length, struct texts *problems)
{
	(void)path;
	(void)build_id;
	(void)length;
	if (!problems->count)
		texts_add(problems, "built without elfutils: functions in stacks have no names");
	return NULL;
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

const char *symbol_file_source(struct symbol_file *f, uint64_t address, int *ret_line)
{
	(void)f;
	(void)address;
	(void)ret_line;
	return NULL;
}
