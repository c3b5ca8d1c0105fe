/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the process image that all other parts refer to. It depends on the clock and the identity only. */
#include "runtime/recorder/record/process.h"

#include <string.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

__attribute__((section(".sbss.pillion_process"))) struct process_state process;

HOT static uint32_t always = ~0u;
HOT struct process_gate process_gate = {.groups = ~0u, .recording = &always};
HOT uint64_t process_osrt_threshold, process_osrt_backtrace, process_cuda_backtrace[CUDA_THRESHOLDS];
HOT uint64_t process_profile_backtrace[2];
struct options process_options;
struct tf_range_page *process_range;
struct tf_images *process_images;
uint32_t process_is_frozen;
const struct function_table *process_functions;

struct process_inherited process_inherited;

bool process_is_borrowed(void)
{
	return process.generation && (!sys_has_errno() || (!sys_is_silent && (uint32_t)sys_getpid() != process.pid));
}

void process_wipe(void)
{
	if ((uint32_t)sys_getpid() != process.pid)
		memset(&process, 0, sizeof(process));
}

void process_lose(int64_t events)
{
	__atomic_fetch_add(&process.lost_apart, (uint64_t)events, __ATOMIC_RELAXED);
	if (process_range)
		__atomic_fetch_add(&process_range->lost_events, (uint64_t)events, __ATOMIC_RELAXED);
}

/* ---- the trace file ---- */

bool process_set_path(void)
{
	struct text t = text_init(process.path, sizeof(process.path));

	text_add(&t, process_inherited.directory);
	text_char(&t, '/');
	text_add(&t, process_inherited.identity.host);
	text_char(&t, '.');
	text_number(&t, process.pid);
	text_char(&t, '.');
	text_hex(&t, process.nonce, 16);
	text_add(&t, ".trace");
	if (t.cut)
		process.path[0] = '\0';
	return !t.cut;
}

/* Groups that are not recorded have empty names: those of the libraries would add 24 KB to each file. */
static size_t function_name_length(uint32_t function)
{
	const struct function_name *f = &process_functions->list[function];

	return process_options.trace & 1u << f->group ? strlen(function_text(process_functions, function)) : 0;
}

uint32_t process_function_bytes(void)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < process_functions->count; i++)
		bytes += 2 + (uint32_t)function_name_length(i);
	return bytes;
}

void process_write_functions(uint8_t *at)
{
	for (uint32_t i = 0; i < process_functions->count; i++) {
		size_t length = function_name_length(i);

		*at++ = process_functions->list[i].group;
		*at++ = (uint8_t)length;
		memcpy(at, function_text(process_functions, i), length);
		at += length;
	}
}

void process_describe(struct tf_header *h)
{
	h->byte_order = TF_BYTE_ORDER;
	h->version_major = TF_VERSION_MAJOR;
	h->version_minor = TF_VERSION_MINOR;
	h->nonce = process.nonce;
	h->run = process_inherited.run;
	h->parent_nonce = process_inherited.parent_nonce;
	h->via = process_inherited.parent_nonce ? TF_VIA_FORK : TF_VIA_START;
	h->pid = process.pid;
	h->clock = clock_kind;
	h->clock_hz = clock_hz();
	h->first = process_inherited.loaded;
	clock_pair(&h->last[0]);
	h->osrt_threshold_ns = process_options.osrt_threshold_ns;
	identity_describe(&process_inherited.identity, h);
	h->end_status = process.end_status;
	h->end_ticks = process.end_ticks;
	h->end = process.end;
	h->threads_lost = process.threads_lost;
}

void process_take_clocks(void)
{
	struct tf_header *h = __atomic_load_n(&process.header, __ATOMIC_ACQUIRE);

	/* One thread at a time, because two would write the same pair. */
	if (!h || __atomic_exchange_n(&process.takes_clocks, true, __ATOMIC_ACQUIRE))
		return;
	clock_pair(&h->last[process.pair++ & 1]);
	__atomic_store_n(&process.takes_clocks, false, __ATOMIC_RELEASE);
}

const char *process_library(void)
{
	static const char *path;

	if (!path)
		path = dso_name((const void *)process_library);
	return path;
}

char *const *process_environment(void)
{
	return identity_exported();
}

void process_forget_descriptors(void)
{
	uint32_t last = __atomic_load_n(&process.descriptor_last, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i <= last && i < PROCESS_DESCRIPTORS; i++) {
		uint16_t state = __atomic_load_n(&process.descriptors[i], __ATOMIC_RELAXED);

		if (state & 1)
			__atomic_compare_exchange_n(&process.descriptors[i], &state, state & ~1, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}
