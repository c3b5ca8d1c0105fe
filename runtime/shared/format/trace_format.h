/* SPDX-License-Identifier: Apache-2.0 */
/* The trace format on disk, shared by the recorder, the launcher and the report.
 *
 * A capture is a directory:
 *   capture               text, "key=value" lines: format=1, key=<job step>, created_ns=<CLOCK_REALTIME>
 *   HOST.BOOT.index       text, append-only, one line per fact; HOST and BOOT identify one boot of one machine
 *   HOST.RUN.range        struct tf_range_page: the capture range of one launcher, mapped by all its processes;
 *                         then struct tf_images: the images of its short processes
 *   HOST.RUN.usage        struct tf_usage_head, then struct tf_usage_sample: what the launcher read from /proc
 *   ID.object             symbols of a file that may be gone, see runtime/shared/base/object_name.h
 *   HOST.RUN.energy       power, energy and counters of the machine, see trace_energy.h
 *   HOST.RUN.where        struct tf_where_head, then records: what the threads did at some moments
 *   .where                text: the request of `pillion where`, while it waits: see runtime/launch/where.c
 *   .hang                 text: why the job hangs, which any launcher may print; empty while one finds it out
 *   HOST.PID.NONCE.trace  one process image (of a fork or an exec), described below; none if it records little
 *
 * A capture may also be packed into one file that begins with TF_PACK_MAGIC: report/read/pack.h.
 *
 * A trace file holds a struct tf_header in its first TF_PAGE bytes, then the function names (header.function_bytes,
 * padded to TF_PAGE), then chunks. A chunk starts on a multiple of TF_PAGE with a struct tf_chunk; the next chunk
 * follows after size_bytes. A writer may die after it has allocated space and before it has written the chunk's head:
 * the reader then scans page by page for TF_CHUNK_MAGIC with the file's nonce. If the writer died while it wrote the
 * head, magic is 0; nonce is stored first and size_bytes second.
 *
 * A chunk of kind TF_CHUNK_SLOTS or TF_CHUNK_FIRST holds slots of 8 bytes, written by one thread and by signal handlers
 * that interrupt it. Each slot is written by one store. A slot of 0 means that the writer died before the store; the
 * reader skips this slot only.
 *
 * Integers are in the byte order of the machine that wrote them, see header.byte_order. The reader trusts nothing in
 * the file: it checks every length and index. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_groups.h"

#define TF_MAGIC 0x0a4e4f494c4c4950ull /* "PILLION\n" read as little-endian */
#define TF_CHUNK_MAGIC 0x574c4950u    /* "PILW" */
#define TF_RANGE_MAGIC 0x45474e41524c4950ull /* "PILRANGE" */
#define TF_IMAGES_MAGIC 0x534547414d494c50ull /* "PLIMAGES" */
#define TF_PACK_MAGIC 0x0a4b4341504c4950ull /* "PILPACK\n" */
#define TF_BYTE_ORDER 0x01020304u
/* A reader accepts every minor version of its major version: it skips unknown kinds of slots, blobs and chunks. */
#define TF_VERSION_MAJOR 1
#define TF_VERSION_MINOR 23

enum { TF_PAGE = 4096, TF_SLOT = 8, TF_HOST = 64 };

/* ---- the file's head ---- */

enum tf_clock { TF_CLOCK_MONOTONIC = 1, TF_CLOCK_TSC = 2, TF_CLOCK_CNTVCT = 3 };

/* One instant on three clocks. `ticks` is the clock of all events (ns for TF_CLOCK_MONOTONIC). `error_ticks` is the
 * time that reading the three clocks took, which bounds the error of the instant. ticks == 0: not read. */
struct tf_clock_pair {
	uint64_t ticks;
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns;  /* CLOCK_REALTIME */
	uint64_t error_ticks;
};

/* How an image began, and the end that it recorded itself. TF_VIA_OBSERVED: the launcher wrote this trace, with the
 * samples that perf_event_open(2) took of an image, which may have a trace of its own as well.
 * TF_END_NONE: the image recorded no end; the wait status that its parent or the launcher recorded may be available. */
enum tf_via { TF_VIA_START = 1, TF_VIA_FORK = 2, TF_VIA_OBSERVED = 3 };
enum tf_end { TF_END_NONE = 0, TF_END_EXIT = 1, TF_END_EXEC = 2, TF_END_ABORT = 3 };
enum tf_mode { TF_MODE_TRACE = 0, TF_MODE_PROFILE = 1 };

