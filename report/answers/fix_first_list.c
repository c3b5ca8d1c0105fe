/* SPDX-License-Identifier: Apache-2.0 */
/* The list of causes, of which one stays at each line. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/fix_first_build.h"
#include "report/base/text.h"

void fix_first_cause_done(struct fix_first_cause *cause)
{
	buffer_done(&cause->text);
	buffer_done(&cause->called_from);
	buffer_done(&cause->edit);
	buffer_done(&cause->rest);
	for (size_t i = 0; i < cause->frame_count; i++) {
		free(cause->frames[i].line);
		free(cause->frames[i].function);
		free(cause->frames[i].own_place);
	}
	free(cause->callee);
}

void fix_first_limit(struct saving *s, uint64_t most)
{
	s->saved_ns = smaller_of(s->saved_ns, most);
	s->low_ns = smaller_of(s->low_ns, most);
	s->high_ns = smaller_of(s->high_ns, most);
}

static bool is_told(const struct choice *k, const struct fix_first_cause *cause)
{
	SCOPED(buffer) place = {0};

	return code_line_place(cause->line, &place) && list_find(told, &k->told, !strcmp(*told, place.data));
}

struct fix_first_cause *fix_first_at(const struct fix_first *f, const struct code_line *line)
{
	return line ? list_find(cause, f, code_line_is_same_place(cause->line, line)) : NULL;
}

static bool is_work(const struct fix_first_cause *cause)
{
	return cause->is_bound || cause->is_borrowed;
}

/* A wait beside what its line computes, which is worth more. */
static bool is_lesser_wait(const struct fix_first_cause *wait, const struct fix_first_cause *work)
{
	return !is_work(wait) && is_work(work) && work->frame_count && !wait->finding && !wait->how &&
	       wait->worth_ns < work->worth_ns;
}

/* Whether `a` tells more of their line than `b`: what can be changed there, rather than that it computes, or waits for
 * others, unless that is a wait and worth less; that it computes, rather than waits for what may be needed; in the
 * words of a rule, if there is one; that it is shared out unequally, because what all of them do is rather shared out
 * anew than removed; else the larger one. */
static bool is_better(const struct fix_first_cause *a, const struct fix_first_cause *b)
{
	if (is_lesser_wait(a, b) || is_lesser_wait(b, a))
		return is_lesser_wait(b, a);
	if (is_work(a) != is_work(b))
		return is_work(b);
	if (a->is_last != b->is_last)
		return b->is_last;
	if (!a->finding != !b->finding)
		return a->finding;
	if (a->is_balance != b->is_balance)
		return a->is_balance;
	return a->saves.saved_ns > b->saves.saved_ns;
}

/* A rule whose repair removes what the line does. */
static bool has_whole_line(const struct fix_first_cause *cause)
{
	return cause->finding && cause->finding->rule->flags & RULE_REMOVED &&
	       (cause->edit.size || cause->finding->is_priced);
}

/* A rule may only say for what the line's work is awaited: then the repair is that of the work. */
static bool has_price_of_work(const struct fix_first_cause *cause)
{
	return is_work(cause) || (cause->finding && cause->finding->has_price_of_work);
}

static void take_frames(struct fix_first_cause *kept, struct fix_first_cause *added)
{
	if (kept->frame_count || !added->frame_count)
		return;
	memcpy(kept->frames, added->frames, sizeof(kept->frames));
	kept->frame_count = added->frame_count;
	kept->callee = added->callee;
	kept->is_of_callers = true;
	added->frame_count = 0;
	added->callee = NULL;
}

/* Of what a library computes on a device, the place may choose a type with which that takes half of its time. */
static uint64_t worth_at_place(const struct fix_first_cause *cause)
{
	bool is_tuned = cause->how && text_ends_with(buffer_string(&cause->edit), "=0.5x");

	return is_tuned ? cause->saves.saved_ns / 2 : cause->worth_ns;
}

