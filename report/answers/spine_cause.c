/* SPDX-License-Identifier: Apache-2.0 */
/* The spines of a role's samples as causes, with the time that passes through their functions. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/fix_first_build.h"
#include "report/answers/input_wait.h"
#include "report/base/table/name.h"

/* So much of a role's time is told. */
enum { END_PERCENT = 2 };

/* FOREIGN: of stacks without any function of the program's own, as those of a stripped program. */
enum spines_of { SPINES_OWN, SPINES_WITH_MODEL, SPINES_FOREIGN };

/* The samples of a role in functions of the program's own. */
struct role_spines {
	struct spine_time *times, *imports;
	size_t count, import_count;
	/* Without imports. model_ns: in the network, its gradients, its optimizer; algebra_ns: in linear algebra
	 * elsewhere */
	uint64_t all_ns, model_ns, algebra_ns, end_ns;
	struct spine found[SPINES];
	size_t found_count;
	bool is_foreign;
};

uint64_t fix_first_sample_ns(const struct role *r)
{
	uint64_t ns = 0, count = 0;

	list_each(const struct role_call, line, &r->lines) {
		ns += line->ns;
		count += line->count;
	}
	return count ? ns / count : 0;
}

static void find_spines(struct choice *k, const struct role *r, enum spines_of of, struct role_spines *ret)
{
	bool is_foreign = of == SPINES_FOREIGN;

	*ret = (struct role_spines){.times = mem_alloc((r->stack_count + 1) * sizeof(*ret->times)),
				    .imports = mem_alloc((r->stack_count + 1) * sizeof(*ret->imports)),
				    .is_foreign = is_foreign};
	for (size_t i = 0; i < r->stack_count; i++) {
		uint32_t stack = own_stack_of(&k->own, r->stacks[i].image, r->stacks[i].stack);
		const struct own_stack *own = &k->own.stacks[stack];

		if (own->is_import) {
			ret->imports[ret->import_count++] = (struct spine_time){stack, r->stacks[i].ns};
			continue;
		}
		ret->all_ns += r->stacks[i].ns;
		if (own->is_end)
			ret->end_ns += r->stacks[i].ns;
		if (own->is_model)
			ret->model_ns += r->stacks[i].ns;
		if (own->is_algebra)
			ret->algebra_ns += r->stacks[i].ns;
		if (own->count && own->is_foreign == is_foreign && !own->is_end) /* the end is no place */
			ret->times[ret->count++] = (struct spine_time){stack, r->stacks[i].ns};
	}
	if (is_foreign) /* a program whose lines nobody knows is one place, with the function that takes most of it */
		ret->found_count = spine_of_calls(&k->own, ret->times, ret->count, ret->found);
	else
		ret->found_count =
			spines_find(&k->own, ret->times, ret->count, of == SPINES_WITH_MODEL,
				    ret->all_ns / 100 * FIX_PERCENT, fix_first_sample_ns(r), ret->found);
}

static void role_spines_done(struct role_spines *s)
{
	free(s->times);
	free(s->imports);
}

void fix_first_add_frame(const struct choice *k, const struct spine_frame *f, uint64_t ns,
			 struct fix_first_cause *cause)
{
	const struct own_function *function = &k->own.functions[f->function];
	struct fix_first_frame *ret = &cause->frames[cause->frame_count++];
	double own = f->ns ? (double)f->own_ns / (double)f->ns : 0;
	double own_line = f->ns ? (double)f->own_line_ns / (double)f->ns : 0;
	const char *own_callee = k->own.texts.items[f->own_callee];
	SCOPED(buffer) line = {0}, own_place = {0};

	if (*function->file)
		buffer_print(&line, "%s:%u", function->file, f->line);
	if (f->own_line)
		buffer_print(&own_place, *own_callee ? ":%u (%s)" : ":%u", f->own_line, own_callee);
	*ret = (struct fix_first_frame){.line = mem_copy_text(buffer_string(&line), line.size),
					.function = mem_copy_text(function->name, strlen(function->name)),
					.ns = ns,
					.own_ns = (uint64_t)((double)ns * own),
					.is_recursive = f->is_recursive,
					.own_place = own_place.size ? mem_copy_text(own_place.data, own_place.size)
								    : NULL,
					.own_place_ns = (uint64_t)((double)ns * own_line)};
}

