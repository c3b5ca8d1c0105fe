/* SPDX-License-Identifier: Apache-2.0 */
/* CPython 3.14 and 3.15 publish their structure offsets: they are read from a runtime of that version and rejected from
 * any other. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/shared/common/pystack_layout.h"

/* In the order of Include/internal/pycore_debug_offsets.h of each version. */
#define OFFSETS(...)                                                                                                   \
	struct {                                                                                                       \
		char cookie[8];                                                                                        \
		uint64_t version, free_threaded;                                                                       \
		uint64_t runtime[3], interpreter[16];                                                                  \
		struct {                                                                                               \
			uint64_t __VA_ARGS__;                                                                          \
		} state;                                                                                               \
		struct {                                                                                               \
			uint64_t size, previous, executable, instr_ptr, localsplus, owner, stackpointer, tlbc_index;   \
		} frame;                                                                                               \
		struct {                                                                                               \
			uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames,    \
			    localspluskinds, co_code_adaptive, co_tlbc;                                                \
		} code;                                                                                                \
		struct {                                                                                               \
			uint64_t size, ob_type;                                                                        \
		} object;                                                                                              \
		uint64_t rest[64];                                                                                     \
	}
static OFFSETS(size, prev, next, interp, current_frame, thread_id, native_thread_id, datastack_chunk, status) v14;
static OFFSETS(size, prev, next, interp, current_frame, base_frame, last_profiled_frame, last_profiled_frame_seq,
	       thread_id, native_thread_id, datastack_chunk, status, holds_gil, gil_requested, current_exception,
	       exc_state, exc_value) v15;

/* Without a GIL, an object has 16 bytes more, and a code object a pointer more. */
#define FILL(r, number, is_free)                                                                                       \
	do {                                                                                                           \
		unsigned head = (is_free) ? 16 : 0;                                                                    \
		memset(&r, 0xee, sizeof(r));                                                                           \
		memcpy(r.cookie, "xdebugpy", 8);                                                                       \
		r.version = number;                                                                                    \
		r.free_threaded = is_free;                                                                             \
		r.state.current_frame = 72;                                                                            \
		r.frame.previous = 8;                                                                                  \
		r.frame.executable = 0;                                                                                \
		r.frame.instr_ptr = 56;                                                                                \
		r.frame.owner = (is_free) ? 78 : 74;                                                                   \
		r.frame.tlbc_index = (is_free) ? 72 : 0;                                                               \
		r.code.filename = 112 + head;                                                                          \
		r.code.name = 120 + head;                                                                              \
		r.code.qualname = 128 + head;                                                                          \
		r.code.linetable = 136 + head;                                                                         \
		r.code.firstlineno = 68 + head;                                                                        \
		r.code.co_code_adaptive = (is_free) ? 232 : 208;                                                       \
		r.code.co_tlbc = (is_free) ? 224 : 0;                                                                  \
		r.object.size = 16 + head;                                                                             \
		r.object.ob_type = 8 + head;                                                                           \
	} while (0)

static struct pystack_layout layout;

static void fill(bool is_free)
{
	FILL(v14, 0x030e0af0, is_free); /* 3.14.10, same offsets as the others */
	FILL(v15, 0x030f02f0, is_free);
}

static void setup(void)
{
	fill(false);
}

TestSuite(pystack_layout, .init = setup);

static bool find(unsigned version, const void *runtime)
{
	return !pystack_layout_find(version, runtime, &layout);
}

