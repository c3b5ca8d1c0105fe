/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces names in texts by random ones of the same length, the same name always by the same one. */
#pragma once

#include "report/base/interner.h"

/* What a text is. Names are its longest pieces of letters, digits and bytes from 0x80 on. */
enum redact_how {
	REDACT_KNOWN, /* names that a SECRET text has, too, and those of absolute paths: what a person wrote */
	REDACT_PRIVATE, /* all names: they are replaced in this text only */
	REDACT_SECRET, /* all names: they are replaced in every text */
};

struct redactor {
	struct interner names;
	struct redacted_name {
		char *other;
		bool is_secret;
	} *of; /* by the number of the name */
	size_t capacity;
	struct interner taken; /* names that stand for others */
};

void redactor_done(struct redactor *r);

/* is_escaped: bytes are written as \xHH, as in lines of an index. */
void redact_text(struct redactor *r, char *text, size_t size, enum redact_how how, bool is_escaped);
