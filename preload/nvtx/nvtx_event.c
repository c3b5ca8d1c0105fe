/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX's events: pushes, pops, starts, ends and marks. */
#include "preload/nvtx/nvtx_tool.h"

enum { DEPTHS = 32, CATEGORIES = 1 << 16 };

static __thread int depths[DEPTHS]; /* by domain */
static uint64_t ranges;

static uint32_t message_id(const struct nvtx_attributes *a)
{
	switch (a ? a->message_type : 0) {
	case NVTX_ASCII:
		return nvtx_text(a->message);
	case NVTX_UNICODE:
		return nvtx_text_wide(a->message);
	case NVTX_REGISTERED:
		return nvtx_text_registered((struct nvtx_string *)a->message);
	}
	return nvtx_text_registered(NULL);
}

static uint32_t category_of(const struct nvtx_attributes *a)
{
	static uint64_t noted;

	if (a->category < CATEGORIES)
		return a->category;
	nvtx_note_once(&noted, "NVTX categories above 65535 are not recorded");
	return 0;
}

/* Fills in `args`, returns how many. */
static unsigned attribute_args(struct nvtx_domain *d, const struct nvtx_attributes *a, uint64_t *args)
{
	uint32_t color, category, extended;
	unsigned n = 0;

	if (!a)
		return 0;
	color = a->color_type == NVTX_ARGB ? a->color : 0;
	category = a->category ? category_of(a) : 0;
	if (category)
		nvtx_definitions();
	if (color || category)
		args[n++] = tf_arg(TF_ARG_COLOR, 0, color | (uint64_t)category << 32);
	if (!a->payload_type)
		return n;
	if (a->payload_type != NVTX_PAYLOAD_EXTENDED) {
		args[n++] = tf_arg(TF_ARG_PAYLOAD, (unsigned)a->payload_type, a->payload);
		if (a->payload >> 48)
			args[n++] = tf_arg(TF_ARG_PAYLOAD_HIGH, 0, a->payload >> 48);
	} else {
		extended = nvtx_payload(d, (const void *)(uintptr_t)a->payload, (uint32_t)a->reserved);
		if (extended)
			args[n++] = tf_arg(TF_ARG_EXTENDED, 0, extended);
	}
	return n;
}

/* ---- events ---- */

/* Depths are kept for the first few domains; the others return the default domain's. */
static int enter_range(uint32_t domain)
{
	return domain < DEPTHS ? depths[domain]++ : depths[0];
}

static int leave_range(uint32_t domain)
{
	if (domain >= DEPTHS)
		return depths[0];
	return depths[domain] > 0 ? --depths[domain] : -1;
}

static uint32_t domain_index(const struct nvtx_domain *d)
{
	return d ? d->number : 0;
}

static int push_id(struct nvtx_domain *d, uint32_t id, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];
	unsigned n = attribute_args(d, a, args);

	event_instant(TF_PUSH, nvtx_domain_number(d), id, args, n);
	return enter_range(domain_index(d));
}

static int push_text(const char *text)
{
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_push(NULL, NVTX_ASCII, text);
	if (nvtx_wanted(NULL))
		event_instant(TF_PUSH, 0, nvtx_text(text), NULL, 0);
	return enter_range(0);
}

static int push_wide(const wchar_t *text)
{
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_push(NULL, NVTX_UNICODE, text);
	return nvtx_wanted(NULL) ? push_id(NULL, nvtx_text_wide(text), NULL) : enter_range(0);
}

static int domain_push(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_push(d, a ? a->message_type : 0, a ? a->message : NULL);
	return nvtx_wanted(d) ? push_id(d, message_id(a), a) : enter_range(domain_index(d));
}

static int push_attributes(const struct nvtx_attributes *a)
{
	return domain_push(NULL, a);
}

static int domain_pop(struct nvtx_domain *d)
{
	if (nvtx_wanted(d))
		event_instant(TF_POP, nvtx_domain_number(d), 0, NULL, 0);
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_pop(d);
	return leave_range(domain_index(d));
}

static int pop_default(void)
{
	return domain_pop(NULL);
}

static void mark_id(struct nvtx_domain *d, uint32_t id, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];
	unsigned n = attribute_args(d, a, args);

	event_instant(TF_MARK, nvtx_domain_number(d), id, args, n);
}

static void mark_text(const char *text)
{
	if (nvtx_wanted(NULL))
		mark_id(NULL, nvtx_text(text), NULL);
}

static void mark_wide(const wchar_t *text)
{
	if (nvtx_wanted(NULL))
		mark_id(NULL, nvtx_text_wide(text), NULL);
}

static void domain_mark(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	if (nvtx_wanted(d))
		mark_id(d, message_id(a), a);
}

static void mark_attributes(const struct nvtx_attributes *a)
{
	domain_mark(NULL, a);
}

/* Ranges that are not recorded have ids as well. In a forked child the ids continue from its parent's. */
static uint64_t range_id(void)
{
	return __atomic_add_fetch(&ranges, 1, __ATOMIC_RELAXED);
}

static uint64_t start_id(struct nvtx_domain *d, uint64_t id, uint32_t text, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];
	unsigned n = attribute_args(d, a, args + 1);

	args[0] = tf_arg(TF_ARG_VALUE, 0, id);
	event_instant(TF_RANGE_START, nvtx_domain_number(d), text, args, 1 + n);
	return id;
}