struct tf_header {
	uint64_t magic;
	uint32_t byte_order;
	uint16_t version_major, version_minor;
	uint64_t nonce; /* random: identifies this image; repeated in each chunk */
	uint64_t run;	/* random: identifies the launcher's run and its range page */
	uint64_t parent_nonce; /* the image that forked this one; 0 if this one was exec'ed or the parent is unknown */
	uint32_t pid, parent_pid;
	uint64_t process_start; /* clock ticks since boot, field 22 of /proc/PID/stat; 0 if unknown */
	uint32_t via;		/* enum tf_via */
	uint32_t clock;		/* enum tf_clock */
	uint64_t clock_hz;	/* nominal ticks per second; 0 if unknown */
	struct tf_clock_pair first;
	struct tf_clock_pair last[2]; /* written alternately, so that one of the two is always complete */
	uint32_t function_count, function_bytes;
	uint32_t threads_lost; /* threads that could not be recorded */
	uint32_t end; /* enum tf_end; stored after end_status and end_ticks */
	int32_t end_status;
	uint32_t mode; /* enum tf_mode; 0 before 1.13 */
	uint64_t end_ticks;
	uint64_t osrt_threshold_ns;
	char host[TF_HOST];
	char boot[40];	       /* /proc/sys/kernel/random/boot_id */
	char executable[512];  /* NUL-terminated and truncated, like the next two */
	char arguments[1536];  /* separated by NUL, terminated by an empty string */
	char variables[1024];  /* NAME=value separated by NUL: ranks, CUDA_VISIBLE_DEVICES, PILLION_* */
	/* --ring, from 1.11 on. What was recorded before ring_ticks may be overwritten in part, and does not count; 0:
	 * nothing is. ring_bytes: of chunks that were used again */
	uint64_t ring_ticks, ring_bytes;
	uint64_t ring_events; /* in these chunks; from 1.16 on */
};

/* The rank of a process is the value of the first of these variables that is set. Variables of the programs that
 * start the ranks (torchrun, mpirun) precede those that a scheduler sets for the whole step. */
#define TF_MPI_RANK_VARIABLES "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID"
#define TF_RANK_VARIABLES "RANK", TF_MPI_RANK_VARIABLES, "FLUX_TASK_RANK", "SLURM_PROCID"

/* Function names: function_count entries; a function's id is its position. Each entry is a byte of enum tf_group, a
 * length byte and the name. */
#define TF_GROUP_ENUM(number, NAME, ...) TF_GROUP_##NAME = number,
#define TF_GROUP_ONE(...) +1
#define TF_GROUP_BIT(number, ...) +(1u << number)
enum tf_group { TF_GROUPS(TF_GROUP_ENUM, ) TF_GROUP_COUNT = 0 TF_GROUPS(TF_GROUP_ONE, ) };
_Static_assert((TF_GROUPS(TF_GROUP_BIT, )) == (1u << TF_GROUP_COUNT) - 1, "each number is used once");

/* ---- chunks ---- */

/* THREAD: struct tf_thread with a counter for each function; written by version 1.0 only. SLOTS: slots that follow
 * the head. FIRST: struct tf_thread with counters for some functions, then slots. A thread that calls more functions
 * has a second such chunk. */
enum tf_chunk_kind { TF_CHUNK_THREAD = 1, TF_CHUNK_SLOTS = 2, TF_CHUNK_FIRST = 3 };

struct tf_chunk {
	uint32_t magic; /* stored last */
	uint32_t kind;	/* enum tf_chunk_kind */
	uint64_t nonce;
	uint32_t size_bytes; /* of the whole chunk, this head included; a multiple of TF_PAGE */
	uint32_t tid;
	uint32_t thread;   /* number of the thread in this image; unlike tids, these are not reused */
	uint32_t sequence; /* number of this chunk among the thread's */
	uint64_t base_ticks; /* the times of the slots are relative to this, see below */
	uint64_t offset;     /* of this chunk in the file */
	uint32_t full;	     /* 1: its writer has finished with it */
	uint32_t is_tool;    /* of a FIRST or THREAD chunk. 1: a thread of the driver's tools, not of the program */
	union {
		struct { /* TF_CHUNK_FIRST */
			uint32_t slots; /* bytes from the chunk's start to its first slot */
			/* CPU time that the thread had used when it was attached, in us, at most 2^32 - 1. From 1.7 on,
			 * only of an image's first thread */
			uint32_t cpu_before_us;
		};
		/* TF_CHUNK_SLOTS, from 1.18 on: 1 << the kind of each blob in it. A reader of the latest events needs
		 * no earlier chunk that defines nothing */
		uint64_t blobs;
	};
};

