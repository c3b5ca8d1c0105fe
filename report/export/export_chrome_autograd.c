/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows from PyTorch's forward operators to their backward operators. Autograd's annotations have a sequence
 * number, "aten::mul, seq = 7", that is equal on both sides. Numbers are per thread: one that two threads use in
 * forward operators is ambiguous and ignored. */
#include <stdlib.h>
#include <string.h>

#include "report/export/export_chrome.h"

struct chrome_pair {
	uint64_t forward_ns, backward_ns; /* of CLOCK_REALTIME; 0: not seen */
	uint32_t forward_tid, backward_tid;
	bool is_ambiguous;
};

static struct chrome_pair *pair_of(struct chrome_autograd *a, uint64_t sequence)
{
	bool is_new;
	uint64_t *place = map_put(&a->by_sequence, sequence, 0, &is_new);

	if (is_new) {
		*place = a->count;
		a->pairs = mem_grow(a->pairs, a->count, &a->capacity, sizeof(*a->pairs));
		a->pairs[a->count++] = (struct chrome_pair){0};
	}
	return &a->pairs[*place];
}

void chrome_autograd_range(struct chrome_autograd *a, const char *text, uint32_t tid, uint64_t start_ns)
{
	static const char mark[] = ", seq = ", word[] = "Backward", engine[] = "autograd::engine::";
	const char *number = strstr(text, mark), *backward = number ? strstr(text, word) : NULL;
	struct chrome_pair *p;
	char *end;
	uint64_t sequence;

	if (!number)
		return;
	sequence = strtoull(number + strlen(mark), &end, 10);
	if (end == number + strlen(mark) || sequence > INT64_MAX)
		return;
	p = pair_of(a, sequence);
	if ((backward && backward < number) || strstr(text, engine)) {
		/* The engine's own annotation encloses that of the function. */
		if (!p->backward_ns || start_ns < p->backward_ns) {
			p->backward_ns = start_ns;
			p->backward_tid = tid;
		}
		return;
	}
	/* Composite operators share the number of their parts: it belongs to the innermost one, which begins last. */
	p->is_ambiguous |= p->forward_ns && p->forward_tid != tid;
	if (start_ns >= p->forward_ns) {
		p->forward_ns = start_ns;
		p->forward_tid = tid;
	}
}

void chrome_autograd_flows(struct chrome *w)
{
	for (size_t i = 0; i < w->autograd.count; i++) {
		const struct chrome_pair *p = &w->autograd.pairs[i];

		if (p->is_ambiguous || !p->forward_ns || p->backward_ns <= p->forward_ns)
			continue;
		w->next_flow++;
		chrome_flow(w, "fwdbwd", true, w->pid, p->forward_tid, p->forward_ns);
		chrome_flow(w, "fwdbwd", false, w->pid, p->backward_tid, p->backward_ns);
	}
	free(w->autograd.pairs);
	map_done(&w->autograd.by_sequence);
	w->autograd = (struct chrome_autograd){0};
}
