/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/job/note.h"

#include <string.h>

enum note_code note_decode(const char *text, const char **ret_rest)
{
	static const struct {
		enum note_code code;
		const char *words;
	} notes[] = {
#define NOTE_WORDS(code) {NOTE_##code, TF_NOTE_##code},
		TF_NOTES(NOTE_WORDS)
#undef NOTE_WORDS
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		if (!strncmp(text, notes[i].words, strlen(notes[i].words))) {
			*ret_rest = text + strlen(notes[i].words);
			return notes[i].code;
		}
	*ret_rest = text;
	return NOTE_OTHER;
}