const struct role *fix_first_waiting(const struct choice *k, const struct role *r, const struct role_call **ret_call)
{
	list_each(const struct role, other, k->roles) {
		for (size_t n = 0; n < other->call_count && other != r; n++) {
			const struct role_end *end = &other->calls[n].end;
			size_t number = end->ns && end->computes ? k->roles->role_of[end->thread] : 0;
			const struct role *awaited = number    ? &k->roles->items[number - 1]
						     : end->ns ? NULL
							       : role_waited_for(k->roles, other, &other->calls[n]);

			if (awaited != r || other->calls[n].ns * 2 < other->lifetime_ns)
				continue;
			if (ret_call)
				*ret_call = &other->calls[n];
			return other;
		}
	}
	return NULL;
}

/* The user's line that waits most for a role of which nobody waits for half of the time: for the work of its threads,
 * or for a lock where another role ends the waits of these threads, because it gives them work. NULL: none. */
static const struct role_call *giving_call(const struct choice *k, const struct role *r, const struct role **ret_giving)
{
	const struct role_call *found = NULL;

	list_each(const struct role, other, k->roles) {
		bool gives = array_find(own, r->calls, r->call_count,
					own->end.ns &&
					&k->roles->items[k->roles->role_of[own->end.thread] - 1] == other);

		array_each(const struct role_call, call, other->calls, other->call_count) {
			const struct role_end *end = &call->end;
			bool is_for = end->ns ? k->roles->role_of[end->thread] == (size_t)(r - k->roles->items) + 1
					      : gives && blocked_waits_for_others(call->kind);

			if (other != r && is_for && call->is_users && !call->is_timed &&
			    (!found || call->ns > found->ns)) {
				found = call;
				*ret_giving = other;
			}
		}
	}
	return found;
}

/* "job.py:12 f (copy.deepcopy)" */
static void frame_words(const struct fix_first_frame *f, const char *callee, struct buffer *ret)
{
	if (*f->line)
		buffer_print(ret, "%s ", code_line_file(f->line));
	name_brief(ret, f->function);
	if (*callee)
		buffer_print(ret, " (%s)", callee);
}

/* True: a comma ends what is said about the role. is_clause: a verb follows. */
static bool add_role(const struct choice *k, const struct role *r, bool is_clause, struct buffer *ret)
{
	const struct role_call *call;
	const struct role *waiting = r->is_main ? NULL : fix_first_waiting(k, r, &call);

	if (r->is_main)
		return false;
	buffer_text(ret, ", in ");
	role_words(r, ret);
	if (!waiting)
		call = giving_call(k, r, &waiting);
	if (waiting) {
		buffer_text(ret, ", for which ");
		role_words(waiting, ret);
		buffer_text(ret, waiting->threads > 1 ? " wait" : " waits");
		if (call->is_users) {
			buffer_text(ret, " at ");
			code_line_short(role_call_line(k->context, call), ret);
		}
	}
	return waiting || is_clause;
}

/* is_algebra: most of what passes through the outermost one is not the place's. */
static void frames_words(bool is_algebra, struct fix_first_cause *cause)
{
	const struct fix_first_frame *outer = &cause->frames[0], *place = &cause->frames[cause->frame_count - 1];

	buffer_text(&cause->text, cause->frame_count > 1 ? " pass through " : " at ");
	frame_words(outer, cause->frame_count > 1 ? "" : cause->callee, &cause->text);
	if (cause->frame_count > 1 && !is_algebra) {
		buffer_text(&cause->text, " down to ");
		frame_words(place, cause->callee, &cause->text);
	}
}

static void spine_words(const struct choice *k, const struct role *r, const struct role_spines *s, bool is_algebra,
			struct fix_first_cause *cause)
{
	const struct fix_first_frame *outer = &cause->frames[0];
	uint64_t cpu_ns = s->all_ns + r->import_ns;
	bool is_unknown = !strcmp(outer->function, CODE_LINE_UNKNOWN), has_clause;
	/* of which others have written the functions; of one frame, nothing is known of them */
	bool is_program = !is_unknown && s->is_foreign && !*outer->line &&
			  (cause->frame_count > 1 || !*cause->callee);
	bool is_told;

