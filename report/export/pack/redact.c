/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files of a capture have texts. */
#include <string.h>

#include "report/export/pack/redact.h"
#include "report/export/pack/redact_lines.h"
#include "runtime/shared/format/trace_format.h"
#include "runtime/shared/format/trace_notes.h"

static void clear(uint8_t *bytes, size_t from, size_t to)
{
	if (from < to)
		memset(bytes + from, 0, to - from);
}

/* A text in a field: what follows its end is zeroed. */
static void redact_field(struct redactor *r, char *text, size_t size, enum redact_how how)
{
	size_t length = strnlen(text, size);

	redact_text(r, text, length, how, false);
	clear((uint8_t *)text, length, size);
}

/* Texts that an empty one ends; their size. */
static size_t list_size(const char *list, size_t size)
{
	size_t at = 0;

	while (at < size && list[at])
		at += strnlen(list + at, size - at) + 1;
	return at < size ? at : size;
}

/* ---- blobs ---- */

/* Texts amid binary data. */
static void redact_printable(struct redactor *r, char *bytes, size_t size)
{
	enum { LEAST = 6 };

	for (size_t at = 0, end; at < size; at = end + 1) {
		for (end = at; end < size && bytes[end] >= ' ' && bytes[end] < 0x7f; end++)
			;
		if (end - at >= LEAST)
			redact_text(r, bytes + at, end - at, REDACT_KNOWN, false);
	}
}

/* The file of a function, of which its name follows. */
static void redact_code_file(struct redactor *r, char *file, size_t size)
{
	if (size)
		redact_text(r, file, size, *file == '<' ? REDACT_KNOWN : REDACT_SECRET, false);
}

static void redact_line_code(struct redactor *r, char *bytes, size_t size)
{
	struct tf_line_code head;

	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	redact_code_file(r, bytes + sizeof(head),
			 head.file_length < size - sizeof(head) ? head.file_length : size - sizeof(head));
}

static void redact_python_code(struct redactor *r, char *bytes, size_t size)
{
	struct tf_python_code head;

	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	if (head.file_bytes > size - sizeof(head))
		head.file_bytes = (uint16_t)(size - sizeof(head));
	redact_code_file(r, bytes + sizeof(head), head.file_bytes);
}

/* Of a function the file follows two names: its own and the qualified one. */
static void redact_nvtx(struct redactor *r, char *bytes, size_t size)
{
	struct tf_nvtx head;
	size_t at = sizeof(head);

	redact_printable(r, bytes, size);
	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	for (int i = 0; i < 3 && head.kind == TF_NVTX_FUNCTION && size - at >= sizeof(uint16_t); i++) {
		uint16_t length;

		memcpy(&length, bytes + at, sizeof(length));
		at += sizeof(length);
		if (length > size - at)
			return;
		if (i == 2)
			redact_text(r, bytes + at, length, REDACT_SECRET, false);
		at += length;
	}
}

static void redact_after(struct redactor *r, char *bytes, size_t size, size_t head, enum redact_how how)
{
	if (size > head)
		redact_text(r, bytes + head, size - head, how, false);
}

/* Paths inside of a file are names that a person gave. */
static void redact_hdf5(struct redactor *r, char *bytes, size_t size)
{
	size_t file = strnlen(bytes, size);

	redact_text(r, bytes, file, REDACT_SECRET, false);
	if (file < size)
		redact_text(r, bytes + file + 1, size - file - 1, REDACT_KNOWN, false);
}

/* The words that begin a note are its code. */
static void redact_note(struct redactor *r, char *text, size_t size)
{
#define NOTE_CODE(code) TF_NOTE_##code,
	static const char *const codes[] = {TF_NOTES(NOTE_CODE)};
#undef NOTE_CODE
	size_t at = 0;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (size >= strlen(codes[i]) && !memcmp(text, codes[i], strlen(codes[i])))
			at = strlen(codes[i]);
	redact_text(r, text + at, size - at, REDACT_KNOWN, false);
}

