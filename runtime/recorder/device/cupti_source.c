/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/cupti_source.h"

#include <string.h>

#include "runtime/recorder/device/cupti_state.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/base/text.h"

LARGE char cupti_source_library[PATH_MAX];

void cupti_source_write(unsigned kind)
{
	char bytes[sizeof(struct tf_device_source) + PATH_MAX];
	struct tf_device_source source = {TF_SOURCE_CUPTI, cupti_state.time, cupti_state.version};
	size_t size = strlen(cupti_source_library);

	if (kind == TF_SOURCE_EVENTS) {
		source = (struct tf_device_source){TF_SOURCE_EVENTS, TF_DEVICE_TIME_MONOTONIC, 0};
		size = 0;
	}
	memcpy(bytes, &source, sizeof(source));
	memcpy(bytes + sizeof(source), cupti_source_library, size);
	event_blob(TF_BLOB_DEVICE_SOURCE, 0, bytes, sizeof(source) + size);
}

void cupti_source_note(const char *start, const char *why, const char *what, int result)
{
	char bytes[PATH_MAX + 256];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, start);
	text_add(&t, why);
	if (what) {
		text_add(&t, " (");
		text_add(&t, what);
		text_add(&t, " returned ");
		text_number(&t, (uint64_t)result);
		text_char(&t, ')');
	}
	if (cupti_source_library[0]) {
		text_add(&t, ", ");
		text_add(&t, cupti_source_library);
	}
	process_note(bytes);
}