/* Calls below the threshold, by function id. */
struct tf_counter {
	uint64_t calls, ticks;
};

/* The first chunk of a thread. The recorder updates it in place while the thread lives, so it is always current.
 *
 * In a TF_CHUNK_FIRST, an array of uint16_t lies between the counters and the slots: the element at a function's id
 * is 1 + the position of its counter, or 0 if it has none. In a TF_CHUNK_THREAD the position is the function's id. */
struct tf_thread {
	struct tf_chunk chunk;
	uint64_t start_ticks, end_ticks; /* end_ticks 0: alive, or killed */
	/* the call in progress and the ticks at its start, see TF_CURRENT_SHIFT; 0: none. Of nested calls, such as
	 * one of the operating system in one of MPI, the innermost one; `outer` has the outermost one */
	uint64_t current;
	uint64_t lost;	     /* events that could not be recorded */
	uint64_t slow_ticks; /* spent in slow paths of the recorder: start, threads, chunks, stacks, files */
	uint32_t stacks_lost; /* stacks that could not be walked: too little stack left, alternate stack, table full */
	uint32_t counter_count;
	char name[16];
	/* When the thread was created, since when the kernel accounts for it (struct tf_usage). start_ticks is the time
	 * when the recorder attached it. 0: not known, as before 1.7 */
	uint64_t created_ticks;
	uint64_t outer; /* as `current`; 0: `current` is not nested, or not known, as in older traces */
	struct tf_counter counters[]; /* counter_count of them */
};

static inline uint32_t tf_slots_offset(const struct tf_chunk *chunk)
{
	return chunk->kind == TF_CHUNK_SLOTS   ? (uint32_t)sizeof(*chunk)
	       : chunk->kind == TF_CHUNK_FIRST ? chunk->slots
					       : chunk->size_bytes;
}

#define TF_CURRENT_SHIFT 48 /* current = (id + 1) << 48 | (ticks & ((1 << 48) - 1)) */

/* ---- slots ---- */

/* A slot is one 64-bit word, stored at once. Bits 0..4 are its kind; 0 means not written. The other bits, by kind:
 *
 *   CALL         5..15 function   16..39 END of the call, low 24 bits of its ticks   40..63 duration in ticks
 *                (all ones: TF_ARG_LONG follows)
 *   PUSH MARK    5..15 domain     16..39 time     40..63 id of a TF_BLOB_STRING, the text
 *   POP          5..15 domain     16..39 time
 *                With TF_ARG_VALUE, of PUSH: an operator of PyTorch, and 1 + its sequence number, 0: it has none. Of
 *                a text "NAME, sizes = SIZES" the name is what precedes the comma. From 1.20 on
 *   RANGE_START  as PUSH; TF_ARG_VALUE holds the range's id
 *   RANGE_END    5..15 domain     16..39 time     TF_ARG_VALUE holds the range's id
 *   TIME         5..63 ticks, low 59 bits: the base of the times that follow
 *   ARG          5..9 enum tf_arg_kind  10..15 `small`  16..63 `value`; belongs to the event before it
 *   BLOB         5..12 enum tf_blob_kind  16..31 length in bytes  32..63 id; DATA slots follow
 *   DATA         8..63 seven bytes of a blob, the first in bits 8..15
 *   SAMPLE       16..39 time      40..63 CPU time in us that the thread has used since its previous sample (all ones:
 *                or more; the next sample has the rest)   TF_ARG_STACK: the stack of the thread, if it could be walked
 *   ALLOCATION   5..15 enum tf_allocator   16..39 time   40..63 KiB of allocations that it represents, 0: itself only
 *                TF_ARG_VALUE: the address   TF_ARG_BYTES: the size   TF_ARG_STACK as above. Host memory, from 1.5 on
 *   RELEASE      16..39 time      TF_ARG_VALUE: the address of a recorded allocation, freed at this time or later
 *   SUM RANGES   calls of one kind (from 1.13 on) and ranges of NVTX (from 1.15 on), summed: see trace_sum.h
 *   CONSTRUCT    as CALL: the thread worked in a construct of OpenMP. Its waits are CALLs of the group. From 1.12 on
 *
 * The slots of an event and its ARGs, or of a blob and its DATA, are allocated by one instruction, so they are
 * contiguous; their first slot is stored last. ARG or DATA slots after a torn (0) slot belong to it: a reader drops
 * them.
 *
 * Times: now = chunk.base_ticks at first. Each event adds delta = (time - now) mod 2^24 to it, interpreted as a number
 * from -2^20 to 2^24 - 2^20 - 1, because a handler's events may be stored a little before or after those of the code
 * that it interrupted. If the distance is outside this range, a TIME slot precedes the event. */