static void assert_layout(unsigned version, unsigned head)
{
	cr_assert_eq(layout.version, version);
	cr_assert_eq(layout.state_cframe, PYSTACK_NONE);
	cr_assert_eq(layout.state_frame, 72);
	cr_assert_eq(layout.previous, 8);
	cr_assert_eq(layout.code, 0);
	cr_assert_eq(layout.instruction, 56);
	cr_assert_eq(layout.owner, head ? 78 : 74);
	cr_assert_eq(layout.is_entry, PYSTACK_NONE);
	cr_assert_eq(layout.file, 112 + head);
	cr_assert_eq(layout.name, 128 + head);
	cr_assert_eq(layout.known, 120 + head);
	cr_assert_eq(layout.lines, 136 + head);
	cr_assert_eq(layout.first_line, 68 + head);
	cr_assert_eq(layout.start, head ? 232 : 208);
	cr_assert_eq(layout.traceable, 192 + head);
	cr_assert_eq(layout.ascii, 40 + head);
	cr_assert_eq(layout.compact, 56 + head);
	cr_assert_eq(layout.tags, 3);
	cr_assert_eq(layout.head, head);
	cr_assert_eq(layout.shift, head ? 6 : 0);
	cr_assert_eq(layout.copies, head ? 224 : 0);
	cr_assert_eq(layout.copy, head ? 72 : 0);
	cr_assert_eq(layout.has_base, version == 0x30f);
}

Test(pystack_layout, reads_what_is_published)
{
	for (int is_free = 0; is_free < 2; is_free++) {
		fill(is_free);
		cr_assert(find(0x30e, &v14));
		assert_layout(0x30e, is_free ? 16 : 0);
		cr_assert(find(0x30f, &v15));
		assert_layout(0x30f, is_free ? 16 : 0);
	}
}

Test(pystack_layout, does_not_believe_another_runtime)
{
#define WORDS(r)                                                                                                       \
	(uint64_t *)r.cookie, &r.version, &r.state.current_frame, &r.frame.previous, &r.frame.executable,              \
	    &r.frame.instr_ptr, &r.frame.owner, &r.frame.tlbc_index, &r.code.filename, &r.code.name, &r.code.qualname, \
	    &r.code.linetable, &r.code.firstlineno, &r.code.co_code_adaptive, &r.code.co_tlbc, &r.object.size,         \
	    &r.object.ob_type, &r.free_threaded
	uint64_t *const words[] = {WORDS(v14), WORDS(v15)};
	enum { COUNT = sizeof(words) / sizeof(*words) };

	fill(true);
	for (size_t i = 0; i < COUNT; i++) {
		unsigned version = i < COUNT / 2 ? 0x30e : 0x30f;
		const void *runtime = i < COUNT / 2 ? (void *)&v14 : (void *)&v15;
		uint64_t right = *words[i];

		*words[i] = 100000;
		cr_assert_not(find(version, runtime), "word %zu", i);
		*words[i] = UINT64_MAX - 3;
		cr_assert_not(find(version, runtime), "word %zu", i);
		*words[i] = right;
		cr_assert(find(version, runtime), "word %zu", i);
	}
	cr_assert_not(find(0x30e, NULL));
	cr_assert_not(find(0x30f, &v14));
}

Test(pystack_layout, knows_no_other_versions)
{
	cr_assert_not(find(0x307, &v14));
	cr_assert_not(find(0x310, &v15));
	cr_assert(strstr(pystack_layout_find(0x310, (void *)&v15, &layout), "newer"));
	cr_assert_not(find(0, &v14));
	for (unsigned version = 0x308; version <= 0x30d; version++) {
		cr_assert(find(version, &v14));
		cr_assert_eq(layout.version, version);
		cr_assert_eq(layout.tags, 0);
		cr_assert_eq(layout.head, 0);
	}
}

Test(pystack_layout, free_threading_is_told)
{
	cr_assert_not(pystack_is_free_threaded((const char *)&v14));
	v14.free_threaded = 1;
	cr_assert(pystack_is_free_threaded((const char *)&v14));
	cr_assert(find(0x30d, &v14));
	cr_assert_eq(layout.head, 16);
	v14.free_threaded = 0;
	v14.cookie[0] = 'X';
	cr_assert(pystack_is_free_threaded((const char *)&v14));
	cr_assert_not(find(0x30d, &v14));
	cr_assert(pystack_is_free_threaded(NULL));
}
