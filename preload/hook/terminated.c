/* SPDX-License-Identifier: Apache-2.0 */
/* libstdc++ calls abort() from its terminate handler, which has just read the exception as it is read here, by the
 * Itanium C++ ABI. Only the shared library is asked: a program that exports a static libstdc++ may call abort() and
 * have a what() of its own in the same object. No lock is taken. */
#include "preload/hook/terminated.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "preload/hook/call.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/stack/crash.h"
#include "runtime/recorder/stack/object.h"

/* CATCHES, WHAT: virtual functions of std::type_info in libstdc++ and of std::exception. ASSERT_BYTES: more than the
 * function of a failed assertion has. */
enum { CATCHES = 4, WHAT = 2, NAME_BYTES = 200, WHAT_BYTES = 200, ASSERT_BYTES = 256 };

struct type_info {
	void *const *functions;
	const char *name;
};

/* An exception_ptr has the first word. Because of the others the C ABI returns it in memory, as that of C++ does. */
struct exception_ptr {
	void *object, *others[3];
};

typedef const struct type_info *current_type_call(void);
typedef struct exception_ptr current_call(void);
typedef bool catches_call(const struct type_info *, const struct type_info *thrown, void **object, unsigned outer);
typedef const char *what_call(const void *);

/* libstdc++.so.6, so the same in all threads that call abort() at a time. */
static struct {
	uintptr_t base;
	const void *dynamic;
} library;

static bool is_libstdcxx(uintptr_t base, const void *dynamic)
{
	const char *name = dynamic ? dso_soname(base, dynamic) : NULL;

	return name && !strcmp(name, "libstdc++.so.6");
}

static void *find(const char *symbol)
{
	return dso_symbol(library.base, library.dynamic, symbol);
}

static bool is_of_library(const void *function)
{
	struct object o;
	uintptr_t base;

	return object_find((uintptr_t)function, &o) == OBJECT_FOUND && object_dynamic(&o, &base) == library.dynamic;
}

/* NULL: it is none of std::exception, or its class has a what() of its own, which may have effects. */
static const char *what_of(const struct type_info *thrown, void *object)
{
	const struct type_info *wanted = find("_ZTISt9exception");
	void *const *functions;

	if (!wanted || !((catches_call *)wanted->functions[CATCHES])(wanted, thrown, &object, 1))
		return NULL;
	functions = *(void *const **)object;
	return is_of_library(functions[WHAT]) ? ((what_call *)functions[WHAT])(object) : NULL;
}

/* The exception itself; NULL: there is none, or it is of another language's runtime, which has no type_info. A failed
 * assertion of the library is no exception, although one may be handled at that time. */
static void *current_exception(const void *caller)
{
	current_call *current = (current_call *)find("_ZSt17current_exceptionv");
	const char *fails = find("_ZSt21__glibcxx_assert_failPKciS0_S0_");

	if (!current || (fails && (uintptr_t)caller - (uintptr_t)fails < ASSERT_BYTES))
		return NULL;
	return current().object;
}

static size_t add(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size);

	memcpy(to, from, length);
	return length;
}

static void note(const struct type_info *type, void *exception)
{
	const char *what = what_of(type, exception);
	char text[NAME_BYTES + WHAT_BYTES + 8];
	size_t length = add(text, "_ZTI", 4);

	length += add(text + length, type->name + (*type->name == '*'), NAME_BYTES);
	if (what) {
		length += add(text + length, ": ", 2);
		length += add(text + length, what, WHAT_BYTES);
	}
	crash_aborts(event_intern(TF_BLOB_STRING, text, length));
}

static void look(const void *caller)
{
	current_type_call *type_of_current;
	const struct type_info *type;
	struct object object;
	const void *dynamic;
	uintptr_t base;
	void *exception;

	if (object_find((uintptr_t)caller, &object) != OBJECT_FOUND)
		return;
	dynamic = object_dynamic(&object, &base);
	if (!is_libstdcxx(base, dynamic))
		return;
	library.base = base;
	library.dynamic = dynamic;
	type_of_current = (current_type_call *)find("__cxa_current_exception_type");
	exception = type_of_current ? current_exception(caller) : NULL;
	type = exception ? type_of_current() : NULL;
	if (type && hook_attached())
		note(type, exception);
}

void terminated_note(const void *caller)
{
	int error = errno;

	if (process_gate.groups && !process_is_borrowed())
		look(caller);
	errno = error;
}
