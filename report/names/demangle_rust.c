/* SPDX-License-Identifier: Apache-2.0 */
/* Rust's names of the scheme v0 (RFC 2603), as people write paths: without generic arguments, hashes and crate numbers.
 * A part is read even where it is not printed, because only that tells where it ends. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/names/demangle.h"

enum { DEPTH = 64, STEPS = 2000 };

struct v0 {
	const char *begin, *at;
	struct buffer *ret;
	unsigned int depth, steps, silent; /* silent: nothing is printed */
	bool is_wrong;
};

static void read_path(struct v0 *v);
static void read_type(struct v0 *v);

static void print(struct v0 *v, const char *text)
{
	if (!v->silent && !v->is_wrong)
		buffer_text(v->ret, text);
}

static bool take(struct v0 *v, char c)
{
	bool is_there = !v->is_wrong && *v->at == c;

	v->at += is_there;
	return is_there;
}

static uint64_t read_number(struct v0 *v)
{
	uint64_t n = 0;

	if (take(v, '_'))
		return 0;
	for (; isalnum((unsigned char)*v->at); v->at++)
		n = n * 62 + (uint64_t)(isdigit((unsigned char)*v->at) ? *v->at - '0'
					: islower((unsigned char)*v->at) ? *v->at - 'a' + 10
									 : *v->at - 'A' + 36);
	v->is_wrong |= !take(v, '_');
	return n + 1;
}

static void read_disambiguator(struct v0 *v)
{
	if (take(v, 's'))
		read_number(v);
}

static void read_name(struct v0 *v)
{
	char *end;
	size_t length;

	read_disambiguator(v);
	take(v, 'u');
	length = strtoul(v->at, &end, 10);
	v->is_wrong |= !isdigit((unsigned char)*v->at);
	if (*v->at == '0') /* a closure has no name, and a digit may follow */
		end = (char *)v->at + 1, length = 0;
	end += *end == '_';
	v->is_wrong |= strnlen(end, length) < length;
	if (v->is_wrong)
		return;
	v->at = end;
	if (!v->silent)
		buffer_add(v->ret, v->at, length);
	v->at += length;
}

/* What stands earlier in the name. */
static void read_reference(struct v0 *v, void (*read)(struct v0 *))
{
	const char *before = v->at - 1, *after;
	uint64_t offset = read_number(v);

	if (v->is_wrong || offset >= (uint64_t)(before - v->begin)) {
		v->is_wrong = true;
		return;
	}
	if (v->silent)
		return;
	after = v->at;
	v->at = v->begin + offset;
	read(v);
	v->at = after;
}

static void skip(struct v0 *v, void (*read)(struct v0 *))
{
	v->silent++;
	read(v);
	v->silent--;
}

static void read_constant(struct v0 *v)
{
	if (take(v, 'p'))
		return;
	if (take(v, 'B')) {
		read_reference(v, read_constant);
		return;
	}
	read_type(v);
	take(v, 'n');
	while (isxdigit((unsigned char)*v->at))
		v->at++;
	v->is_wrong |= !take(v, '_');
}

static void read_argument(struct v0 *v)
{
	if (take(v, 'L'))
		read_number(v);
	else if (take(v, 'K'))
		read_constant(v);
	else
		read_type(v);
}

static void read_until_end(struct v0 *v, void (*read)(struct v0 *))
{
	while (!v->is_wrong && *v->at != 'E')
		read(v);
	v->is_wrong |= !take(v, 'E');
}

static void read_function(struct v0 *v)
{
	if (take(v, 'G'))
		read_number(v);
	take(v, 'U');
	if (take(v, 'K') && !take(v, 'C'))
		read_name(v);
	read_until_end(v, read_type);
	read_type(v);
}

static void read_trait(struct v0 *v)
{
	read_path(v);
	while (take(v, 'p')) {
		skip(v, read_name);
		skip(v, read_type);
	}
}

static void read_dynamic(struct v0 *v)
{
	if (take(v, 'G'))
		read_number(v);
	read_until_end(v, read_trait);
	v->is_wrong |= !take(v, 'L');
	read_number(v);
}

static void read_pointed(struct v0 *v, const char *sign)
{
	if (take(v, 'L'))
		read_number(v);
	print(v, sign);
	read_type(v);
}

