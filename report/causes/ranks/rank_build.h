/* SPDX-License-Identifier: Apache-2.0 */
/* What finds the causes of waits: the waits of each rank, the spans of time that caused them, what was done then. */
#pragma once

#include "report/base/interner.h"
#include "report/causes/causes.h"
#include "report/causes/ranks/rank_cause.h"
#include "report/events/scan.h"
#include "report/events/usage.h"
#include "report/names/attribution.h"

/* A call of one rank that waited until another one arrived. Times are of CLOCK_REALTIME. */
struct rank_wait {
	uint64_t start_ns, end_ns;
	uint64_t late_ns;  /* when the late rank arrived: between start and end; start: no wait, only a member */
	uint64_t since_ns; /* when both were last known to be at the same place; 0: never */
	/* of what a device waits for: when the two calls began that enqueued it; 0: the calls themselves wait */
	uint64_t called_ns, late_called_ns;
	uint32_t waiting, late; /* lanes */
	uint32_t group;
	uint32_t meeting; /* the waits of one meeting follow each other, then its other members */
};

/* A rank. */
struct rank_lane {
	const struct image *image;
	uint32_t *waits; /* by end */
	size_t count, capacity;
};

/* The waits of one call in one line. */
struct wait_group {
	uint32_t name; /* a text */
	const struct code_line *line;
	bool is_collective;
	uint64_t wait_ns, count;
	uint64_t paths; /* that were followed back from a late rank */
	double slowed;	/* lines take so much longer than their samples say, for want of CPUs: at least 1 */
};

/* Of one rank, that led to a wait (weight above 0), or that is subtracted. */
struct rank_span {
	uint64_t from_ns, to_ns;
	uint64_t called_ns; /* what is later is of the device; UINT64_MAX: all is of the main thread */
	double weight;	    /* 0: only to compare ranks */
	uint32_t lane, group;
};

/* What ranks did: calls of one name in one line, or computing there. */
struct rank_part {
	uint32_t group, name; /* a text; 0: no call, and no operation of a device */
	const struct code_line *line;
	enum rank_cause_kind kind;  /* RANK_WANTS_CPU: time outside of recorded calls that no sample covers */
	enum blocked_kind waits;
	double more, less; /* ns, weighted: of late ranks, and what is subtracted */
	double path_ns;	   /* of late ranks, not weighted */
	uint64_t samples;  /* that tell this */
};

/* What one rank did of a part: on the paths, and by itself in the spans of the meetings. */
struct rank_part_of_lane {
	uint32_t part, lane;
	double path_ns, own_ns;
};

/* Of stacks in which a line occurs at any depth, those of helpers before their callers. */
struct rank_line {
	uint32_t group;
	const struct code_line *line;
	double more, less;
};

/* A parallel region of OpenMP of the main thread, in which threads waited for each other. */
enum rank_lost_at { RANK_LOST_AT_END, RANK_LOST_AT_BARRIER, RANK_LOST };
struct rank_team {
	uint64_t from_ns, to_ns, threads;
	struct rank_lost {
		double part; /* of the region's time */
		uint32_t function, stack; /* the construct, and its line */
	} lost[RANK_LOST];
};

struct rank_teams {
	const struct report_context *context;
	struct rank_team *items; /* by time, none inside of another one */
	size_t count, capacity;
	struct rank_team_wait {
		uint64_t from_ns, to_ns;
		uint32_t function, stack;
	} *waits; /* of all threads, at barriers */
	size_t wait_count, wait_capacity;
};

