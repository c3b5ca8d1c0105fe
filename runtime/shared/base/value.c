/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/base/value.h"

bool value_number(const char *s, size_t length, uint64_t *ret)
{
	uint64_t n = 0;

	if (!length)
		return false;
	for (; length; s++, length--) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
			return false;
	}
	*ret = n;
	return true;
}

bool value_seconds(const char *s, double *ret)
{
	size_t whole = strcspn(s, ".s"), digits;
	const char *fraction = s + whole + (s[whole] == '.');
	double scale = 1;
	uint64_t n = 0;

	digits = strspn(fraction, "0123456789");
	if (whole > 9 || !(whole + digits) || (whole && !value_number(s, whole, &n)))
		return false;
	*ret = (double)n;
	for (; digits; digits--, fraction++) {
		scale /= 10;
		*ret += (*fraction - '0') * scale;
	}
	return !*fraction || !strcmp(fraction, "s");
}

bool value_bool(const char *s, bool *ret)
{
	*ret = value_is_listed(",true,on,yes,True,", s, strlen(s));
	return *ret || value_is_listed(",false,off,no,False,", s, strlen(s));
}

void value_seconds_print(double seconds, struct text *t)
{
	uint64_t whole = (uint64_t)seconds;
	uint64_t nanos = (uint64_t)((seconds - (double)whole) * 1e9 + 0.5);
	char digits[9];
	int used = 9;

	if (nanos >= 1000000000) {
		whole++;
		nanos = 0;
	}
	text_number(t, whole);
	if (!nanos)
		return;
	for (int i = 8; i >= 0; i--, nanos /= 10)
		digits[i] = (char)('0' + nanos % 10);
	while (digits[used - 1] == '0')
		used--;
	text_add(t, ".");
	text_bytes(t, digits, (size_t)used);
}

bool value_is(const char *s, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(s, word, length);
}

bool value_is_listed(const char *list, const char *s, size_t length)
{
	while (*list++ == ',' && *list) {
		size_t word = strcspn(list, ",");

		if (word == length && !memcmp(list, s, length))
			return true;
		list += word;
	}
	return false;
}

bool value_duration(const char *s, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const uint64_t most_ns = 3600000000000;
	size_t digits = strspn(s, "0123456789");
	uint64_t n;

	if (!value_number(s, digits, &n))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(s + digits, units[i].unit) && n <= most_ns / units[i].ns) {
			*ret_ns = n * units[i].ns;
			return true;
		}
	return false;
}
