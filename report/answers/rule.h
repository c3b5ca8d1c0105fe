/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: each looks for one kind of problem and answers found, clean, or could not check. rule_list.h has the list,
 * rule.c what several rules need. Memory is bounded: a rule keeps its worst rows and aggregates by name, never all
 * events. */
#pragma once

#include "report/answers/roles/role.h"
#include "report/answers/rule_list.h"
#include "report/base/table/emit.h"
#include "report/causes/saving.h"
#include "report/events/cuda/correlate.h"
#include "report/events/cuda/gap.h"
#include "report/events/stacks/caller.h"
#include "report/names/attribution.h"
#include "report/names/own_stack.h"
#include "report/time/pressure.h"

enum verdict { VERDICT_CLEAN, VERDICT_FOUND, VERDICT_UNCHECKED };

struct removed_functions {
	struct own_function *items; /* their files from the last slash but one: "/multiprocessing/reduction.py" */
	size_t count, capacity;
};

struct finding {
	const struct rule *rule;
	enum verdict verdict;
	struct table table; /* Rule, Verdict, the rule's own columns; one row if nothing was found */
	struct buffer text; /* found: what, in figures; could not check: the reason */
	const struct code_line *line; /* that caused the most of it; NULL: no stack was taken */
	struct buffer called_from; /* see caller.h; the caller fills it in */
	bool is_of_lines; /* the cost is that of several lines, so that no one repair saves it */
	bool has_price_of_work; /* the saving is that of a line that computes less: set with it */
	bool is_certain; /* despite RULE_PART: all of the cost could be saved */
	struct buffer edit; /* what stands for the repair, as `whatif` takes it; empty: it follows from the line */
	struct removed_functions removed; /* those of libraries that the repair removes */
	const struct role *awaited; /* for which its calls wait; NULL: not known */
	size_t awaited_at;	    /* in the text: from here on it says where that computes */
	uint64_t cost_ns;   /* the most time that it cost the run */
	struct saving saves; /* what its repair would save, see fix_first_saving; findings are sorted by it */
	bool is_priced; /* by the rule: no edit of the graph stands for the repair */
};

/* Where the job's time went; see rules_time. */
struct job_time {
	struct partition partition;
	struct roles roles;
	struct pressures pressures;
};

/* How much of the events is read. TOTALS: the time of threads is not divided among calls, see partition_make, and there
 * are no causes. DEATH: nor do roles have lines of their samples, nor has what died one that it recorded last. */
enum detail { DETAIL_ALL, DETAIL_TOTALS, DETAIL_DEATH };

/* State that the rules of one run share. */
struct rules {
	const struct report_context *context;
	struct causality *causes; /* see rules_causes */
	enum detail detail;
	bool has_no_causes; /* the capture has none */
	struct gaps *gaps; /* built by the first rule that needs them, see rules_gaps */
	struct job_time *time;
	enum { CALLS_UNKNOWN, CALLS_NONE, CALLS_SOME } calls; /* whether there are CUDA calls, set by rule_has_calls */
	struct steady *steady; /* by image, see rule_steady */
	struct map polls; /* (stack, image) -> 1 + the answer of rule_polls */
	struct attribution attribution;  /* stack ids are attributed by this, see rule_line */
	struct os_rules *os;	/* what the rules of OS calls share, see rule_os.c */
	struct mpi_causes *mpi; /* what ranks of MPI wait for, see rule_mpi.c */
	struct ended *ended;	/* see summary_ended.h */
};

enum {
	RULE_NSYS = 1,
	RULE_OUTSIDE = 2,  /* the cause is outside of the program: never FIX FIRST, the summary notes it */
	RULE_PART = 8,	   /* what could be saved is only a part of the cost, and not known */
	RULE_NOT_TIME = 4, /* what it finds costs no known time, and is worth a line in any case */
	RULE_CALLERS = 64, /* who makes the calls does more for the same purpose: the price is that of the callers */
	RULE_WORK = 128,     /* what it finds may be needed, as what computes is: it is sorted among that */
	RULE_ENDED = 16,   /* why the run ended or stood still: before anything that takes time */
	RULE_SERIAL = 256,   /* what is done one after the other need not be: that comes before doing less of it */
	RULE_REMOVED = 32, /* the repair removes what its line does, which may be more than what the rule looks for */
};

struct rule {
	const char *name, *alias, *title;
	const char *advice; /* what to change, in one sentence */
	unsigned int flags;
	/* Sets the columns, then adds a row for each finding, or states why it could not check. */
	void (*run)(struct rules *rules, struct finding *ret);
};

