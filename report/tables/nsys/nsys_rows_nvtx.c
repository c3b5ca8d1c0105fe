/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges, marks and names as rows of nsys's tables. */
#include <string.h>

#include "report/tables/nsys/nsys_writer.h"

/* NVTX_EVENTS.eventType. */
enum { TYPE_CATEGORY = 33, TYPE_MARK = 34, TYPE_PUSHPOP = 59, TYPE_STARTEND = 60, TYPE_DOMAIN = 75 };

/* The numbers of a process's domains are apart from those of its previous image, because domains end with exec. */
enum { DOMAINS = 1 << 16 };

/* Columns of NVTX_EVENTS. */
enum {
	NVTX_START,
	NVTX_END,
	NVTX_TYPE,
	NVTX_RANGE,
	NVTX_CATEGORY,
	NVTX_COLOR,
	NVTX_TEXT,
	NVTX_THREAD,
	NVTX_END_THREAD,
	NVTX_TEXT_ID,
	NVTX_DOMAIN,
	NVTX_UINT64,
	NVTX_JSON = 18,
	NVTX_COLUMNS
};

static uint64_t find_arg(const struct nvtx_range *r, enum tf_arg_kind kind)
{
	return event_arg(&(struct event){.args = r->args, .args_count = r->args_count}, kind);
}

/* The columns for payloads are in the order of nvtxPayloadType_t. */
static void set_payload(int64_t *row, const struct nvtx_range *r, uint64_t payload)
{
	uint64_t bits = tf_arg_value(payload) | tf_arg_value(find_arg(r, TF_ARG_PAYLOAD_HIGH)) << 48;
	int type = (int)tf_arg_small(payload), column = NVTX_UINT64 - 1 + type;
	uint32_t low = (uint32_t)bits;
	double real;
	float single;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&single, &low, sizeof(single));
	if (type == 3 || type == 6)
		row[column] = nsys_real(type == 3 ? real : (double)single);
	else if (type > 0 && type < 6)
		row[column] = type == 4   ? (int64_t)low
			      : type == 5 ? (int64_t)(int32_t)low
					  : (int64_t)bits;
}

/* The payloads of a range's start and end, as an array if both have one. */
static void payloads_json(struct nsys_writer *w, const struct nvtx_range *r, struct buffer *ret)
{
	if (r->payload && r->end_payload)
		buffer_text(ret, "[");
	if (r->payload)
		nvtx_payload_json(&w->timeline.nvtx, r->payload, ret);
	if (r->payload && r->end_payload)
		buffer_text(ret, ",");
	if (r->end_payload)
		nvtx_payload_json(&w->timeline.nvtx, r->end_payload, ret);
	if (r->payload && r->end_payload)
		buffer_text(ret, "]");
}

static int64_t domain_id(const struct nsys_writer *w, uint32_t domain)
{
	return domain ? domain + w->image_number * DOMAINS : 0;
}

static int64_t type_of(const struct timeline_event *e)
{
	return e->kind != TIMELINE_RANGE ? TYPE_MARK : e->range->is_pushpop ? TYPE_PUSHPOP : TYPE_STARTEND;
}

/* What a range has beside its start. */
static void set_range(struct nsys_writer *w, int64_t *row, const struct timeline_event *e)
{
	const struct nvtx_range *r = e->range;

	if (!r->is_unfinished)
		row[NVTX_END] = row[NVTX_START] + (int64_t)e->duration_ns;
	if (r->is_pushpop)
		return;
	row[NVTX_RANGE] = (int64_t)tf_arg_value(find_arg(r, TF_ARG_VALUE));
	if (r->end_thread && r->end_thread != r->thread) /* like nsys: only if it differs */
		row[NVTX_END_THREAD] = nsys_thread(w, r->end_thread->tid);
}

void nsys_nvtx_event(struct nsys_writer *w, const struct timeline_event *e)
{
	const struct nvtx_range *r = e->range;
	uint64_t color = find_arg(r, TF_ARG_COLOR), payload = find_arg(r, TF_ARG_PAYLOAD);
	SCOPED(buffer) json = {0};
	int64_t row[NVTX_COLUMNS];

	for (int i = 0; i < NVTX_COLUMNS; i++)
		row[i] = NSYS_NULL;
	row[NVTX_START] = nsys_time(w, e->start_ns);
	row[NVTX_TYPE] = type_of(e);
	if (e->kind == TIMELINE_RANGE)
		set_range(w, row, e);
	if (color) {
		row[NVTX_CATEGORY] = (int64_t)(tf_arg_value(color) >> 32);
		row[NVTX_COLOR] = (int64_t)(tf_arg_value(color) & 0xffffffff);
	}
	row[NVTX_THREAD] = nsys_thread(w, e->thread->tid);
	row[NVTX_TEXT_ID] = nsys_text_id(w, TEXT_STRING, e->name);
	row[NVTX_DOMAIN] = domain_id(w, r->domain);
	if (payload)
		set_payload(row, r, payload);
	if (r->payload || r->end_payload) {
		payloads_json(w, r, &json);
		row[NVTX_JSON] = nsys_text(buffer_string(&json));
	}
	nsys_row(w, NSYS_NVTX, row, NVTX_COLUMNS);
}

