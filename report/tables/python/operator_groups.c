/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/python/operator_groups.h"

#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/backward.h"
#include "report/events/nvtx/operator_text.h"

static const char not_attributed[] = "(not attributed)";

/* ---- phases ---- */

/* A range comes after those around it. */
static void find_phases(struct operator_groups *g, const struct nvtx_tree *tree)
{
	SCOPED_MEMORY enum operator_phase *phases = mem_alloc((tree->count + 1) * sizeof(*phases));
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < tree->count; i++) {
		const struct nvtx_node *n = &tree->nodes[i];
		enum operator_phase outer = n->parent == NVTX_NO_PARENT ? OPERATOR_FORWARD : phases[n->parent];

		buffer_clear(&text);
		nvtx_name(tree->image->trace, n->domain, n->text, &text);
		phases[i] = operator_phase(buffer_string(&text), outer) ?: outer;
		g->numbers[i] = interner_text_number(&g->texts, operator_phases[phases[i]]);
	}
}

/* ---- what a stack tells ---- */

static void frames_text(struct operator_groups *g, const struct image *image, uint32_t stack, struct buffer *ret)
{
	const struct symbol_frame *frames;
	size_t count = attribution_users(&g->attribution, image, stack, &frames);

	for (size_t i = 0; i < count && i < g->context->group_depth; i++) {
		struct symbol_frame frame = frames[i];

		symbols_name(g->attribution.symbols, &frame);
		buffer_text(ret, i ? " <- " : "");
		code_line_text(frame.exact, ret);
	}
}

static uint32_t group_of_stack(struct operator_groups *g, const struct image *image, uint32_t stack)
{
	SCOPED(buffer) text = {0};

	if (g->context->group == GROUP_MODULE)
		attribution_modules(&g->attribution, image, stack, &text);
	else if (g->context->group == GROUP_STACK)
		frames_text(g, image, stack, &text);
	else
		code_line_text(attribution_exact(&g->attribution, image, stack), &text);
	return interner_text_number(&g->texts, text.size ? text.data : not_attributed);
}

/* ---- stacks of ranges ---- */

/* The first launch within each range. */
struct first_launches {
	struct backward backward;
	uint32_t *stacks; /* 0: none */
	uint64_t *causes; /* sequence number of the forward operator + 1, 0: none */
};

static void take_launch(void *context, const struct correlated *k)
{
	struct first_launches *l = context;
	enum backward_kind kind;
	uint64_t seq;

	if (!k->thread || !k->record_count)
		return;
	kind = backward_take(&l->backward, k, &seq);
	NVTX_NODES_AROUND (l->backward.tree.nodes, i, l->backward.range) {
		if (kind == BACKWARD_OF_FORWARD && !l->causes[i])
			l->causes[i] = seq + 1;
		if (!l->stacks[i])
			l->stacks[i] = event_stack(&k->event);
	}
}

static void find_stacks(struct operator_groups *g, const struct nvtx_tree *tree)
{
	struct first_launches l = {.stacks = mem_alloc((tree->count + 1) * sizeof(*l.stacks)),
				   .causes = mem_alloc((tree->count + 1) * sizeof(*l.causes))};
	struct map known = {0}; /* stack -> number + 1 */

	backward_begin(&l.backward, tree->image);
	attribute_image(g->context, tree->image, &l, take_launch);
	for (size_t i = 0; i < tree->count; i++) {
		const struct backward_cause *cause =
			l.causes[i] ? backward_cause(&l.backward, l.causes[i] - 1) : NULL;
		uint32_t stack = cause ? cause->stack : l.stacks[i];
		uint64_t *number = map_put(&known, stack, 0, NULL);

		if (!*number)
			*number = 1ull + group_of_stack(g, tree->image, stack);
		g->numbers[i] = (uint32_t)*number - 1;
	}
	backward_done(&l.backward);
	map_done(&known);
	free(l.stacks);
	free(l.causes);
}

void operator_groups_of(struct operator_groups *g, const struct nvtx_tree *tree)
{
	free(g->numbers);
	g->numbers = mem_alloc((tree->count + 1) * sizeof(*g->numbers));
	g->attribution.symbols = g->context->symbols;
	if (g->context->group == GROUP_PHASE)
		find_phases(g, tree);
	else if (g->context->group != GROUP_SHAPE && g->context->group != GROUP_NAME)
		find_stacks(g, tree);
}

void operator_groups_done(struct operator_groups *g)
{
	attribution_done(&g->attribution);
	interner_done(&g->texts);
	free(g->numbers);
}
