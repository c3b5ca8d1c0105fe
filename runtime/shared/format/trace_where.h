/* SPDX-License-Identifier: Apache-2.0 */
/* HOST.RUN.where: the state of the threads of a run at one or more moments, which the launcher read from outside. The
 * file has the raw memory, registers, mappings and descriptors with which the report unwinds the threads' stacks and
 * finds the objects that the threads wait for.
 * Included by trace_format.h.
 *
 * The file is a struct tf_where_head, then records: a struct tf_where_record, `size` bytes of content, and padding to a
 * multiple of 8 bytes. A look is the records from BEGIN to END; one without END was not completed. */

#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

#define TF_WHERE_MAGIC 0x45524548574c4950ull /* "PILWHERE" */

struct tf_where_head {
	uint64_t magic;
	uint64_t run;
	uint32_t clock; /* enum tf_clock */
	uint32_t machine; /* e_machine of the registers, as in ELF */
	char boot[40];
};

struct tf_where_record {
	uint32_t kind; /* enum tf_where_kind */
	uint32_t size; /* of the content */
};

/* Records from PROCESS on describe the process of the last PROCESS record. */
enum tf_where_kind {
	TF_WHERE_BEGIN = 1,   /* struct tf_where_begin */
	TF_WHERE_END = 2,     /* struct tf_where_begin, the same as that of BEGIN */
	TF_WHERE_PROCESS = 3, /* struct tf_where_process, then the path of its executable */
	TF_WHERE_MAPS = 4,    /* text: /proc/PID/maps */
	/* text: a line "FD ACCESS LINK" for each open descriptor; ACCESS: r, w, rw. Of an epoll descriptor LINK is
	 * followed by the descriptors that it watches: " tfd 3 tfd 4"; of one of eventfd(2) by " id 12"; of one that
	 * the launcher has open, too, by " outside", because other programs may have its other end */
	TF_WHERE_DESCRIPTORS = 5,
	/* text: "TABLE LINE" for each socket of these descriptors: the line of /proc/net/TABLE; "peer INODE INODE":
	 * the socket at the other end of a unix socket; "lock LINE": of /proc/locks, and "inode DESCRIPTOR
	 * INODE", if a thread waits for such a lock; "held LINE": the like of each lock that a descriptor has,
	 * " outside": the launcher has it, too; "private sem ID", "private msg ID": an object of System V for which a
	 * thread waits, which has no key and which was made since the launcher began; "named INODE": mapped memory of
	 * a semaphore that any program can open */
	TF_WHERE_SOCKETS = 6,
	TF_WHERE_THREAD = 7,	  /* struct tf_where_thread */
	TF_WHERE_MEMORY = 8,	  /* struct tf_where_memory, then the bytes */
	TF_WHERE_PYTHON_CODE = 9, /* uint32_t id, then as TF_BLOB_PYTHON_CODE */
	/* struct tf_where_python, then struct tf_python_frame, innermost first, with the ids of PYTHON_CODE records */
	TF_WHERE_PYTHON_STACK = 10,
	TF_WHERE_PYTHON_LOCK = 11, /* struct tf_where_lock */
	TF_WHERE_PYTHON_NOTE = 12, /* text: why there are no Python frames */
	/* struct tf_where_process: this look found the process unchanged since its last PROCESS record and the records
	 * that follow that one */
	TF_WHERE_SAME = 13,
	/* struct tf_where_arguments; MEMORY records have the stack from `frame` on, and of a wait for requests of MPI
	 * their handles */
	TF_WHERE_ARGUMENTS = 16,
	/* as PYTHON_STACK: where a task of asyncio waits, of the event loop that this thread runs */
	TF_WHERE_PYTHON_TASK = 17,
	/* struct tf_where_python, then text, "ValueError: message": the task of the PYTHON_TASK record before it has
	 * ended by that; its frames are those of the traceback. From 1.23 on */
	TF_WHERE_TASK_RAISED = 18,
	TF_WHERE_CHILDREN = 15, /* text: the PIDs of its children that have not ended, each with a space */
	TF_WHERE_PYTHON_NAME = 14, /* struct tf_where_python, then text: the name that Python has for the thread */
};

