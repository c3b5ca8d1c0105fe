/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered output with its own conversion of digits and JSON strings, because exports write millions of numbers. */
#include "report/base/table/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#ifdef HAVE_ZLIB
#include <pthread.h>
#include <zlib.h>

#include "report/base/parallel.h"

enum { GZIP_QUEUE = 4 };

/* Buffers are compressed and written by a thread of their own, which takes them from a queue. */
struct sink_gzip {
	z_stream stream;
	unsigned char bytes[SINK_BYTES];
	pthread_t thread;
	bool has_thread; /* false: there is one CPU, or no thread could be created */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock: */
	struct {
		char *bytes; /* the bytes of a slot in the queue are the thread's, those of the others the producer's */
		size_t size;
	} slots[GZIP_QUEUE];
	size_t first, count;
	bool is_ended;
};
#endif

static void write_out(struct sink *s, const void *data, size_t size)
{
	const char *at = data;

	s->written += size;
	while (size && !s->error && s->fd != SINK_NOWHERE) {
		ssize_t done = write(s->fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			s->error = done < 0 ? errno : EIO;
			return;
		}
		at += done;
		size -= (size_t)done;
	}
}

#ifdef HAVE_ZLIB
static void gzip_add(struct sink *s, const char *data, size_t size, bool is_last)
{
	z_stream *z = &s->gzip->stream;

	z->next_in = (unsigned char *)(uintptr_t)data;
	z->avail_in = (unsigned int)size;
	do {
		z->next_out = s->gzip->bytes;
		z->avail_out = sizeof(s->gzip->bytes);
		deflate(z, is_last ? Z_FINISH : Z_NO_FLUSH);
		write_out(s, s->gzip->bytes, sizeof(s->gzip->bytes) - z->avail_out);
	} while (!z->avail_out);
}

