/* SPDX-License-Identifier: Apache-2.0 */
/* CPython 3.14 publishes its structure offsets: they are read from a runtime of that version and rejected from any
 * other. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/python/pystack_layout.h"

/* In the order of Include/internal/pycore_debug_offsets.h of 3.14. */
static struct {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t runtime[3], interpreter[16];
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id, datastack_chunk, status;
	} state;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner, stackpointer, tlbc_index;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames,
		    localspluskinds, co_code_adaptive, co_tlbc;
	} code;
	struct {
		uint64_t size, ob_type;
	} object;
	uint64_t rest[64];
} runtime;

static struct pystack_layout layout;

static void setup(void)
{
	memset(&runtime, 0xee, sizeof(runtime));
	memcpy(runtime.cookie, "xdebugpy", 8);
	runtime.version = 0x030e0af0; /* 3.14.10, same offsets as the others */
	runtime.free_threaded = 0;
	runtime.state.current_frame = 72;
	runtime.frame.previous = 8;
	runtime.frame.executable = 0;
	runtime.frame.instr_ptr = 56;
	runtime.frame.owner = 74;
	runtime.code.filename = 112;
	runtime.code.name = 120;
	runtime.code.qualname = 128;
	runtime.code.linetable = 136;
	runtime.code.firstlineno = 68;
	runtime.code.co_code_adaptive = 208;
	runtime.object.size = 16;
	runtime.object.ob_type = 8;
}

TestSuite(pystack_layout, .init = setup);

static bool find(unsigned version)
{
	return pystack_layout_find(version, (const char *)&runtime, &layout);
}

Test(pystack_layout, reads_what_3_14_tells)
{
	cr_assert(find(0x30e));
	cr_assert_eq(layout.version, 0x30e);
	cr_assert_eq(layout.state_cframe, PYSTACK_NONE);
	cr_assert_eq(layout.state_frame, 72);
	cr_assert_eq(layout.previous, 8);
	cr_assert_eq(layout.code, 0);
	cr_assert_eq(layout.instruction, 56);
	cr_assert_eq(layout.owner, 74);
	cr_assert_eq(layout.is_entry, PYSTACK_NONE);
	cr_assert_eq(layout.file, 112);
	cr_assert_eq(layout.name, 128);
	cr_assert_eq(layout.known, 120);
	cr_assert_eq(layout.lines, 136);
	cr_assert_eq(layout.first_line, 68);
	cr_assert_eq(layout.start, 208);
	cr_assert_eq(layout.traceable, 192);
	cr_assert_eq(layout.tags, 3);
}

Test(pystack_layout, does_not_believe_another_runtime)
{
	uint64_t *const words[] = {
	    (uint64_t *)runtime.cookie,     &runtime.version,          &runtime.state.current_frame,
	    &runtime.frame.previous,        &runtime.frame.executable, &runtime.frame.instr_ptr,
	    &runtime.frame.owner,           &runtime.code.filename,    &runtime.code.name,
	    &runtime.code.qualname,         &runtime.code.linetable,   &runtime.code.firstlineno,
	    &runtime.code.co_code_adaptive, &runtime.object.size,      &runtime.object.ob_type};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint64_t right = *words[i];

		*words[i] = 100000;
		cr_assert_not(find(0x30e), "word %zu", i);
		*words[i] = UINT64_MAX - 3;
		cr_assert_not(find(0x30e), "word %zu", i);
		*words[i] = right;
	}
	cr_assert(find(0x30e));
	cr_assert_not(pystack_layout_find(0x30e, NULL, &layout));
}

Test(pystack_layout, knows_no_other_versions)
{
	cr_assert_not(find(0x307));
	cr_assert_not(find(0x30f));
	cr_assert_not(find(0));
	for (unsigned version = 0x308; version <= 0x30d; version++) {
		cr_assert(pystack_layout_find(version, NULL, &layout));
		cr_assert_eq(layout.version, version);
		cr_assert_eq(layout.tags, 0);
	}
}

Test(pystack_layout, free_threading_is_told)
{
	cr_assert_not(pystack_is_free_threaded((const char *)&runtime));
	runtime.free_threaded = 1;
	cr_assert(pystack_is_free_threaded((const char *)&runtime));
	runtime.free_threaded = 0;
	runtime.cookie[0] = 'X';
	cr_assert(pystack_is_free_threaded((const char *)&runtime));
	cr_assert(pystack_is_free_threaded(NULL));
}
