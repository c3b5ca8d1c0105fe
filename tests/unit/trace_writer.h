/* SPDX-License-Identifier: Apache-2.0 */
/* Writes captures in the format of runtime/shared/format/trace_format.h, independently of the recorder, for the
 * report's tests, fuzzing seeds and benchmarks. The output is deterministic. A failed write ends the program. */
#ifndef PILLION_TRACE_WRITER_H
#define PILLION_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime/shared/format/trace_format.h"

#define WRITER_BOOT "11111111-2222-3333-4444-555555555555"

/* One trace file, built in memory. */
struct writer {
	uint8_t *data;
	size_t size, capacity;
	struct tf_header header;
	char functions[65536];
	size_t functions_size;
	uint32_t threads;
	bool has_chunks;
};

/* A thread being written. Its chunks have chunk_size bytes; a new one begins when the last is full. */
struct writer_thread {
	struct writer *writer;
	size_t page;   /* offset of its first chunk */
	size_t chunk; /* offset of the one being written, 0: none */
	size_t used;   /* slots used in it */
	uint32_t number, sequence, chunk_size, tid;
	uint64_t now;
};

/* An image that began at `start` ticks. The clock is CLOCK_MONOTONIC unless header.clock is set before the first
 * thread. */
void writer_init(struct writer *w, uint64_t nonce, uint32_t pid, uint32_t parent, uint64_t start);
void writer_done(struct writer *w);
void writer_command(struct writer *w, const char *executable, const char *arguments, size_t arguments_size);
void writer_variables(struct writer *w, const char *variables, size_t size);

/* Before the first thread. Returns the function's id. */
uint16_t writer_function(struct writer *w, enum tf_group group, const char *name);
void writer_end(struct writer *w, enum tf_end end, int status, uint64_t ticks);

void writer_thread(struct writer *w, struct writer_thread *ret, uint32_t tid, const char *name, uint32_t chunk_size);
/* Begins a thread whose first chunk contains its page, with `counters` counters, and slots. */
void writer_thread_first(struct writer *w, struct writer_thread *ret, uint32_t tid, uint32_t counters,
			 uint32_t chunk_size);
void writer_counter(struct writer_thread *t, uint16_t function, uint16_t position, struct tf_counter sum);
struct tf_thread *writer_page(struct writer_thread *t); /* valid until anything more is written */
void writer_slot(struct writer_thread *t, uint64_t slot);
void writer_event(struct writer_thread *t, enum tf_kind kind, unsigned int id, uint64_t time, uint64_t last);
/* A CPU sample of `us` with its stack. */
void writer_sample(struct writer_thread *t, uint64_t time, uint64_t us, uint32_t stack);

/* A call that ended at `end`; args are ARG slots. */
void writer_call(struct writer_thread *t, unsigned int function, uint64_t end, uint64_t duration, const uint64_t *args,
		 size_t count);
/* Likewise, a construct of OpenMP. */
void writer_construct(struct writer_thread *t, unsigned int function, uint64_t end, uint64_t duration,
		      const uint64_t *args, size_t count);
void writer_blob(struct writer_thread *t, enum tf_blob_kind kind, uint32_t id, const void *data, size_t size);
void writer_text(struct writer_thread *t, enum tf_blob_kind kind, uint32_t id, const char *text);
void writer_usage(struct writer_thread *t, const struct tf_usage *usage);
void writer_descriptor(struct writer_thread *t, uint32_t id, uint16_t fd, uint64_t from, enum tf_descriptor_kind kind,
		       const char *text);
void writer_descriptor_generation(struct writer_thread *t, uint32_t id, uint16_t fd, uint64_t from,
				  uint32_t generation, enum tf_descriptor_kind kind, const char *text);
void writer_traffic(struct writer_thread *t, unsigned function, uint16_t fd, uint16_t generation, uint64_t from,
		    struct tf_counter sum, uint64_t result_bytes);
/* a line table without a line */
void writer_python_code(struct writer_thread *t, uint32_t id, uint32_t line, const char *file, const char *name);
/* innermost first; at most 8 */
void writer_python_stack(struct writer_thread *t, uint32_t id, const uint32_t *codes, size_t count);
void writer_torn(struct writer_thread *t, size_t slots);
void writer_module(struct writer_thread *t, uint64_t start, uint64_t end, uint64_t bias, const uint8_t *build_id,
		   size_t length, const char *path);