/* A kind of a later version may have anything. */
static void redact_blob(struct redactor *r, unsigned kind, char *bytes, size_t size)
{
	switch (kind) {
	case TF_BLOB_STRING:
	case TF_BLOB_DOMAIN:
	case TF_BLOB_XLA_MODULE:
		redact_text(r, bytes, size, REDACT_KNOWN, false);
		break;
	case TF_BLOB_NOTE:
		redact_note(r, bytes, size);
		break;
	case TF_BLOB_PAYLOAD:
		redact_printable(r, bytes, size);
		break;
	case TF_BLOB_NVTX:
		redact_nvtx(r, bytes, size);
		break;
	case TF_BLOB_THREAD_NAME:
		redact_text(r, bytes, size, REDACT_SECRET, false);
		break;
	case TF_BLOB_MODULE:
		if (size > sizeof(struct tf_module))
			redact_text(r, bytes + sizeof(struct tf_module),
				    strnlen(bytes + sizeof(struct tf_module), size - sizeof(struct tf_module)),
				    REDACT_SECRET, false);
		break;
	case TF_BLOB_DESCRIPTOR:
		redact_after(r, bytes, size, sizeof(struct tf_descriptor), REDACT_SECRET);
		break;
	case TF_BLOB_HDF5:
		redact_hdf5(r, bytes, size);
		break;
	case TF_BLOB_JAX_EXECUTABLE:
		redact_after(r, bytes, size, sizeof(struct tf_jax_executable), REDACT_KNOWN);
		break;
	case TF_BLOB_EXCEPTION:
		redact_after(r, bytes, size, sizeof(struct tf_exception), REDACT_SECRET);
		break;
	case TF_BLOB_DEVICE_SOURCE:
		redact_after(r, bytes, size, sizeof(struct tf_device_source), REDACT_SECRET);
		break;
	case TF_BLOB_DEVICE_GAP:
		redact_after(r, bytes, size, sizeof(struct tf_device_gap), REDACT_SECRET);
		break;
	case TF_BLOB_PYTHON_CODE:
		redact_python_code(r, bytes, size);
		break;
	case TF_BLOB_LINE_CODE:
		redact_line_code(r, bytes, size);
		break;
	case TF_BLOB_LINES:
	case TF_BLOB_LINE_MEMORY:
	case TF_BLOB_JAX_LIVE:
	case TF_BLOB_STACK:
	case TF_BLOB_CHILD:
	case TF_BLOB_LAUNCH:
	case TF_BLOB_KERNEL:
	case TF_BLOB_DEVICE:
	case TF_BLOB_DEVICE_OPERATION:
	case TF_BLOB_DEVICE_NAME:
	case TF_BLOB_DEVICE_CLOCK:
	case TF_BLOB_DEVICE_LOST:
	case TF_BLOB_DEVICE_CALLS:
	case TF_BLOB_DEVICE_MORE:
	case TF_BLOB_PYTHON_STACK:
	case TF_BLOB_DEVICE_FLUSH:
	case TF_BLOB_DEVICE_FACTS:
	case TF_BLOB_OPERATION:
	case TF_BLOB_SAMPLING:
	case TF_BLOB_TRAFFIC:
	case TF_BLOB_OPERATOR_GAP:
	case TF_BLOB_SHORT_STACK:
	case TF_BLOB_CRASH:
	case TF_BLOB_USAGE:
	case TF_BLOB_COUNTED:
		break;
	default:
		memset(bytes, 0, size);
	}
}

/* ---- chunks ---- */

static bool is_data(const uint8_t *slots, size_t i)
{
	uint64_t slot;

	memcpy(&slot, slots + i * TF_SLOT, sizeof(slot));
	return tf_kind(slot) == TF_DATA;
}

/* Copies the bytes of `pieces` DATA slots from or to their places. */
static void move_data(uint8_t *slots, size_t pieces, char *bytes, bool is_write)
{
	for (size_t i = 0; i < pieces; i++) {
		uint8_t *place = slots + i * TF_SLOT + TF_SLOT - TF_DATA_BYTES;

		if (is_write)
			memcpy(place, bytes + i * TF_DATA_BYTES, TF_DATA_BYTES);
		else
			memcpy(bytes + i * TF_DATA_BYTES, place, TF_DATA_BYTES);
	}
}

/* How many slots a sum has, of which the first one is at `slots`; its arguments and numbers have no texts. */
static size_t sum_slots(const uint8_t *slots, size_t count)
{
	size_t at = 1, numbers = 0, all;
	uint64_t slot;

	memcpy(&slot, slots, sizeof(slot));
	all = tf_sum_numbers(slot);
	for (; at < count; at++) {
		memcpy(&slot, slots + at * TF_SLOT, sizeof(slot));
		if (tf_kind(slot) != TF_ARG)
			break;
	}
	while (numbers < all && at + numbers < count && is_data(slots, at + numbers))
		numbers++;
	return numbers == all ? at + numbers : 1;
}

