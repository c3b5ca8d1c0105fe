/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/loader/maps.h"

#include "runtime/shared/base/text.h"
#include "runtime/shared/common/sys.h"

/* A line: "START-END PERMISSIONS OFFSET DEVICE INODE   PATH". */
enum maps_part { MAPS_START, MAPS_END, MAPS_OTHER, MAPS_PATH };

struct maps_scan {
	uintptr_t address, start, end; /* start, end: of this line */
	enum maps_part part;
	struct text path; /* of the line whose range contains the address */
};

static uintptr_t add_digit(uintptr_t number, char c)
{
	return number << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* True: this was the last character of the line of the address. */
static bool maps_take(struct maps_scan *s, char c)
{
	bool is_inside = s->address >= s->start && s->address < s->end;

	if (c == '\n') {
		s->part = MAPS_START;
		s->start = s->end = 0;
		return is_inside;
	}
	if (s->part == MAPS_START && c == '-')
		s->part = MAPS_END;
	else if (s->part == MAPS_START)
		s->start = add_digit(s->start, c);
	else if (s->part == MAPS_END && c == ' ')
		s->part = MAPS_OTHER;
	else if (s->part == MAPS_END)
		s->end = add_digit(s->end, c);
	else if (s->part == MAPS_OTHER && c == '/')
		s->part = MAPS_PATH;
	if (s->part == MAPS_PATH && is_inside)
		text_char(&s->path, c);
	return false;
}

static bool maps_find(struct maps_scan *s, int fd)
{
	char bytes[1024];
	long n;

	while ((n = sys_read(fd, bytes, sizeof(bytes))) > 0)
		for (long i = 0; i < n; i++)
			if (maps_take(s, bytes[i]))
				return true;
	return false;
}

static bool cut_end(struct text *path, const char *end)
{
	size_t length = strlen(end);

	if (text_length(path) <= length || memcmp(path->at - length, end, length) != 0)
		return false;
	path->at -= length;
	*path->at = '\0';
	return true;
}

bool maps_path(uintptr_t address, char *ret, size_t size, bool *ret_is_gone)
{
	struct maps_scan s = {.address = address, .path = text_init(ret, size)};
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	bool is_found;

	if (fd < 0)
		return false;
	is_found = maps_find(&s, fd);
	sys_close(fd);
	*ret_is_gone = cut_end(&s.path, " (deleted)");
	return is_found && text_length(&s.path) && !s.path.cut;
}