enum tf_kind {
	TF_TORN = 0,
	TF_CALL = 1,
	TF_PUSH = 2,
	TF_POP = 3,
	TF_RANGE_START = 4,
	TF_RANGE_END = 5,
	TF_MARK = 6,
	TF_TIME = 7,
	TF_ARG = 8,
	TF_BLOB = 9,
	TF_DATA = 10,
	TF_SAMPLE = 12,
	TF_ALLOCATION = 13,
	TF_RELEASE = 14,
	TF_CONSTRUCT = 15,
	TF_TENSOR = 16, /* trace_tensor.h */
	TF_SUM = 17,
	TF_RANGES = 18,
};

enum tf_allocator {
	TF_ALLOCATOR_MALLOC = 0, /* and its relatives */
	TF_ALLOCATOR_PYTHON = 1, /* CPython's allocators of objects */
};

#define TF_TIME_BITS 24
#define TF_TIME_MASK 0xffffffull
#define TF_TIME_BEHIND (1 << 20) /* how far a time may precede the time decoded before it */
#define TF_DURATION_LONG 0xffffffull
#define TF_WAKER_TICKS_BITS 24
#define TF_WAKER_TICKS_MOST 0xffffffull

static inline unsigned tf_kind(uint64_t slot)
{
	return slot & 31;
}

static inline uint64_t tf_event(unsigned kind, unsigned id, uint64_t time, uint64_t last24)
{
	return kind | (uint64_t)(id & 0x7ff) << 5 | (time & TF_TIME_MASK) << 16 | last24 << 40;
}

static inline unsigned tf_event_id(uint64_t slot) /* function or domain */
{
	return slot >> 5 & 0x7ff;
}

static inline uint64_t tf_event_time(uint64_t slot) /* 24 bits */
{
	return slot >> 16 & TF_TIME_MASK;
}

static inline uint64_t tf_event_last(uint64_t slot) /* duration or string id, 24 bits */
{
	return slot >> 40;
}

/* The full time of a slot that holds 24 bits of it; `now` is the time decoded before it. */
static inline uint64_t tf_time_after(uint64_t now, uint64_t time24)
{
	return now - TF_TIME_BEHIND + ((time24 - (now - TF_TIME_BEHIND)) & TF_TIME_MASK);
}

static inline uint64_t tf_time_slot(uint64_t ticks)
{
	return TF_TIME | ticks << 5;
}

/* The full ticks of a TIME slot: the slot has the low 59 bits, `now` the others. */
static inline uint64_t tf_time_ticks(uint64_t slot, uint64_t now)
{
	return (now & ~(~0ull >> 5)) | slot >> 5;
}

/* `value`: 48 bits; the caller extends the sign where it matters (TF_ARG_FD). */
static inline uint64_t tf_arg(unsigned arg, unsigned small, uint64_t value)
{
	return TF_ARG | (uint64_t)arg << 5 | (uint64_t)(small & 63) << 10 | value << 16;
}

static inline unsigned tf_arg_kind(uint64_t slot)
{
	return slot >> 5 & 31;
}

static inline unsigned tf_arg_small(uint64_t slot)
{
	return slot >> 10 & 63;
}

static inline uint64_t tf_arg_value(uint64_t slot)
{
	return slot >> 16;
}

/* The value of a TF_ARG_WAKER. */
static inline uint64_t tf_waker(uint32_t tid, uint64_t ticks)
{
	return (uint64_t)(tid & 0xffffff) << TF_WAKER_TICKS_BITS |
	       (ticks < TF_WAKER_TICKS_MOST ? ticks : TF_WAKER_TICKS_MOST);
}

static inline uint64_t tf_blob(unsigned blob, unsigned length, uint32_t id)
{
	return TF_BLOB | (uint64_t)blob << 5 | (uint64_t)length << 16 | (uint64_t)id << 32;
}

static inline unsigned tf_blob_kind(uint64_t slot)
{
	return slot >> 5 & 0xff;
}

static inline unsigned tf_blob_length(uint64_t slot)
{
	return slot >> 16 & 0xffff;
}

static inline uint32_t tf_blob_id(uint64_t slot)
{
	return slot >> 32;
}

