/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry point: exports a trace file in memory by one of the exporters. SQLite must be able to parse JSON
 * output. Files that a trace names are not opened. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/export/export.h"
#include "report/page/export_html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sqlite3 *checker;
static sqlite3_stmt *is_json;

static void fail(const char *name, const char *why)
{
	fprintf(stderr, "export %s: %s\n", name, why);
	abort();
}

static void start(void)
{
	if (sqlite3_open(":memory:", &checker) ||
	    sqlite3_prepare_v2(checker, "SELECT json_valid(?)", -1, &is_json, NULL))
		fail("checker", sqlite3_errmsg(checker));
	/* Low enough that even a small file exceeds it. */
	html_event_limit = 100;
}

static void check_json(const char *name, const char *text, size_t size)
{
	sqlite3_bind_text64(is_json, 1, text, size, SQLITE_STATIC, SQLITE_UTF8);
	if (sqlite3_step(is_json) != SQLITE_ROW || !sqlite3_column_int(is_json, 0))
		fail(name, "no JSON");
	sqlite3_reset(is_json);
	sqlite3_clear_bindings(is_json);
}

static void run_stream(struct export *x, const struct export_type *type)
{
	int fd = memfd_create(type->name, MFD_CLOEXEC);
	struct sink sink;
	struct err err = {""};
	off_t size;
	char *text;

	if (fd < 0 || sink_open(&sink, fd, type->flags & EXPORT_GZIP, &err))
		fail(type->name, "cannot start");
	x->out = &sink;
	if (type->run(x, &err) && !*err.text)
		fail(type->name, "no word of what failed");
	if (sink_close(&sink))
		fail(type->name, "cannot be written");
	texts_done(&x->remarks);
	size = lseek(fd, 0, SEEK_CUR);
	text = size ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (text && strstr(type->ending, "json"))
		check_json(type->name, text, (size_t)size);
	if (text)
		munmap(text, (size_t)size);
	close(fd);
}

/* SQLite must find the file sound. */
static void check_database(const char *name, const char *path)
{
	sqlite3 *db;
	sqlite3_stmt *check;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
	    sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL) || sqlite3_step(check) != SQLITE_ROW)
		fail(name, sqlite3_errmsg(db));
	if (strcmp((const char *)sqlite3_column_text(check, 0), "ok") != 0)
		fail(name, (const char *)sqlite3_column_text(check, 0));
	sqlite3_finalize(check);
	sqlite3_close(db);
}

/* The file remains for the next input, as an empty one, which the exporter expects. */
static void run_file(struct export *x, const struct export_type *type)
{
	static char path[] = "/tmp/pillion-fuzz-XXXXXX";
	static int fd = -1;
	struct err err = {""};

	if (fd < 0)
		fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, 0))
		fail(type->name, "cannot make a file");
	x->path = path;
	if (type->run(x, &err))
		fail(type->name, err.text);
	if (!strcmp(type->name, "sqlite"))
		check_database(type->name, path);
}

static void empty_directory(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *e;

	while (directory && (e = readdir(directory)))
		unlinkat(dirfd(directory), e->d_name, 0);
	if (directory)
		closedir(directory);
}

/* The directory remains for the next input. */
static void run_directory(struct export *x, const struct export_type *type)
{
	static char path[] = "/tmp/pillion-fuzz-XXXXXX";
	static bool is_made;
	struct err err = {""};

	if (!is_made && !mkdtemp(path))
		fail(type->name, "cannot make a directory");
	is_made = true;
	x->path = path;
	if (type->run(x, &err))
		fail(type->name, err.text);
	empty_directory(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_context context = {0};
	/* Selected by the size, so that each file always takes the same path. */
	const struct export_type *type = &export_list[size % EXPORT_COUNT];
	struct export x = {.context = &context, .metric = (enum metric)(size / EXPORT_COUNT % METRIC_COUNT)};
	struct model model;
	struct err err;

	if (!checker)
		start();
	if (!model_open_bytes(&model, data, size, &err)) {
		context.model = &model;
		context.symbols = symbols_new(&model, false);
		if (type->run && type->flags & EXPORT_FILE)
			run_file(&x, type);
		else if (type->run && type->flags & EXPORT_DIRECTORY)
			run_directory(&x, type);
		else if (type->run)
			run_stream(&x, type);
		symbols_free(context.symbols);
	}
	model_done(&model);
	return 0;
}