struct delays {
	const struct report_context *context;
	struct attribution attribution;
	struct interner texts; /* number 0: "" */
	struct rank_lane *lanes;
	size_t lane_count, lane_capacity;
	struct rank_wait *waits;
	size_t wait_count, wait_capacity;
	struct wait_group *groups;
	size_t group_count, group_capacity;
	struct rank_span *spans;
	size_t span_count, span_capacity;
	struct rank_part *parts;
	size_t part_count, part_capacity;
	struct rank_part_of_lane *of_lanes;
	size_t of_lane_count, of_lane_capacity;
	struct rank_line *lines;
	size_t line_count, line_capacity;
	struct map lane_of;  /* image -> lane */
	struct map group_of; /* (name, line) -> group */
	struct map part_of, lane_part_of, line_of; /* -> + 1 */
	bool has_samples;
	struct usages *usages;
	double delay_ratio; /* of a typical rank: its time without a CPU to that with one, as the kernel accounts it */
	struct map windows; /* (group, lane) -> in how many meetings it was looked at */
	struct map stacks;  /* (image, stack) -> the line */
	struct map kinds;   /* (image, stack) -> what a sample there tells + 1 */
	struct map workers; /* (image, stack) -> whether it is of a worker of OpenMP + 1 */
	uint32_t meetings;
	struct mpi_wait_counts counts;
};

/* The parts of a group that are its cause. */
struct cause_choice {
	const struct delays *delays;
	uint32_t group;
	uint8_t *chosen; /* by part */
	double ns;	 /* what they explain */
	size_t best;	 /* the largest of them */
};

/* The ranks that are late. */
struct rank_set {
	struct delays *delays;
	uint32_t *lanes; /* the members */
	size_t count;
	bool is_alike; /* on average the others did nearly as much */
};

/* Shorter waits are not followed. */
enum { RANK_WAIT_NS = 20000 };

uint32_t delays_lane(struct delays *d, const struct image *image);
uint32_t delays_group(struct delays *d, const struct image *image, uint32_t function, uint32_t stack);
uint32_t delays_group_of(struct delays *d, const char *name, const struct code_line *line, bool is_collective);
void delays_wait(struct delays *d, const struct rank_wait *w);
/* The line that a stack is attributed to; NULL: not known. */
const struct code_line *delays_line(struct delays *d, const struct image *image, uint32_t stack);
/* What a sample with this stack tells; whether a call of this function with this stack waits for Python's lock. */
enum rank_cause_kind delays_sample_kind(struct delays *d, const struct image *image, uint32_t stack);
/* Whether a sample with this stack is of a thread that works for OpenMP. */
bool delays_is_worker(struct delays *d, const struct image *image, uint32_t stack);
/* delay_openmp.c: after all events of a rank, settle; the region that ends after `ns`, and which part of it is lost. */
void rank_teams_take(struct rank_teams *t, const struct image *image, const struct event *e, bool is_main);
void rank_teams_settle(struct rank_teams *t);
void rank_teams_done(struct rank_teams *t);
const struct rank_team *rank_team_at(const struct rank_teams *t, uint64_t ns);
double rank_team_lost(const struct rank_team *team);
bool delays_is_gil(struct delays *d, const struct image *image, const struct function *f, uint32_t stack);
/* Whether waits of this call in this line are looked at. */
bool delays_has_group(const struct delays *d, uint32_t name, const struct code_line *line);

/* Waits of MPI, of NCCL. */
void delays_of_mpi(struct delays *d);
void delays_of_nccl(struct delays *d);
/* Of main threads, where neither is used. */
void delays_of_graph(struct delays *d, struct causality *causes);
/* The spans that explain the waits. */
void delays_follow(struct delays *d);
/* The spans of the path that ends at a time of a rank, back to since_ns, as if they were of group 0. */
void delays_path(struct delays *d, uint32_t lane, uint64_t ns, uint64_t since_ns);
/* What was done in the spans. */
void delays_account(struct delays *d);
void delays_done(struct delays *d);

/* Ranks that did clearly more of the cause than the others; all of them if each was late at times. */
void rank_set_find(const struct cause_choice *c, struct rank_set *ret);
void rank_set_name(struct rank_set *s, struct rank_cause *ret);

/* What the kernel accounted to the ranks: how long a typical one waits for a CPU. */
void rank_usage_find(struct delays *d);
/* Whether it accounted waits for a CPU to the ranks of the set that explain the part, and that others do not have. */
bool rank_usage_waited(const struct rank_set *s, const struct rank_part *p);
/* How many page faults more than to a typical rank it accounted to them; 0: too few to matter for the chosen parts. */
uint64_t rank_usage_faults(const struct rank_set *s, const struct cause_choice *c);