static void name_row(struct nsys_writer *w, int64_t type, uint32_t domain, int64_t category, const char *name)
{
	int64_t start = nsys_time(w, clock_map_ns(w->timeline.clock, w->image->start_ticks));

	nsys_row(w, NSYS_NVTX,
		 (int64_t[]){start, NSYS_NULL, type, NSYS_NULL,
			     type == TYPE_CATEGORY ? category : NSYS_NULL, NSYS_NULL, nsys_text(name), w->global_pid,
			     NSYS_NULL, NSYS_NULL, domain_id(w, domain)},
		 11);
}

/* A device that the program named. */
static void device_name_row(struct nsys_writer *w, const struct nvtx_definition *n)
{
	nsys_row(w, NSYS_NVTX_DEVICE,
		 (int64_t[]){nsys_text(n->name), host_number(w->model, w->image->machine) + 1, 0, (int64_t)n->head.id},
		 4);
}

/* ---- what payloads consist of ---- */

/* Offsets are those that the schema results in; of an entry behind one of variable size: NULL. */
static void schema_entry_row(struct nsys_writer *w, const int64_t *key, const struct tf_nvtx_entry *e, const char *name)
{
	nsys_row(w, NSYS_PAYLOAD_ENTRY,
		 (int64_t[]){key[0], key[1], key[2], (int64_t)e->flags, (int64_t)e->type, nsys_text(name), NSYS_NULL,
			     (int64_t)e->detail, e->offset == TF_NVTX_FOLLOWS ? NSYS_NULL : (int64_t)e->offset},
		 9);
}

static void enum_entry_row(struct nsys_writer *w, const int64_t *key, const struct tf_nvtx_entry *e, const char *name)
{
	nsys_row(w, NSYS_PAYLOAD_ENUM_ENTRY,
		 (int64_t[]){key[0], key[1], key[2], nsys_text(name), (int64_t)e->type, (int64_t)(e->flags & 1)}, 6);
}

static void payload_type_rows(struct nsys_writer *w, const struct nvtx_definition *n)
{
	bool is_enum = n->head.kind == TF_NVTX_ENUM;
	int64_t domain = domain_id(w, n->head.domain), id = (int64_t)n->head.id,
		name = nsys_text(*n->name ? n->name : NULL), size = n->head.size ? (int64_t)n->head.size : NSYS_NULL;
	struct tf_nvtx_entry entry;
	char text[256];

	if (is_enum)
		nsys_row(w, NSYS_PAYLOAD_ENUM, (int64_t[]){domain, id, name, n->head.count, size}, 5);
	else
		nsys_row(w, NSYS_PAYLOAD_SCHEMA,
			 (int64_t[]){domain, id, name, (int64_t)n->head.type, (int64_t)n->head.flags, n->head.count,
				     size},
			 7);
	/* The id 1 << 63 reads as NULL, which the tables of entries do not allow. */
	for (uint32_t i = 0; id != NSYS_NULL && nvtx_definition_entry(n, i, &entry, text, sizeof(text)); i++)
		(is_enum ? enum_entry_row : schema_entry_row)(w, (int64_t[]){domain, id, i}, &entry, text);
}

/* Domains and categories are rows as well, with the name in `text`. */
void nsys_nvtx_names(struct nsys_writer *w)
{
	const struct trace *t = w->image->trace;

	blobs_each(b, t, TF_BLOB_DOMAIN) {
		SCOPED(buffer) text = {0};

		if (trace_definition(t, b->type, b->id) != b)
			continue;
		trace_text(t, b, &text);
		name_row(w, TYPE_DOMAIN, b->id, 0, buffer_string(&text));
	}
	list_each(const struct nvtx_definition, n, &w->timeline.nvtx) {
		if (n->head.kind == TF_NVTX_CATEGORY)
			name_row(w, TYPE_CATEGORY, n->head.domain, (int64_t)n->head.id, n->name);
		else if (n->head.kind == TF_NVTX_RESOURCE &&
			 (n->head.type == TF_NVTX_CUDA_DEVICE || n->head.type == TF_NVTX_CUDART_DEVICE))
			device_name_row(w, n);
		else if (n->head.kind == TF_NVTX_SCHEMA || n->head.kind == TF_NVTX_ENUM)
			payload_type_rows(w, n);
	}
}