/* Two causes at one line, of which the better one stays, with the larger price if these are prices of the same kind of
 * change and not of more than the line. Takes ownership of `added`. */
static void join_causes(struct fix_first_cause *kept, struct fix_first_cause *added)
{
	bool is_same = has_price_of_work(kept) == has_price_of_work(added) && !kept->how == !added->how &&
		       kept->is_balance == added->is_balance && kept->is_last == added->is_last;

	if (is_better(added, kept)) {
		struct fix_first_cause worse = *kept;

		*kept = *added;
		*added = worse;
	}
	if (is_same && added->worth_ns > kept->worth_ns && !has_whole_line(kept)) {
		struct buffer edit = kept->edit;

		kept->saves = added->saves;
		kept->worth_ns = added->worth_ns;
		kept->edit = added->edit;
		added->edit = edit;
		take_frames(kept, added);
	}
	/* a place from which a device computes is worth no less than what the device computes */
	if (is_work(kept) && is_work(added))
		kept->worth_ns = larger_of(worth_at_place(kept), worth_at_place(added));
	fix_first_cause_done(added);
}

bool fix_first_removes(const struct fix_first *all, const struct own_function *f)
{
	return list_find(cause, all,
			 cause->finding && list_find(removed, &cause->finding->removed,
						     text_ends_with(f->file, removed->file) &&
							     !strcmp(f->name, removed->name)));
}

/* By how much the saving of another run may be larger. */
static uint64_t with_noise(uint64_t ns)
{
	return ns + ns * SAVING_PERCENT / 100 + SAVING_NS;
}

struct saving fix_first_told(const struct fix_first_cause *cause, struct buffer *ret_whole)
{
	struct saving s = cause->saves;
	uint64_t whole_ns = cause->whole_ns;
	/* a wait, of which the text has the share of a thread's time */
	bool is_share = !cause->finding && !cause->is_balance;
	/* the stated time is CPU time, and that of the edit has waits for a CPU */
	bool computes = cause->is_bound && !cause->is_last && !cause->how;

	if (!whole_ns || s.high_ns <= whole_ns)
		return s;
	if (cause->is_of_callers && cause->frame_count > 1) /* which are below the sentence, with their times */
		return s;
	if (cause->is_of_callers && cause->frame_count && cause->frames[0].ns > whole_ns) {
		buffer_print(ret_whole, "; %s takes ", cause->frames[0].function);
		rule_time(ret_whole, cause->frames[0].ns);
		return s;
	}
	if (computes || cause->is_of_callers || !s.cost_ns) {
		fix_first_limit(&s, whole_ns);
		return s;
	}
	if (s.cost_ns > whole_ns + whole_ns * SAVING_PERCENT / 100) { /* what is less is how runs differ */
		is_share = false;
		whole_ns = s.cost_ns;
		buffer_text(ret_whole, cause->line && cause->line->line ? "; its line takes " : "; all of it takes ");
		rule_time(ret_whole, whole_ns);
		buffer_text(ret_whole, " in all threads");
	}
	fix_first_limit(&s, is_share ? with_noise(whole_ns) : whole_ns);
	return s;
}

void fix_first_propose(struct choice *k, struct fix_first_cause *cause)
{
	struct fix_first *all = k->causes;
	struct fix_first_cause *same;
	bool is_time = !cause->finding || !(cause->finding->rule->flags & RULE_NOT_TIME);

	fix_first_limit(&cause->saves, k->roles->wall_ns);
	if (!cause->worth_ns)
		cause->worth_ns = cause->saves.saved_ns;
	if ((is_time && cause->saves.saved_ns < k->least_ns) || is_told(k, cause)) {
		fix_first_cause_done(cause);
		return;
	}
	same = fix_first_at(all, cause->line);
	if (same)
		join_causes(same, cause);
	else
		list_add(all, *cause);
}