static void *gzip_run(void *argument)
{
	struct sink *s = argument;
	struct sink_gzip *g = s->gzip;

	pthread_mutex_lock(&g->lock);
	for (;;) {
		while (!g->count && !g->is_ended)
			pthread_cond_wait(&g->changed, &g->lock);
		if (!g->count)
			break;
		pthread_mutex_unlock(&g->lock);
		gzip_add(s, g->slots[g->first].bytes, g->slots[g->first].size, false);
		pthread_mutex_lock(&g->lock);
		g->first = (g->first + 1) % GZIP_QUEUE;
		g->count--;
		pthread_cond_signal(&g->changed);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/* 15 is zlib's largest window; adding 16 requests a gzip header. Level 1: level 6 takes three times as long for 10 %
 * less. */
static int gzip_open(struct sink *s, struct err *err)
{
	struct sink_gzip *g = mem_alloc(sizeof(*g));

	if (deflateInit2(&g->stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return err_set(err, -ENOMEM, "zlib: cannot start");
	}
	s->gzip = g;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	g->has_thread = parallel_threads(2) > 1 && !pthread_create(&g->thread, NULL, gzip_run, s);
	for (size_t i = 0; i < GZIP_QUEUE && g->has_thread; i++)
		g->slots[i].bytes = mem_resize(NULL, SINK_BYTES);
	return 0;
}

/* Compresses the sink's buffer, or gives it to the thread and takes another one. */
static void gzip_flush(struct sink *s)
{
	struct sink_gzip *g = s->gzip;
	size_t at;
	char *full = s->bytes;

	if (!g->has_thread) {
		gzip_add(s, s->bytes, s->used, false);
		return;
	}
	pthread_mutex_lock(&g->lock);
	while (g->count == GZIP_QUEUE)
		pthread_cond_wait(&g->changed, &g->lock);
	at = (g->first + g->count++) % GZIP_QUEUE;
	s->bytes = g->slots[at].bytes;
	g->slots[at].bytes = full;
	g->slots[at].size = s->used;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static void gzip_close(struct sink *s)
{
	struct sink_gzip *g = s->gzip;

	pthread_mutex_lock(&g->lock);
	g->is_ended = true;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
	if (g->has_thread)
		pthread_join(g->thread, NULL);
	gzip_add(s, s->bytes, s->used, true);
	s->used = 0;
	deflateEnd(&g->stream);
	for (size_t i = 0; i < GZIP_QUEUE; i++)
		free(g->slots[i].bytes);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	free(g);
	s->gzip = NULL;
}
#else
static int gzip_open(struct sink *s, struct err *err)
{
	(void)s;
	return err_set(err, -ENOTSUP, "this build has no zlib");
}

static void gzip_flush(struct sink *s)
{
	(void)s;
}

static void gzip_close(struct sink *s)
{
	(void)s;
}
#endif

int sink_open(struct sink *s, int fd, bool is_gzip, struct err *err)
{
	int code;

	*s = (struct sink){.fd = fd};
	code = is_gzip ? gzip_open(s, err) : 0;
	if (!code)
		s->bytes = mem_resize(NULL, SINK_BYTES);
	return code;
}

/* Empties the buffer. */
static void sink_flush(struct sink *s)
{
	if (s->gzip)
		gzip_flush(s);
	else
		write_out(s, s->bytes, s->used);
	s->used = 0;
}

int sink_close(struct sink *s)
{
	if (s->gzip)
		gzip_close(s);
	else
		sink_flush(s);
	free(s->bytes);
	s->bytes = NULL;
	return -s->error;
}

void sink_add_pieces(struct sink *s, const void *data, size_t size)
{
	const char *at = data;

	while (size > SINK_BYTES - s->used) {
		size_t piece = SINK_BYTES - s->used;

		memcpy(s->bytes + s->used, at, piece);
		s->used += piece;
		at += piece;
		size -= piece;
		sink_flush(s);
	}
	memcpy(s->bytes + s->used, at, size);
	s->used += size;
}

/* Writes the digits from right to left, ending before `end`. */
static void write_digits(char *end, uint64_t number)
{
	static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
				    "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
				    "828384858687888990919293949596979899";

	while (number >= 100) {
		end -= 2;
		memcpy(end, pairs + number % 100 * 2, 2);
		number /= 100;
	}
	if (number >= 10) {
		end -= 2;
		memcpy(end, pairs + number * 2, 2);
	} else {
		*--end = (char)('0' + number);
	}
}

static unsigned int count_digits(uint64_t number)
{
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
					  10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
					  1000000000000000, 10000000000000000, 100000000000000000,
					  1000000000000000000, 10000000000000000000u};
	/* A bit has 1233 / 4096 decimal digits; the estimate may lack one. */
	unsigned int count = (unsigned int)(64 - __builtin_clzll(number | 1)) * 1233 >> 12;

	return count + (number >= powers[count] || !number);
}

/* Room for `size` bytes, at most SINK_BYTES. */
static char *take_room(struct sink *s, size_t size)
{
	char *at;

	if (size > SINK_BYTES - s->used)
		sink_flush(s);
	at = s->bytes + s->used;
	s->used += size;
	return at;
}

void sink_number(struct sink *s, uint64_t number)
{
	unsigned int count = count_digits(number);

	write_digits(take_room(s, count) + count, number);
}

void sink_us(struct sink *s, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, us = size / 1000, rest = size % 1000;
	unsigned int count = (ns < 0) + count_digits(us);
	char *at = take_room(s, count + 4), *end = at + count;

	at[0] = '-'; /* a digit replaces it if the number is not negative */
	write_digits(end, us);
	end[0] = '.';
	end[1] = (char)('0' + rest / 100);
	end[2] = (char)('0' + rest / 10 % 10);
	end[3] = (char)('0' + rest % 10);
}

void sink_json(struct sink *s, const char *text)
{
	SCOPED(buffer) b = {0};

	json_add(&b, text);
	sink_add(s, b.data, b.size);
}
