/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of MPI for unit tests: each rank makes given calls. */
#ifndef PILLION_TEST_MPI_FIXTURE_H
#define PILLION_TEST_MPI_FIXTURE_H

#include <unistd.h>

#include "rule_fixture.h"

#define WORLD 0x44000000
#define OTHER_COMMUNICATOR 0x84000001
enum { CALLS = 12, MOST_CALLS = 200, NO_PEER = -9 };

/* A call of a rank, in us since the start; without MPI_ in front of its name it is one of the operating system, and its
 * peer that of a socket. */
struct made {
	const char *function;
	uint64_t from, to;
	int64_t peer, tag;
	uint32_t line; /* of /home/u/job.py; 0: no stack was taken */
	int64_t communicator; /* 0: MPI_COMM_WORLD */
	int64_t ranks, rank;  /* ranks 0: the communicator is not known across ranks */
	bool has_source;      /* of MPI_Sendrecv */
	int64_t source, source_tag;
	uint64_t team_wait_us; /* of all four threads of a region of OpenMP, at its end */
};

static inline void add_field(struct tf_operation *op, unsigned int field, int64_t value)
{
	op->fields[op->count] = (uint8_t)field;
	op->values[op->count++] = value;
}

static inline enum tf_group group_of(const char *function)
{
	return !strncmp(function, "MPI_", 4) ? TF_GROUP_MPI
	       : !strncmp(function, "omp_", 4) ? TF_GROUP_OPENMP
						 : TF_GROUP_OSRT;
}

static inline void write_region(const struct made *c, uint32_t function, uint32_t id)
{
	const uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, id), tf_arg(TF_ARG_TEAM, 0, 4),
				 tf_arg(TF_ARG_VALUE, 0, c->team_wait_us * US)};

	writer_construct(&host, function, BEGIN + c->to * US, (c->to - c->from) * US, args, 3);
}

/* The socket of a rank to its peer. */
static inline uint64_t write_socket(uint32_t rank, const struct made *c)
{
	uint16_t fd = (uint16_t)(3 + c->peer);
	char text[96];

	/* a NUL in the trace is read as 0xff */
	snprintf(text, sizeof(text), "tcp 127.0.0.1:%ld\xff" "tcp 127.0.0.1:%ld", 1000 + c->peer * 10 + rank,
		 1000 + rank * 10 + c->peer);
	writer_descriptor(&host, (uint32_t)(100 + c->peer), fd, BEGIN, TF_DESCRIPTOR_SOCKET, text);
	return tf_arg(TF_ARG_FD, 0, (uint64_t)fd | 8ull << 16);
}

static inline void write_call(uint32_t rank, const struct made *c, uint32_t function, uint32_t id)
{
	struct tf_operation op = {.count = 1,
				  .fields = {TF_FIELD_COMMUNICATOR},
				  .values = {c->communicator ? c->communicator : WORLD}};
	uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, id), tf_arg(TF_ARG_OPERATION, 0, id)};
	bool is_mpi = !strncmp(c->function, "MPI_", 4);

	if (c->peer != NO_PEER) {
		add_field(&op, TF_FIELD_PEER, c->peer);
		add_field(&op, TF_FIELD_TAG, c->tag);
	}
	if (c->has_source) {
		add_field(&op, TF_FIELD_PEER | TF_ROLE_B, c->source);
		add_field(&op, TF_FIELD_TAG | TF_ROLE_B, c->source_tag);
	}
	if (c->ranks) {
		add_field(&op, TF_FIELD_RANKS, c->ranks);
		add_field(&op, TF_FIELD_RANK, c->rank);
		add_field(&op, TF_FIELD_COMMUNICATOR_OF_MPI, c->communicator);
	}
	writer_blob(&host, TF_BLOB_OPERATION, id, &op,
		    sizeof(op) - (TF_OPERATION_FIELDS - op.count) * sizeof(op.values[0]));
	if (c->line) {
		writer_python_code(&host, id, c->line, "/home/u/job.py", "main");
		writer_python_stack(&host, id, &id, 1);
	}
	if (!is_mpi && c->peer != NO_PEER)
		args[1] = write_socket(rank, c);
	if (!strcmp(c->function, "omp_parallel"))
		write_region(c, function, id);
	else
		writer_call(&host, function, BEGIN + c->to * US, (c->to - c->from) * US, args + !c->line,
			    (is_mpi || c->peer != NO_PEER) + (c->line != 0));
}

static inline uint16_t function_of(const struct made *made, uint32_t place, const uint16_t *functions)
{
	for (uint32_t i = 0; i < place; i++)
		if (!strcmp(made[i].function, made[place].function))
			return functions[i];
	return writer_function(&w, group_of(made[place].function), made[place].function);
}

/* The CPU time of a rank in 20 samples, in us: it computes in line 40 of /home/u/job.py. */
static const uint64_t *sampled_us;
static uint64_t sampled_at_us = 950;

/* Writes a job whose ranks make these calls after MPI_Init, each a list of at most `calls` that ends with a call
 * without a name. */
static inline void job_of(const struct made *all, uint32_t calls, uint32_t count, bool has_init)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	for (uint32_t i = 0; i < count; i++) {
		const struct made *made = all + (size_t)i * calls;
		uint16_t functions[MOST_CALLS];
		char variables[32];

		writer_done(&w);
		writer_init(&w, i + 1, 10 + i, 1, BEGIN);
		writer_variables(&w, variables,
				 (size_t)snprintf(variables, sizeof(variables), "RANK=%u", i) + 1);
		writer_function(&w, TF_GROUP_MPI, has_init ? "MPI_Init" : "MPI_Query_thread");
		for (uint32_t k = 0; k < calls && made[k].function; k++)
			functions[k] = function_of(made, k, functions);
		writer_thread(&w, &host, 10 + i, "main", 2 * TF_PAGE);
		writer_call(&host, 0, BEGIN + 10, 5, NULL, 0);
		for (uint32_t k = 0; k < calls && made[k].function; k++)
			write_call(i, &made[k], functions[k], k + 1);
		if (sampled_us) {
			writer_python_code(&host, 99, 40, "/home/u/job.py", "relax");
			writer_python_stack(&host, 99, (const uint32_t[]){99}, 1);
			for (uint64_t k = 20; k--;)
				writer_sample(&host, BEGIN + (sampled_at_us - k) * US, sampled_us[i] / 20, 99);
		}
		writer_end(&w, TF_END_EXIT, 0, BEGIN + 1000 * US);
		writer_save(&w, directory);
	}
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

static inline void job(const struct made made[][CALLS], uint32_t count, bool has_init)
{
	job_of(made[0], CALLS, count, has_init);
}

#define COLLECTIVE(name, from, to) {name, from, to, NO_PEER, 0, 12, 0}
#define ROOTED(name, from, to, root) {name, from, to, root, 0, 12, 0}
#define MESSAGE(name, from, to, peer, tag) {name, from, to, peer, tag, 20, 0}
#define OS_CALL(name, from, to, line) {name, from, to, NO_PEER, 0, line, 0}
#define SOCKET(name, from, to, peer) {name, from, to, peer, 0, 95, 0}
#define REGION(from, to, line, wait_us)                                                                                \
	{"omp_parallel", from, to, NO_PEER, 0, line, 0, .team_wait_us = wait_us}
#define REQUESTS(name, from, to) {name, from, to, NO_PEER, 0, 30, 0}

#endif
