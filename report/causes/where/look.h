/* SPDX-License-Identifier: Apache-2.0 */
/* A look: what the threads of one run did at some moment, as its launcher recorded it
 * (runtime/shared/format/trace_where.h). Every length is checked here. */
#pragma once

#include "report/read/job/model.h"

struct look_module { /* one mapping of a file */
	uint64_t start, end, offset; /* offset: in the file */
	uint64_t inode;
	unsigned device;
	bool is_executable;
	char *path;
};

struct look_memory {
	uint64_t address, size;
	const uint8_t *bytes; /* borrowed from the model */
};

struct look_code { /* as TF_BLOB_PYTHON_CODE */
	uint32_t id;
	size_t size;
	const uint8_t *bytes; /* borrowed */
};

enum look_link { LINK_OTHER, LINK_PIPE, LINK_SOCKET, LINK_EVENTFD };

struct look_descriptor {
	uint32_t number;
	bool may_read, may_write;
	char *link;
	enum look_link kind;
	unsigned long inode; /* of a pipe or a socket */
	bool is_outside; /* the launcher has it open, too */
};

struct look_thread {
	struct tf_where_thread head;
	char name[64];
	struct tf_python_frame *python; /* innermost first */
	size_t python_count;
};

struct look_task { /* of asyncio; `tid`: of the thread that runs its event loop */
	uint32_t tid;
	struct tf_python_frame *frames; /* innermost first */
	size_t count;
	char *raised; /* "ValueError: message", and the frames of its traceback; NULL: it has not ended so */
};

struct look_process {
	struct tf_where_process head;
	uint64_t run;
	uint64_t ticks, realtime_ns; /* when it was seen so last */
	/* A signal came at that time, and until then the process was where this earlier look found it. 0: unknown */
	uint64_t until_ticks;
	bool is_quiet;	  /* it was looked at because it used hardly any CPU time, not because somebody asked */
	bool is_at_signal; /* because of a signal that may end it */
	bool is_recorded; /* nobody looked: what is known is in its trace */
	char *executable;
	char *sockets; /* text, "": there are none */
	char *children; /* PIDs; NULL: not known */
	char *python_note; /* NULL: none */
	struct look_module *modules;
	struct look_memory *memories;
	struct look_code *codes;
	struct look_descriptor *descriptors;
	struct look_thread *threads;
	struct tf_where_lock *locks;
	struct tf_where_arguments *arguments; /* of calls of MPI and NCCL */
	struct look_task *tasks;
	size_t argument_count, argument_capacity, task_count, task_capacity;
	size_t module_count, memory_count, code_count, descriptor_count, thread_count, lock_count;
	size_t module_capacity, memory_capacity, code_capacity, descriptor_capacity, thread_capacity, lock_capacity;
};

struct look {
	struct tf_where_begin begin;
	bool is_complete;
	bool has_registers; /* the registers are those of this program's machine */
	struct look_process *processes;
	size_t count, capacity;
};

/* When the launcher first looked because of a signal that may end COMMAND, in ticks; 0: there was none. */
uint64_t look_first_signal(const struct where_file *file);
/* The last look that answers `request`. 0: what was seen last of each process: of the last look that was asked for, or
 * that a signal caused, and of those into quiet processes. False: there is none. The caller frees it in either case; it
 * refers to the model's bytes. */
bool look_read(const struct where_file *file, uint64_t request, struct look *ret);
void look_done(struct look *l);
void look_process_done(struct look_process *p);

/* Copies memory that was recorded. False: not all of it was. */
bool look_memory(const struct look_process *p, uint64_t address, void *ret, size_t size);

/* The mapping that has the address; NULL: none of a file. */
const struct look_module *look_module(const struct look_process *p, uint64_t address);

const struct look_thread *look_thread(const struct look_process *p, uint32_t tid);
/* Sets what the link tells. */
void look_read_link(struct look_descriptor *d);
const struct look_descriptor *look_descriptor(const struct look_process *p, uint32_t number);
/* The arguments of the call of MPI or NCCL that a thread is in; NULL: not known. */
const struct tf_where_arguments *look_arguments(const struct look_process *p, uint32_t tid);
const struct look_code *look_code(const struct look_process *p, uint32_t id);
