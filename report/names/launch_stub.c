/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/launch_stub.h"

#include <string.h>

#include "report/names/demangle.h"

static const char stub_mark[] = "__device_stub_";

bool launch_stub_is(const char *function, const char *file)
{
	static const char ending[] = ".cudafe1.stub.c";
	size_t length = file ? strlen(file) : 0;

	return (function && strstr(function, stub_mark)) ||
	       (length >= sizeof(ending) && !strcmp(file + length - (sizeof(ending) - 1), ending));
}

/* "add" of "add<float>(float*)", which need not be mangled. */
static void add_base(struct buffer *ret, const char *function)
{
	if (text_begins_with(function, "_Z"))
		demangle_base(ret, function);
	else
		buffer_add(ret, function, strcspn(function, "<("));
}

/* The kernel's name is in that of the stub: mangled, or plain in that of a template's wrapper. */
void launch_stub_enter(struct launch_stub *s, const char *function)
{
	SCOPED(buffer) text = {0}, name = {0};
	const char *mark;

	launch_stub_done(s);
	if (function)
		demangle(&text, function);
	mark = text.data ? strstr(text.data, stub_mark) : NULL;
	if (mark) {
		mark += sizeof(stub_mark) - 1;
		buffer_add(&name, mark, strcspn(mark, "<("));
		add_base(&s->base, buffer_string(&name));
		if (text_begins_with(buffer_string(&name), "_Z"))
			demangle(&s->signature, name.data);
	}
}

/* Parameters are compared where both are known: a function of the same name may launch the kernel. */
bool launch_stub_is_kernel(struct launch_stub *s, const char *function)
{
	SCOPED(buffer) text = {0}, base = {0};
	bool is_kernel = false;

	if (s->base.size && function) {
		demangle(&text, function);
		add_base(&base, function);
		is_kernel = s->signature.size && text.size && text.data[text.size - 1] == ')'
				    ? !strcmp(text.data, s->signature.data)
				    : !strcmp(buffer_string(&base), s->base.data);
	}
	launch_stub_done(s);
	return is_kernel;
}

void launch_stub_done(struct launch_stub *s)
{
	buffer_done(&s->base);
	buffer_done(&s->signature);
}
