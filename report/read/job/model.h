/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture contains about the job: machines, images (one for each fork and exec), processes (all images of a
 * pid), how each ended, programs that could not be recorded, capture ranges. It is built from the index lines and
 * the trace files. */
#pragma once

#include "report/base/share.h"
#include "report/read/clock_map.h"
#include "report/read/job/note.h"
#include "report/read/pack.h"
#include "report/read/reader.h"

/* One boot of one machine, as seen through one clock. */
struct machine {
	char *host, *boot;
	struct clock_map clock;
	bool is_this;	  /* the machine that this program runs on, in the same boot */
	/* pairs of clock from this machine; the others are from the same boot under another host name */
	size_t own_pairs;
	struct tf_clock_pair
		*rough; /* from process lines, without CLOCK_MONOTONIC: used if there are no better ones */
	size_t rough_count, rough_capacity;
};

/* Calls below the threshold, of an image without a trace file. */
struct short_calls {
	char *name;
	uint64_t calls, ticks;
};

/* What an image without a trace file had used at its end: see the line "end" in trace_format.h. */
struct image_usage {
	uint64_t cpu_ns, thread_cpu_ns, delay_ns, before_us, peak_kb, voluntary, involuntary, children_ns,
		minor_faults, major_faults, block_ms;
	bool is_known;
};

/* The samples of one launcher. */
struct usage_samples {
	size_t machine;
	uint64_t run;
	struct tf_usage_sample *items;
	size_t count;
};

/* What `pillion where` asked one launcher for: the records of HOST.RUN.where. */
struct where_file {
	uint64_t run;
	uint32_t machine; /* as in struct tf_where_head */
	uint8_t *bytes;
	size_t size;
};

/* What one launcher sampled of power and energy: the records of HOST.RUN.energy. */
struct energy_file {
	size_t machine;
	uint64_t run;
	uint8_t *bytes;
	size_t size;
};

struct image {
	uint64_t nonce, run, parent_nonce;
	uint64_t process_start;		 /* from /proc/PID/stat, 0: not known */
	uint64_t start_ticks, end_ticks; /* end 0: not recorded */
	uint64_t end_realtime_ns;	 /* from its end line, 0: none */
	size_t machine, process;
	const struct ranges *ranges; /* of its run; NULL: none has begun, the whole run counts */
	struct trace *trace; /* NULL: it never wrote an event */
	uint32_t pid, parent_pid;
	uint32_t via; /* enum tf_via */
	bool start_is_bound; /* process_start: the process started then or before */
	uint32_t end; /* enum tf_end */
	int32_t end_status;
	char *executable, *command;
	char *variables;   /* NAME=value items, terminated by an empty one */
	bool is_missing; /* it had a trace file, which is not in the capture */
	bool is_dropped; /* while reading: samples of perf that the process has itself */
	uint64_t recorded, lost, threads_lost; /* from its end line if there is no trace */
	struct short_calls *shorts;
	size_t short_count;
	struct image_usage usage;
};

struct process {
	size_t first_image, image_count; /* in model.images */
	size_t machine;
	uint64_t run;
	uint32_t pid, parent_pid;
	size_t parent;	 /* what started it; SIZE_MAX: it is not recorded. See process_tree.h */
	size_t children; /* recorded processes that it started */
	size_t earlier;	 /* the process before it with the same PID; SIZE_MAX: none */
	const char *command; /* of its last image */
	const char *rank;    /* "" if none; RANK@STEP where the captures have several steps, so that these are apart */
	char ended[80];
	int exit_status; /* -1: it did not exit, or how it ended is not known */
	bool has_exec;	 /* ended by the exec of a program that is not recorded */
	bool lacks_file; /* a trace file is missing */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	bool end_is_known;	   /* false: end_ns is the last time known */
	bool is_running;
	bool has_status; /* status is known from wait() or the launcher */
	int32_t status;
	uint64_t waited_ns; /* when it was waited for; 0: not known */
	uint64_t total_ns;  /* of a launcher's COMMAND: CPU time of it and what it waited for; 0: not known */
};

struct bare_program {
	size_t machine;
	uint32_t pid;
	char *executable, *reason;
};

/* What one start of pillion-launch recorded of itself: the "launch" line of an index. */
struct run_record {
	size_t machine;
	uint64_t id, realtime_ns;
	uint32_t pid;
	bool has_ended; /* its COMMAND, as the launcher has recorded */
	char *command, *options, *version;
	char *key; /* of its job step, "" if it is in none */
	char *spool; /* the directory that its processes write into, "": the capture itself */
	/* the batch job; each "" if unknown */
	char *scheduler, *job, *task, *restart, *step, *node;
	/* processes that the kernel killed because the cgroup had reached its limit; 0: none, and NULL */
	uint64_t oom_kills, oom_limit;
	char *oom_group;
	struct run_cost {
		bool is_known; /* what a call costs is */
		uint64_t short_ps, short_error_ps, recorded_ps, recorded_error_ps;
		uint64_t path_ps, page_ps, empty_ps; /* see trace_format.h; 0: not known */
		uint64_t launcher_ns; /* CPU time of the launcher and its helpers; 0: not known */
	} cost;
};

