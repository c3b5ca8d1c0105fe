/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/python/annotate_jax_module.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/nvtx/nvtx_tool.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/shared/common/sys.h"

enum { TEXT_LIMIT = 64 << 20, PIECES = 3 };

struct module_piece {
	const char *at;
	size_t size;
};

/* The part that is being filled: whole lines. The GIL protects it. Mapped when the first module is recorded, because
 * limits of address space count it. */
static struct module_part {
	size_t size;
	uint32_t id;
	char bytes[TF_BLOB_BYTES];
} *part;

static bool part_begin(uint32_t id)
{
	if (!part)
		part = sys_mmap(NULL, sizeof(*part), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!part)
		return false;
	part->id = id;
	part->size = 0;
	return true;
}

static void part_write(void)
{
	if (part->size)
		event_blob(TF_BLOB_XLA_MODULE, part->id, part->bytes, part->size);
	part->size = 0;
}

/* False: the line is longer than a part. */
static bool part_add(const struct module_piece *pieces, size_t count)
{
	size_t size = 1;

	for (size_t i = 0; i < count; i++)
		size += pieces[i].size;
	if (size > sizeof(part->bytes))
		return false;
	if (size > sizeof(part->bytes) - part->size)
		part_write();
	for (size_t i = 0; i < count; i++) {
		memcpy(part->bytes + part->size, pieces[i].at, pieces[i].size);
		part->size += pieces[i].size;
	}
	part->bytes[part->size++] = '\n';
	return true;
}

/* ---- lines ---- */

static const char *find(const char *at, const char *end, const char *text)
{
	return memmem(at, (size_t)(end - at), text, strlen(text));
}

/* The first of the characters, or `end`. */
static const char *find_any(const char *at, const char *end, const char *characters)
{
	while (at < end && !strchr(characters, *at))
		at++;
	return at;
}

static struct module_piece piece(const char *at, const char *end)
{
	return (struct module_piece){at, (size_t)(end - at)};
}

/* Behind the brace that closes what begins at `at`; braces in quotes do not count. */
static const char *metadata_end(const char *at, const char *end)
{
	bool is_quoted = false;

	for (; at < end; at++) {
		if (*at == '\\' && is_quoted)
			at++;
		else if (*at == '"')
			is_quoted = !is_quoted;
		else if (*at == '}' && !is_quoted)
			return at + 1;
	}
	return end;
}

/* "  ROOT %name = type opcode(operands), calls=%computation, metadata={...}, ...": without type, operands and what is
 * not shown here. Returns the number of pieces; 0: the instruction is a parameter, or says nothing of its origin. */
static size_t take_instruction(const char *line, const char *end, struct module_piece *ret)
{
	const char *name_end = find(line, end, " = "), *metadata, *head_end, *calls = NULL;
	size_t count = 0;

	if (!name_end)
		return 0;
	metadata = find(name_end, end, ", metadata={");
	head_end = metadata ? metadata : end;
	if (find(name_end, head_end, " fusion("))
		calls = find(name_end, head_end, ", calls=");
	if ((!calls && !metadata) || find(name_end, head_end, " parameter("))
		return 0;
	ret[count++] = piece(line, name_end);
	if (calls)
		ret[count++] = piece(calls, find_any(calls + 2, head_end, ", "));
	if (metadata)
		ret[count++] = piece(metadata, metadata_end(metadata, end));
	return count;
}

static size_t take_line(const char *line, const char *end, struct module_piece *ret)
{
	static const char module[] = "HloModule ", entry[] = "ENTRY ";
	const char *name = line;

	if (line == end || *line == '}')
		return 0;
	if (*line == ' ')
		return take_instruction(line, end, ret);
	ret[0] = piece(line, end);
	if (!strncmp(line, module, sizeof(module) - 1)) {
		ret[0] = piece(line, find_any(line, end, ","));
	} else if (end[-1] == '{') { /* a computation: its name without its parameters */
		if (!strncmp(line, entry, sizeof(entry) - 1))
			name += sizeof(entry) - 1;
		ret[0] = piece(line, find_any(name, end, " "));
		ret[1] = (struct module_piece){" {", 2};
		return 2;
	}
	return 1; /* also those of the tables of files, locations and frames */
}

/* ---- modules ---- */

/* False: some of it is not recorded. */
static bool write_lines(const char *text, size_t size)
{
	const char *end = text + size;
	bool is_whole = size <= TEXT_LIMIT;

	if (!is_whole)
		end = text + TEXT_LIMIT;
	for (const char *line = text, *line_end; line < end; line = line_end + 1) {
		struct module_piece pieces[PIECES];
		size_t count;

		line_end = memchr(line, '\n', (size_t)(end - line));
		if (!line_end) {
			if (!is_whole)
				break; /* it is cut */
			line_end = end;
		}
		count = take_line(line, line_end, pieces);
		if (count)
			is_whole &= part_add(pieces, count);
	}
	return is_whole;
}

__attribute__((cold)) void annotate_jax_module(const struct nvtx_domain *domain, const char *text)
{
	static uint64_t noted;
	size_t size = strlen(text);
	bool is_new = false, is_whole = false;
	uint32_t id;

	if (domain->is_off || !hook_attached())
		return;
	if (!intern_add(&process.interned, intern_hash(TF_BLOB_XLA_MODULE, text, size), &id, &is_new) || !is_new)
		return;
	if (part_begin(id)) {
		is_whole = write_lines(text, size);
		part_write();
	}
	if (!is_whole)
		nvtx_note_once(&noted,
			       part ? "--jax: a module of XLA has more than 64 MiB of text, or a line of more than "
				      "64 KiB: not all of its operations have scopes"
				    : "--jax: no memory: operations of XLA have no scopes");
}
