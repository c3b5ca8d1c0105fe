/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/sql_bounds.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/base/util.h"

/* Bytes of a text or blob; of a pattern of LIKE, whose time may grow exponentially with it; instructions of SQLite's
 * virtual machine between two looks at the clock, some us. */
enum { VALUE_MOST = 32 << 20, PATTERN_MOST = 1000, STEPS = 100 };

enum { STATUS_UNUSABLE = 2, SECONDS_MORE = 1 };

/* SQLite looks at the clock between instructions of its virtual machine, and one of these may be a function that takes
 * hours (instr() of long texts) or 16 s (printf('%.*c', 2000000000, 'x')). */
static char late[80];

static void end_late(int signal)
{
	ssize_t unused = write(STDERR_FILENO, late, strlen(late));

	(void)signal;
	(void)unused;
	_exit(STATUS_UNUSABLE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int check_time(void *context)
{
	struct sql_bounds *b = context;

	b->has_expired = now_ns() > b->end_ns;
	return b->has_expired;
}

void sql_bound(sqlite3 *db, struct sql_bounds *b, uint32_t seconds, int64_t memory)
{
	static const struct {
		int option, value;
	} settings[] = {
#ifdef SQLITE_DBCONFIG_DEFENSIVE
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
#endif
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
		{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
#endif
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	};

	/* An older library does not know all of them. */
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	if (memory) {
		sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL); /* else a sort fills the disk */
#if SQLITE_VERSION_NUMBER >= 3031000
		sqlite3_hard_heap_limit64(memory);
#endif
	}
	*b = (struct sql_bounds){.seconds = seconds};
	if (!seconds)
		return;
	sqlite3_progress_handler(db, STEPS, check_time, b);
	snprintf(late, sizeof(late), "pillion: a function of SQL takes longer than %u s (--time-limit)\n", seconds);
	signal(SIGALRM, end_late);
}

void sql_bound_restart(struct sql_bounds *b)
{
	b->end_ns = now_ns() + b->seconds * 1000000000ull;
	if (b->seconds && b->seconds < UINT32_MAX - SECONDS_MORE)
		alarm(b->seconds + SECONDS_MORE);
}

void sql_bound_end(const struct sql_bounds *b)
{
	if (b->seconds)
		alarm(0);
}

bool sql_refuses(const char *function)
{
	static const char *const refused[] = {"load_extension", "fts3_tokenizer"};

	return array_find(name, refused, sizeof(refused) / sizeof(*refused),
			  function && !sqlite3_stricmp(function, *name)) != NULL;
}