/* An option of the run that is not as it is by default, such as "trace"; NULL: it is. */
const char *run_option(const struct run_record *r, const char *name, size_t *ret_length);

struct note {
	size_t machine;
	uint32_t pid;
	enum note_code code;
	char *text;
};

struct ranges {
	uint64_t run;
	struct tf_range *items;
	bool *is_cancelled; /* of each item: what is recorded from it to the next one does not count */
	bool has_cancelled;
	size_t count;
	bool is_ring; /* --ring: the first range begins with what was kept */
	uint32_t mode; /* enum tf_range_mode */
	uint64_t spool_ticks; /* as in struct tf_range_page */
};

/* A range file with images, see struct tf_images. Its bytes are kept, because traces are parts of it. */
struct image_file {
	char *path;
	struct mapping bytes;
	struct functions *functions;
	uint64_t run;
	uint32_t clock;
	bool is_ring; /* images that have ended may have been removed */
};

struct model {
	struct machine *machines;
	struct image *images;	   /* by process, then by time */
	struct map process_by_pid; /* (PID, machine) -> the last such process + 1 */
	struct process *processes; /* by start */
	struct bare_program *bare;
	struct run_record *runs;
	struct note *notes;
	uint64_t lost_lines, lost_events; /* see struct tf_range_page */
	struct texts objects; /* paths of the parts of object files that the capture has: object_name.h */
	struct texts symbols; /* the text of each names.symbols: symbol_kept.h */
	struct texts sources; /* likewise of each names.sources: source_record.h */
	struct texts seen; /* the first few NVTX ranges that did not match -c nvtx */
	struct ranges *ranges;
	struct usage_samples *usages;
	size_t usage_count, usage_capacity;
	struct where_file *wheres;
	size_t where_count, where_capacity;
	struct energy_file *energies;
	size_t energy_count, energy_capacity;
	size_t machine_count, image_count, process_count, bare_count, run_count, note_count, ranges_count;
	size_t machine_capacity, image_capacity, process_capacity, bare_capacity, run_capacity, note_capacity,
		ranges_capacity;
	/* trace files without a header, which are a problem only if their images are not in a range file */
	struct texts unwritten;
	struct map unwritten_nonces; /* position in `unwritten` -> nonce */
	struct image_file *image_files;
	size_t image_file_count, image_file_capacity;
	struct texts spools; /* paths of spools that are read together with the next capture */
	struct map spool_runs; /* id of a run -> 1 if its spool was read */
	struct pack **packs; /* packed files that were opened */
	size_t pack_count, pack_capacity;
	struct map by_nonce; /* nonce -> image, while reading */
	struct map machine_by_name; /* hashes of boot and host -> machine + 1; after a collision the next hash */
	struct map run_by_id; /* id of a run -> its position in runs + 1 */
	struct texts ranks;	  /* those with a step */
	struct wait_status *wait_statuses;
	size_t wait_status_count, wait_status_capacity;
	bool has_profile;      /* a run of --mode=profile: sums, which only some reports read */
	uint64_t origin_ns;    /* the earliest start, which is 0 in reports */
	uint64_t trace_bytes;  /* of all trace files */
	uint64_t written_bytes; /* of the data in them, without holes */
	struct attachments attachments; /* state of modules that derive from the model */
	struct share *share;		/* the processes that share the reading of the files; NULL: there is one */
	struct texts problems; /* damaged, truncated or foreign files, one line for each */
};

/* The wait status of a child, from wait() or the launcher. */
struct wait_status {
	size_t machine;
	uint64_t run; /* 0: not known */
	uint32_t pid, parent_pid; /* parent 0: not known */
	int32_t status;
	uint64_t ticks, realtime_ns; /* 0: not known */
	uint64_t cpu_ns; /* of the child and what it waited for; 0: not known */
};

/* Reads captures into one model; machines are placed by their CLOCK_REALTIME. Files that cannot be read are listed
 * in model.problems; returns -errno with err only if a capture as a whole cannot be read. The caller frees the model
 * in either case. */
int model_open(struct model *m, char *const *paths, size_t count, struct err *err);
/* Likewise: each process of `share` reads a part of the traces, and all get the same model. */
int model_open_shared(struct model *m, char *const *paths, size_t count, struct share *share, struct err *err);
void model_done(struct model *m);

/* Of all images. */
struct trace_bits model_bits(const struct model *m);

/* ---- spools that were not moved into the capture: model_spool.c ---- */

/* MOVING: a launcher moves it, or did so seconds ago. LEFT: it is on this machine. GONE: it was on this machine.
 * ELSEWHERE: it is on a machine that cannot be looked at. */
enum spool_state { SPOOL_MOVED, SPOOL_MOVING, SPOOL_LEFT, SPOOL_GONE, SPOOL_ELSEWHERE };

