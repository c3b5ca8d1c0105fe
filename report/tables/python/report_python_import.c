/* SPDX-License-Identifier: Apache-2.0 */
/* python_import_sum: how long each import took, with and without nested imports; with --sort=tree which module imported
 * which. They are recorded as ranges of an NVTX domain; all processes and threads form one tree, in which the children
 * of a module are ordered by first occurrence. */
#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"
#include "report/tables/report.h"

static const char domain_name[] = "python import";

/* Node 0 is the root; below it is one node for each group of --by, then modules. */
struct import_node {
	uint32_t name; /* row in `names`: the key of a group, or a module */
	uint32_t parent, first_child, last_child, next; /* 0: none */
	uint64_t count, total, inside; /* ns; inside: of its children */
};

struct open_import {
	uint32_t node;
	uint64_t start; /* ticks */
};

struct import_tree {
	struct scan scan;
	struct aggregate names; /* only used to number the names */
	struct map places; /* (parent, name) -> node */
	struct import_node *nodes;
	size_t node_count, node_capacity;
	struct open_import *stack;
	size_t depth, stack_capacity;
	struct map texts; /* text of the current image -> its name */
	/* of the current image: the domain of imports, and one that is known to be another; 0: none */
	uint32_t domain, other;
};

static uint32_t node_add(struct import_tree *m, uint32_t parent, uint32_t name)
{
	bool is_new;
	uint64_t *place = map_put(&m->places, parent, name, &is_new);
	uint32_t node = (uint32_t)*place;

	if (!is_new)
		return node;
	*place = node = (uint32_t)m->node_count;
	mem_append(m->nodes, m->node_count, m->node_capacity, (struct import_node){.name = name, .parent = parent});
	if (m->nodes[parent].last_child)
		m->nodes[m->nodes[parent].last_child].next = node;
	else
		m->nodes[parent].first_child = node;
	m->nodes[parent].last_child = node;
	return node;
}

static uint32_t group_node(struct import_tree *m, uint64_t ticks)
{
	SCOPED(buffer) key = {0};
	uint32_t name;

	scan_group(&m->scan, scan_range(&m->scan, ticks), &key);
	name = aggregate_row(&m->names, buffer_string(&key), key.size);
	return node_add(m, 0, name);
}

static bool is_import(struct import_tree *m, uint32_t domain)
{
	SCOPED(buffer) text = {0};

	if (!domain || domain == m->domain || domain == m->other)
		return domain && domain == m->domain;
	trace_definition_text(m->scan.image->trace, TF_BLOB_DOMAIN, domain, &text);
	if (!strcmp(buffer_string(&text), domain_name))
		m->domain = domain;
	else
		m->other = domain;
	return domain == m->domain;
}

/* Module names end with a NUL, so they differ from all keys of groups. */
static uint32_t module_name(struct import_tree *m, uint32_t text)
{
	bool is_new;
	uint64_t *name = map_put(&m->texts, text, 0, &is_new);
	SCOPED(buffer) key = {0};

	if (!is_new)
		return (uint32_t)*name;
	if (!trace_definition_text(m->scan.image->trace, TF_BLOB_STRING, text, &key))
		buffer_text(&key, "(lost)");
	buffer_add(&key, "", 1);
	*name = aggregate_row(&m->names, key.data, key.size);
	return (uint32_t)*name;
}

static void import_begin(struct import_tree *m, const struct event *e)
{
	uint32_t parent = m->depth ? m->stack[m->depth - 1].node : group_node(m, e->ticks);

	mem_append(m->stack, m->depth, m->stack_capacity,
		   (struct open_import){node_add(m, parent, module_name(m, e->text)), e->ticks});
}

static void import_end(struct import_tree *m, uint64_t ticks)
{
	struct open_import *o = &m->stack[--m->depth];
	struct import_node *n = &m->nodes[o->node];
	uint64_t ns;

	if (ticks < o->start || !filter_shows(m->scan.image->trace, o->start, ticks))
		return;
	ns = clock_map_duration(m->scan.clock, ticks - o->start);
	n->count++;
	n->total += ns;
	m->nodes[n->parent].inside += ns;
}

