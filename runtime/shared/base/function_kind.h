/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded function does, by its name. */
#pragma once

#include <stdint.h>

/* What a call does while it blocks. */
enum blocked_kind {
	BLOCKED_SLEEP,
	BLOCKED_CHILD,  /* for the end of a child process */
	BLOCKED_THREAD, /* for another thread: conditions, semaphores, joins, barriers */
	BLOCKED_LOCK,
	BLOCKED_POLL,
	BLOCKED_PIPE, /* read or write of a pipe, hence for another process; or of a terminal, for its user */
	BLOCKED_FLUSH, /* fsync and its kind */
	BLOCKED_READ,
	BLOCKED_WRITE,
	BLOCKED_FILE, /* open, stat, ... */
	BLOCKED_SOCKET,
	BLOCKED_GPU,
	BLOCKED_MPI,
	BLOCKED_NCCL,
	BLOCKED_OTHER,
	BLOCKED_KINDS
};

/* What the result of a call is: OPEN: a new descriptor; READ, WRITE and MAP: bytes; SUBMIT: a number of operations.
 * MEET: connects or accepts. */
enum traffic_role { ROLE_OTHER, ROLE_OPEN, ROLE_MEET, ROLE_CLOSE, ROLE_READ, ROLE_WRITE, ROLE_MAP, ROLE_SUBMIT };

/* How the reads and writes of a function are counted. CALLS: each call is one. STREAM: a call of stdio, which is one if
 * the kernel moved bytes. INNER: what the kernel did during calls of other functions, which have their time. */
enum traffic_kind { TRAFFIC_CALLS, TRAFFIC_STREAM, TRAFFIC_INNER };

/* Further facts. */
enum {
	FUNCTION_UNCOUNTED = 1 << 0, /* moves bytes that are not in rchar and wchar of /proc/PID/io */
	FUNCTION_INPUT = 1 << 1,     /* reads, receives or opens */
	FUNCTION_AWAITS = 1 << 2,    /* waits for another thread or process, until that has done something */
	FUNCTION_POLLS = 1 << 3,     /* tells at once whether something has happened, or waits on the CPU for it */
	FUNCTION_MOVES = 1 << 4,     /* read, write and their kind: moves as much as the caller wants */
	FUNCTION_LOCKS = 1 << 5,     /* takes a lock of the program */
	FUNCTION_CONDITION = 1 << 6, /* of a condition variable */
	FUNCTION_TIMED = 1 << 7,
	FUNCTION_WAKES = 1 << 8,
	FUNCTION_SPAWNS = 1 << 9,   /* a process */
	FUNCTION_CREATES = 1 << 10, /* a thread */
	FUNCTION_JOINS = 1 << 11,   /* waits for the end of a thread */
	FUNCTION_ACCEPTS = 1 << 12, /* a connection */
	FUNCTION_STATS = 1 << 13,   /* asks about the name of a file */
	FUNCTION_RENAMES = 1 << 14, /* changes names or attributes of files */
	FUNCTION_SIGNALS = 1 << 15, /* sends a signal */
	FUNCTION_LOCKS_FILE = 1 << 16,
	FUNCTION_LISTENS = 1 << 17, /* for connections */
};

/* Of calls of CUDA: the parts of their names. */
enum {
	CUDA_CALL = 1 << 0, /* of the runtime or the driver */
	CUDA_LAUNCH = 1 << 1,
	CUDA_SYNCHRONIZE = 1 << 2,
	CUDA_STREAMS = 1 << 3, /* of all streams, of the device */
	CUDA_STREAM = 1 << 4,  /* of one stream */
	CUDA_ASYNC = 1 << 5,
	CUDA_COPIES = 1 << 6,
	CUDA_SET = 1 << 7,
	CUDA_ALLOC = 1 << 8,
	CUDA_FREE = 1 << 9,
	CUDA_REGISTER = 1 << 10, /* of host memory */
	CUDA_HOST_FUNCTION = 1 << 11,
	CUDA_NODE = 1 << 12, /* of a graph: nothing is executed */
	CUDA_OF_KERNEL = 1 << 13,
	CUDA_RESET = 1 << 14, /* of a device */
	CUDA_OF_EVENT = 1 << 15,
};