enum tf_arg_kind {
	TF_ARG_LONG = 1,   /* value = duration in ticks, if it does not fit into 24 bits */
	TF_ARG_STACK = 2,  /* value = id of a TF_BLOB_STACK */
	/* value = descriptor in its low 16 bits (0xffff: none, or larger), the result of the call in the 32 bits
	 * above: bytes (at most 2^31 - 1; TF_ARG_BYTES follows then), a new descriptor, or -errno; small = tf_opened,
	 * of select() tf_polled */
	TF_ARG_FD = 3,
	/* value = one number, by function: a range's id, a timeout in ns, a pid, tf_request() that MPI_Start started */
	TF_ARG_VALUE = 4,
	TF_ARG_LAUNCH = 5, /* value = id of a TF_BLOB_LAUNCH */
	TF_ARG_COPY = 6,   /* small = cudaMemcpyKind, 63 = memset; value = bytes */
	/* small = enum tf_memory, value = address; TF_ARG_BYTES follows an allocation; the address is 0 if it failed */
	TF_ARG_MEMORY = 7,
	TF_ARG_BYTES = 8,  /* value = bytes */
	TF_ARG_STREAM = 9, /* value = cudaStream_t */
	/* value = the error code of the call; absent: success. Of OS calls, from 1.10 on: errno, or the error number
	 * that the function returned; not if FD, TIMEOUT or DIRECTORY has it */
	TF_ARG_RESULT = 10,
	TF_ARG_COLOR = 11, /* value = ARGB in its low 32 bits, category above */
	TF_ARG_PAYLOAD = 12, /* small = nvtxPayloadType_t, value = low 48 bits of the payload */
	TF_ARG_PAYLOAD_HIGH = 13, /* value = the high 16 bits of the payload */
	TF_ARG_DEVICE_OPERATION = 14, /* value = key of its device record: epoch << 32, correlation id */
	/* CUDA graphs, by their ids in device records. A call that made a node, by capture or explicitly: GRAPH and
	 * GRAPH_NODE (its number in the graph), and for each graph inside of it (a child graph, the bodies of a
	 * conditional node) GRAPH_INNER, or GRAPH_EXEC if the launch of that executable graph was captured; then a
	 * GRAPH_INNER with small = 1 is the copy of that graph which the node contains, if known. A call that
	 * instantiated a graph or updated an executable one: GRAPH and GRAPH_EXEC. A call that cloned GRAPH_INNER:
	 * GRAPH is the clone */
	TF_ARG_GRAPH = 15,
	TF_ARG_GRAPH_NODE = 17,
	TF_ARG_GRAPH_EXEC = 18,
	TF_ARG_GRAPH_INNER = 20,
	TF_ARG_EXTENDED = 24, /* value = id of the TF_BLOB_PAYLOAD that precedes the event in the same thread */
	/* of a MARK that is a sample of a counter. value = the counter's id. The sampled value is the mark's
	 * payload, extended or not; if it has neither, small = the reason: 0 the value is 0, 1 it is unchanged, 2 it
	 * is unavailable */
	TF_ARG_COUNTER = 25,
	/* value = id of a TF_BLOB_OPERATION in its low 32 bits; tf_request() of the request that a nonblocking call of
	 * MPI has made above, its high 6 bits in small (0: none) */
	TF_ARG_OPERATION = 16,
	TF_ARG_DEVICE = 21, /* value = the current device of the thread from now on; 0 before the first of these */
	TF_ARG_LEFT = 22,   /* value = free bytes on the thread's current device; TF_ARG_BYTES: its total */
	/* value = the result of the call in its low 16 bits (a count saturated at 32767, or -errno), in the 32 bits
	 * above the timeout in us (all ones: none, or longer); small = tf_polled */
	TF_ARG_TIMEOUT = 19,
	/* of a call on a path. value = the number of its directory, a TF_DESCRIPTOR_DIRECTORY, in its low 16 bits, and
	 * errno above (0: success). From 1.5 on */
	TF_ARG_DIRECTORY = 23,
	/* Of a wait for a lock, a condition, a semaphore, a barrier or a futex. From 1.9 on. LOCK: value = its address.
	 * HOLDER: value = the TID of the thread that owned the mutex when the wait began. WAKER, with --wakes only:
	 * value = the TID of the thread whose release ended the wait << 24, and the ticks from that release to the end
	 * of the wait (all ones: at least so many). The last thread that arrives at a barrier is its own waker */
	TF_ARG_LOCK = 26,
	TF_ARG_HOLDER = 27,
	TF_ARG_WAKER = 28,
	TF_ARG_FLAGS = 29, /* small = enum tf_flags (trace_flags.h), value = the flags that were passed. From 1.10 on */
	/* of a region of OpenMP: value = its threads; TF_ARG_VALUE: ticks that they waited for its end. From 1.12 */
	TF_ARG_TEAM = 30,
	TF_ARG_FILE = 31, /* of a SUM: value = id of the TF_BLOB_DESCRIPTOR of the descriptor. From 1.13 */
};