static uint64_t start_text(const char *text)
{
	uint64_t id = range_id();

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_start(NULL, NVTX_ASCII, text, id);
	return nvtx_wanted(NULL) ? start_id(NULL, id, nvtx_text(text), NULL) : id;
}

static uint64_t start_wide(const wchar_t *text)
{
	uint64_t id = range_id();

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_start(NULL, NVTX_UNICODE, text, id);
	return nvtx_wanted(NULL) ? start_id(NULL, id, nvtx_text_wide(text), NULL) : id;
}

static uint64_t domain_start(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	uint64_t id = range_id();

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_start(d, a ? a->message_type : 0, a ? a->message : NULL, id);
	return nvtx_wanted(d) ? start_id(d, id, message_id(a), a) : id;
}

static uint64_t start_attributes(const struct nvtx_attributes *a)
{
	return domain_start(NULL, a);
}

static void domain_end(struct nvtx_domain *d, uint64_t id)
{
	if (nvtx_wanted(d))
		event_instant(TF_RANGE_END, nvtx_domain_number(d), 0, (uint64_t[]){tf_arg(TF_ARG_VALUE, 0, id)}, 1);
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_end(id);
}

/* The range may be of another domain: only its id counts. */
static void end_default(uint64_t id)
{
	domain_end(NULL, id);
}

/* ---- payloads instead of attributes (nvtxRangePushPayload and the like) ---- */

/* The message among them, if any: enum nvtx_message, or 0. */
static uint32_t payload_text(int type, const void *message)
{
	return message_id(&(struct nvtx_attributes){.message_type = type, .message = message});
}

static unsigned payload_args(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count, uint64_t *args)
{
	uint32_t id = nvtx_payload(d, payloads, count);

	if (id)
		args[0] = tf_arg(TF_ARG_EXTENDED, 0, id);
	return id != 0;
}

int nvtx_event_push(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	uint64_t args[EVENT_ARGS];
	const void *message;
	int type = nvtx_payload_message(d, payloads, count, &message);

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_push(d, type, message);
	if (nvtx_wanted(d)) {
		unsigned n = payload_args(d, payloads, count, args);

		event_instant(TF_PUSH, nvtx_domain_number(d), payload_text(type, message), args, n);
	}
	return enter_range(domain_index(d));
}

int nvtx_event_pop(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	uint64_t args[EVENT_ARGS];

	if (nvtx_wanted(d)) {
		unsigned n = payload_args(d, payloads, count, args);

		event_instant(TF_POP, nvtx_domain_number(d), 0, args, n);
	}
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_pop(d);
	return leave_range(domain_index(d));
}

void nvtx_event_mark(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	uint64_t args[EVENT_ARGS];
	const void *message;
	int type = nvtx_payload_message(d, payloads, count, &message);

	if (nvtx_wanted(d)) {
		unsigned n = payload_args(d, payloads, count, args);

		event_instant(TF_MARK, nvtx_domain_number(d), payload_text(type, message), args, n);
	}
}

uint64_t nvtx_event_start(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	uint64_t args[EVENT_ARGS], id = range_id();
	const void *message;
	int type = nvtx_payload_message(d, payloads, count, &message);

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_start(d, type, message, id);
	if (nvtx_wanted(d)) {
		unsigned n = payload_args(d, payloads, count, args + 1);

		args[0] = tf_arg(TF_ARG_VALUE, 0, id);
		event_instant(TF_RANGE_START, nvtx_domain_number(d), payload_text(type, message), args, 1 + n);
	}
	return id;
}

void nvtx_event_end(struct nvtx_domain *d, uint64_t id, const struct nvtx_payload *payloads, size_t count)
{
	uint64_t args[EVENT_ARGS] = {tf_arg(TF_ARG_VALUE, 0, id)};

	if (nvtx_wanted(d)) {
		unsigned n = payload_args(d, payloads, count, args + 1);

		event_instant(TF_RANGE_END, nvtx_domain_number(d), 0, args, 1 + n);
	}
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_end(id);
}

const struct nvtx_slot nvtx_event_slots[] = {
	NVTX_SLOT(CORE, MARK_EX, mark_attributes),
	NVTX_SLOT(CORE, MARK_A, mark_text),
	NVTX_SLOT(CORE, MARK_W, mark_wide),
	NVTX_SLOT(CORE, START_EX, start_attributes),
	NVTX_SLOT(CORE, START_A, start_text),
	NVTX_SLOT(CORE, START_W, start_wide),
	NVTX_SLOT(CORE, END, end_default),
	NVTX_SLOT(CORE, PUSH_EX, push_attributes),
	NVTX_SLOT(CORE, PUSH_A, push_text),
	NVTX_SLOT(CORE, PUSH_W, push_wide),
	NVTX_SLOT(CORE, POP, pop_default),
	NVTX_SLOT(CORE2, DOMAIN_MARK_EX, domain_mark),
	NVTX_SLOT(CORE2, DOMAIN_START_EX, domain_start),
	NVTX_SLOT(CORE2, DOMAIN_END, domain_end),
	NVTX_SLOT(CORE2, DOMAIN_PUSH_EX, domain_push),
	NVTX_SLOT(CORE2, DOMAIN_POP, domain_pop),
};
const size_t nvtx_event_slot_count = sizeof(nvtx_event_slots) / sizeof(*nvtx_event_slots);