/* Of a blob or a sum that is incomplete nothing is read, nor of other DATA slots. */
static void redact_slots(struct redactor *r, uint8_t *slots, size_t count)
{
	char bytes[TF_BLOB_BYTES + TF_DATA_BYTES];
	static const char zeros[TF_DATA_BYTES];

	for (size_t i = 0; i < count; i++) {
		uint64_t slot;
		size_t pieces, have = 0, length;

		memcpy(&slot, slots + i * TF_SLOT, sizeof(slot));
		if (tf_kind(slot) == TF_DATA)
			move_data(slots + i * TF_SLOT, 1, (char *)zeros, true);
		if (tf_kind(slot) == TF_SUM || tf_kind(slot) == TF_RANGES)
			i += sum_slots(slots + i * TF_SLOT, count - i) - 1;
		if (tf_kind(slot) != TF_BLOB)
			continue;
		length = tf_blob_length(slot);
		pieces = (length + TF_DATA_BYTES - 1) / TF_DATA_BYTES;
		while (have < pieces && have < count - i - 1 && is_data(slots, i + 1 + have))
			have++;
		if (have < pieces)
			continue;
		move_data(slots + (i + 1) * TF_SLOT, pieces, bytes, false);
		memset(bytes + length, 0, pieces * TF_DATA_BYTES - length);
		redact_blob(r, tf_blob_kind(slot), bytes, length);
		move_data(slots + (i + 1) * TF_SLOT, pieces, bytes, true);
		i += pieces;
	}
}

static void redact_chunk(struct redactor *r, uint8_t *chunk, size_t size)
{
	struct tf_chunk head;
	size_t at = sizeof(head);

	memcpy(&head, chunk, sizeof(head));
	if (head.kind == TF_CHUNK_FIRST || head.kind == TF_CHUNK_THREAD) {
		if (size >= sizeof(struct tf_thread))
			redact_field(r, (char *)chunk + offsetof(struct tf_thread, name),
				     sizeof(((struct tf_thread *)0)->name), REDACT_SECRET);
		if (head.kind == TF_CHUNK_THREAD)
			return;
		at = head.slots;
	} else if (head.kind != TF_CHUNK_SLOTS) {
		clear(chunk, at, size);
		return;
	}
	if (at < size)
		redact_slots(r, chunk + at, (size - at) / TF_SLOT);
	if (at < size)
		clear(chunk, size - (size - at) % TF_SLOT, size);
}

/* ---- traces ---- */

/* What follows the names of functions up to `to`, and what cannot be such a name. */
static void clear_after_functions(uint8_t *bytes, size_t at, size_t function_bytes, size_t to)
{
	size_t end = function_bytes < to - at ? at + function_bytes : to;

	while (end - at >= 2 && bytes[at + 1] && bytes[at + 1] <= end - at - 2 &&
	       !memchr(bytes + at + 2, '/', bytes[at + 1]))
		at += 2u + bytes[at + 1];
	clear(bytes, at, to);
}

static bool redact_header(struct redactor *r, struct tf_header *h)
{
	if (h->magic != TF_MAGIC || h->byte_order != TF_BYTE_ORDER || h->version_major != TF_VERSION_MAJOR)
		return false;
	redact_field(r, h->host, sizeof(h->host), REDACT_SECRET);
	clear((uint8_t *)h->boot, strnlen(h->boot, sizeof(h->boot)), sizeof(h->boot));
	redact_field(r, h->executable, sizeof(h->executable), REDACT_SECRET);
	clear((uint8_t *)h->arguments, list_size(h->arguments, sizeof(h->arguments)), sizeof(h->arguments));
	redact_text(r, h->arguments, sizeof(h->arguments), REDACT_SECRET, false);
	clear((uint8_t *)h->variables, list_size(h->variables, sizeof(h->variables)), sizeof(h->variables));
	redact_variables(r, h->variables, sizeof(h->variables), false);
	return true;
}