	rule_time(&cause->text, outer->ns);
	buffer_text(&cause->text, " of ");
	rule_time(&cause->text, k->roles->wall_ns);
	has_clause = add_role(k, r, cause->frame_count > 1 && !is_program, &cause->text);
	is_told = is_program && !r->is_main && (strstr(r->label, outer->function) || (has_clause && !r->is_program));
	buffer_text(&cause->text, has_clause && !is_told ? "," : "");
	cause->frames_at = cause->text.size;
	if (is_unknown)
		buffer_text(&cause->text, " in " CODE_LINE_NO_NAMES);
	else if (is_program && !is_told)
		buffer_print(&cause->text, " in %s", outer->function);
	else if (!is_program)
		frames_words(is_algebra, cause);
	if (is_program && cause->frame_count > 1) {
		buffer_text(&cause->text, ", ");
		rule_time(&cause->text, cause->frames[1].ns);
		buffer_text(&cause->text, " of it in ");
		frame_words(&cause->frames[1], cause->callee, &cause->text);
	} else if (is_program) {
		buffer_print(&cause->rest, "; %s has no names of functions without its debug information",
			     outer->function);
	}
	cause->is_program = is_program;
	if (s->model_ns * 100 >= cpu_ns)
		buffer_print(&cause->rest, "; the model itself takes %.0f %% of the CPU time",
			     100 * (double)s->model_ns / (double)cpu_ns);
	if (s->algebra_ns * 100 >= cpu_ns)
		buffer_print(&cause->rest, "; linear algebra takes %.0f %% of the CPU time",
			     100 * (double)s->algebra_ns / (double)cpu_ns);
	if (s->end_ns * 100 >= cpu_ns * END_PERCENT)
		buffer_print(&cause->rest,
			     "; this includes a share of the program's end, which takes %.0f %% of the CPU time",
			     100 * (double)s->end_ns / (double)cpu_ns);
	buffer_text(&cause->text, buffer_string(&cause->rest));
}

const struct code_line *fix_first_place_line(const struct choice *k, const struct spine_frame *f)
{
	const struct own_function *function = &k->own.functions[f->function];

	return symbols_line(k->context->symbols, function->name, *function->file ? function->file : NULL, f->line);
}

/* "function~job.py:f=0", "function~job.py:f|job.py:g=0" */
static void edit_words(const struct choice *k, const uint32_t *functions, size_t count, struct buffer *ret)
{
	for (size_t i = 0; i < count; i++) {
		const struct own_function *function = &k->own.functions[functions[i]];

		buffer_print(ret, "%s%s%s%s", i ? "|" : "function~", path_name(function->file),
			     *function->file ? ":" : "", function->name);
	}
	buffer_text(ret, "=0");
}

/* The part of a saving below the outermost function that is beside linear algebra. */
static uint64_t beside_algebra(const struct spine *spine, uint64_t ns)
{
	uint64_t cpu_ns = spine->frames[0].ns;

	return spine->algebra_ns ? (uint64_t)((double)ns * (double)cpu_ns / (double)(cpu_ns + spine->algebra_ns)) : ns;
}

/* A caller need not carry all of the place's time, so each has the time that passes through it or the place. Those in
 * between may also be around other things: they have no more than the outermost one, whose price this is. A program of
 * others is the place itself. */
static void price_frames(struct choice *k, const struct spine *spine, bool is_foreign, struct fix_first_cause *cause)
{
	uint32_t pair[2] = {spine->frames[0].function, spine->frames[spine->count - 1].function};

	for (size_t i = 0; i < spine->count; i++) {
		uint32_t function = spine->frames[i].function;
		uint32_t functions[2] = {is_foreign ? pair[1] : function, is_foreign ? function : pair[1]};
		struct saving saves;
		uint64_t ns = costs_below(k->costs, &k->own, functions, 2, &saves);

		if (!i)
			cause->saves = saves;
		fix_first_add_frame(k, &spine->frames[i], i ? smaller_of(ns, cause->frames[0].ns) : ns, cause);
	}
	edit_words(k, pair, spine->count > 1 && !is_foreign ? 2 : 1, &cause->edit);
}

/* What devices do, and the waits for them, are causes by themselves: then what computes is worth its CPU time. Linear
 * algebra is as fast as its library, so that the part beside it is what can be made faster. */
static uint64_t worth_of(const struct role *r, const struct spine *spine, const struct saving *saves)
{
	uint64_t ns = array_sum(call, r->calls, r->call_count, call->kind == BLOCKED_GPU ? call->ns : 0),
		 cpu_ns = spine->frames[0].ns, most;

	ns = role_wall_ns(r, ns);
	most = ns < saves->saved_ns ? saves->saved_ns - ns : 0;
	most = ns ? smaller_of(most, role_wall_ns(r, cpu_ns)) : most;
	return beside_algebra(spine, most) / 2;
}