/* What tells a request of MPI from others in flight: 22 bits of its handle, a pointer or a number. */
static inline uint32_t tf_request(uint32_t handle)
{
	return (handle ^ handle >> 22) & 0x3fffff;
}

static inline uint64_t tf_arg_operation(uint32_t id, uint32_t request)
{
	return tf_arg(TF_ARG_OPERATION, request >> 16, id | (uint64_t)request << 32);
}

static inline uint32_t tf_operation_id(uint64_t slot)
{
	return (uint32_t)(slot >> 16);
}

static inline uint32_t tf_operation_request(uint64_t slot)
{
	return (uint32_t)((slot >> 48) | (slot >> 10 & 63) << 16);
}

enum tf_memory {
	TF_MEMORY_DEVICE = 1,
	TF_MEMORY_MANAGED = 2,
	TF_MEMORY_HOST = 3,
	TF_MEMORY_POOL = 4,
	TF_MEMORY_FREE = 32
};

/* Blobs: definitions that events refer to by id, and rare facts. An id is unique in the file. A definition may be in
 * another thread's chunk, or later in time, than an event that refers to it. */
enum { TF_BLOB_BYTES = 0xffff, TF_DATA_BYTES = 7 };
enum tf_blob_kind {
	TF_BLOB_STRING = 1,	 /* the bytes that the program passed, without NUL */
	TF_BLOB_STACK = 2,	 /* uint64_t return addresses, innermost first; see TF_STACK_UNLOADS */
	TF_BLOB_MODULE = 3,	 /* struct tf_module, then its path */
	TF_BLOB_THREAD_NAME = 4, /* text: the new name of the thread (struct tf_thread has the last one) */
	TF_BLOB_CHILD = 5,	 /* struct tf_child: the wait status of a child */
	TF_BLOB_LAUNCH = 6,	 /* struct tf_launch */
	TF_BLOB_DOMAIN = 7,	 /* NVTX domain: id = its number, text = its name. Domain 0 is the default one */
	TF_BLOB_NOTE = 8,	 /* text: an error, for the ledger */
	TF_BLOB_KERNEL = 9,	 /* the mangled name of a kernel; struct tf_launch refers to its id */
	TF_BLOB_DEVICE = 11,	 /* struct tf_device_batch, then device records, packed */
	TF_BLOB_DEVICE_OPERATION = 12,	 /* struct tf_device_operation; device records refer to its id */
	TF_BLOB_DEVICE_NAME = 13, /* id = the device's number, text = its name */
	/* struct tf_device_source, then the path of the library: the source of the device records that follow */
	TF_BLOB_DEVICE_SOURCE = 14,
	TF_BLOB_DEVICE_CLOCK = 15, /* struct tf_device_clock */
	TF_BLOB_DEVICE_LOST = 16, /* struct tf_device_lost */
	TF_BLOB_DEVICE_CALLS = 17, /* struct tf_device_batch, then calls as CUPTI recorded them, packed */
	/* as TF_BLOB_DEVICE, for kinds from TF_DEVICE_WAIT on, which do not occupy a device */
	TF_BLOB_DEVICE_MORE = 19,
	/* struct tf_python_code, then file, qualified name (UTF-8), line table in the format of CPython */
	TF_BLOB_PYTHON_CODE = 23,
	/* struct tf_python_frame, innermost first: the Python frames of the TF_BLOB_STACK with this id */
	TF_BLOB_PYTHON_STACK = 24,
	TF_BLOB_DEVICE_GAP = 18, /* struct tf_device_gap, then the path of the library that used CUPTI meanwhile */
	TF_BLOB_DEVICE_FLUSH = 30, /* struct tf_device_flush */
	TF_BLOB_DEVICE_FACTS = 31, /* struct tf_device_facts and values; id = the device's number. From 1.5 on */
	TF_BLOB_XLA_MODULE = 32, /* lines of the text of a module, see trace_nvtx.h; id = the module. From 1.5 on */
	TF_BLOB_OPERATION = 22, /* struct tf_operation */
	TF_BLOB_NVTX = 28,	 /* struct tf_nvtx and its data: a registered object of an NVTX domain */
	/* struct tf_payloads and its data, for the event that follows. Not a definition: only cursors read it */
	TF_BLOB_PAYLOAD = 29,
	/* struct tf_sampling; id = the thread's number: how the thread is sampled from now on */
	TF_BLOB_SAMPLING = 25,
	/* struct tf_descriptor, then the description: a path, a socket's peer. id = a serial number */
	TF_BLOB_DESCRIPTOR = 26,
	/* struct tf_traffic; id = the thread's number. Not a definition: all of them are valid */
	TF_BLOB_TRAFFIC = 10,
	TF_BLOB_OPERATOR_GAP = 20, /* struct tf_operator_gap; id = a serial number that its begin and end share */
	/* struct tf_short_stack; id = the thread's number. Not a definition: all of them are valid */
	TF_BLOB_SHORT_STACK = 21,
	TF_BLOB_CRASH = 33, /* struct tf_crash; id = the thread's number. The last one is valid. From 1.8 on */
	TF_BLOB_USAGE = 27, /* struct tf_usage; not a definition: the last one of a thread or process is valid */
	/* struct tf_counted, then struct tf_counted_calls; id = the thread's number. With --ring, from 1.11 on */
	TF_BLOB_COUNTED = 34,
	/* struct tf_line_code, then the file and the qualified name (UTF-8) of a Python function */
	TF_BLOB_LINE_CODE = 35,
	TF_BLOB_LINES = 36, /* struct tf_lines; id = the thread's number. Not a definition: all of them are valid */
	TF_BLOB_HDF5 = 37, /* the name of a file, NUL, the path of an object in it. From 1.14 on */
	TF_BLOB_JAX_LIVE = 38, TF_BLOB_JAX_EXECUTABLE = 39, /* see trace_jax.h. From 1.15 on */
	TF_BLOB_EXCEPTION = 40, /* struct tf_exception, then text, see trace_python.h; all are valid. From 1.17 on */
	TF_BLOB_LINE_MEMORY = 41, /* struct tf_line_memory; as TF_BLOB_LINES. From 1.19 on */
};