static const char *basic_type(char c)
{
	static const char letters[] = "abcdefhijlmnopstuvxyz";
	static const char *const names[] = {"i8",  "bool", "char", "f64",  "str", "f32", "u8",
					    "isize", "usize", "i32", "u32", "i128", "u128", "_",
					    "i16", "u16",  "()",   "...",  "i64", "u64", "!"};
	const char *found = c ? strchr(letters, c) : NULL;

	return found ? names[found - letters] : NULL;
}

static void read_compound(struct v0 *v, char kind)
{
	switch (kind) {
	case 'A':
	case 'S':
		print(v, "[");
		read_type(v);
		if (kind == 'A')
			skip(v, read_constant);
		print(v, "]");
		break;
	case 'T':
		print(v, "(");
		for (bool is_first = true; !v->is_wrong && *v->at != 'E'; is_first = false) {
			print(v, is_first ? "" : ", ");
			read_type(v);
			if (is_first && *v->at == 'E')
				print(v, ",");
		}
		print(v, ")");
		v->is_wrong |= !take(v, 'E');
		break;
	case 'R':
	case 'Q':
		read_pointed(v, "&");
		break;
	case 'P':
	case 'O':
		read_pointed(v, "*");
		break;
	case 'F':
		print(v, "fn");
		skip(v, read_function);
		break;
	case 'D':
		print(v, "dyn ");
		read_dynamic(v);
		break;
	default:
		read_reference(v, read_type);
	}
}

static bool enter(struct v0 *v)
{
	v->is_wrong |= ++v->depth > DEPTH || ++v->steps > STEPS;
	return !v->is_wrong;
}

static void read_type(struct v0 *v)
{
	const char *basic = basic_type(*v->at);
	char kind = *v->at;

	if (enter(v)) {
		if (basic) {
			v->at++;
			print(v, basic);
		} else if (kind && strchr("ASTRQPOFDB", kind)) {
			v->at++;
			read_compound(v, kind);
		} else {
			read_path(v);
		}
	}
	v->depth--;
}

static void read_implementation(struct v0 *v)
{
	read_disambiguator(v);
	read_path(v);
}

/* A function, a type, a closure of what is before it. */
static void read_nested(struct v0 *v)
{
	char space = *v->at;

	v->is_wrong |= !isalpha((unsigned char)space);
	v->at += !v->is_wrong;
	read_path(v);
	print(v, space == 'C' ? "::{closure}" : isupper((unsigned char)space) ? "::{shim}" : "::");
	if (isupper((unsigned char)space))
		skip(v, read_name);
	else
		read_name(v);
}

static void read_as_trait(struct v0 *v)
{
	print(v, "<");
	read_type(v);
	print(v, " as ");
	read_path(v);
	print(v, ">");
}

static void read_path(struct v0 *v)
{
	char kind = *v->at;

	if (enter(v)) {
		v->at += kind != '\0';
		switch (kind) {
		case 'C':
			read_name(v);
			break;
		case 'M':
			skip(v, read_implementation);
			read_type(v);
			break;
		case 'X':
			skip(v, read_implementation);
			read_as_trait(v);
			break;
		case 'Y':
			read_as_trait(v);
			break;
		case 'N':
			read_nested(v);
			break;
		case 'I':
			read_path(v);
			v->silent++;
			read_until_end(v, read_argument);
			v->silent--;
			break;
		case 'B':
			read_reference(v, read_path);
			break;
		default:
			v->is_wrong = true;
		}
	}
	v->depth--;
}

bool demangle_rust_v0(struct buffer *ret, const char *name)
{
	SCOPED(buffer) text = {0};
	struct v0 v = {.begin = name + 2, .at = name + 2, .ret = &text};
	bool is_such = text_begins_with(name, "_R") && isupper((unsigned char)name[2]);

	if (is_such) {
		read_path(&v);
		if (!v.is_wrong && isupper((unsigned char)*v.at)) /* the crate that has made it */
			skip(&v, read_path);
		is_such = !v.is_wrong && (!*v.at || *v.at == '.' || *v.at == '$') && text.size;
	}
	if (is_such)
		buffer_add(ret, text.data, text.size);
	return is_such;
}