struct writer_device_record {
	uint32_t work, correlation;
	uint64_t start, duration, bytes; /* ns; 0 bytes: unknown */
	uint64_t address;		 /* 0: unknown */
	uint16_t epoch;			 /* the first record's is the batch's */
};

/* Each writes one batch: of device records; of other records, which occupy no device. */
void writer_device(struct writer_thread *t, enum tf_device_time time, const struct writer_device_record *records,
		   size_t count);
void writer_device_more(struct writer_thread *t, enum tf_device_time time, const struct writer_device_record *records,
			size_t count);

struct writer_device_call {
	uint32_t tid, correlation;
	uint64_t start, duration; /* ns */
	bool is_driver;
};

/* Writes one batch of API records, the calls that queued the device work. */
void writer_device_calls(struct writer_thread *t, enum tf_device_time time, const struct writer_device_call *calls,
			 size_t count);
void writer_device_source(struct writer_thread *t, enum tf_device_time time, uint32_t version, const char *library);

/* Updates the header and returns the bytes, which the writer still owns. */
const uint8_t *writer_bytes(struct writer *w, size_t *ret_size);
void writer_save(struct writer *w, const char *directory);

/* ---- the capture around it ---- */

void capture_create(const char *directory);
void capture_file(const char *directory, const char *name, const void *data, size_t size);
void capture_line(const char *directory, const char *file, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void capture_remove(const char *directory);

/* ---- ready-made ones ---- */

/* The capture of the golden files: two processes and an empty one, with calls, NVTX, launches, copies, stacks and a
 * call in progress. */
void capture_example(const char *directory);

/* A training job with a data loader, with what the example lacks: device memory, a failed allocation, calls of cuBLAS,
 * cuDNN and NCCL, CPU samples, and a problem for most rules. */
void capture_job(const char *directory);

/* A process with each argument that calls, ranges and device operations may have, beyond those of the other two. */
void capture_arguments(const char *directory);

/* The processes of the job and of the arguments, for a capture that has others. */
void capture_add_job(const char *directory);
void capture_add_arguments(const char *directory);

/* Those of the example, the job and the arguments in one capture. */
void capture_together(const char *directory);

/* A process of --mode=profile, and what its run cost. */
void capture_sums(const char *directory);

/* The names of the command, a thread, a function, a kernel, a range and a domain contain markup. */
#define WRITER_HOSTILE "<img src=x onerror=alert(1)>"
void capture_hostile(const char *directory);

/* A program in Python that computes in the function at line 9 of the file, which line 1 of the file calls. */
void capture_code_line(const char *directory, const char *file, const char *function);

/* Writes `calls` OS calls, spread over `processes` processes of `threads` threads each. */
void capture_large(const char *directory, uint64_t calls, uint32_t threads, uint32_t processes);

/* An MPI job of `ranks` on `hosts`, whose clocks are up to a second off: 20 barriers, to which rank ranks / 3 comes
 * 5 ms late, and `calls` OS calls of each rank. */
void capture_ranks(const char *directory, uint32_t ranks, uint32_t hosts, uint64_t calls);

/* Writes that many events of one kind: nvtx, mpi, files, samples, or launches (each with two records of CUPTI).
 * Returns false for an unknown kind. */
bool capture_kind(const char *directory, const char *kind, uint64_t events);

/* A run of a training job: in each step every kernel is launched once, from a line of its own. Kernel i (from 1) takes
 * 100, 200, 300 or 400 us. The deviations are standard deviations of factors: one of the whole run, one of each kernel
 * in the run, one of each launch. */
enum { WRITER_KERNELS = 64 };
struct writer_steps {
	uint64_t seed;
	uint32_t steps, kernels;
	double run_deviation, row_deviation, step_deviation;
	uint32_t slower; /* the kernel that takes `factor` times as long; 0: none */
	double factor;
	uint32_t renamed; /* the kernel with another name; 0: none */
};
void capture_steps(const char *directory, const struct writer_steps *s);

#endif
