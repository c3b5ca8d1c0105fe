/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks exchange files in a directory. at.RANK tells who a rank is, and has a number that grows while it lives; members
 * lists the ranks that take part, the first of which prints; m.STEP.POSITION is a message. Every rank makes the same
 * exchanges in the same order. */
#include "report/base/share.h"
#include "report/base/share_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* A rank whose number has not grown for DEAD_S has ended, or its host has. It grows every second. */
enum { ARRIVE_S = 10, DEAD_S = 60, LEAVE_S = 5, BEAT_DIGITS = 20, NFS = 0x6969 };

struct peer {
	unsigned int rank;
	char beat[BEAT_DIGITS];
	uint64_t seen_ms; /* when the number had grown; 0: it was not read yet */
};

struct share {
	char *path;
	int directory, own; /* descriptors of it and of at.RANK */
	bool is_nfs;
	unsigned int rank;
	char self[256]; /* as in at.RANK, after the number */
	struct peer *peers; /* the members */
	size_t count, position;
	uint64_t step;
	pthread_t heart;
	bool has_heart, is_stopping;
	sigset_t signals, before; /* which the heart waits for */
	struct err failure;
	bool has_failed;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- files ---- */

static void fail(struct share *r, const char *what, int code)
{
	if (r->has_failed)
		return;
	err_set(&r->failure, 0, "%s/%s: %s", r->path, what, strerror(code));
	r->has_failed = true;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno != EINTR)
			return -errno;
		data += done > 0 ? done : 0;
		size -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* The file appears when it is complete. */
static void file_write(struct share *r, const char *name, const char *data, size_t size)
{
	char unfinished[64];
	int fd, code;

	snprintf(unfinished, sizeof(unfinished), "%s.new", name);
	fd = openat(r->directory, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	code = fd < 0 ? -errno : write_all(fd, data, size);
	if (fd >= 0 && close(fd) && !code)
		code = -errno;
	if (!code && renameat(r->directory, unfinished, r->directory, name))
		code = -errno;
	if (code)
		fail(r, name, -code);
}

/* Replaces ret. False: there is no such file. */
static bool file_read(struct share *r, const char *name, struct buffer *ret)
{
	static const size_t piece = 1 << 16;
	int fd = openat(r->directory, name, O_RDONLY | O_CLOEXEC);
	char *bytes;
	ssize_t got;

	buffer_clear(ret);
	if (fd < 0) {
		if (errno != ENOENT && errno != ESTALE)
			fail(r, name, errno);
		return false;
	}
	bytes = mem_alloc(piece);
	while ((got = read(fd, bytes, piece)) > 0)
		buffer_add(ret, bytes, (size_t)got);
	if (got < 0)
		fail(r, name, errno);
	free(bytes);
	close(fd);
	return got == 0;
}

/* Removes the directory and what is in it. */
static void remove_all(const char *path, int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(directory, entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

/* ---- waiting ---- */

/* A client of NFS may remember for half a minute that a file does not exist, unless it changes the directory itself. */
static void refresh(struct share *r)
{
	char name[32];
	int fd;

	if (!r->is_nfs)
		return;
	snprintf(name, sizeof(name), "look.%u", r->rank);
	fd = openat(r->directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	unlinkat(r->directory, name, 0);
}

static void pause_ms(double ms)
{
	struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms * 1e6) % 1000000000};

	nanosleep(&t, NULL);
}

/* Longer and longer, from 0.2 to 20 ms. */
static void wait_more(struct share *r, double *ms)
{
	*ms = *ms < 0.2 ? 0.2 : *ms < 20 ? *ms * 1.5 : 20;
	pause_ms(*ms);
	if (*ms >= 20)
		refresh(r);
}

/* Sets r->failure if the member will not send anything any more. */
static void check_peer(struct share *r, struct peer *p)
{
	struct buffer text = {0}, where = {0};
	char name[32];
	bool ended;

	snprintf(name, sizeof(name), "at.%u", p->rank);
	if (!file_read(r, name, &text)) { /* it has removed everything; the first rank says why */
		if (!r->has_failed)
			err_set(&r->failure, 0, r->position ? "%.0u" : "rank %u has failed", p->rank);
		r->has_failed = true;
	} else if (text.size > BEAT_DIGITS) {
		if (!p->seen_ms || memcmp(p->beat, text.data, BEAT_DIGITS) != 0)
			p->seen_ms = now_ms();
		memcpy(p->beat, text.data, BEAT_DIGITS);
		ended = process_has_ended(r->self, text.data + BEAT_DIGITS, &where);
		if ((ended || now_ms() - p->seen_ms > DEAD_S * 1000) && !r->has_failed) {
			err_set(&r->failure, 0, "rank %u (%s) %s", p->rank, buffer_string(&where),
				ended ? "has ended before its part was read" : "does not answer any more");
			r->has_failed = true;
		}
	}
	buffer_done(&text);
	buffer_done(&where);
}

/* False: r->failure has the reason. */
static bool wait_for(struct share *r, const char *name, size_t from, struct buffer *ret)
{
	uint64_t checked = now_ms();
	double ms = 0;

	while (!r->has_failed && !file_read(r, name, ret)) {
		wait_more(r, &ms);
		if (now_ms() - checked < 1000)
			continue;
		checked = now_ms();
		if (!file_read(r, name, ret))
			check_peer(r, &r->peers[from]);
		else
			return true;
	}
	return !r->has_failed;
}

/* ---- life ---- */

/* Makes the number in at.RANK grow. Removes the files if a signal ends the process. */
static void *heart_run(void *argument)
{
	struct share *r = argument;
	unsigned long long beats = 0;
	char number[BEAT_DIGITS + 1];

	while (!__atomic_load_n(&r->is_stopping, __ATOMIC_ACQUIRE)) {
		int sig = sigtimedwait(&r->signals, NULL, &(struct timespec){.tv_sec = 1});

		if (sig > 0 && sig != SIGUSR1) {
			remove_all(r->path, r->directory);
			signal(sig, SIG_DFL);
			pthread_sigmask(SIG_UNBLOCK, &r->signals, NULL);
			kill(getpid(), sig);
			continue;
		}
		snprintf(number, sizeof(number), "%0*llu", BEAT_DIGITS, ++beats);
		/* Without it the others would give up: they say so. */
		if (pwrite(r->own, number, BEAT_DIGITS, 0) != BEAT_DIGITS)
			continue;
	}
	return NULL;
}

static void heart_begin(struct share *r)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGUSR1};
	struct sigaction action;

	sigemptyset(&r->signals);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &action) || action.sa_handler != SIG_IGN || ends[i] == SIGUSR1)
			sigaddset(&r->signals, ends[i]);
	pthread_sigmask(SIG_BLOCK, &r->signals, &r->before);
	r->has_heart = !pthread_create(&r->heart, NULL, heart_run, r);
}

