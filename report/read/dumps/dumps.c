/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises dumps and reads them. Formats: README.md. */
#include "report/read/dumps/dumps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/dumps/dumps_store.h"

enum {
	FIRST_BYTES = 4096,
	PICKLE_MARK = 0x80, /* followed by the version of the protocol */
	PICKLE_LATEST = 5,
	TEXT_LIMIT = 1000000000, /* SQLite's default limit of a text */
	RANK_DIGITS = 9,
};

struct dumps {
	struct dumps_store *store;
	bool has[DUMP_KINDS];
};

static bool is_pickle(const char *bytes, size_t size)
{
	return size >= 2 && (unsigned char)bytes[0] == PICKLE_MARK && bytes[1] >= 2 && bytes[1] <= PICKLE_LATEST;
}

bool dump_recognise(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char bytes[FIRST_BYTES];
	struct stat st;
	ssize_t size = -1;
	size_t at = 0;

	if (file >= 0 && fstat(file, &st) == 0 && S_ISREG(st.st_mode))
		size = read(file, bytes, sizeof(bytes));
	if (file >= 0)
		close(file);
	if (size <= 0)
		return size == 0 && (text_ends_with(path, ".json") || text_ends_with(path, ".log"));
	while (at < (size_t)size && isspace((unsigned char)bytes[at]))
		at++;
	return is_pickle(bytes, (size_t)size) || at == (size_t)size || bytes[at] == '{' || bytes[at] == '[';
}

struct dumps *dumps_new(struct err *err)
{
	struct dumps_store *store = dumps_store_new(err);
	struct dumps *d;

	if (!store)
		return NULL;
	d = mem_alloc(sizeof(*d));
	d->store = store;
	return d;
}

bool dumps_have(const struct dumps *d, enum dump_kind kind)
{
	return d && d->has[kind];
}

int dumps_select(const struct dumps *d, const char *sql, struct table *table, struct err *err)
{
	return dumps_store_select(d->store, sql, table, err);
}

/* ---- flight recorder ---- */

/* The number at the end of the file's name, before .json. */
static bool rank_of(const char *path, uint64_t *ret)
{
	const char *name = path_name(path);
	const char *end = name + strlen(name) - (text_ends_with(name, ".json") ? strlen(".json") : 0);
	const char *from = end;

	while (from > name && isdigit((unsigned char)from[-1]))
		from--;
	*ret = strtoull(from, NULL, 10);
	return from < end && end - from <= RANK_DIGITS;
}

static void note_version(struct dumps *d, const char *path, const struct store_facts *facts, struct texts *problems)
{
	SCOPED(buffer) file = {0}, version = {0};

	if (dumps_store_find(d->store, NULL, &file, &version) && strcmp(facts->version, version.data) != 0)
		texts_add(problems, "%s: version %s of the format, but %s has %s: are they dumps of one run?", path,
			  facts->version, file.data, version.data);
}

static void read_flight(struct dumps *d, const char *path, const struct buffer *text, const struct store_facts *facts,
			struct texts *problems)
{
	SCOPED(buffer) file = {0}, version = {0};
	uint64_t rank, damaged = 0;
	struct err err;

	if (!text_begins_with(facts->version, "2.")) {
		texts_add(problems, "%s: version '%s' of PyTorch's flight recorder cannot be read; 2.x can", path,
			  facts->version);
	} else if (!rank_of(path, &rank)) {
		texts_add(problems,
			  "%s: the rank is not known: the name must end with it, as in nccl_trace_rank_3.json", path);
	} else if (dumps_store_find(d->store, &rank, &file, &version)) {
		texts_add(problems, "%s: not read, because %s is the dump of rank %" PRIu64, path, file.data, rank);
	} else {
		note_version(d, path, facts, problems);
		if (dumps_store_flight(d->store, text->data, text->size, path, rank, &damaged, &err))
			texts_add(problems, "%s: %s", path, err.text);
		else
			d->has[DUMP_FLIGHT] = true;
		if (damaged)
			texts_add(problems, "%s: entries that lack fields: %" PRIu64 "; the others are read", path,
				  damaged);
	}
}

/* ---- inspector ---- */

struct inspected {
	uint64_t lines, damaged, unknown, first_damaged;
	char version[32]; /* of the first line whose format is not known */
};

