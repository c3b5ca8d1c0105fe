/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread of another process does at this moment, as records for the report to explain:
 * runtime/shared/format/trace_where.h. It is only read: nothing is stopped, traced or signalled, so that no system call
 * of a target ends early.
 *
 * where_process.c describes processes, where_thread.c threads, where_perf.c those that run, where_python.c the Python
 * frames, where_tasks.c where tasks of event loops wait, where_arguments.c the arguments of calls of MPI, where_locks.c
 * locks of files, where_ipc.c semaphores and messages, where_elf.c finds symbols. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/format/trace_where.h"

enum { WHERE_THREADS = 4096, WHERE_DESCRIPTORS = 4096, WHERE_TEXT_MOST = 4 << 20 };

/* OF_QUIET: what changes while nothing moves is left out. */
enum where_flag { WHERE_OF_QUIET = 1, WHERE_WITHOUT_FILES = 2, WHERE_PYTHON_ONLY = 4 };

/* The process whose threads are being described. */
struct where_process {
	uint32_t pid; /* if its main thread has ended, the number of another one, by which it can be read */
	const char *maps; /* text of /proc/PID/maps */
	uint64_t strings; /* process_strings(): what lies above it is not copied, for it may have secrets */
	struct tf_where_thread *threads;
	size_t count;
	uint64_t patience_ns; /* CLOCK_MONOTONIC: until then samples of running threads are waited for */
	unsigned flags;
};

/* ---- where_record.c ---- */

struct where_buffer {
	char *bytes;
	size_t used, room;
	bool is_cut; /* no memory */
};
extern struct where_buffer where_out; /* the records of the look in progress */
void where_add(struct where_buffer *b, const void *bytes, size_t size);
void where_add_text(struct where_buffer *b, const char *text);

/* Appends a record whose content is `head` and `bytes`. */
void where_record(enum tf_where_kind kind, const void *head, size_t head_size, const void *bytes, size_t size);

/* Copies memory of a process. Returns the number of bytes before the first that cannot be read. */
size_t where_copy(uint32_t pid, uint64_t address, void *ret, size_t size);

/* The same for exactly `size` bytes. */
static inline bool where_copy_all(uint32_t pid, uint64_t address, void *ret, size_t size)
{
	return where_copy(pid, address, ret, size) == size;
}

/* ---- where_process.c ---- */

/* The part of `size` bytes of a stack that may be copied. */
static inline size_t where_without_strings(const struct where_process *p, uint64_t address, size_t size)
{
	return p->strings > address && p->strings - address < size ? (size_t)(p->strings - address) : size;
}

/* Records one process, `start`: field 22 of /proc/PID/stat. Nothing if there is no such process. 0, or -errno: why its
 * threads could not be read. `flags`: of enum where_flag. */
int where_process_record(uint32_t pid, uint64_t start, uint64_t patience_ns, unsigned flags);

/* ---- where_thread.c ---- */

/* Reads the threads and records them with their stacks. 0, or -errno of the first that could not be read. */
int where_threads(struct where_process *p);

/* The address of the futex that the thread waits on; 0: it waits for none. */
uint64_t where_futex(const struct tf_where_thread *thread);

/* ---- where_unix.c ---- */

/* Appends a line "peer INODE INODE" for each unix socket that is wanted and connected. */
void where_unix_peers(struct where_buffer *b, bool (*is_wanted)(unsigned long inode));

/* ---- where_locks.c ---- */

/* Appends, after "held ", the line of /proc/locks of each lock of a file that the process has by a descriptor, with
 * " outside" at its end if this process has that lock, too. If a thread waits for one: "inode DESCRIPTOR INODE", and,
 * after "lock ", each line of /proc/locks. */
void where_file_locks(struct where_buffer *b, const struct where_process *p);

/* ---- where_ipc.c ---- */

/* Appends what tells whether processes outside of the job share an object for which a thread waits: "private sem ID" or
 * "private msg ID" of System V's that has no key and was made since this process began, "named INODE" of mapped memory
 * of a semaphore that has a name. */
void where_ipc(struct where_buffer *b, const struct where_process *p);

/* ---- where_perf.c ---- */

/* Takes a sample of each running thread: its registers and its stack. */
void where_sample(struct where_process *p);

/* ---- where_python.c ---- */

/* Records the Python frames of the threads. Each frame of a thread that polls is shown to `tasks` until that returns
 * true: see where_tasks(). */
void where_python(const struct where_process *p, bool (*tasks)(uint32_t tid, const char *frame));

/* ---- where_tasks.c ---- */

/* Records where asyncio's tasks wait, if the frame is one of asyncio's own functions. False: it is none. To be called
 * by where_python() only. */
bool where_tasks(uint32_t tid, const char *frame);

/* ---- where_arguments.c ---- */

/* Whether a call waits for one request of MPI, or for a list. */
enum where_requests { WHERE_NO_REQUEST, WHERE_REQUEST, WHERE_REQUESTS };
/* Records the arguments of a call of MPI or NCCL, `call`: as in struct tf_where_arguments; nothing if they are not
 * found. */
void where_arguments(uint32_t pid, uint32_t tid, uint64_t call, enum where_requests requests);

/* ---- where_elf.c ---- */

struct where_symbol {
	const char *name;
	uint64_t address; /* in the process; 0: the file does not define it */
};

/* Looks up exported symbols of a file that is mapped at `start` with its first byte. False: it cannot be read. */
bool where_symbols(const char *path, uint64_t start, struct where_symbol *symbols, size_t count);