/* Time in which a role waits for its input or its clients. */
static uint64_t input_ns(const struct choice *k, const struct role *r)
{
	return array_sum(call, r->calls, r->call_count, input_of_wait(k->context, r, call) ? call->ns : 0);
}

/* What waits for input stays as it is, whatever waits. */
static void limit_to_work(const struct choice *k, const struct role *r, struct fix_first_cause *cause)
{
	uint64_t ns = input_ns(k, r), most = r->lifetime_ns > ns ? r->lifetime_ns - ns : 0;

	if (!ns)
		return;
	if (cause->saves.high_ns > most) {
		uint64_t low_ns = cause->saves.low_ns;

		function_interval(most, &cause->saves);
		cause->saves.low_ns = smaller_of(cause->saves.low_ns, low_ns);
		buffer_clear(&cause->edit); /* which stands for more */
	}
	for (size_t i = 0; i < cause->frame_count; i++)
		cause->frames[i].ns = smaller_of(cause->frames[i].ns, most);
}

/* Of the main thread, and of what another role waits for, the CPU time has a price in any case, though the path leads
 * through waits of which nobody knows the end. */
static void price_by_cpu(const struct choice *k, const struct role *r, const struct spine *spine,
			 struct fix_first_cause *cause)
{
	uint64_t ns = role_wall_ns(r, spine->frames[0].ns);

	if (cause->saves.saved_ns >= k->least_ns || ns < k->least_ns || (!r->is_main && !fix_first_waiting(k, r, NULL)))
		return;
	function_interval(ns, &cause->saves);
	buffer_clear(&cause->edit); /* which stands for less */
	for (size_t i = 0; i < spine->count; i++)
		cause->frames[i].ns = role_wall_ns(r, spine->frames[i].ns);
}

/* Where a library works for another role, what can be changed is the line that waits for it. */
static void borrow_line(const struct choice *k, const struct role *r, struct fix_first_cause *cause)
{
	const struct role *giving;
	const struct role_call *call;

	if (r->is_main)
		return;
	if (!fix_first_waiting(k, r, &call))
		call = r->is_program ? NULL : giving_call(k, r, &giving);
	if (!call || !call->is_users)
		return;
	cause->line = role_call_line(k->context, call);
	cause->is_borrowed = true;
}

/* Whether half of what passes through a function of the role's is done for a team of OpenMP that shares it out
 * unequally (balance.c). */
static bool is_of_team(struct choice *k, const struct role *r, uint32_t function)
{
	uint64_t all_ns = 0, team_ns = 0;

	if (!k->team_worth_ns[r - k->roles->items])
		return false;
	array_each(const struct role_stack, s, r->stacks, r->stack_count) {
		uint32_t stack = own_stack_of(&k->own, s->image, s->stack);

		if (!array_find(f, own_frames(&k->own, stack), k->own.stacks[stack].count, f->function == function))
			continue;
		all_ns += s->ns;
		team_ns += attribution_is_below_openmp(k->context->symbols, s->image, s->stack) ? s->ns : 0;
	}
	return team_ns * 2 >= all_ns;
}

/* `worth_ns`: of the spine before, behind which this one is; UINT64_MAX: none. What computes may save a part, so what
 * can simply be removed comes before it if that saves half as much. False: it saves too little. */