/* Of calls of MPI, NCCL and OpenMP. */
enum {
	PARALLEL_BEGINS = 1 << 0, /* MPI, or a communicator of NCCL */
	PARALLEL_ENDS = 1 << 1,	  /* MPI */
	PARALLEL_ABORTS = 1 << 2,
	PARALLEL_MESSAGE = 1 << 3, /* from one rank to another */
	PARALLEL_COLLECTIVE = 1 << 4,
	PARALLEL_OF_ALL = 1 << 5,   /* likewise: no rank returns from it while another one is in a different one */
	PARALLEL_REQUESTS = 1 << 6, /* starts, tests or awaits what was posted */
	PARALLEL_POSTS = 1 << 7,    /* returns before it is done */
	PARALLEL_AWAITS = 1 << 8,   /* what was posted */
	PARALLEL_TESTS = 1 << 9,
	PARALLEL_RECEIVES = 1 << 10, /* does not return before another rank has sent */
	PARALLEL_SENDS = 1 << 11,    /* may not return before another rank has received */
	PARALLEL_REGION = 1 << 12,   /* of OpenMP */
	PARALLEL_PART = 1 << 13,     /* of a region: what one thread did */
	PARALLEL_BARRIER = 1 << 14,
	PARALLEL_TEAM_WAITS = 1 << 15, /* a barrier, or the one at the end of a region */
	PARALLEL_ONE = 1 << 16,	       /* request */
	PARALLEL_ALONE = 1 << 17,      /* reads or writes a file, and waits for no other rank */
	PARALLEL_WRITES = 1 << 18,     /* likewise */
	PARALLEL_COUNTS_PART = 1 << 19, /* its count is that of one rank's part */
};

/* How the calls of MPI are matched. */
enum mpi_class {
	MPI_NOTHING,
	MPI_SEND,
	MPI_SEND_LATER, /* a send that does not wait for its receiver: nonblocking or buffered */
	MPI_RECEIVE,
	MPI_RECEIVE_LATER,
	MPI_WAIT,
	MPI_POLL, /* a test of requests; several in a row are a wait */
	MPI_SEND_AND_RECEIVE,
	MPI_SEND_AND_RECEIVE_LATER,
	MPI_RECEIVE_UNKNOWN,
	MPI_START, /* of persistent requests, whose peers are not recorded */
	/* the first of the numbers of collective functions, of each kind */
	MPI_ALL_TO_ALL = 16,
	MPI_FROM_ROOT = 32,
	MPI_TO_ROOT = 48,
	MPI_LATER = 64, /* is added to those of nonblocking ones */
	MPI_CLASSES = 128
};
/* And those of NCCL. */
enum nccl_class { NCCL_NOTHING, NCCL_JOINS, NCCL_GROUP_START, NCCL_GROUP_END, NCCL_COLLECTIVE };
/* The constructs of OpenMP, and the waits that end when a construct of the same class begins (a region) or ends. */
enum openmp_class { OPENMP_NOTHING, OPENMP_REGION, OPENMP_CRITICAL, OPENMP_ORDERED, OPENMP_TASK };
/* What functions of libc wait on with futexes; a thread: for its end. */
enum lock_class { LOCK_OTHER, LOCK_MUTEX, LOCK_CONDITION, LOCK_SEMAPHORE, LOCK_THREAD, LOCK_RWLOCK, LOCK_BARRIER };
/* What calls of cuBLAS and cuDNN compute. */
enum library_class {
	LIBRARY_NOTHING,
	BLAS_PRODUCT,	      /* of matrices */
	BLAS_LAYOUTS,	      /* likewise; its sizes are those of its layouts */
	BLAS_WITH_VECTOR,     /* a matrix times a vector */
	BLAS_WITH_SQUARE,     /* a symmetric matrix times another one */
	BLAS_WITH_TRIANGLE,   /* likewise a triangular one, or solves with it */
	BLAS_WITH_TRANSPOSED, /* a matrix times itself transposed */
	BLAS_RANK_2K,
	DNN_CONVOLUTION, /* or a gradient of one */
	DNN_DESCRIBED	 /* whatever was described */
};

struct function_kind {
	uint8_t waits, role, traffic; /* enum blocked_kind, traffic_role, traffic_kind */
	uint32_t does;		      /* FUNCTION_* */
	uint16_t cuda;		      /* CUDA_*; 0: not of CUDA */
	uint32_t parallel;	      /* PARALLEL_* */
	uint8_t match;		      /* enum mpi_class, nccl_class, openmp_class, library_class or lock_class */
	char letter;		      /* of cuBLAS: S, D, C, Z or H for the type of the elements */
};

/* `group` is an enum tf_group. */
struct function_kind function_kind_of(const char *name, unsigned group);

/* The name of the function of MPI or NCCL that a symbol is, or that of their profiling interfaces; NULL: of none. */
const char *function_of_ranks(const char *symbol);
