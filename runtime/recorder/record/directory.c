/* SPDX-License-Identifier: Apache-2.0 */
/* The table has hashes, each of the directory as the program names it and of what that is relative to. Any thread, any
 * signal handler; no lock; errno is preserved. */
#include "runtime/recorder/record/directory.h"

#include <fcntl.h>
#include <string.h>

#include "runtime/recorder/record/descriptor.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/common/sys.h"

enum { ROOM = 320, PROBES = 8, PATH_ROOM = 4096 };

/* The directory part of a path, with its last slash. */
static size_t directory_length(const char *path)
{
	size_t length = strnlen(path, PATH_ROOM);

	while (length > 1 && path[length - 1] == '/')
		length--;
	while (length && path[length - 1] != '/')
		length--;
	return length;
}

static uint64_t hash_more(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint32_t directory_hash(int at, const char *path, size_t length)
{
	uint64_t hash = length, word;

	for (; length >= sizeof(word); length -= sizeof(word), path += sizeof(word)) {
		memcpy(&word, path, sizeof(word));
		hash = hash_more(hash, word);
	}
	word = 0;
	memcpy(&word, path, length);
	hash = hash_more(hash, word);
	if (at == AT_FDCWD)
		hash = hash_more(hash, process.chdirs);
	else if (at >= 0 && at < PROCESS_DESCRIPTORS)
		hash = hash_more(hash, (uint64_t)at << 32 | descriptor_generation(process.descriptors[at]));
	return (uint32_t)(hash >> 32) | 1;
}

static __attribute__((noinline)) void directory_describe(uint32_t number, int at, const char *path, size_t length,
							 uint64_t from_ticks)
{
	struct tf_descriptor head = {.from_ticks = from_ticks, .fd = 0xffff, .kind = TF_DESCRIPTOR_DIRECTORY,
				     .generation = number};
	char bytes[ROOM], name[32];
	struct text of = text_init(name, sizeof(name));
	long size = 0;

	if (path[0] != '/') {
		text_add(&of, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/");
		if (at != AT_FDCWD)
			text_number(&of, (uint64_t)at);
		size = sys_readlink(name, bytes, sizeof(bytes) - 2);
		if (size <= 0)
			return;
		if (bytes[size - 1] != '/')
			bytes[size++] = '/';
	}
	for (; length >= 2 && !memcmp(path, "./", 2); length -= 2)
		path += 2;
	if (length > sizeof(bytes) - (size_t)size)
		return;
	memcpy(bytes + size, path, length);
	event_blob_of_two(TF_BLOB_DESCRIPTOR,
			  1 + __atomic_fetch_add(&process.descriptor_texts, 1, __ATOMIC_RELAXED), &head, sizeof(head),
			  bytes, (size_t)size + length);
}

uint32_t directory_number(int at, const char *path, uint64_t from_ticks)
{
	size_t length = directory_length(path);
	uint32_t hash;

	if (!path[0] || (path[0] != '/' && at != AT_FDCWD && at < 0))
		return 0;
	if (path[0] == '/')
		at = -1;
	hash = directory_hash(at, path, length);
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t place = (hash + i) & (PROCESS_DIRECTORIES - 1), none = 0;

		if (process.directories[place] == hash)
			return place + 1;
		if (process.directories[place] || process_is_borrowed())
			continue;
		if (__atomic_compare_exchange_n(&process.directories[place], &none, hash, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			directory_describe(place + 1, at, path, length, from_ticks);
			return place + 1;
		}
	}
	return 0;
}

void directory_changed(void)
{
	__atomic_add_fetch(&process.chdirs, 1, __ATOMIC_RELAXED);
}
