/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/read/job/note.h"

Test(note, begins_with_the_words_of_its_code)
{
	const char *rest;

	cr_assert_eq(note_decode("CPU samples: none under valgrind", &rest), NOTE_NO_SAMPLES);
	cr_assert_str_eq(rest, " under valgrind");
	cr_assert_eq(note_decode("disk full: events could not be stored", &rest), NOTE_DISK_FULL);
	cr_assert_eq(note_decode("RLIMIT_FSIZE: events could not be stored", &rest), NOTE_FILE_LIMIT);
	cr_assert_eq(note_decode("/proc cannot be read", &rest), NOTE_NO_PROC);
	cr_assert_eq(note_decode("no device times: no driver", &rest), NOTE_NO_DEVICE_TIMES);
	cr_assert_str_eq(rest, "no driver");
}

Test(note, of_no_code_is_kept_whole)
{
	const char *text = "CPU samples: a thread is no longer sampled", *rest;

	cr_assert_eq(note_decode(text, &rest), NOTE_OTHER);
	cr_assert_str_eq(rest, text);
	cr_assert_eq(note_decode("", &rest), NOTE_OTHER);
}