static void imports_read_thread(struct import_tree *m, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	if (!(thread->kinds & 1u << TF_PUSH))
		return;
	m->scan.thread = thread;
	filter_cursor_init(&cursor, m->scan.image->trace, thread);
	while (cursor_next(&cursor, &e)) {
		if (e.kind == TF_PUSH && is_import(m, e.id))
			import_begin(m, &e);
		else if (e.kind == TF_POP && m->depth && is_import(m, e.id))
			import_end(m, e.ticks);
	}
	while (m->depth) /* the process was killed during the import */
		import_end(m, image_last_ticks(m->scan.image));
}

/* A node of a group, in the order of the tree. */
struct import_row {
	const struct import_node *node;
	unsigned depth;
};

struct import_rows {
	struct import_row *items;
	size_t count, capacity;
	enum row_sort sort;
};

static uint64_t self_ns(const struct import_node *n)
{
	return n->total > n->inside ? n->total - n->inside : 0;
}

static int compare_imports(size_t left, size_t right, const void *context)
{
	const struct import_rows *rows = context;
	const struct import_node *l = rows->items[left].node, *r = rows->items[right].node;

	switch (rows->sort) {
	case SORT_TREE:
		return order_of(left, right);
	case SORT_COUNT:
		return order_of(r->count, l->count) ?: order_of(left, right);
	case SORT_CUMULATIVE:
		return order_of(r->total, l->total) ?: order_of(left, right);
	default:
		return order_of(self_ns(r), self_ns(l)) ?: order_of(left, right);
	}
}

/* Only a tree is indented. */
static void imports_add_row(const struct import_tree *m, const struct import_row *row, const char *group,
			    struct table *table)
{
	const struct import_node *n = row->node;
	const char *module = m->names.rows[n->name].key;
	unsigned indent = m->scan.context->sort == SORT_TREE ? row->depth : 0;
	SCOPED(buffer) indented = {0};

	by_cell(m->scan.context, table, group);
	table_cells(table, self_ns(n), n->total, n->count, row->depth);
	for (unsigned i = 0; i < indent && i < 64; i++)
		buffer_text(&indented, "  ");
	buffer_text(&indented, module);
	table_text(table, indented.data);
}

/* Parents come before their children. */
static void gather_rows(const struct import_tree *m, uint32_t group, struct import_rows *ret)
{
	uint32_t at = m->nodes[group].first_child;
	unsigned depth = 0;

	while (at) {
		const struct import_node *n = &m->nodes[at];

		if (n->count)
			list_add(ret, (struct import_row){n, depth});
		if (n->first_child) {
			at = n->first_child;
			depth++;
			continue;
		}
		while (!m->nodes[at].next && m->nodes[at].parent != group) {
			at = m->nodes[at].parent;
			depth--;
		}
		at = m->nodes[at].next;
	}
}

static void add_rows(const struct import_tree *m, uint32_t group, struct table *table)
{
	const char *group_text = m->names.rows[m->nodes[group].name].key;
	struct import_rows rows = {.sort = m->scan.context->sort};
	SCOPED_MEMORY size_t *order = NULL;

	gather_rows(m, group, &rows);
	order = places_in_order(rows.count, compare_imports, &rows);
	for (size_t i = 0; i < rows.count; i++)
		imports_add_row(m, &rows.items[order[i]], group_text, table);
	free(rows.items);
}

void report_python_import_sum(const struct report_context *c, struct table *table)
{
	struct import_tree m = {.scan = {.context = c}};

	m.scan.aggregate = &m.names;
	m.nodes = mem_grow(m.nodes, 0, &m.node_capacity, sizeof(*m.nodes));
	m.nodes[m.node_count++] = (struct import_node){0};
	for (size_t i = 0; i < c->model->image_count; i++) {
		const struct image *image = m.scan.image = &c->model->images[i];

		m.scan.clock = &c->model->machines[image->machine].clock;
		m.domain = m.other = 0;
		for (size_t j = 0; image->trace && j < image->trace->thread_count; j++)
			imports_read_thread(&m, &image->trace->threads[j]);
		map_done(&m.texts);
		m.texts = (struct map){0};
	}
	by_column(c, table);
	table_has(table, COL_SELF_NS, COL_CUMULATIVE_NS, COL_INSTANCES, COL_DEPTH, COL_MODULE);
	for (uint32_t group = m.nodes[0].first_child; group; group = m.nodes[group].next)
		add_rows(&m, group, table);
	aggregate_done(&m.names);
	map_done(&m.places);
	free(m.nodes);
	free(m.stack);
}
