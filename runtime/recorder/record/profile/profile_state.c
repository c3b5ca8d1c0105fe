/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/profile/profile_state.h"

#include "runtime/recorder/record/descriptor.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* CALLS_MOST, RANGES_MOST: bytes of rows; FILE_MOST: of the trace file with them. GENERATIONS: see
 * descriptor_generation(). SAMPLES: bytes that calls and files leave to samples. */
enum { FILE_MOST = 2000000, CALLS_MOST = 12 << 16, RANGES_MOST = 4 << 16, GENERATIONS = 0x7fff, SAMPLES = 300000 };

/* A forked child uses that of its parent, emptied. */
static struct record_profile *mapped;

void profile_begin(struct tf_header *header)
{
	struct record_profile *p = mapped;

	if (process_options.mode != MODE_PROFILE)
		return;
	if (p) {
		intern_release(&p->rows);
		sys_munmap(p, sizeof(*p));
	}
	p = mapped = sys_mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			      -1, 0);
	if (!p)
		return;
	p->calls.left = CALLS_MOST;
	p->ranges.left = RANGES_MOST;
	process.profile_full = 0;
	p->begin_ticks = clock_now();
	for (uint32_t i = 0; i < process.traffic_count; i++)
		p->early[i] = process.traffic[i][1 + TF_TRAFFIC_KEY] >> 8;
	process_forget_descriptors(); /* those that events in the place of the image have described, for rows */
	header->mode = TF_MODE_PROFILE;
	__atomic_store_n(&process.profile, p, __ATOMIC_RELEASE);
}

bool profile_refuses(uint64_t size)
{
	const struct record_profile *p = process.profile;
	bool refuses = p && process.file_end + size + p->calls.left + p->ranges.left > FILE_MOST;

	if (refuses)
		__atomic_store_n(&process.profile_full, 1, __ATOMIC_RELAXED);
	return refuses;
}

bool profile_keeps_rest(void)
{
	const struct record_profile *p = process.profile;

	return p && __atomic_load_n(&process.file_end, __ATOMIC_RELAXED) +
				    __atomic_load_n(&p->calls.left, __ATOMIC_RELAXED) +
				    __atomic_load_n(&p->ranges.left, __ATOMIC_RELAXED) >
			    FILE_MOST - SAMPLES;
}

bool profile_follows(int fd, uint16_t generation, uint64_t from_ticks)
{
	const struct record_profile *p = process.profile;
	bool follows = from_ticks && from_ticks < p->begin_ticks;

	for (unsigned i = 0; i < PROCESS_TRAFFIC && !follows; i++)
		follows = p->early[i] && (p->early[i] & ~0u) == ((uint64_t)generation << 16 | (unsigned)fd);
	return follows;
}

void profile_describe(int fd, uint16_t generation, uint32_t id)
{
	uint64_t *place = &process.profile->files[fd], old = __atomic_load_n(place, __ATOMIC_RELAXED);

	/* Another thread may have described a later meaning meanwhile. */
	while (((generation - (old >> 32)) & GENERATIONS) <= GENERATIONS / 2 &&
	       !__atomic_compare_exchange_n(place, &old, (uint64_t)generation << 32 | id, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

uint32_t profile_file(unsigned fd, uint16_t state)
{
	uint64_t entry = state & 1 ? __atomic_load_n(&process.profile->files[fd], __ATOMIC_RELAXED) : 0;

	return entry >> 32 == descriptor_generation(state) ? (uint32_t)entry : 0;
}

uint32_t profile_file_now(unsigned fd)
{
	return fd < PROCESS_DESCRIPTORS
		       ? profile_file(fd, __atomic_load_n(&process.descriptors[fd], __ATOMIC_RELAXED))
		       : 0;
}
