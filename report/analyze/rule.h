/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: each looks for one kind of trouble and answers found, clean, or could not check. The list is in rule_list.h; what
 * several of them need is in rule.c. Bounded: a rule keeps its worst rows and sums by name, never all events. */
#ifndef PILLION_RULE_H
#define PILLION_RULE_H

#include "report/base/emit.h"
#include "report/derive/stacks/attribution.h"
#include "report/derive/device/correlate.h"
#include "report/derive/device/gap.h"
#include "report/analyze/rule_list.h"

enum verdict { VERDICT_CLEAN, VERDICT_FOUND, VERDICT_UNCHECKED };

struct finding {
	const struct rule *rule;
	enum verdict verdict;
	struct table table; /* Rule, Verdict, the rule's columns; one row where nothing was found */
	struct buffer text; /* found: what, in figures; could not check: why */
	struct buffer line; /* "function (file:line)" that the worst of it came from; empty: no stack was taken */
	uint64_t cost_ns;   /* what it cost the run at most: findings are sorted by it */
};

/* What rules share while they run one after the other. */
struct rules {
	const struct report_context *context;
	struct gaps *gaps; /* made by the first that asks, see rules_gaps */
	enum { CALLS_UNKNOWN, CALLS_NONE, CALLS_SOME } calls; /* of CUDA, as rule_has_calls found */
	struct steady *steady; /* of each image, see rule_steady */
	struct attribution attribution;  /* see rule_line */
};

enum { RULE_NSYS = 1 };

struct rule {
	const char *name, *alias, *title;
	const char *advice; /* what to change, one sentence */
	unsigned int flags;
	/* Sets the columns, then adds rows where it finds anything, or says why it could not look. */
	void (*run)(struct rules *rules, struct finding *ret);
};

extern const struct rule rule_list[];
extern const size_t rule_count;

/* By name or alias, or NULL. */
const struct rule *rule_find(const char *name);

/* Runs a rule. The finding is to be freed with finding_done. */
void rule_run(struct rules *rules, const struct rule *rule, struct finding *ret);
void finding_done(struct finding *f);
void rules_done(struct rules *rules);
const struct gaps *rules_gaps(struct rules *rules);

/* The `size` costliest that found anything, of our own rules; to be freed. Returns how many. */
size_t rules_worst(struct rules *rules, struct finding *ret, size_t size);

/* ---- rule.c: for those who write rules ---- */

void rule_columns(struct finding *f, const struct column_head *columns, size_t count);
/* As table_has() */
#define rule_has(f, ...)                                                \
	rule_columns(f, (const struct column_head[]){__VA_ARGS__},      \
		     sizeof((const struct column_head[]){__VA_ARGS__}) / sizeof(struct column_head))
void rule_row(struct finding *f); /* begins a row: its Rule and Verdict; makes it `found` */

/* Could not look, and why. Does nothing once anything was found. */
void rule_unchecked(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* False, and the finding says so: no CUDA call was recorded; no device record was. */
bool rule_has_calls(struct rules *r, struct finding *f);
bool rule_has_devices(struct rules *r, struct finding *f);

/* Likewise where devices did nothing at all; makes the gaps. */
bool rule_has_work(struct rules *r, struct finding *f);

/* At the end of a rule that needs device records: one that found nothing is not clean where some processes have none. */
void rule_missed_devices(const struct rules *r, struct finding *f);

/* Whether any copy of that memory (CUpti_ActivityMemoryKind) is defined at all, so that it is worth looking. */
bool rule_has_copies(const struct rules *r, uint8_t memory);

/* From the first launch of an image to the end of its last, in ticks; first 0: it launches nothing. */
struct steady {
	uint64_t first, last;
};
struct steady rule_steady(struct rules *r, const struct image *image);

/* Appends the line to show for a stack: that which report lines charges it to. Nothing where no stack was taken. */
void rule_line(struct rules *r, const struct image *image, uint32_t stack, struct buffer *ret);
void rule_line_cell(struct finding *f, const char *line);
uint32_t rule_stack(const struct event *e); /* id, 0: not taken */

/* Appends "1.234 ms". */
void rule_time(struct buffer *b, uint64_t ns);

/* ns of CLOCK_REALTIME that the process lasted. */
uint64_t rule_wall(const struct process *p);

/* CUDA's, of either layer; NULL: another's. */
const struct function *rule_cuda_function(const struct image *image, const struct event *e);

/* ---- the rules ---- */

#define RULE_DECLARE(name, ...) void rule_##name(struct rules *, struct finding *);
RULES(RULE_DECLARE)
#undef RULE_DECLARE

#endif
