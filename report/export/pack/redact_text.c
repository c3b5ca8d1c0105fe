/* SPDX-License-Identifier: Apache-2.0 */
/* The names that pack --redact replaces, and where they begin and end in a text. */
#include <stdlib.h>
#include <string.h>

#include "report/base/newer_libc.h"
#include "report/export/pack/redact_text.h"

enum { TRIES = 1000, LEAST_KNOWN = 4 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_of_name(char c)
{
	return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* Reports decide by these, and everybody has them. Digits may follow. */
static bool is_public(const char *name, size_t size)
{
	static const char words[] =
		" py pyc so a o c h cc hh cpp hpp cxx cu cuh f rs go js ts sh pillion pillpack python "
		"cpython libpython pip bash dash env torchrun mpirun mpiexec srun lib usr bin opt tmp "
		"home var etc proc dev sys run mnt site dist packages dynload torchinductor frozen linux "
		"gnu ld libc libm libpthread libdl libstdc libcuda libcudart libcupti libnccl libtorch "
		"libmpi libpillion aten torch cuda nvidia triton jax xla mpi nccl tcp udp unix pipe anon "
		"inode socket eventfd eventpoll timerfd signalfd inotify memfd deleted ";
	char word[16] = " ";

	while (size && is_digit(name[size - 1]))
		size--;
	if (!size || size > sizeof(word) - 3)
		return false;
	memcpy(word + 1, name, size);
	word[size + 1] = ' ';
	return strstr(words, word);
}

/* ---- the table ---- */

static char other_char(char c, unsigned char random)
{
	return is_digit(c) ? (char)('0' + random % 10) : (char)((is_upper(c) ? 'A' : 'a') + random % 26);
}

/* Random, so that nobody can compute it from a list of likely names. */
static void fill_other(const char *name, size_t size, char *ret)
{
	unsigned char random[256];

	for (size_t i = 0; i < size; i++) {
		size_t part = size - i < sizeof(random) ? size - i : sizeof(random);

		if (i % sizeof(random) == 0 && random_bytes(random, part) != (long)part)
			memset(random, 0, sizeof(random));
		ret[i] = other_char(name[i], random[i % sizeof(random)]);
	}
}

/* Different names get different ones as long as there are enough. */
static char *make_other(struct redactor *r, const char *name, size_t size)
{
	char *other = mem_copy_text(name, size);

	for (int i = 0; i < TRIES; i++) {
		size_t before = r->taken.count;

		fill_other(name, size, other);
		if (size == 0 || interner_number(&r->taken, other, size) == before)
			break;
	}
	return other;
}

static void redact_name(struct redactor *r, char *name, size_t size, enum redact_how how)
{
	size_t count = r->names.count, number = interner_number(&r->names, name, size);

	if (number == count)
		r->of = mem_grow(r->of, count, &r->capacity, sizeof(*r->of));
	if (number == count)
		r->of[number] = (struct redacted_name){0};
	if (how == REDACT_SECRET && size >= LEAST_KNOWN && strspn(r->names.items[number].text, "0123456789") < size)
		r->of[number].is_secret = true;
	if (how == REDACT_KNOWN && !r->of[number].is_secret)
		return;
	if (!r->of[number].other)
		r->of[number].other = make_other(r, name, size);
	memcpy(name, r->of[number].other, size);
}

void redactor_done(struct redactor *r)
{
	for (size_t i = 0; i < r->names.count; i++)
		free(r->of[i].other);
	free(r->of);
	interner_done(&r->names);
	interner_done(&r->taken);
}

/* ---- words ---- */

/* The digits of a version stay if they follow a public name: libc.so.6, python3.11. */
static void redact_names(struct redactor *r, char *word, size_t size, enum redact_how how)
{
	bool was_public = false;

	for (size_t at = 0, end; at < size; at = end) {
		bool is_number = true;

		for (end = at; end < size && is_of_name(word[end]); end++)
			is_number &= is_digit(word[end]);
		if (end == at) {
			was_public &= word[end++] == '.';
			continue;
		}
		was_public = is_number ? was_public : is_public(word + at, end - at);
		if (!was_public)
			redact_name(r, word + at, end - at, how);
	}
}

static size_t place_after(const char *path, size_t size, const char *mark)
{
	const char *found = memmem(path, size, mark, strlen(mark));

	return found ? (size_t)(found - path) + strlen(mark) : 0;
}

static bool is_of_system(const char *path, size_t size)
{
	static const char *const places[] = {"/usr/lib/", "/usr/lib64/", "/usr/bin/", "/usr/sbin/", "/lib/", "/lib64/",
					     "/bin/",     "/sbin/",      "/proc/",    "/sys/"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (size >= strlen(places[i]) && !memcmp(path, places[i], strlen(places[i])))
			return true;
	return size == strlen("/dev/null") && !memcmp(path, "/dev/null", size);
}

/* Files of Python itself stay; those of packages are replaced, but their names are too common to be secret. */
static void redact_path(struct redactor *r, char *path, size_t size, enum redact_how how)
{
	size_t at = place_after(path, size, "/site-packages/");
	enum redact_how rest = REDACT_PRIVATE;

	if (is_of_system(path, size)) {
		redact_names(r, path, size, REDACT_KNOWN);
		return;
	}
	if (!at)
		at = place_after(path, size, "/dist-packages/");
	if (!at && (at = place_after(path, size, "/lib/python3")))
		rest = REDACT_KNOWN;
	redact_names(r, path, at ? at : size, how);
	if (at)
		redact_names(r, path + at, size - at, rest);
}

static void redact_word(struct redactor *r, char *word, size_t size, enum redact_how how)
{
	bool is_path = size && (word[0] == '/' || word[0] == '~' || (word[0] == '.' && memchr(word, '/', size)));

	if (is_path)
		redact_path(r, word, size, how == REDACT_KNOWN ? REDACT_PRIVATE : how);
	else if (size != 2 || word[0] != '-' || how == REDACT_KNOWN) /* -m of python3 stays */
		redact_names(r, word, size, how);
}

static bool is_between_words(char c)
{
	return ((unsigned char)c <= ' ') || c == 0x7f || strchr("\"'`=,;:()<>[]{}|&\\", c);
}

void redact_text(struct redactor *r, char *text, size_t size, enum redact_how how, bool is_escaped)
{
	for (size_t at = 0, end; at < size; at = end) {
		for (end = at; end < size && !is_between_words(text[end]); end++)
			;
		redact_word(r, text + at, end - at, how);
		if (end < size)
			end += is_escaped && text[end] == '\\' && size - end >= 4 && text[end + 1] == 'x' ? 4 : 1;
	}
}
