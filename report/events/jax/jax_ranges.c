/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/jax/jax_ranges.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a text says, once for each text of a domain. */
struct word {
	enum jax_kind kind;
	uint32_t name, full; /* as in struct jax_text */
	uint32_t module;     /* the name as a module of XLA has it */
};

struct placing {
	struct jax_ranges *ranges;
	struct word *words;
	size_t count, capacity;
	struct map known;    /* (domain, text) -> position in words + 1 */
	struct map callable; /* the name of a module -> that of its only RUN + 1, or AMBIGUOUS */
	/* Of each node the innermost one, itself included, that is a RUN; that is a phase, or a RUN outside of them. */
	size_t *run, *timed;
	bool has_builds;
};

enum { AMBIGUOUS = UINT32_MAX };

static bool has_domain(const struct trace *t, const char *first, const char *second)
{
	blobs_each(b, t, TF_BLOB_DOMAIN) {
		SCOPED(buffer) name = {0};

		trace_text(t, b, &name);
		if (!strcmp(buffer_string(&name), first) || !strcmp(buffer_string(&name), second))
			return true;
	}
	return false;
}

bool jax_is_in(const struct image *image)
{
	return has_domain(image->trace, JAX_DOMAIN, JAX_XLA_DOMAIN);
}

bool jax_has_phases(const struct image *image)
{
	return has_domain(image->trace, JAX_DOMAIN, JAX_DOMAIN);
}

/* ---- names ---- */

/* As JAX names modules: other characters than letters, digits, '_', '.' and '-' become '_', those at the end are left
 * out. */
static uint32_t module_number(struct jax_ranges *r, const char *name, size_t length)
{
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];

		buffer_print(&text, "%c", c >= 0x80 || isalnum(c) || c == '.' || c == '-' ? c : '_');
	}
	while (text.size > 1 && text.data[text.size - 1] == '_')
		text.size--;
	return interner_number(&r->names, text.size ? text.data : "", text.size);
}

static struct word word_of(struct placing *p, const struct nvtx_node *n)
{
	struct jax_ranges *r = p->ranges;
	SCOPED(buffer) domain = {0}, text = {0};
	struct word w = {0};
	struct jax_text t;

	if (n->domain)
		trace_definition_text(r->tree.image->trace, TF_BLOB_DOMAIN, n->domain, &domain);
	nvtx_name(r->tree.image->trace, 0, n->text, &text);
	if (jax_text_parse(buffer_string(&domain), buffer_string(&text), &t)) {
		w.kind = t.kind;
		r->has_any = true;
		w.name = interner_number(&r->names, t.name, t.length);
		w.full = interner_number(&r->names, t.full, t.full_length);
		w.module = module_number(r, t.name, t.length);
		r->has_calls |= t.kind == JAX_RUN || jax_is_phase(t.kind);
		p->has_builds |= t.kind == JAX_BUILD;
	}
	return w;
}

static const struct word *word_at(struct placing *p, size_t node)
{
	const struct nvtx_node *n = &p->ranges->tree.nodes[node];
	uint64_t *known = map_put(&p->known, n->domain, n->text, NULL), *only;
	struct word w;

	if (*known)
		return &p->words[*known - 1];
	w = word_of(p, n);
	mem_append(p->words, p->count, p->capacity, w);
	*known = p->count;
	if (w.kind == JAX_RUN) {
		only = map_put(&p->callable, w.module, 0, NULL);
		*only = *only ? AMBIGUOUS : (uint64_t)w.full + 1;
	}
	return &p->words[p->count - 1];
}

/* ---- places ---- */

static uint32_t function_of(struct placing *p, const struct word *w, size_t run)
{
	const struct word *called = run == NVTX_NO_PARENT ? NULL : word_at(p, run);
	const uint64_t *only = map_find(&p->callable, w->module, 0);

	if (w->kind == JAX_RUN)
		return w->full;
	if (called && called->module == w->module)
		return called->full;
	return only && *only != AMBIGUOUS ? (uint32_t)*only - 1 : w->name;
}

/* The node around it has been placed. */
static void place(struct placing *p, size_t i)
{
	struct jax_ranges *r = p->ranges;
	const struct nvtx_node *n = &r->tree.nodes[i];
	const struct word *w = word_at(p, i);
	bool is_outermost = n->parent == NVTX_NO_PARENT, is_timed, is_in_phase;
	size_t run = is_outermost ? NVTX_NO_PARENT : p->run[n->parent];
	size_t timed = is_outermost ? NVTX_NO_PARENT : p->timed[n->parent];
	struct jax_place *at = &r->places[i];
	static const char outside[] = "(not within a compilation)";

	is_in_phase = timed != NVTX_NO_PARENT && r->places[timed].kind != JAX_RUN;
	*at = (struct jax_place){.kind = w->kind, .full = w->full, .self = n->end - n->start};
	if (w->kind == JAX_PART) /* where XLA has no range around the parts, they are the compilation */
		at->kind = p->has_builds ? JAX_NONE : JAX_BUILD;
	/* XLA compiles within our phase, or in other threads meanwhile; its ranges nest. */
	if (at->kind == JAX_BUILD && (r->has_calls || is_in_phase))
		at->kind = JAX_NONE;
	at->is_staged = w->kind == JAX_RUN && is_in_phase;
	at->module = w->kind == JAX_MODULE ? i : is_outermost ? NVTX_NO_PARENT : r->places[n->parent].module;
	if (jax_is_of_cache(w->kind))
		at->name = timed == NVTX_NO_PARENT ? interner_number(&r->names, outside, sizeof(outside) - 1)
						   : r->places[timed].name;
	else
		at->name = w->kind == JAX_OP || !w->kind ? w->name : function_of(p, w, run);
	is_timed = jax_is_phase(at->kind) || at->kind == JAX_BUILD;
	if (is_timed && timed != NVTX_NO_PARENT) /* the phase or call around it is without it */
		r->places[timed].self = rest_of(r->places[timed].self, n->end - n->start);
	p->run[i] = w->kind == JAX_RUN ? i : run;
	p->timed[i] = is_timed || (w->kind == JAX_RUN && !is_in_phase) ? i : timed;
}

void jax_ranges_make(struct jax_ranges *r, const struct image *image)
{
	struct placing p = {.ranges = r};

	*r = (struct jax_ranges){0};
	nvtx_tree_make(&r->tree, image, true);
	r->places = mem_alloc((r->tree.count + 1) * sizeof(*r->places));
	p.run = mem_alloc((r->tree.count + 1) * sizeof(*p.run));
	p.timed = mem_alloc((r->tree.count + 1) * sizeof(*p.timed));
	for (size_t i = 0; i < r->tree.count; i++)
		word_at(&p, i);
	for (size_t i = 0; i < r->tree.count; i++)
		place(&p, i);
	free(p.run);
	free(p.timed);
	free(p.words);
	map_done(&p.known);
	map_done(&p.callable);
}

void jax_ranges_done(struct jax_ranges *r)
{
	nvtx_tree_done(&r->tree);
	free(r->places);
	interner_done(&r->names);
	*r = (struct jax_ranges){0};
}
