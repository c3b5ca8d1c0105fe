/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/backward.h"

#include <stdlib.h>

#include "report/events/nvtx/operator_text.h"

struct backward_range {
	uint64_t seq; /* OPERATOR_NO_SEQ: none */
	bool is_backward, is_checkpoint;
};

static struct backward_range range_of(const struct backward *b, size_t node, struct buffer *text)
{
	const struct nvtx_node *n = &b->tree.nodes[node];
	struct backward_range ret = {.seq = OPERATOR_NO_SEQ};
	struct operator_text t;

	if (n->domain || !n->is_pushpop)
		return ret;
	buffer_clear(text);
	nvtx_name(b->tree.image->trace, 0, n->text, text);
	if (!operator_text_parse(buffer_string(text), &t))
		return ret;
	ret.seq = operator_seq(&t);
	ret.is_backward = operator_is_backward(&t.name);
	ret.is_checkpoint = ret.is_backward && operator_is_checkpoint(&t.name);
	return ret;
}

void backward_begin(struct backward *b, const struct image *image)
{
	SCOPED(buffer) text = {0};

	*b = (struct backward){0};
	nvtx_tree_make(&b->tree, image, true);
	b->ranges = mem_alloc((b->tree.count + 1) * sizeof(*b->ranges));
	for (size_t i = 0; i < b->tree.count; i++)
		b->ranges[i] = range_of(b, i, &text);
}

static void backward_visit_range(void *context, size_t node)
{
	((struct backward *)context)->range = node;
}

static void take_forward(struct backward *b, const struct correlated *k)
{
	uint32_t stack = event_stack(&k->event);
	size_t made = 0;

	NVTX_NODES_AROUND (b->tree.nodes, i, b->range) {
		uint64_t *place;

		if (b->ranges[i].is_backward)
			break;
		if (b->ranges[i].seq == OPERATOR_NO_SEQ || !stack)
			continue;
		place = map_put(&b->numbers, b->ranges[i].seq, 0, NULL);
		if (*place)
			continue;
		if (!made) {
			mem_append(b->causes, b->count, b->capacity,
				   (struct backward_cause){k->thread, event_start(&k->event), stack});
			made = b->count;
		}
		*place = made;
	}
}

enum backward_kind backward_take(struct backward *b, const struct correlated *k, uint64_t *ret_seq)
{
	size_t node = NVTX_NO_PARENT;

	b->range = NVTX_NO_PARENT;
	attribute_ranges(&b->tree, k, b, backward_visit_range);
	NVTX_NODES_AROUND (b->tree.nodes, i, b->range)
		if (node == NVTX_NO_PARENT && b->ranges[i].is_backward)
			node = i;
	if (node == NVTX_NO_PARENT || b->ranges[node].is_checkpoint || b->ranges[node].seq == OPERATOR_NO_SEQ) {
		take_forward(b, k);
		return node == NVTX_NO_PARENT ? BACKWARD_NONE : BACKWARD_AGAIN;
	}
	*ret_seq = b->ranges[node].seq;
	NVTX_NODES_AROUND (b->tree.nodes, i, b->range) {
		if (i == node)
			break;
		if (b->ranges[i].seq != OPERATOR_NO_SEQ && b->ranges[i].seq != *ret_seq)
			*map_put(&b->aliases, b->ranges[i].seq, 0, NULL) = *ret_seq + 1;
	}
	return BACKWARD_OF_FORWARD;
}

const struct backward_cause *backward_cause(const struct backward *b, uint64_t seq)
{
	const uint64_t *place = map_find(&b->numbers, operator_first_seq(&b->numbers, &b->aliases, seq), 0);

	return place ? &b->causes[*place - 1] : NULL;
}

void backward_done(struct backward *b)
{
	nvtx_tree_done(&b->tree);
	free(b->ranges);
	free(b->causes);
	map_done(&b->numbers);
	map_done(&b->aliases);
}