static void heart_end(struct share *r)
{
	if (r->has_heart) {
		__atomic_store_n(&r->is_stopping, true, __ATOMIC_RELEASE);
		pthread_kill(r->heart, SIGUSR1);
		pthread_join(r->heart, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &r->before, NULL);
}

static void share_free(struct share *r)
{
	heart_end(r);
	if (r->own >= 0)
		close(r->own);
	if (r->directory >= 0)
		close(r->directory);
	free(r->peers);
	free(r->path);
	free(r);
}

/* ---- meeting ---- */

static void announce(struct share *r)
{
	struct buffer text = {0};
	char name[32];

	process_text(r->self, sizeof(r->self));
	buffer_print(&text, "%0*d %s", BEAT_DIGITS, 0, r->self);
	snprintf(name, sizeof(name), "at.%u", r->rank);
	file_write(r, name, text.data, text.size);
	r->own = openat(r->directory, name, O_WRONLY | O_CLOEXEC);
	if (r->own < 0)
		fail(r, name, errno);
	buffer_done(&text);
}

static int compare_ranks(const void *left, const void *right)
{
	const struct peer *a = left, *b = right;

	return order_of(a->rank, b->rank);
}

/* The ranks that have come. */
static size_t arrived(struct share *r, struct peer **ret)
{
	int fd = openat(r->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t count = 0, capacity = 0;
	struct dirent *entry;

	*ret = NULL;
	while (d && (entry = readdir(d))) {
		struct peer p = {0};
		char end;

		if (sscanf(entry->d_name, "at.%u%c", &p.rank, &end) != 1)
			continue;
		*ret = mem_grow(*ret, count, &capacity, sizeof(**ret));
		(*ret)[count++] = p;
	}
	if (d)
		closedir(d);
	if (count)
		qsort(*ret, count, sizeof(**ret), compare_ranks);
	return count;
}

/* Whoever creates the file has decided who takes part. */
static void decide(struct share *r, const struct peer *peers, size_t count)
{
	struct buffer text = {0};
	int fd = openat(r->directory, "members", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), code = 0;

	if (fd < 0) {
		if (errno != EEXIST)
			fail(r, "members", errno);
		return;
	}
	for (size_t i = 0; i < count; i++)
		buffer_print(&text, "%u\n", peers[i].rank);
	buffer_text(&text, ".\n");
	code = write_all(fd, text.data, text.size);
	if (close(fd) || code)
		fail(r, "members", code ? -code : errno);
	buffer_done(&text);
}

/* False: it is not complete yet. */
static bool members_read(struct share *r)
{
	struct buffer text = {0};
	bool is_complete = file_read(r, "members", &text) && text.size > 1 && !strcmp(text.data + text.size - 2, ".\n");
	size_t capacity = 0;
	char *at = text.data;

	r->position = SIZE_MAX;
	for (r->count = 0; is_complete && *at != '.'; r->count++) {
		struct peer p = {.rank = (unsigned int)strtoul(at, &at, 10)};

		r->peers = mem_grow(r->peers, r->count, &capacity, sizeof(*r->peers));
		r->peers[r->count] = p;
		if (p.rank == r->rank)
			r->position = r->count;
		at += strspn(at, "\n");
	}
	buffer_done(&text);
	return is_complete;
}

static unsigned int patience_s(void)
{
	const char *value = getenv("PILLION_RANKS_TIMEOUT");
	int seconds = value ? atoi(value) : 0;

	return seconds > 0 ? (unsigned int)seconds : ARRIVE_S;
}

/* The lowest rank decides when all have come, or when the time is over; another one if it has not come either. */
static void meet(struct share *r, unsigned int all)
{
	uint64_t end = now_ms() + (uint64_t)patience_s() * 1000 + (r->rank ? 2000 : 0);
	double ms = 0;

	while (!r->has_failed && !members_read(r)) {
		struct peer *peers;
		size_t count = r->rank && now_ms() < end ? 0 : arrived(r, &peers);

		if (count && (count == all || now_ms() >= end))
			decide(r, peers, count);
		else
			wait_more(r, &ms);
		if (count)
			free(peers);
	}
}

static bool enter(struct share *r, const char *place, uint64_t name)
{
	struct buffer path = {0};
	struct statfs fs;
	struct stat st;

	buffer_print(&path, "%s/.ranks.%016llx", place, (unsigned long long)name);
	r->path = path.data;
	if (mkdir(r->path, 0700) && errno != EEXIST)
		return false;
	r->directory = open(r->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->directory < 0 || fstat(r->directory, &st) || st.st_uid != geteuid())
		return false;
	r->is_nfs = !fstatfs(r->directory, &fs) && fs.f_type == NFS;
	return true;
}

static enum share_role role_of(const struct share *r, const struct rank_job *job, struct buffer *note)
{
	if (r->has_failed) {
		buffer_print(note, "%s: this process reads everything", r->failure.text);
		return r->rank ? SHARE_ABSENT : SHARE_ALONE;
	}
	if (r->position == SIZE_MAX) {
		buffer_print(note, "rank %u came too late: the others have begun without it", r->rank);
		return SHARE_ABSENT;
	}
	if (!r->position && r->count < job->count)
		buffer_print(note, "%zu of %u ranks came within %u s%s", r->count, job->count, patience_s(),
			     r->count > 1 ? " and divide the work" : ": this process reads everything");
	return r->count > 1 ? SHARE_PART : SHARE_ALONE;
}

enum share_role share_join(const struct rank_job *job, const char *place, const char *command, struct share **ret,
			   struct buffer *ret_note)
{
	struct share *r = mem_alloc(sizeof(*r));
	uint64_t name = hash_bytes(job->key, strlen(job->key)) * 31 + hash_bytes(command, strlen(command));
	enum share_role role;

	*ret = NULL;
	r->rank = job->rank;
	r->own = r->directory = -1;
	pthread_sigmask(SIG_BLOCK, NULL, &r->before);
	if (!enter(r, place, name)) { /* the others cannot write there either */
		role = job->rank ? SHARE_ABSENT : SHARE_ALONE;
		if (!job->rank)
			buffer_print(ret_note, "%s: %s: this process reads everything", r->path, strerror(errno));
		share_free(r);
		return role;
	}
	announce(r);
	heart_begin(r);
	meet(r, job->count);
	role = role_of(r, job, ret_note);
	if (role == SHARE_PART) {
		*ret = r;
		return role;
	}
	if (role == SHARE_ALONE)
		remove_all(r->path, r->directory);
	share_free(r);
	return role;
}

/* ---- exchanges ---- */

size_t share_count(const struct share *r)
{
	return r ? r->count : 1;
}

size_t share_self(const struct share *r)
{
	return r ? r->position : 0;
}

const char *share_failure(const struct share *r)
{
	return r && r->has_failed ? r->failure.text : NULL;
}

void share_abandon(struct share *r)
{
	if (!r || r->has_failed)
		return;
	r->failure.text[0] = '\0';
	r->has_failed = true;
}

static const char *message_name(char *ret, size_t size, uint64_t step, size_t from)
{
	snprintf(ret, size, "m.%llu.%zu", (unsigned long long)step, from);
	return ret;
}

void share_gather(struct share *r, const struct buffer *mine,
		  void (*take)(void *context, size_t from, struct buffer *theirs), void *context)
{
	struct buffer theirs = {0};
	char name[64];

	if (!r || r->has_failed)
		return;
	r->step++;
	if (r->position) {
		file_write(r, message_name(name, sizeof(name), r->step, r->position), buffer_string(mine), mine->size);
		return;
	}
	for (size_t i = 1; i < r->count; i++) {
		if (!wait_for(r, message_name(name, sizeof(name), r->step, i), i, &theirs))
			break;
		unlinkat(r->directory, name, 0);
		take(context, i, &theirs);
	}
	/* All have read what was broadcast before. */
	unlinkat(r->directory, message_name(name, sizeof(name), r->step - 1, 0), 0);
	buffer_done(&theirs);
}

void share_broadcast(struct share *r, struct buffer *b)
{
	char name[64];

	if (!r || r->has_failed)
		return;
	r->step++;
	message_name(name, sizeof(name), r->step, 0);
	if (r->position)
		wait_for(r, name, 0, b);
	else
		file_write(r, name, buffer_string(b), b->size);
}

static void take_nothing(void *context, size_t from, struct buffer *theirs)
{
	(void)context;
	(void)from;
	(void)theirs;
}

/* The name of the directory becomes free for the next command of the same ranks before the others leave. */
static void dissolve(struct share *r)
{
	uint64_t end = now_ms() + LEAVE_S * 1000;
	struct buffer none = {0}, path = {0};
	size_t left = r->count;
	double ms = 0;

	buffer_print(&path, "%s.%d", r->path, (int)getpid());
	if (!rename(r->path, path.data)) {
		free(r->path);
		r->path = path.data;
	} else {
		buffer_done(&path);
	}
	share_broadcast(r, &none);
	while (left > 1 && now_ms() < end) {
		struct peer *peers;

		wait_more(r, &ms);
		left = arrived(r, &peers);
		free(peers);
	}
	remove_all(r->path, r->directory);
}

void share_leave(struct share *r)
{
	struct buffer none = {0};
	char name[32];

	if (!r)
		return;
	share_gather(r, &none, take_nothing, NULL);
	if (!r->has_failed && !r->position) {
		dissolve(r);
	} else if (!r->has_failed) {
		share_broadcast(r, &none);
		snprintf(name, sizeof(name), "at.%u", r->rank);
		unlinkat(r->directory, name, 0);
	}
	if (r->has_failed)
		remove_all(r->path, r->directory);
	buffer_done(&none);
	share_free(r);
}