enum spool_state model_spool(const struct model *m, const struct run_record *run);
/* CLOCK_REALTIME: what was recorded before this time is in the capture. */
uint64_t model_spool_since(const struct model *m, const struct run_record *run);
/* Appends what is missing, from when, and what to do about it. */
void model_spool_text(const struct model *m, const struct run_record *run, enum spool_state state, struct buffer *ret);

/* The path for a capture named by the user: the word itself, or with .pillion or .pillpack appended (is_packed:
 * .pillpack first), also in place of nsys's .nsys-rep. -errno if there is none. Replaces ret. */
int model_find(const char *word, bool is_packed, struct buffer *ret, struct err *err);

/* For tests and the fuzzer: a capture that consists of one trace file in memory. */
int model_open_bytes(struct model *m, const void *data, size_t size, struct err *err);

/* The capture range (from 1) that contains the tick; 0: none. */
uint32_t image_range(const struct image *image, uint64_t ticks);

/* How much of a call from `start` to `end` is in the capture range in which it began; without ranges, all of it. */
uint64_t image_range_part(const struct image *image, uint64_t start, uint64_t end);

/* Builds the processes from the images, ordered by time. To be called again after the offset of a clock was set. */
void model_order(struct model *m);

/* The run that the image belongs to; NULL: there was no launcher. */
const struct run_record *model_run(const struct model *m, const struct image *image);

/* Whether only a part of the run was recorded. */
bool model_has_capture_range(const struct model *m, uint64_t run);

/* How long the COMMAND of the only run took, and how it ended, where only its launcher has seen it: a static or setuid
 * program, of which at most the children were recorded. False: it was recorded, or it has not ended. The caller frees
 * the text. */
bool model_unrecorded_command(const struct model *m, uint64_t *ret_ns, char **ret_ended);

/* "" if it is not one of several ranks. */
const char *image_rank(const struct image *image);

/* Of "3" or "3@7.1". RANK_NONE: it is no number. ret_step: "" or "@7.1"; NULL: not asked for. */
enum { RANK_NONE = UINT32_MAX };
uint32_t rank_number(const char *rank, const char **ret_step);

/* A variable of its environment that is recorded; NULL: it was not set. */
const char *image_variable(const struct image *image, const char *name);

/* A time of CLOCK_REALTIME as reports show it. */
static inline uint64_t model_since_origin(const struct model *m, uint64_t ns)
{
	return ns > m->origin_ns ? ns - m->origin_ns : 0;
}

/* A word of a command, without the quotes that a word with spaces has. The length; 0: it has fewer words. */
size_t model_command_word(const char *command, size_t number, const char **ret);

/* As it was executed: "job.py" of "python3 -u dir/job.py ARG", "torchrun" of "python3 -m torchrun", "gzip" of
 * "/bin/gzip -9", "python3" of "python3 -c ...". */
void image_program(const struct image *image, char *ret, size_t size);

/* Of its executable, as the kernel resolved it: "python3.11". */
const char *image_file_name(const struct image *image);

static inline const struct image *process_last_image(const struct model *m, const struct process *p)
{
	return &m->images[p->first_image + p->image_count - 1];
}

/* The end of the process that ended last. */
uint64_t model_end_ns(const struct model *m);

/* The last time known of the image, in its ticks. */
uint64_t image_last_ticks(const struct image *image);

/* NULL: it has recorded nothing. */
const struct trace_thread *image_main_thread(const struct image *image);

/* ---- for model_*.c ---- */

size_t model_machine(struct model *m, const char *host, const char *boot, uint32_t clock);
struct image *model_image(struct model *m, uint64_t nonce);
int model_path(struct model *m, const char *path, struct err *err); /* one of the paths of model_open */
bool model_path_is_spool(const char *path);
bool model_path_is_directory(const char *path); /* of a capture, not of a spool */
void model_trace(struct model *m, struct trace *t);		     /* takes ownership */
void model_wait_statuses(struct model *m, const struct trace *t, size_t machine); /* that the trace has of children */
/* Takes ownership of the bytes, if there are images. */
void model_image_file(struct model *m, const char *path, struct mapping *file);
void model_unwritten(struct model *m, uint64_t nonce, const char *problem); /* a trace file without a header */
void model_images(struct model *m); /* after all files: the images that are in range files */
void model_image_files_done(struct model *m);
void model_index(struct model *m, const char *path, const char *name, const struct mapping *file);
void image_done(struct image *image);
char *model_file_host(const char *name); /* of a file HOST.RUN.KIND; the caller frees the result */
void model_usage(struct model *m, const char *path, const char *name, const struct mapping *file);
/* Of processes without a known end: what the launcher has seen of them after the last event. */
void model_last_seen(struct model *m);
void model_where(struct model *m, const char *path, const struct mapping *file);
void model_energy(struct model *m, const char *path, const char *name, const struct mapping *file);
void model_ring(struct model *m);  /* before model_link */
void model_link(struct model *m);  /* after all files: clock maps, processes, ends */
