/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace contains, by id: functions, definitions and their bytes. */
#include <inttypes.h>
#include <string.h>

#include "report/read/reader.h"

const struct blob *trace_definition(const struct trace *t, enum tf_blob_kind type, uint32_t id)
{
	const uint64_t *place = map_find(&t->definitions, type, id);

	return place ? &t->blobs[*place] : NULL;
}

const struct blob *trace_blobs_from(const struct trace *t, unsigned kind)
{
	return t && t->blobs ? t->blobs + first_place(i, 0, t->blob_count, t->blobs[i].type < kind) : NULL;
}

/* What is found by number and time, or read as a whole: there may be as many as events. */
#define NOT_BY_ID (TF_BLOBS_OF_TIME | 1ull << TF_BLOB_DESCRIPTOR)

void trace_find_definitions(struct trace *t)
{
	/* The last definition wins: ids are unique, but thread names change. */
	for (size_t i = 0; i < t->blob_count; i++)
		if (t->blobs[i].type >= 64 || !(NOT_BY_ID >> t->blobs[i].type & 1))
			*map_put(&t->definitions, t->blobs[i].type, t->blobs[i].id, NULL) = i;
}

size_t trace_blob(const struct trace *t, const struct blob *b, void *ret, size_t size)
{
	size_t length = b->length < size ? b->length : size, done = 0;
	const uint8_t *piece = t->bytes.data + b->offset + 1;

	for (; length - done >= TF_DATA_BYTES; done += TF_DATA_BYTES, piece += TF_SLOT)
		memcpy((uint8_t *)ret + done, piece, TF_DATA_BYTES);
	if (done < length)
		memcpy((uint8_t *)ret + done, piece, length - done);
	return length;
}

/* Whether the Python frames of a stack are known up to the outermost one. */
static bool has_all_python(const struct trace *t, uint32_t stack)
{
	struct tf_python_frame frames[TF_BLOB_BYTES / sizeof(struct tf_python_frame)];
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_STACK, stack);
	size_t count = b ? trace_blob(t, b, frames, sizeof(frames)) / sizeof(*frames) : 0;

	return count && (frames[count - 1].code || frames[count - 1].place & TF_PYTHON_ENTRY);
}

bool trace_stack_is_cut(const struct trace *t, const struct blob *b)
{
	uint64_t first = 0;

	trace_blob(t, b, &first, sizeof(first));
	return (first & TF_STACK_UNLOADS) && (first & TF_STACK_CUT) && !has_all_python(t, b->id);
}

/* As emit_nvtx writes it: "NAME, seq = 4, op_id = 7, sizes = SIZES". */
static void operator_text(const struct trace *t, const struct blob *b, struct buffer *ret)
{
	const uint64_t *arg = (const uint64_t *)(t->bytes.data + b->offset);
	uint64_t sequence = tf_arg_value(*arg);
	SCOPED(buffer) text = {0};
	const char *sizes;

	trace_definition_text(t, TF_BLOB_STRING, (uint32_t)tf_event_last(arg[-1]), &text);
	sizes = strstr(buffer_string(&text), ", sizes = ");
	buffer_add(ret, buffer_string(&text), sizes ? (size_t)(sizes - text.data) : text.size);
	if (sequence)
		buffer_print(ret, ", seq = %" PRIu64, sequence - 1);
	buffer_print(ret, ", op_id = %" PRIu32, b->id - OPERATOR_STRINGS);
	buffer_text(ret, sizes ?: "");
}

void trace_text(const struct trace *t, const struct blob *b, struct buffer *ret)
{
	char text[TF_BLOB_BYTES];
	size_t size;

	if (b->type == TF_BLOB_STRING && tf_kind(((const uint64_t *)(t->bytes.data + b->offset))[-1]) == TF_PUSH) {
		operator_text(t, b, ret);
		return;
	}
	size = trace_blob(t, b, text, sizeof(text));
	/* A NUL would terminate the text when it is printed; 0xff is shown as U+FFFD. */
	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = (char)0xff;
	buffer_add(ret, text, size);
}

bool trace_definition_text(const struct trace *t, enum tf_blob_kind type, uint32_t id, struct buffer *ret)
{
	const struct blob *b = trace_definition(t, type, id);

	if (b)
		trace_text(t, b, ret);
	return b;
}

static bool call_in_progress(const struct trace_thread *thread, uint64_t word, uint32_t *ret_function,
			     uint64_t *ret_start)
{
	const uint64_t mask = ((uint64_t)1 << TF_CURRENT_SHIFT) - 1;
	uint64_t start;

	if (!(word >> TF_CURRENT_SHIFT))
		return false;
	*ret_function = (uint32_t)(word >> TF_CURRENT_SHIFT) - 1;
	start = (thread->page->start_ticks & ~mask) | (word & mask);
	if (start < thread->page->start_ticks && thread->page->start_ticks - start > mask / 2)
		start += mask + 1;
	*ret_start = start;
	return true;
}

bool thread_current(const struct trace_thread *thread, uint32_t *ret_function, uint64_t *ret_start)
{
	return thread->page && call_in_progress(thread, __atomic_load_n(&thread->page->current, __ATOMIC_RELAXED),
						ret_function, ret_start);
}

bool thread_outer(const struct trace_thread *thread, uint32_t *ret_function, uint64_t *ret_start)
{
	uint64_t outer = thread->page ? __atomic_load_n(&thread->page->outer, __ATOMIC_RELAXED) : 0;

	return call_in_progress(thread, outer, ret_function, ret_start) ||
	       thread_current(thread, ret_function, ret_start);
}

bool thread_is_tool(const struct trace_thread *thread)
{
	uint32_t cuda = 1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER;

	return (thread->page && thread->page->chunk.is_tool) ||
	       (thread->has_device_records && !(thread->groups & cuda));
}