static bool propose_spine(struct choice *k, const struct role *r, const struct role_spines *s,
			  const struct spine *spine, uint64_t *worth_ns)
{
	struct fix_first_cause cause = {.rule = "bound_by", .is_bound = true,
					.callee = k->own.texts.items[spine->callee],
					.role = s->is_foreign ? NULL : r,
					.place = spine->frames[spine->count - 1].function};
	/* mostly linear algebra, which need not be the place's: then what is said is about the outermost function */
	bool is_algebra = spine->algebra_ns > spine->frames[0].ns, is_told;
	/* a command that is one place, whose processes may be too short for samples */
	bool is_again = s->is_foreign && r->is_program && r->processes >= PRICE_STARTED;

	/* by CPU time, so that a busy machine changes nothing */
	if ((is_again ? role_cpu(r).work_ns : spine->frames[0].ns) < FIX_NS ||
	    (s->is_foreign && fix_first_removes(k->causes, &k->own.functions[cause.place])))
		return false;
	price_frames(k, spine, s->is_foreign, &cause);
	price_by_cpu(k, r, spine, &cause);
	limit_to_work(k, r, &cause);
	cause.callee = mem_copy_text(cause.callee, strlen(cause.callee));
	/* of threads and processes of one program without lines, one stays */
	cause.line = fix_first_place_line(k, &spine->frames[s->is_foreign || is_algebra ? 0 : spine->count - 1]);
	cause.worth_ns = worth_of(r, spine, &cause.saves);
	/* what a team shares out unequally is rather shared out anew than made faster */
	if (is_of_team(k, r, cause.place))
		*worth_ns = smaller_of(*worth_ns, k->team_worth_ns[r - k->roles->items]);
	if (cause.worth_ns >= *worth_ns)
		cause.worth_ns = *worth_ns - (*worth_ns > 0);
	*worth_ns = cause.worth_ns;
	if (cause.frame_count > 1 && !is_algebra)
		buffer_text(&cause.called_from, cause.frames[cause.frame_count - 2].line);
	cause.actor = costs_actor(k->costs, cause.line, "");
	spine_words(k, r, s, is_algebra, &cause);
	if (s->is_foreign)
		borrow_line(k, r, &cause);
	is_told = cause.saves.saved_ns >= k->least_ns;
	fix_first_propose(k, &cause);
	return is_told;
}

static bool propose_spines(struct choice *k, const struct role *r, const struct role_spines *s)
{
	uint64_t worth_ns = UINT64_MAX;
	bool is_told = false;

	for (size_t i = 0; i < s->found_count; i++)
		is_told |= propose_spine(k, r, s, &s->found[i], &worth_ns);
	return is_told;
}

/* The import statement that takes most. It is rather needed than what computes. */
static void propose_import(struct choice *k, const struct role *r, const struct role_spines *s)
{
	struct fix_first_cause cause = {.rule = "bound_by", .is_bound = true};
	const struct spine_frame *at;
	struct spine spine;
	const char *callee;
	uint64_t ns;

	if (!spine_of_calls(&k->own, s->imports, s->import_count, &spine))
		return;
	at = &spine.frames[spine.count - 1];
	ns = at->ns < FIX_NS ? 0
			     : costs_of_import(k->costs, &k->own, (struct own_frame){at->function, at->line},
					       &cause.saves);
	if (!ns)
		return;
	cause.line = fix_first_place_line(k, at);
	cause.worth_ns = cause.saves.low_ns / 2;
	cause.actor = costs_actor(k->costs, cause.line, "");
	callee = spine.callee ? k->own.texts.items[spine.callee] : "imports";
	cause.callee = mem_copy_text(callee, strlen(callee));
	fix_first_add_frame(k, at, ns, &cause);
	rule_time(&cause.text, ns);
	buffer_text(&cause.text, " of ");
	rule_time(&cause.text, k->roles->wall_ns);
	if (add_role(k, r, false, &cause.text))
		buffer_text(&cause.text, ",");
	cause.frames_at = cause.text.size;
	frames_words(false, &cause);
	fix_first_propose(k, &cause);
}

/* ---- calls ---- */

/* The calls at a line, by their stacks. The caller frees them. */
static struct spine_time *calls_at(struct choice *k, const struct code_line *line, size_t *ret_count)
{
	struct editables *all = &costs_causes(k->costs)->editables;
	struct spine_time *ret = mem_alloc((all->stack_count + 1) * sizeof(*ret));

	*ret_count = 0;
	array_each(const struct editable_stack, s, all->stacks, all->stack_count) {
		uint32_t stack;

		if (all->items[s->what].kind == EDITABLE_CPU || editable_line(all, s->what) != line)
			continue;
		stack = own_stack_of(&k->own, s->image, s->stack);
		if (k->own.stacks[stack].count && !k->own.stacks[stack].is_foreign)
			ret[(*ret_count)++] = (struct spine_time){stack, s->ns};
	}
	return ret;
}