/* A bit for each kind that is no definition, and counts for the time at which it was written only. */
#define TF_BLOBS_OF_TIME                                                                                               \
	(1ull << TF_BLOB_DEVICE | 1ull << TF_BLOB_DEVICE_CALLS | 1ull << TF_BLOB_DEVICE_MORE |                         \
	 1ull << TF_BLOB_TRAFFIC | 1ull << TF_BLOB_SHORT_STACK | 1ull << TF_BLOB_OPERATOR_GAP |                        \
	 1ull << TF_BLOB_PAYLOAD | 1ull << TF_BLOB_LINES | 1ull << TF_BLOB_LINE_MEMORY)

struct tf_module {
	uint64_t start, end; /* addresses [start, end) of its loaded segments */
	uint64_t bias;	     /* address in memory minus address in the file (dlpi_addr) */
	uint8_t build_id_length, build_id[20], reserved;
	uint16_t unloads; /* unloads of recorded modules before this one was loaded: see TF_STACK_UNLOADS */
	/* The path follows. The loader has "" for the executable; its path is header.executable. If there is no build
	 * id, a byte of 0 and struct tf_module_file follow that, from 1.16 on. */
};

/* What was mapped, when the module was recorded. All 0: not known. */
struct tf_module_file {
	uint64_t size, mtime_ns, inode;
};

#define TF_MODULE_GONE UINT64_MAX /* in `size`: the file had been removed or replaced before */

/* Flags the first word of a stack that was walked after modules had been unloaded, or that is cut; the low 16 bits are
 * the number of unloads. An address of the stack belongs to the latest module at that address whose `unloads` is not
 * higher: another module may have been there before. No address has the highest bit set. */
#define TF_STACK_UNLOADS (1ull << 63)
/* In that word: the stack has as many frames as --backtrace-depth allows, so outer ones may be missing. */
#define TF_STACK_CUT (1ull << 62)

struct tf_sampling {
	uint64_t period_ns; /* of the thread's CPU time; the kernel's tick may be longer */
	uint32_t signal;
	uint32_t is_slowed; /* 1: the user requested a shorter period, but samples cost too much here */
};

struct tf_child {
	uint32_t pid;
	int32_t status; /* as wait(2) returns it */
};

/* A thread was about to end its process by this signal, or, from 1.23 on, a rank to exit: `signal` is 0, `code` its
 * status, or TF_CRASH_MPI_ERROR. */