extern const struct rule rule_list[];
extern const size_t rule_count;

/* By name or alias; NULL: there is no such rule. */
const struct rule *rule_find(const char *name);

/* Runs a rule. The caller frees the finding with finding_done. */
void rule_run(struct rules *rules, const struct rule *rule, struct finding *ret);
void finding_done(struct finding *f);

/* Whether it tells why the run ended or stood still. */
bool finding_is_end(const struct finding *f);

/* For places_in_order: the costliest first, then in the order given. */
int findings_by_cost(size_t left, size_t right, const void *findings);
void rules_done(struct rules *rules);
/* The graph of causes; NULL: see has_no_causes and enum detail. */
struct causality *rules_causes(struct rules *rules);
const struct gaps *rules_gaps(struct rules *rules);
const struct job_time *rules_time(struct rules *rules);

/* ---- for the implementations of rules ---- */

void rule_columns(struct finding *f, const enum column_id *columns, size_t count);
/* Cannot check if no process has recorded a stack with Python frames. */
void rule_needs_python(const struct rules *r, struct finding *f);
/* Like table_has(). */
#define rule_has(f, ...)                                                \
	rule_columns(f, (const enum column_id[]){__VA_ARGS__},         \
		     sizeof((const enum column_id[]){__VA_ARGS__}) / sizeof(enum column_id))
void rule_row(struct finding *f); /* Begins a row with the cells Rule and Verdict, and sets the verdict to found. */

/* Sets the verdict to could not check, with the reason. No effect once anything was found. */
void rule_unchecked(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* False, and the finding states it, if no CUDA call was recorded, or no device record. */
bool rule_has_calls(struct rules *r, struct finding *f);
bool rule_has_devices(struct rules *r, struct finding *f);

/* Likewise if no device executed anything. Builds the gaps. */
bool rule_has_work(struct rules *r, struct finding *f);

/* To be called at the end of a rule that needs device records: without a finding it is not clean if some processes
 * have none. */
void rule_missed_devices(const struct rules *r, struct finding *f);

/* Whether any copy from or to that memory (CUpti_ActivityMemoryKind) is defined, so that a search can find one. */
bool rule_has_copies(const struct rules *r, uint8_t memory);

/* From the first launch of an image to the end of its last one, in ticks; first 0: there is no launch. */
struct steady {
	uint64_t first, last;
};
struct steady rule_steady(struct rules *r, const struct image *image);

/* The line to which the stack is attributed, as in report lines. NULL: no stack was taken. */
const struct code_line *rule_line(struct rules *r, const struct image *image, uint32_t stack);
/* Whether the stack is in a library of MPI, which polls while it waits for messages. */
bool rule_polls(struct rules *r, const struct image *image, uint32_t stack);
void rule_line_cell(struct finding *f, const struct code_line *line);

/* Appends "1.23 ms", "12.3 ms" or "123 ms". */
void rule_time(struct buffer *b, uint64_t ns);

/* The time in which at least one of the spans existed. Sorts them. */
struct rule_span {
	uint64_t start, end;
};
uint64_t rule_union(struct rule_span *spans, size_t count);

/* The function if it belongs to the CUDA runtime or driver API, else NULL. */
const struct function *rule_cuda_function(const struct image *image, const struct event *e);

/* rule_mpi.c: at which call of MPI the others wait for the process, for at least that time in all: in words, and the
 * line; false: they do not, or it is not known. */
bool rule_late_rank(struct rules *r, size_t process, uint64_t least_ns, struct buffer *ret_text,
		    const struct code_line **ret_line);
void rules_mpi_done(struct rules *r);
void rules_os_done(struct rules *r);

/* ---- calls by process, function and source line ---- */

void rule_call_columns(struct finding *f);

/* The row of a call. `variant` tells calls of one function apart that have another name. */
uint32_t rule_call_row(struct rules *r, struct aggregate *aggregate, const struct image *image, uint32_t function,
		       unsigned int variant, const char *name, uint32_t stack);
/* Whose call it is, in the model. */
static inline size_t rule_call_process(const struct aggregate_row *row)
{
	return row->report_value;
}

/* Adds a row, or the largest ones, to the table. The line of the finding is that of the first with one. */
void rule_call_add_row(const struct rules *r, const struct aggregate_row *row, struct finding *f);
void rule_call_rows(const struct rules *r, struct aggregate *aggregate, struct finding *f);

/* ---- the rules ---- */

#define RULE_DECLARE(name, ...) void rule_##name(struct rules *, struct finding *);
RULES(RULE_DECLARE)
#undef RULE_DECLARE
