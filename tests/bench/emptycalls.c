/* SPDX-License-Identifier: Apache-2.0 */
/* The least that it costs to be told of each Python call: a function in C for sys.monitoring that does nothing. A
 * module of Python, which answers.py compiles for the interpreter that it runs in. */
#include <Python.h>

static PyObject *nothing(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void)self;
	(void)arguments;
	(void)count;
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"nothing", (PyCFunction)(void (*)(void))nothing, METH_FASTCALL, "Ignores its arguments."},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "emptycalls", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_emptycalls(void)
{
	return PyModule_Create(&module);
}
