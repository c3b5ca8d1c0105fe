/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of recording with CUPTI: which flags they have, that OFF is final, and what a forked child begins with. */
#include <criterion/criterion.h>

#include "runtime/recorder/device/cupti_state.h"

static void begin(void)
{
	process.generation = 1;
}

TestSuite(cupti_state, .init = begin);

Test(cupti_state, an_image_begins_untried)
{
	cr_expect_eq(cupti_phase(), CUPTI_UNTRIED);
	cr_expect(!cupti_phase_has(CUPTI_SETTLED) && !cupti_phase_has(CUPTI_RECORDS) && !cupti_may_record());
}

Test(cupti_state, each_phase_has_its_flags)
{
	static const struct {
		enum cupti_phase phase;
		bool is_settled, has_records;
	} rows[] = {
		{CUPTI_OPENING, false, false},	 {CUPTI_OPENING_EARLY, false, false}, {CUPTI_EARLY, false, true},
		{CUPTI_RECORDING, true, true},	 {CUPTI_PAUSED, false, false},	      {CUPTI_LENT, true, false},
		{CUPTI_UNTRIED, false, false},	 {CUPTI_OFF, true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cupti_set_phase(rows[i].phase);
		cr_expect_eq(cupti_phase(), rows[i].phase, "row %zu", i);
		cr_expect_eq(cupti_phase_has(CUPTI_SETTLED), rows[i].is_settled, "row %zu", i);
		cr_expect_eq(cupti_phase_has(CUPTI_RECORDS), rows[i].has_records, "row %zu", i);
		cr_expect_eq(cupti_may_record(), rows[i].has_records, "row %zu", i);
	}
}

Test(cupti_state, off_is_final)
{
	cupti_set_phase(CUPTI_RECORDING);
	cupti_set_phase(CUPTI_OFF);
	cupti_set_phase(CUPTI_RECORDING);
	cr_expect_eq(cupti_phase(), CUPTI_OFF);
	cr_expect(!cupti_phase_has(CUPTI_RECORDS));
}

Test(cupti_state, a_forked_child_begins_untried)
{
	cupti_set_phase(CUPTI_OFF);
	process.generation = 2;
	cr_expect_eq(cupti_phase(), CUPTI_UNTRIED);
	cr_expect(!cupti_phase_has(CUPTI_SETTLED));
	cupti_set_phase(CUPTI_RECORDING);
	cr_expect_eq(cupti_phase(), CUPTI_RECORDING);
}

Test(cupti_state, a_forked_child_of_an_image_with_cupti_is_off)
{
	cupti_state.opened_in = 1;
	cupti_set_phase(CUPTI_RECORDING);
	cr_expect(cupti_is_open());
	process.generation = 2;
	cr_expect(!cupti_is_open());
	cr_expect_eq(cupti_phase(), CUPTI_OFF);
	cr_expect(!cupti_phase_has(CUPTI_SETTLED) && !cupti_phase_has(CUPTI_RECORDS),
		  "until it is settled in the child");
	cupti_set_phase(CUPTI_OFF);
	cr_expect(cupti_phase_has(CUPTI_SETTLED));
}

Test(cupti_state, one_thread_has_the_claim_and_a_child_has_a_claim_of_its_own)
{
	struct thread_guard first, second;

	cr_expect(cupti_claim(&first));
	cr_expect(cupti_is_inside);
	cr_expect(!cupti_claim(&second));
	process.generation = 2;
	cr_expect(cupti_claim(&second));
	cupti_release(&second);
	cr_expect(!cupti_is_inside);
	cr_expect(cupti_claim(&second));
	cupti_release(&second);
}