enum { TF_CRASH_MPI_ERROR = -1 }; /* MPICH ends the job after a fatal error */
struct tf_crash {
	uint64_t ticks;
	uint64_t address; /* that the fault concerns, si_addr; 0 where `code` is not positive */
	uint32_t tid;
	int32_t signal, code; /* si_signo, si_code */
	uint32_t sender;      /* PID of the process that sent it; 0 where `code` is positive */
	uint32_t stack;	      /* id of a TF_BLOB_STACK; 0: not known */
	/* id of a TF_BLOB_STRING: why abort() was called, in libc's words, or "_ZTI", the mangled type of an exception
	 * of C++, and ": " with its what(), if that is known; 0: not known. From 1.22 on */
	uint32_t reason;
};

struct tf_launch {
	uint32_t kernel; /* id of a TF_BLOB_KERNEL; 0 if unknown */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes; /* dynamic */
	uint64_t stream;       /* cudaStream_t */
	uint64_t function;     /* host function, cudaKernel_t or cudaGraphExec_t as passed */
};

#include "runtime/shared/format/trace_nvtx.h"
#include "runtime/shared/format/trace_python.h"
#include "runtime/shared/format/trace_library.h"
#include "runtime/shared/format/trace_device.h"

#include "runtime/shared/format/trace_descriptor.h"
#include "runtime/shared/format/trace_energy.h"
#include "runtime/shared/format/trace_jax.h"
#include "runtime/shared/format/trace_lines.h"
#include "runtime/shared/format/trace_range.h"
#include "runtime/shared/format/trace_ring.h"
#include "runtime/shared/format/trace_sum.h"
#include "runtime/shared/format/trace_usage.h"
#include "runtime/shared/format/trace_where.h"

/* ---- index lines ----
 * Fields are separated by TAB. The first is the name of the line, the others are key=value; bytes below 0x21, 0x7f and
 * '\' are written as \xHH. A line is written by one write(2) to a descriptor opened with O_APPEND. nonce, run and
 * parent are hexadecimal without 0x; ticks, ns and PIDs are decimal.
 *   process nonce= pid= ppid= start= run= via=start|fork parent= realtime_ns= ticks= clock= host= boot= exe= args=
 *           vars=
 *             (args and vars: items separated by an escaped NUL). Written when the recorder starts in an image, but
 *             for a forked image in the range file: when it creates its trace file.
 *   end     nonce= pid= kind=exit|exec|abort status= realtime_ns= recorded=N lost=N threads_lost=N
 *           short=ID:CALLS:TICKS,... functions=ID:NAME,...
 *           usage=CPU_NS:THREAD_CPU_NS:DELAY_NS:CPU_BEFORE_US:PEAK_KB:VOLUNTARY:INVOLUNTARY:CHILDREN_NS:
 *           MINOR_FAULTS:MAJOR_FAULTS:BLOCK_MS
 *             only for an image that has no trace file and is not in the range file. usage: as struct tf_usage and
 *             cpu_before_us, of the process and its only recorded thread; unknown values are empty
 *   child   pid= status=
 *             a wait status, from an image without a trace file, or from the launcher for its COMMAND (then with
 *             launcher=1, and cpu_ns= of COMMAND and all processes that were waited for)
 *   bare    pid= exe= reason=
 *             a program that runs without the recorder, and the reason: static, setuid, musl, machine, script, gone,
 *             environment (cleaned, with --follow-clean-env=false), length, ...; empty: the program of the line before
 *             with this pid= and exe= was not started after all
 *   launch  run= pid= realtime_ns= command= options= version=
 *             for a rank of a job step also rank= and key= (which step); in a batch job also scheduler= job=
 *             task= (of an array) restart= (earlier attempts) step= node=, as far as the scheduler provides them;
 *             spool= the directory that its processes write into, see runtime/shared/spool/spool.h
 *   clock   ticks= monotonic_ns= realtime_ns= error_ticks= clock= hz=
 *             from the launcher: before COMMAND starts, every 30 s, and at the end. hz: ticks per second as far as
 *             known; absent in older captures
 *   cost    run= short_ps= short_error_ps= recorded_ps= recorded_error_ps= path_ps= page_ps=
 *             empty_ps=
 *             from the launcher, once COMMAND runs: what is added to a short call, and to a recorded one without its
 *             stack, and half of the distance between the quartiles of what was measured; what a path adds to a
 *             short call; what mapping a page of memory costs; the duration that is counted of a call that does
 *             nothing, absent in older captures
 *   cost    run= launcher_ns=   from the launcher, at the end: CPU time of it and of its helpers
 *   note, seen    nonce= pid= text=
 *             seen: one of the first NVTX ranges that did not match -c nvtx: RANGE or RANGE@DOMAIN */
