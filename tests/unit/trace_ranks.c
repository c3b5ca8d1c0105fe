/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the traces of an MPI job of many ranks on hosts whose clocks disagree. */
#include <string.h>

#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)
#define REALTIME 1700000000000000000ull

enum { WORLD = 0x44000000, BARRIERS = 20, PERIOD_MS = 100 };

struct rank {
	uint32_t number, host, straggler;
	uint64_t calls;
};

/* The clock of a host is up to a second off, and gains or loses up to 50 us per second. */
static uint64_t realtime_of(uint32_t host)
{
	return REALTIME + host * 37ull % 2001 * MS - 1000 * MS;
}

static uint64_t on_clock(uint32_t host, uint64_t at)
{
	int64_t ppm = (int64_t)(host * 13ull % 101) - 50;

	return BEGIN + (uint64_t)((int64_t)at + (int64_t)at / 1000000 * ppm);
}

static void calls_between(struct writer_thread *t, const struct rank *r, uint16_t write, uint64_t from)
{
	uint64_t count = r->calls / BARRIERS, step = 50 * MS / (count + 1);

	for (uint64_t i = 1; i <= count; i++)
		writer_call(t, write, on_clock(r->host, from + i * step), step / 2, NULL, 0);
}

/* The straggler enters each barrier 5 ms after the others; all leave within some microseconds. */
static void barriers(struct writer_thread *t, const struct rank *r, uint16_t barrier, uint16_t write)
{
	uint64_t arg = tf_arg(TF_ARG_OPERATION, 0, 1);

	for (uint64_t i = 1; i <= BARRIERS; i++) {
		uint64_t last = i * PERIOD_MS * MS, early = r->number == r->straggler ? 0 : 5 * MS + i * US % 97;
		uint64_t enter = on_clock(r->host, last - 50 * US - early),
			 leave = on_clock(r->host, last + r->number % 8 * US);

		calls_between(t, r, write, last - 80 * MS);
		writer_call(t, barrier, leave, leave - enter, &arg, 1);
	}
}

static void rank_write(const char *directory, const struct rank *r, uint32_t ranks)
{
	struct tf_operation op = {.count = 1, .fields = {TF_FIELD_COMMUNICATOR}, .values = {WORLD}};
	char variables[96];
	struct writer w;
	struct writer_thread t;
	uint16_t init, barrier, write;
	uint64_t end;
	int size;

	writer_init(&w, 0x10000 + r->number, 1000 + r->number, 1, BEGIN);
	snprintf(w.header.host, sizeof(w.header.host), "node%04u", r->host);
	snprintf(w.header.boot, sizeof(w.header.boot), "boot-of-node%04u", r->host);
	w.header.first = (struct tf_clock_pair){BEGIN, BEGIN, realtime_of(r->host), 100};
	end = on_clock(r->host, (BARRIERS + 1) * PERIOD_MS * MS);
	size = snprintf(variables, sizeof(variables), "OMPI_COMM_WORLD_RANK=%u%cOMPI_COMM_WORLD_SIZE=%u", r->number, 0,
			ranks);
	writer_variables(&w, variables, (size_t)size + 1);
	writer_command(&w, "/opt/simulation", "simulation", 11);
	init = writer_function(&w, TF_GROUP_MPI, "MPI_Init");
	barrier = writer_function(&w, TF_GROUP_MPI, "MPI_Barrier");
	write = writer_function(&w, TF_GROUP_OSRT, "write");
	writer_thread(&w, &t, 1000 + r->number, "main", 2 * TF_PAGE);
	writer_blob(&t, TF_BLOB_OPERATION, 1, &op, sizeof(op) - sizeof(op.values) + sizeof(op.values[0]));
	writer_call(&t, init, on_clock(r->host, 15 * MS), 10 * MS, NULL, 0);
	barriers(&t, r, barrier, write);
	writer_end(&w, TF_END_EXIT, 0, end);
	w.header.last[0] = (struct tf_clock_pair){end, end, realtime_of(r->host) + end - BEGIN, 100};
	writer_save(&w, directory);
	writer_done(&w);
}

void capture_ranks(const char *directory, uint32_t ranks, uint32_t hosts, uint64_t calls)
{
	capture_create(directory);
	for (uint32_t i = 0; i < ranks; i++) {
		struct rank r = {i, (uint32_t)((uint64_t)i * hosts / ranks), ranks / 3, calls};

		rank_write(directory, &r, ranks);
	}
}
