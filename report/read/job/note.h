/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a note, which trace_notes.h encodes. */
#pragma once

#include "runtime/shared/format/trace_notes.h"

enum note_code {
	NOTE_OTHER,
#define NOTE_ENUMERATOR(code) NOTE_##code,
	TF_NOTES(NOTE_ENUMERATOR)
#undef NOTE_ENUMERATOR
};

/* Returns the code of a note, and what follows its words (all of a NOTE_OTHER). */
enum note_code note_decode(const char *text, const char **ret_rest);