/* Why the launcher looked. QUIET: the processes of this look used hardly any CPU time for a while. */
enum tf_where_reason { TF_WHERE_ASKED = 0, TF_WHERE_QUIET = 1 };

struct tf_where_begin {
	uint64_t request; /* identifies the request; 0: there was none */
	uint64_t ticks, realtime_ns;
	uint32_t signal; /* that was about to be forwarded, or that the terminal sent; 0: none */
	uint32_t reason; /* enum tf_where_reason */
};

/* The real-time signals among which the sampler searches a free one, from the first on. SIGRTMAX-2 is used by Java, the
 * last ones by systemd and containers. */
enum { TF_SAMPLER_SIGNAL_FIRST = 59, TF_SAMPLER_SIGNAL_LAST = 50 };

struct tf_where_process {
	uint32_t pid, parent_pid;
	uint64_t start; /* as in struct tf_header */
	int32_t error;	/* -errno: why its threads could not be read; 0: they could */
	/* Bit n: the process has a handler for the standard signal n. Bit 0: these are known, and it has none for a
	 * real-time signal, those of libc and of the sampler aside. */
	uint32_t handled;
};

/* A thread that is blocked shows its system call, stack pointer and pc to other processes, without being stopped. The
 * registers of one that runs are those of a sample of perf_event_open(2). */
enum tf_where_flag {
	TF_WHERE_IN_CALL = 1,	    /* blocked in a system call: `call` and `arguments` are valid */
	TF_WHERE_IS_RUNNING = 2,    /* on a CPU or waiting for one */
	TF_WHERE_HAS_REGISTERS = 4, /* all registers are known, else the stack pointer and the pc */
	TF_WHERE_HAS_STACK = 8,	    /* at least those two are */
};
enum { TF_WHERE_REGISTERS = 17 };

struct tf_where_thread {
	uint32_t tid;
	uint32_t flags; /* of enum tf_where_flag */
	char state;	/* as in /proc/PID/stat */
	char name[15];	/* terminated unless it has 15 bytes */
	int64_t call;
	uint64_t arguments[6];
	uint64_t registers[TF_WHERE_REGISTERS]; /* by their DWARF numbers, x86-64: 7 is rsp, 16 the pc */
	uint64_t cpu_ns;
};

/* The arguments of the call of MPI or NCCL that a thread is in. */
enum { TF_WHERE_WORDS = 16 };
struct tf_where_arguments {
	uint32_t tid, reserved;
	uint64_t call; /* `outer` of the thread's page, or `current` */
	uint64_t frame; /* on the stack: the caller's frame pointer, then the address to which the call returns */
	uint64_t words[TF_WHERE_WORDS]; /* the first argument is words[0]; those after the last one mean nothing */
};

/* A wrapper of a library's function keeps the arguments in its frame on the thread's stack, at these distances from
 * the ticks at which the call began: those in registers, and those that the caller put on the stack. The frame's own
 * address is there, too. */
#if defined(__x86_64__)
enum { TF_START_TO_FRAME_POINTER = 240, TF_ARGUMENT_REGISTERS = 6 };
#else
enum { TF_START_TO_FRAME_POINTER = -48, TF_ARGUMENT_REGISTERS = 8 };
#endif
enum { TF_START_TO_FRAME = 32, TF_START_TO_REGISTERS = 192, TF_START_TO_STACK = 256 };

struct tf_where_memory {
	uint64_t address;
};

struct tf_where_python {
	uint32_t tid, reserved;
};

/* A Python lock that a frame of a thread refers to, and that some thread waits for. */
enum tf_where_lock_flag {
	TF_WHERE_LOCK_IS_RECURSIVE = 1, /* threading.RLock, which has an owner */
	TF_WHERE_LOCK_IS_ENTERED = 2,	/* the thread is in a `with` statement of the lock, or about to enter it */
};

struct tf_where_lock {
	uint32_t tid;
	uint32_t flags; /* of enum tf_where_lock_flag */
	uint64_t semaphore; /* address of the futex word that those who wait for the lock wait on */
	uint64_t object;    /* address of the lock */
	uint32_t owner;	    /* TID, 0: unknown or none */
	uint32_t frame;	    /* number of the frame, from 0 at the innermost one */
};