static bool redact_trace(struct redactor *r, uint8_t *bytes, size_t size)
{
	struct tf_header header;
	uint64_t at, head_end = size < TF_PAGE ? size : TF_PAGE;

	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (!redact_header(r, &header))
		return false;
	memcpy(bytes, &header, sizeof(header));
	clear(bytes, sizeof(header), head_end);
	at = TF_PAGE + ((uint64_t)header.function_bytes + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
	if (size > TF_PAGE)
		clear_after_functions(bytes, TF_PAGE, header.function_bytes, at < size ? at : size);
	while (at < size) {
		uint64_t left = size - at, chunk_size = left < TF_PAGE ? left : TF_PAGE;
		struct tf_chunk head = {0};

		if (left >= sizeof(head))
			memcpy(&head, bytes + at, sizeof(head));
		if (head.magic == TF_CHUNK_MAGIC && head.nonce == header.nonce && head.size_bytes >= TF_PAGE &&
		    head.size_bytes % TF_PAGE == 0) {
			chunk_size = head.size_bytes < left ? head.size_bytes : left;
			redact_chunk(r, bytes + at, (size_t)chunk_size);
		} else {
			/* The head of space without a chunk has its size. */
			bool has_head = !head.magic && head.nonce == header.nonce;

			clear(bytes, at + (has_head ? sizeof(head) : 0), at + chunk_size);
		}
		at += chunk_size;
	}
	return true;
}

/* ---- files of the launcher ---- */

static void redact_image(struct redactor *r, uint8_t *place)
{
	struct tf_image image;
	struct tf_chunk head;

	memcpy(&image, place, sizeof(image));
	memcpy(&head, place + sizeof(image), sizeof(head));
	if (head.magic == TF_CHUNK_MAGIC && head.nonce == image.nonce && head.kind == TF_CHUNK_FIRST)
		redact_chunk(r, place + sizeof(image), TF_IMAGE_CHUNK_BYTES);
	else /* Moved into a trace, or not begun: its head tells which. */
		clear(place, sizeof(image) + sizeof(head), TF_IMAGE_BYTES);
}

static bool redact_range(struct redactor *r, uint8_t *bytes, size_t size)
{
	struct tf_images images;
	uint64_t magic;

	if (size < sizeof(struct tf_range_page) || (memcpy(&magic, bytes, sizeof(magic)), magic != TF_RANGE_MAGIC))
		return false;
	if (size < TF_IMAGES_FIRST) {
		clear(bytes, TF_IMAGES_OFFSET, size);
		return true;
	}
	memcpy(&images, bytes + TF_IMAGES_OFFSET, sizeof(images));
	if (images.magic && images.magic != TF_IMAGES_MAGIC)
		return false;
	redact_field(r, images.host, sizeof(images.host), REDACT_SECRET);
	memcpy(bytes + TF_IMAGES_OFFSET, &images, sizeof(images));
	clear_after_functions(bytes, TF_IMAGES_OFFSET + sizeof(images), images.function_bytes, TF_IMAGES_FIRST);
	for (size_t at = TF_IMAGES_FIRST; at < size; at += TF_IMAGE_BYTES) {
		if (size - at >= TF_IMAGE_BYTES)
			redact_image(r, bytes + at);
		else
			clear(bytes, at, size);
	}
	return true;
}

static bool redact_usage(struct redactor *r, uint8_t *bytes, size_t size)
{
	struct tf_usage_head head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != TF_USAGE_MAGIC || head.sample_bytes != sizeof(struct tf_usage_sample))
		return false;
	for (size_t at = sizeof(head); at < size; at += sizeof(struct tf_usage_sample)) {
		struct tf_usage_sample sample;

		if (size - at < sizeof(sample)) {
			clear(bytes, at, size);
			break;
		}
		memcpy(&sample, bytes + at, sizeof(sample));
		if (sample.kind != TF_USAGE_CPUS)
			redact_field(r, sample.name, sizeof(sample.name), REDACT_SECRET);
		memcpy(bytes + at, &sample, sizeof(sample));
	}
	return true;
}

static bool redact_energy(struct redactor *r, uint8_t *bytes, size_t size)
{
	uint64_t magic;

	if (size < sizeof(magic) || (memcpy(&magic, bytes, sizeof(magic)), magic != TF_ENERGY_MAGIC))
		return false;
	redact_printable(r, (char *)bytes, size);
	return true;
}

static bool redact_whole_lines(struct redactor *r, uint8_t *bytes, size_t size)
{
	redact_lines(r, (char *)bytes, size);
	return true;
}

/* ---- by name ---- */

/* HOST and `parts` parts without a dot, of which the last one is the kind of the file. HOST.RUN.where is memory of the
 * program, which may have anything. */
static const struct file_kind {
	const char *ending;
	int parts; /* 0: the whole name */
	bool (*redact)(struct redactor *r, uint8_t *bytes, size_t size);
} kinds[] = {
	{".trace", 3, redact_trace},   {".index", 2, redact_whole_lines},
	{".range", 2, redact_range},   {".usage", 2, redact_usage},
	{".energy", 2, redact_energy}, {"capture", 0, redact_whole_lines},
	{"names.sources", 0, redact_whole_lines}, {"names.symbols", 0, redact_whole_lines},
};

static const struct file_kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(name), end = strlen(kinds[i].ending);

		if (kinds[i].parts ? length > end && !strcmp(name + length - end, kinds[i].ending)
				   : !strcmp(name, kinds[i].ending))
			return &kinds[i];
	}
	return NULL;
}

bool redact_file(struct redactor *r, const char *name, uint8_t *bytes, size_t size)
{
	const struct file_kind *kind = kind_of(name);

	return kind && kind->redact(r, bytes, size);
}

void redact_file_name(struct redactor *r, const char *name, struct buffer *ret)
{
	const struct file_kind *kind = kind_of(name);
	size_t length = strlen(name);

	for (int i = 0; kind && i < kind->parts; i++) {
		const char *dot = memrchr(name, '.', length);

		length = dot ? (size_t)(dot - name) : length;
	}
	buffer_text(ret, name);
	if (!kind || kind->parts)
		redact_text(r, ret->data, length, REDACT_SECRET, false);
}
