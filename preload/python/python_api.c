/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/python/python_api.h"

#include <stddef.h>

struct python python;

void python_set_item(void *space, const char *name, void *value)
{
	if (value)
		python.PyDict_SetItemString(space, name, value);
	else
		python.PyErr_Clear();
	python.Py_DecRef(value);
}