/* The role that computes while these calls wait for it; NULL: none is known. */
static const struct role *awaited_role(const struct choice *k, const struct code_line *line)
{
	const struct role *found = NULL;

	for (size_t i = 0; i < k->roles->count && !found; i++) {
		const struct role *r = &k->roles->items[i];

		for (size_t n = 0; n < r->call_count && !found; n++) {
			const struct role_end *end = &r->calls[n].end;

			if (end->ns && end->computes && k->roles->role_of[end->thread] &&
			    role_call_line(k->context, &r->calls[n]) == line)
				found = &k->roles->items[k->roles->role_of[end->thread] - 1];
		}
	}
	return found;
}

/* What mostly starts, ends or waits is not changed where it computes. */
static bool is_computing(const struct role *r)
{
	return role_cpu(r).work_ns * 2 >= r->lifetime_ns - r->delay_ns;
}

/* Where the awaited role computes: that is what to change. */
static bool add_awaited(struct choice *k, struct fix_first_cause *cause)
{
	const struct role *r = cause->finding && cause->finding->awaited ? cause->finding->awaited
									 : awaited_role(k, cause->line);
	SCOPED(role_spines) s = {0};

	if (!r || r->is_main || !is_computing(r))
		return false;
	find_spines(k, r, SPINES_OWN, &s);
	cause->awaited_at = cause->finding ? cause->finding->awaited_at : 0;
	/* a line that names a place itself has the place and two callers */
	for (size_t i = cause->awaited_at || !s.found_count || s.found->count < 3 ? 0 : s.found->count - 3;
	     s.found_count && i < s.found->count; i++)
		fix_first_add_frame(k, &s.found->frames[i], s.found->frames[i].ns, cause);
	if (s.found_count)
		cause->callee = mem_copy_text(k->own.texts.items[s.found->callee],
					      strlen(k->own.texts.items[s.found->callee]));
	return s.found_count > 0;
}

/* Behind the line with which the sentence ends; of several functions, a line for each follows, with the callee. */
static void add_callee(struct fix_first_cause *cause, const char *callee)
{
	SCOPED(buffer) place = {0};

	code_line_short(cause->line, &place);
	if (*callee && cause->frame_count < 2 && text_ends_with(buffer_string(&cause->text), place.data))
		buffer_print(&cause->text, " (%s)", callee);
}

void fix_first_callers(struct choice *k, struct fix_first_cause *cause)
{
	uint64_t ns[SPINE_FRAMES], saved_ns = cause->saves.saved_ns;
	struct saving saves;
	struct spine_time *times;
	struct spine spine = {0};
	size_t count, first;

	if (!costs_causes(k->costs) || !cause->line || cause->frame_count || cause->how || !saved_ns)
		return;
	if (add_awaited(k, cause))
		return;
	times = calls_at(k, cause->line, &count);
	spine_of_calls(&k->own, times, count, &spine);
	free(times);
	/* a change of a function saves FUNCTION_LEAST of it at least: beyond that it is about other things */
	for (first = spine.count; first; first--) {
		struct saving below;

		ns[first - 1] = costs_below(k->costs, &k->own, &spine.frames[first - 1].function, 1, &below);
		if (FUNCTION_LEAST * (double)ns[first - 1] > (double)saved_ns)
			break;
		saves = below;
	}
	if (first == spine.count) {
		add_callee(cause, count ? k->own.texts.items[spine.callee] : "");
		return;
	}
	for (size_t i = first; i < spine.count; i++)
		fix_first_add_frame(k, &spine.frames[i], ns[i] < ns[first] ? ns[i] : ns[first], cause);
	cause->callee = mem_copy_text(k->own.texts.items[spine.callee], strlen(k->own.texts.items[spine.callee]));
	add_callee(cause, cause->callee);
	cause->is_of_callers = saves.saved_ns && (!cause->saves.low_ns ||
						  (cause->finding && cause->finding->rule->flags & RULE_CALLERS));
	if (cause->is_of_callers) {
		cause->saves = saves;
		buffer_clear(&cause->edit);
		edit_words(k, &spine.frames[first].function, 1, &cause->edit);
	}
}

bool fix_first_spines(struct choice *k, const struct role *r)
{
	SCOPED(role_spines) s = {0};

	find_spines(k, r, SPINES_OWN, &s);
	if (!propose_spines(k, r, &s)) {
		enum spines_of rest = s.count ? SPINES_WITH_MODEL : SPINES_FOREIGN;

		role_spines_done(&s);
		find_spines(k, r, rest, &s);
		propose_spines(k, r, &s);
	}
	propose_import(k, r, &s);
	return s.found_count > 0;
}
