/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/elsewhere.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/read/index.h"
#include "runtime/shared/outside/system_line.h"

enum { BOOT_DIGITS = 8 }; /* of HOST.BOOT.index */

static const char ending[] = ".index";

static void take_line(struct elsewhere *e, const struct index_line *l, const char *name, size_t host_length)
{
	uint64_t run = index_hex(l, "run");
	bool is_launch = !strcmp(l->name, "launch");

	for (size_t i = 0; i < e->count; i++)
		if (e->items[i].run == run && !is_launch && index_number(l, "launcher"))
			e->items[i].has_ended = true;
	if (!is_launch)
		return;
	list_add(e, (struct elsewhere_launcher){
		.run = run,
		.pid = (uint32_t)index_number(l, "pid"),
		.host = mem_copy_text(name, host_length),
	});
}

static void read_index(struct elsewhere *e, const char *capture, const char *name, size_t host_length)
{
	SCOPED(buffer) path = {0};
	SCOPED_MEMORY char *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;

	buffer_print(&path, "%s/%s", capture, name);
	f = fopen(path.data, "re");
	while (f && (n = getline(&line, &size, f)) > 0 && line[n - 1] == '\n') {
		SCOPED(index_line) l = {0};

		if (!text_begins_with(line, "launch\t") && !text_begins_with(line, "child\t"))
			continue;
		index_parse(line, (size_t)n - 1, &l);
		take_line(e, &l, name, host_length);
	}
	if (f)
		fclose(f);
}

void elsewhere_read(const char *capture, struct elsewhere *ret)
{
	DIR *d = opendir(capture);
	char boot[BOOT_DIGITS + 1];
	size_t kept = 0;

	*ret = (struct elsewhere){0};
	system_line(SYSTEM_BOOT, boot, sizeof(boot));
	for (struct dirent *entry; d && (entry = readdir(d));) {
		const char *name = entry->d_name;
		size_t length = strlen(name), after = BOOT_DIGITS + strlen(ending);

		if (!text_ends_with(name, ending) || length < after + 2 || name[length - after - 1] != '.' ||
		    !strncmp(name + length - after, boot, BOOT_DIGITS))
			continue;
		read_index(ret, capture, name, length - after - 1);
	}
	if (d)
		closedir(d);
	for (size_t i = 0; i < ret->count; i++) {
		if (ret->items[i].has_ended)
			free(ret->items[i].host);
		else
			ret->items[kept++] = ret->items[i];
	}
	ret->count = kept;
}

void elsewhere_done(struct elsewhere *e)
{
	array_free(item, e->items, e->count, free(item->host));
	*e = (struct elsewhere){0};
}
