/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the simulated device: host pages, in a table sorted by address, counted against each device's size. */
#include "simgpu.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

static struct sim_allocation *table;
static size_t table_count, table_room;
static uint64_t next_id = 1;
static struct sim_pool *pools;

struct physical {		/* cuMemCreate's: bytes of a device without an address */
	struct physical *next;
	uint64_t handle;
	size_t bytes;
	int device;
};
static struct physical *physicals;

/* Index of the first entry above the address; the entry before it may contain the address. */
static size_t above(uintptr_t address)
{
	size_t low = 0, high = table_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct sim_allocation *holder(uintptr_t address)
{
	size_t at = above(address);

	if (at == 0 || address - table[at - 1].address >= table[at - 1].bytes)
		return NULL;
	return &table[at - 1];
}

static CUresult intern_add(const struct sim_allocation *allocation)
{
	size_t at = above(allocation->address);

	if (table_count == table_room) {
		size_t room = table_room ? table_room * 2 : 64;
		struct sim_allocation *more = realloc(table, room * sizeof(*more));

		if (!more)
			return CUDA_ERROR_OUT_OF_MEMORY;
		table = more;
		table_room = room;
	}
	memmove(&table[at + 1], &table[at], (table_count - at) * sizeof(*table));
	table[at] = *allocation;
	table_count++;
	return CUDA_SUCCESS;
}

static void table_remove(struct sim_allocation *entry)
{
	size_t at = (size_t)(entry - table);

	memmove(entry, entry + 1, (table_count - at - 1) * sizeof(*table));
	table_count--;
}

static bool is_on_device(enum sim_place place)
{
	return place == SIM_DEVICE || place == SIM_MANAGED || place == SIM_POOL || place == SIM_VMM;
}

static size_t page_bytes(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* With the lock held: updates a pool by allocated or freed bytes, and stores its totals for the tool. */
static void pool_count(struct sim_allocation *a, bool is_free)
{
	struct sim_pool *pool = a->pool;

	if (!pool)
		return;
	pool->used_bytes += is_free ? -a->bytes : a->bytes;
	if (pool->used_bytes > pool->high_bytes)
		pool->high_bytes = pool->used_bytes;
	a->pool_used_bytes = pool->used_bytes;
	a->pool_high_bytes = pool->high_bytes;
	a->pool_threshold_bytes = pool->threshold_bytes;
}

static void account(const struct sim_allocation *a, bool is_free, struct sim_stream *stream, bool is_async)
{
	sim_log(is_free ? "free" : "alloc",
		",\"kind\":\"%s\",\"bytes\":%zu,\"address\":%llu,\"device\":%d,\"stream\":%u,\"async\":%d,\"corr\":%u",
		a->is_registered ? "registered" : sim_place_name(a->place), a->bytes,
		(unsigned long long)a->address, a->device, stream ? stream->id : 0, is_async, sim_correlation());
	if (sim_tool)
		sim_tool->memory(a, is_free, sim_correlation(), stream ? stream->id : 0, is_async);
}

CUresult sim_alloc(enum sim_place place, size_t bytes, unsigned flags, struct sim_pool *pool,
		   struct sim_stream *stream, uintptr_t *ret_address)
{
	struct sim_context *context = sim_context_current();
	struct sim_allocation made = { .bytes = bytes, .place = place, .flags = flags, .context = context,
				       .pool = pool };
	struct sim_device *device;
	CUresult result;
	void *pages;

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	made.device = pool ? pool->device : context->device;
	device = sim_device(made.device);
	sim_lock();
	if (is_on_device(place) &&
	    (bytes > device->total_bytes || device->used_bytes > device->total_bytes - bytes)) {
		sim_unlock();
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pages = sim_pages(page_bytes(bytes), false);
	made.address = (uintptr_t)pages;
	made.id = next_id++;
	result = pages ? intern_add(&made) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS && is_on_device(place))
		device->used_bytes += bytes;
	if (result == CUDA_SUCCESS)
		pool_count(&made, false);
	sim_unlock();
	if (result != CUDA_SUCCESS) {
		sim_pages_free(pages, page_bytes(bytes));
		return result;
	}
	if (!(flags & SIM_ALLOC_QUIET))
		account(&made, false, stream, place == SIM_POOL);
	*ret_address = made.address;
	return CUDA_SUCCESS;
}

/* A stream-ordered free removes the entry now, as the pool may reuse the bytes; the pages are unmapped when the
 * stream reaches the free. Any other free waits for the device first. */
CUresult sim_free(uintptr_t address, struct sim_stream *stream, bool is_async)
{
	struct sim_allocation gone;
	struct sim_allocation *entry;

	if (!is_async && sim_context_current())
		sim_wait_context(sim_context_current());
	sim_lock();
	entry = holder(address);
	if (!entry || entry->address != address || entry->is_registered || entry->place == SIM_VMM) {
		sim_unlock();
		return CUDA_ERROR_INVALID_VALUE;
	}
	gone = *entry;
	table_remove(entry);
	if (is_on_device(gone.place))
		sim_device(gone.device)->used_bytes -= gone.bytes;
	pool_count(&gone, true);
	sim_unlock();
	account(&gone, true, stream, is_async);
	if (is_async && stream->capture)
		return CUDA_SUCCESS;	/* not unmapped: later launches of the graph use the pages */
	if (is_async) {
		struct sim_work work = { .kind = SIM_FREE, .free = { gone.address, page_bytes(gone.bytes) } };

		return sim_queue(stream, &work);
	}
	sim_pages_free((void *)gone.address, page_bytes(gone.bytes));
	return CUDA_SUCCESS;
}

CUresult sim_register(uintptr_t address, size_t bytes, unsigned flags)
{
	struct sim_allocation made = { .address = address, .bytes = bytes, .place = SIM_PINNED, .flags = flags,
				       .is_registered = true, .context = sim_context_current() };
	CUresult result;

	if (!made.context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!address || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	made.device = made.context->device;
	sim_lock();
	made.id = next_id++;
	result = holder(address) ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : intern_add(&made);
	sim_unlock();
	if (result == CUDA_SUCCESS)
		account(&made, false, NULL, false);
	return result;
}

CUresult sim_unregister(uintptr_t address)
{
	struct sim_allocation *entry;
	struct sim_allocation gone;

	sim_lock();
	entry = holder(address);
	if (!entry || !entry->is_registered) {
		sim_unlock();
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	}
	gone = *entry;
	table_remove(entry);
	sim_unlock();
	account(&gone, true, NULL, false);
	return CUDA_SUCCESS;
}

bool sim_find(uintptr_t address, struct sim_allocation *ret_allocation)
{
	const struct sim_allocation *entry;

	sim_lock();
	entry = holder(address);
	if (entry)
		*ret_allocation = *entry;
	sim_unlock();
	return entry != NULL;
}

bool sim_holds(uintptr_t address, size_t bytes)
{
	const struct sim_allocation *entry;
	bool holds = true;

	sim_lock();
	entry = holder(address);
	if (entry)
		holds = bytes <= entry->bytes - (address - entry->address);
	sim_unlock();
	return holds;
}

/* ---- virtual memory management (cuMem*) ---- */

CUresult sim_reserve(uintptr_t *ret_address, size_t bytes)
{
	void *pages = sim_pages(page_bytes(bytes), true);

	if (!pages)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret_address = (uintptr_t)pages;
	return CUDA_SUCCESS;
}

CUresult sim_unreserve(uintptr_t address, size_t bytes)
{
	sim_pages_free((void *)address, page_bytes(bytes));
	return CUDA_SUCCESS;
}

CUresult sim_physical_new(size_t bytes, int device, uint64_t *ret_handle)
{
	struct physical *made;
	struct sim_device *owner = sim_device(device);

	if (!owner || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_lock();
	if (bytes > owner->total_bytes || owner->used_bytes > owner->total_bytes - bytes) {
		sim_unlock();
		free(made);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	owner->used_bytes += bytes;
	*made = (struct physical){ .next = physicals, .handle = next_id++, .bytes = bytes, .device = device };
	physicals = made;
	*ret_handle = made->handle;
	sim_unlock();
	return CUDA_SUCCESS;
}

/* As documented for the real one, mapped pages stay usable after the handle is released; here the bytes are returned to
 * the device immediately. */
CUresult sim_physical_free(uint64_t handle)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	for (struct physical **at = &physicals; *at; at = &(*at)->next) {
		struct physical *gone = *at;

		if (gone->handle != handle)
			continue;
		*at = gone->next;
		sim_device(gone->device)->used_bytes -= gone->bytes;
		free(gone);
		result = CUDA_SUCCESS;
		break;
	}
	sim_unlock();
	return result;
}

/* Two mappings of one handle do not share memory: each gets its own pages. */
CUresult sim_map(uintptr_t address, size_t bytes, uint64_t handle)
{
	struct sim_allocation made = { .address = address, .bytes = bytes, .place = SIM_VMM,
				       .context = sim_context_current() };
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	for (const struct physical *at = physicals; at; at = at->next) {
		if (at->handle == handle && bytes <= at->bytes && sim_pages_fix((void *)address, bytes, false)) {
			made.device = at->device;
			made.id = next_id++;
			result = intern_add(&made);
			break;
		}
	}
	sim_unlock();
	if (result == CUDA_SUCCESS)
		account(&made, false, NULL, false);
	return result;
}

CUresult sim_unmap(uintptr_t address, size_t bytes)
{
	struct sim_allocation gone;
	struct sim_allocation *entry;

	sim_lock();
	entry = holder(address);
	if (!entry || entry->place != SIM_VMM) {
		sim_unlock();
		return CUDA_ERROR_INVALID_VALUE;
	}
	gone = *entry;
	table_remove(entry);
	sim_pages_fix((void *)address, bytes, true);
	sim_unlock();
	account(&gone, true, NULL, false);
	return CUDA_SUCCESS;
}

struct sim_pool *sim_pool_new(int device)
{
	struct sim_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	sim_lock();
	*pool = (struct sim_pool){ .next = pools, .device = device, .id = next_id++ };
	pools = pool;
	sim_unlock();
	return pool;
}

CUresult sim_pool_free(struct sim_pool *pool)
{
	struct sim_pool **at = &pools;

	sim_lock();
	while (*at && *at != pool)
		at = &(*at)->next;
	if (*at)
		*at = pool->next;
	for (size_t i = 0; i < table_count; i++) {
		if (table[i].pool == pool)
			table[i].pool = NULL;
	}
	sim_unlock();
	free(pool);
	return CUDA_SUCCESS;
}

/* Frees the allocations of a destroyed context without reporting each free, as the real one does. */
void sim_memory_drop(struct sim_context *context)
{
	sim_lock();
	for (size_t i = table_count; i-- > 0;) {
		struct sim_allocation gone = table[i];

		if (gone.context != context)
			continue;
		table_remove(&table[i]);
		if (is_on_device(gone.place) && gone.place != SIM_VMM)
			sim_device(gone.device)->used_bytes -= gone.bytes;
		pool_count(&gone, true);
		if (!gone.is_registered && gone.place != SIM_VMM)
			sim_pages_free((void *)gone.address, page_bytes(gone.bytes));
	}
	sim_unlock();
}
