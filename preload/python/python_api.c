/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/python/python_api.h"

#include <stddef.h>
#include <stdint.h>

struct python python;

void python_set_item(void *space, const char *name, void *value)
{
	if (value)
		python.PyDict_SetItemString(space, name, value);
	else
		python.PyErr_Clear();
	python.Py_DecRef(value);
}

unsigned python_state_place(const void *value)
{
	enum { WORDS = 20 }; /* of the state, which is larger */
	void *const *state = python.PyThreadState_Get();

	for (unsigned i = 2; i < WORDS; i++)
		if (state[i] == value)
			return i * sizeof(*state);
	return 0;
}

void python_offer(void *space, const struct method *natives, size_t count)
{
	for (const struct method *m = natives; m < natives + count; m++)
		python_set_item(space, m->name, python.PyCFunction_NewEx((void *)m, NULL, NULL));
}

__attribute__((cold)) const char *python_module_of(void *globals)
{
	void *name = globals ? python.PyDict_GetItemString(globals, "__name__") : NULL;
	const char *text = name ? python.PyUnicode_AsUTF8(name) : NULL;

	return text ? text : "";
}

__attribute__((cold)) void *python_code_bytes(void *code, const char *attribute)
{
	void *text = python.PyObject_GetAttrString(code, attribute);
	void *bytes = text ? python.PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;

	if (!bytes)
		python.PyErr_Clear();
	python.Py_DecRef(text);
	return bytes;
}

__attribute__((cold)) unsigned python_code_number(void *code, const char *attribute)
{
	void *number = python.PyObject_GetAttrString(code, attribute);
	unsigned value = number ? (unsigned)(uintptr_t)python.PyLong_AsVoidPtr(number) : 0;

	python.Py_DecRef(number);
	return value;
}
