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

static int push_text(const char *text)
{
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_push(NULL, NVTX_ASCII, text);
	if (nvtx_wanted(NULL))
		event_instant(TF_PUSH, 0, nvtx_text(text), NULL, 0);
	return enter_range(0);
}

int nvtx_push(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_push(d, a ? a->message_type : 0, a ? a->message : NULL);
	if (nvtx_wanted(d)) {
		uint32_t id = message_id(a);
		unsigned n = attribute_args(d, a, args);

		event_instant(TF_PUSH, nvtx_domain_number(d), id, args, n);
	}
	return enter_range(domain_index(d));
}

static int push_wide(const wchar_t *text)
{
	return nvtx_push(NULL, &(struct nvtx_attributes){.message_type = NVTX_UNICODE, .message = text});
}

static int push_attributes(const struct nvtx_attributes *a)
{
	return nvtx_push(NULL, a);
}

static inline __attribute__((always_inline)) int pop(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];

	if (nvtx_wanted(d)) {
		unsigned n = a ? attribute_args(d, a, args) : 0;

		event_instant(TF_POP, nvtx_domain_number(d), 0, args, n);
	}
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_pop(d);
	return leave_range(domain_index(d));
}

int nvtx_pop(struct nvtx_domain *d)
{
	return pop(d, NULL);
}

static int pop_default(void)
{
	return nvtx_pop(NULL);
}

static void domain_mark(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];

	if (nvtx_wanted(d)) {
		uint32_t id = message_id(a);
		unsigned n = attribute_args(d, a, args);

		event_instant(TF_MARK, nvtx_domain_number(d), id, args, n);
	}
}

static void mark_text(const char *text)
{
	if (nvtx_wanted(NULL))
		event_instant(TF_MARK, 0, nvtx_text(text), NULL, 0);
}

static void mark_wide(const wchar_t *text)
{
	domain_mark(NULL, &(struct nvtx_attributes){.message_type = NVTX_UNICODE, .message = text});
}

static void mark_attributes(const struct nvtx_attributes *a)
{
	domain_mark(NULL, a);
}

/* Ranges that are not recorded have ids as well. In a forked child the ids continue from its parent's. */
uint64_t nvtx_start(struct nvtx_domain *d, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS], id = __atomic_add_fetch(&ranges, 1, __ATOMIC_RELAXED);

	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_start(d, a ? a->message_type : 0, a ? a->message : NULL, id);
	if (nvtx_wanted(d)) {
		uint32_t text = message_id(a);
		unsigned n = attribute_args(d, a, args + 1);

		args[0] = tf_arg(TF_ARG_VALUE, 0, id);
		event_instant(TF_RANGE_START, nvtx_domain_number(d), text, args, 1 + n);
	}
	return id;
}

static uint64_t start_text(const char *text)
{
	return nvtx_start(NULL, &(struct nvtx_attributes){.message_type = NVTX_ASCII, .message = text});
}

static uint64_t start_wide(const wchar_t *text)
{
	return nvtx_start(NULL, &(struct nvtx_attributes){.message_type = NVTX_UNICODE, .message = text});
}

static uint64_t start_attributes(const struct nvtx_attributes *a)
{
	return nvtx_start(NULL, a);
}

static void end(struct nvtx_domain *d, uint64_t id, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS] = {tf_arg(TF_ARG_VALUE, 0, id)};

	if (nvtx_wanted(d)) {
		unsigned n = attribute_args(d, a, args + 1);

		event_instant(TF_RANGE_END, nvtx_domain_number(d), 0, args, 1 + n);
	}
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_end(id);
}

void nvtx_end(struct nvtx_domain *d, uint64_t id)
{
	end(d, id, NULL);
}

/* The range may be of another domain: only its id counts. */
static void end_default(uint64_t id)
{
	nvtx_end(NULL, id);
}

/* ---- payloads instead of attributes (nvtxRangePushPayload and the like) ---- */

static struct nvtx_attributes of_payloads(const struct nvtx_payload *payloads, size_t count)
{
	return (struct nvtx_attributes){.payload_type = NVTX_PAYLOAD_EXTENDED,
					.reserved = count < INT32_MAX ? (int32_t)count : INT32_MAX,
					.payload = (uintptr_t)payloads};
}

/* The message is one of them, if there is any. */
static struct nvtx_attributes with_message(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_attributes a = of_payloads(payloads, count);

	a.message_type = nvtx_payload_message(d, payloads, count, &a.message);
	return a;
}

int nvtx_event_push(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_attributes a = with_message(d, payloads, count);

	return nvtx_push(d, &a);
}

int nvtx_event_pop(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_attributes a = of_payloads(payloads, count);

	return pop(d, &a);
}

void nvtx_event_mark(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_attributes a = with_message(d, payloads, count);

	domain_mark(d, &a);
}

uint64_t nvtx_event_start(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_attributes a = with_message(d, payloads, count);

	return nvtx_start(d, &a);
}

void nvtx_event_end(struct nvtx_domain *d, uint64_t id, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_attributes a = of_payloads(payloads, count);

	end(d, id, &a);
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
	NVTX_SLOT(CORE2, DOMAIN_START_EX, nvtx_start),
	NVTX_SLOT(CORE2, DOMAIN_END, nvtx_end),
	NVTX_SLOT(CORE2, DOMAIN_PUSH_EX, nvtx_push),
	NVTX_SLOT(CORE2, DOMAIN_POP, nvtx_pop),
};
const size_t nvtx_event_slot_count = sizeof(nvtx_event_slots) / sizeof(*nvtx_event_slots);
