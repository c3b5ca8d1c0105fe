/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's messages. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"

void say(const char *format, ...)
{
	char text[PATH_MAX + 1024] = "pillion: ";
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, sizeof(text) - used - 1, format, list);
	va_end(list);
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	strcat(text, "\n");
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* there is nowhere to report it */
}
