/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/image.h"

#include <time.h>

#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/spare_stack.h"
#include "runtime/shared/common/sys.h"

enum { IMAGES_PER_BLOCK = TF_IMAGE_BLOCK_BYTES / TF_IMAGE_BYTES };

/* A forked child inherits the mapped blocks and takes its place in the latest block, latest[latest_index]. A new block
 * is described in the other element before latest_index changes, so that a child that another thread forks meanwhile
 * finds a complete description. A handler that forks may have interrupted a store to the parent's place. */
static const struct image_block *block_latest(void)
{
	return &process_inherited.latest[__atomic_load_n(&process_inherited.latest_index, __ATOMIC_ACQUIRE)];
}

static void block_unmap(struct image_block b)
{
	if (b.at && b.at != block_latest()->at && b.at != process_inherited.own.at &&
	    b.at != process_inherited.parents.at)
		sys_munmap(b.at, TF_IMAGE_BLOCK_BYTES);
}

static void block_replace(struct image_block b)
{
	struct image_block old = *block_latest();
	uint32_t other = !process_inherited.latest_index;

	process_inherited.latest[other] = b;
	__atomic_store_n(&process_inherited.latest_index, other, __ATOMIC_RELEASE);
	block_unmap(old);
}

static uint64_t block_offset(uint64_t number)
{
	return TF_IMAGES_FIRST + number * TF_IMAGE_BLOCK_BYTES;
}

/* Allocates the file's space up to the end of the block. The space must not be a hole: a store into one would raise
 * SIGBUS on a full disk. */
static bool block_allocate(int fd, uint64_t number)
{
	uint64_t from = __atomic_load_n(&process_images->end, __ATOMIC_ACQUIRE), to = block_offset(number + 1);

	if (from >= to)
		return true;
	from = from ? from : TF_IMAGES_FIRST;
	if (to > sys_file_limit())
		return false;
	if (sys_fallocate(fd, 0, from, to - from)) {
		__atomic_store_n(&process_images->is_closed, 1, __ATOMIC_RELAXED);
		return false;
	}
	/* Other processes may have allocated more or less at the same time; all of them began at the end or before. */
	from = __atomic_load_n(&process_images->end, __ATOMIC_RELAXED);
	while (from < to && !__atomic_compare_exchange_n(&process_images->end, &from, to, false, __ATOMIC_RELEASE,
							 __ATOMIC_RELAXED))
		;
	return true;
}

static int block_open_file(void)
{
	char path[PROCESS_NAME_BYTES];

	if (process_is_frozen || !range_path(path, sizeof(path), process_inherited.directory,
					     process_inherited.identity.host, process_inherited.run))
		return -1;
	return sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
}

static uint32_t functions_size(void)
{
	return process_function_bytes() <= TF_IMAGES_FIRST - TF_IMAGES_OFFSET - sizeof(struct tf_images)
		       ? process_function_bytes()
		       : 0;
}

/* Identifies the names that process_write_functions() writes: all processes of a run have the same library. */
static uint32_t functions_id(void)
{
	uint32_t id = process_options.trace * 2654435761u ^ process_functions->count << 12 ^
		      process_functions->counters;

	return id ? id : 1;
}

/* The first process of the run writes the names of the functions. Others that do so at the same time write the same
 * bytes. False: the names differ or have no room; then the image cannot have a place. */
static bool functions_write(int fd)
{
	uint32_t id = functions_id(), known = __atomic_load_n(&process_images->functions, __ATOMIC_ACQUIRE);
	uint32_t bytes, size;
	char *head;

	if (known)
		return known == id;
	bytes = functions_size();
	size = (uint32_t)sizeof(struct tf_images) + bytes;
	if (!bytes || TF_IMAGES_FIRST > sys_file_limit() || sys_fallocate(fd, 0, TF_IMAGES_OFFSET, size))
		return false;
	head = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, TF_IMAGES_OFFSET);
	if (!head)
		return false;
	process_write_functions((uint8_t *)head + sizeof(struct tf_images));
	sys_munmap(head, size);
	process_images->function_count = process_functions->count;
	process_images->function_bytes = bytes;
	__atomic_store_n(&process_images->functions, id, __ATOMIC_RELEASE);
	return true;
}

struct block_mapping {
	uint64_t number;
	bool is_mapped;
};

static void block_map_now(void *mapping)
{
	struct block_mapping *m = mapping;
	int fd = block_open_file();
	char *at = NULL;

	if (fd < 0)
		return;
	if (functions_write(fd) && block_allocate(fd, m->number))
		at = sys_mmap(NULL, TF_IMAGE_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			      block_offset(m->number));
	sys_close(fd);
	m->is_mapped = at;
	if (at)
		block_replace((struct image_block){at, m->number});
}

/* The path takes 4 KB of stack. */
static bool block_map(uint64_t number)
{
	struct block_mapping m = {number, false};

	if (!spare_stack_run(block_map_now, &m))
		block_map_now(&m);
	return m.is_mapped;
}

static bool block_is_latest(uint64_t number)
{
	return block_latest()->at && block_latest()->number == number;
}

static bool images_are_open(void)
{
	return process_images && !__atomic_load_n(&process_images->is_closed, __ATOMIC_RELAXED);
}

static struct tf_image *image_take(void)
{
	uint64_t number;

	if (!process_images)
		return NULL;
	/* First, because a read of the page before this write would cost a page fault of its own. */
	number = __atomic_fetch_add(&process_images->next, 1, __ATOMIC_RELAXED);
	if (!images_are_open())
		return NULL;
	if (!block_is_latest(number / IMAGES_PER_BLOCK) && !block_map(number / IMAGES_PER_BLOCK))
		return NULL;
	process_inherited.own = *block_latest();
	return (struct tf_image *)(block_latest()->at + number % IMAGES_PER_BLOCK * TF_IMAGE_BYTES);
}

void image_begin(bool is_fork)
{
	struct image_block grandparents = process_inherited.parents;
	struct tf_image *image;

	process_inherited.parents = process_inherited.own;
	process_inherited.own = (struct image_block){0};
	block_unmap(grandparents);
	process.image = image = image_take();
	if (!image)
		return;
	image->parent_nonce = process_inherited.parent_nonce;
	image->process_start = is_fork ? sys_clock_ns(CLOCK_BOOTTIME) / IDENTITY_TICK_NS
				       : process_inherited.identity.start;
	image->pid = process.pid;
	image->parent_pid = process_inherited.identity.parent_pid;
	image->start_ticks = process_inherited.loaded.ticks;
	image->start_realtime_ns = process_inherited.loaded.realtime_ns;
	image->via = is_fork ? TF_VIA_FORK : TF_VIA_START;
	image->osrt_threshold_ns = process_options.osrt_threshold_ns;
}

void image_publish(void)
{
	__atomic_store_n(&process.image->nonce, process.nonce, __ATOMIC_RELEASE);
}

static uint64_t block_next(void)
{
	return __atomic_load_n(&process_images->next, __ATOMIC_RELAXED) / IMAGES_PER_BLOCK;
}

bool image_expects_block(void)
{
	return images_are_open() && block_latest()->at && !block_is_latest(block_next());
}

void image_map_block(void)
{
	sys_lock(&process.starting);
	if (image_expects_block())
		block_map(block_next());
	sys_unlock(&process.starting);
}

void image_end(void)
{
	process.image->end_status = process.end_status;
	process.image->end_ticks = process.end_ticks;
	process.image->threads_lost = process.threads_lost;
	__atomic_store_n(&process.image->end, process.end, __ATOMIC_RELEASE);
}
