/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/symbol_kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/read/index.h"

/* ---- reading ---- */

static bool is_build(const struct symbol_build *a, const struct symbol_build *b)
{
	if (a->id_length || b->id_length)
		return a->id_length == b->id_length && !memcmp(a->id, b->id, a->id_length);
	return a->file.size == b->file.size && a->file.mtime_ns == b->file.mtime_ns &&
	       (!a->file.inode || !b->file.inode || a->file.inode == b->file.inode);
}

const struct kept_module *kept_find(const struct kept_symbols *k, const char *path, const struct symbol_build *build)
{
	return array_find(m, k->modules, k->count,
			  is_build(&m->build, build) && (build->id_length || !strcmp(m->path, path)));
}

static struct kept_module *kept_add_module(struct kept_symbols *k, const struct index_line *l)
{
	const char *hex = index_text(l, "build");
	struct kept_module m = {0};
	const struct kept_module *known;
	unsigned int byte;

	for (; m.build.id_length < sizeof(m.build.id) && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		m.build.id[m.build.id_length++] = (uint8_t)byte;
	m.build.file = (struct tf_module_file){index_number(l, "size"), index_number(l, "mtime_ns"),
					       index_number(l, "inode")};
	k->next++; /* not consecutive to those of another file */
	known = kept_find(k, index_text(l, "path"), &m.build);
	if (known)
		return &k->modules[known - k->modules];
	m.path = mem_copy_text(index_text(l, "path"), strlen(index_text(l, "path")));
	mem_append(k->modules, k->count, k->capacity, m);
	return &k->modules[k->count - 1];
}

static const char *kept_field(const struct index_line *l, const char *key)
{
	const char *text = index_text(l, key);

	return *text ? mem_copy_text(text, strlen(text)) : NULL;
}

static void kept_add_line(struct kept_symbols *k, struct kept_module *m, const struct index_line *l)
{
	uint64_t line = index_number(l, "line");

	mem_append(m->lines, m->count, m->capacity,
		   (struct kept_line){
			.address = index_number(l, "at"),
			.number = k->next++,
			.line = {kept_field(l, "name"), kept_field(l, "file"), line <= INT32_MAX ? (int)line : 0},
		   });
}

COMPARATOR(kept_by_address, struct kept_line, order_of(a->address, b->address) ?: order_of(a->number, b->number))

void kept_read(struct kept_symbols *k, const char *text)
{
	struct kept_module *m = NULL;

	while (*text) {
		size_t length = strcspn(text, "\n");
		SCOPED(index_line) line = {0};

		index_parse(text, length, &line);
		if (!strcmp(line.name, "module"))
			m = kept_add_module(k, &line);
		else if (!strcmp(line.name, "frame") && m && index_find(&line, "at"))
			kept_add_line(k, m, &line);
		text += length + (text[length] == '\n');
	}
	for (size_t i = 0; i < k->count; i++)
		sort_unless_sorted(k->modules[i].lines, k->modules[i].count, sizeof(*k->modules[i].lines),
				   kept_by_address);
}

void kept_done(struct kept_symbols *k)
{
	for (size_t i = 0; i < k->count; i++) {
		for (size_t n = 0; n < k->modules[i].count; n++) {
			free((char *)k->modules[i].lines[n].line.name);
			free((char *)k->modules[i].lines[n].line.file);
		}
		free(k->modules[i].lines);
		free(k->modules[i].path);
	}
	free(k->modules);
	*k = (struct kept_symbols){0};
}

/* ---- finding ---- */

/* The number of lines that one file has of the address, from *ret_first on. */
static size_t kept_at(const struct kept_module *m, uint64_t address, size_t *ret_first)
{
	size_t first = first_place(i, 0, m->count, m->lines[i].address < address), end = first;

	while (end < m->count && m->lines[end].address == address && end - first < SYMBOL_LINES &&
	       m->lines[end].number == m->lines[first].number + (end - first))
		end++;
	*ret_first = first;
	return end - first;
}

const char *kept_name(const struct kept_module *m, uint64_t address)
{
	size_t first, count = kept_at(m, address, &first);

	return count ? m->lines[first + count - 1].line.name : NULL;
}

size_t kept_lines(const struct kept_module *m, uint64_t address, struct symbol_line ret[SYMBOL_LINES])
{
	size_t first, count = kept_at(m, address, &first);

	*ret = (struct symbol_line){0};
	for (size_t i = 0; i < count; i++)
		ret[i] = m->lines[first + i].line;
	return count ? count : 1;
}

/* ---- writing ---- */

void kept_write_module(struct buffer *ret, const char *path, const struct symbol_build *build)
{
	buffer_text(ret, "module");
	index_write_field(ret, "path", path);
	buffer_text(ret, build->id_length ? "\tbuild=" : "");
	for (size_t i = 0; i < build->id_length; i++)
		buffer_print(ret, "%02x", build->id[i]);
	if (!build->id_length && build->file.size)
		buffer_print(ret, "\tsize=%" PRIu64 "\tmtime_ns=%" PRIu64 "\tinode=%" PRIu64, build->file.size,
			     build->file.mtime_ns, build->file.inode);
	buffer_text(ret, "\n");
}

void kept_write_line(struct buffer *ret, uint64_t address, const struct symbol_line *line)
{
	buffer_print(ret, "frame\tat=0x%" PRIx64, address);
	if (line->name)
		index_write_field(ret, "name", line->name);
	if (line->file) {
		index_write_field(ret, "file", line->file);
		buffer_print(ret, "\tline=%d", line->line);
	}
	buffer_text(ret, "\n");
}