static void read_line(struct dumps *d, const char *text, size_t size, struct inspected *of)
{
	struct store_facts facts;
	bool is_known;

	of->lines++;
	dumps_store_look(d->store, text, size, &facts);
	is_known = text_begins_with(facts.version, "v4");
	if (facts.is_inspector && *facts.version && !is_known) {
		if (!of->unknown++)
			memcpy(of->version, facts.version, sizeof(of->version));
	} else if (facts.is_inspector && is_known && dumps_store_inspector(d->store, text, size)) {
		d->has[DUMP_INSPECTOR] = true;
	} else if (!of->damaged++) {
		of->first_damaged = of->lines;
	}
}

static bool is_blank(const char *text, size_t size)
{
	return !array_find(c, text, size, !isspace((unsigned char)*c));
}

/* `line` is the first one after `skipped` empty ones. */
static void read_inspector(struct dumps *d, const char *path, FILE *file, char **line, size_t *capacity, ssize_t size,
			   uint64_t skipped, struct texts *problems)
{
	struct inspected of = {.lines = skipped};

	for (; size > 0; size = getline(line, capacity, file))
		if (is_blank(*line, (size_t)size))
			of.lines++;
		else
			read_line(d, *line, (size_t)size, &of);
	if (of.damaged)
		texts_add(problems, "%s: damaged lines: %" PRIu64 ", the first is line %" PRIu64
			  "; the others are read", path, of.damaged, of.first_damaged);
	if (of.unknown)
		texts_add(problems, "%s: lines of format %s, which cannot be read (v4 can): %" PRIu64, path,
			  of.version, of.unknown);
}

/* ---- both ---- */

static void read_whole(struct dumps *d, const char *path, const struct buffer *text, struct texts *problems)
{
	struct store_facts facts;
	struct inspected of = {0};

	if (text->size > TEXT_LIMIT) {
		texts_add(problems, "%s: too large: 1 GB of JSON can be read", path);
		return;
	}
	dumps_store_look(d->store, text->data, text->size, &facts);
	if (!facts.is_json)
		texts_add(problems, "%s: damaged: it is not valid JSON", path);
	else if (facts.is_flight)
		read_flight(d, path, text, &facts, problems);
	else if (facts.is_inspector)
		read_line(d, text->data, text->size, &of);
	else
		texts_add(problems, "%s: neither a dump of PyTorch's flight recorder nor of NCCL's inspector", path);
	if (of.damaged || of.unknown)
		texts_add(problems, "%s: the fields of the inspector's format v4 are missing", path);
}

static void read_file(struct dumps *d, const char *path, FILE *file, struct texts *problems)
{
	char *line = NULL, piece[FIRST_BYTES];
	size_t capacity = 0, count;
	ssize_t size = getline(&line, &capacity, file);
	struct store_facts facts = {0};
	SCOPED(buffer) text = {0};
	uint64_t skipped = 0;

	for (; size > 0 && is_blank(line, (size_t)size); skipped++)
		size = getline(&line, &capacity, file);
	if (size > 0 && size <= TEXT_LIMIT)
		dumps_store_look(d->store, line, (size_t)size, &facts);
	if (size <= 0 && !ferror(file)) {
		texts_add(problems, "%s: the file is empty", path);
	} else if (size > 0 && is_pickle(line, (size_t)size)) {
		texts_add(problems,
			  "%s: a pickle is not read, because that executes what it says; if your own job wrote it, the "
			  "user's guide has a command that makes JSON of it",
			  path);
	} else if (facts.is_inspector || (size > 0 && !facts.is_json && text_begins_with(line, "{\"header\""))) {
		read_inspector(d, path, file, &line, &capacity, size, skipped, problems);
	} else if (size > 0) {
		buffer_add(&text, line, (size_t)size);
		while (text.size <= TEXT_LIMIT && (count = fread(piece, 1, sizeof(piece), file)) > 0)
			buffer_add(&text, piece, count);
		if (!ferror(file))
			read_whole(d, path, &text, problems);
	}
	if (ferror(file))
		texts_add(problems, "%s: it cannot be read to its end", path);
	free(line);
}

void dumps_read(struct dumps *d, const char *path, struct texts *problems)
{
	FILE *file = fopen(path, "re");

	if (!file) {
		texts_add(problems, "%s: %s", path, strerror(errno));
		return;
	}
	read_file(d, path, file, problems);
	fclose(file);
}
