/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of PyTorch's allocators, for --memory=torch. Exported by libpillion-memory.so only, which is before
 * libc10.so in the order of the loader: libc10 calls these functions through its procedure linkage table. The CPU's
 * allocator calls New and Delete for every block, whether a profiler is active or not; other devices' allocators report
 * to the profiler. What is called is PyTorch's own, with the same arguments. */
#include <stdint.h>

#include "preload/heap/heap.h"
#include "preload/hook/call.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/shared/format/trace_tensor.h"

#define TORCH_EXPORT(symbol) __asm__(symbol) __attribute__((visibility("default")))

#define TORCH_NEW "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm"
#define TORCH_DELETE "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv"
#define TORCH_REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

/* c10::Device */
struct torch_device {
	int8_t type, index;
};

void torch_new(void *reporter, void *block, size_t size) TORCH_EXPORT(TORCH_NEW);
void torch_delete(void *reporter, void *block) TORCH_EXPORT(TORCH_DELETE);
void torch_report(void *block, int64_t size, size_t allocated, size_t reserved, struct torch_device device)
	TORCH_EXPORT(TORCH_REPORT);

static bool is_wanted;
static bool has_blocks; /* one has been recorded: frees are, too, also outside of the capture range */

static inline __attribute__((always_inline)) bool is_recording(void)
{
	return __builtin_expect(is_wanted, 1) && hook_attached() && process_gate.groups & *process_gate.recording;
}

static __attribute__((noinline, cold)) void record_slowly(uint64_t now, uint64_t first, uint64_t address,
							  uint64_t bytes, unsigned args)
{
	uint64_t slots[] = {first, address, bytes};

	event_put_slowly(&thread_self, now, slots, 1 + args);
}

/* Inlined into each function: a report costs little more than reading the clock and the pages of the file. size 0: not
 * known. */
static inline __attribute__((always_inline)) void record(const void *block, uint64_t size, struct torch_device device,
							 unsigned freed)
{
	uint64_t short_size = size < TF_TENSOR_SHORT ? size : 0, now = clock_now();
	uint64_t last = (uint8_t)device.index | freed | tf_tensor_low(short_size);
	uint64_t first = tf_event(TF_TENSOR, (uint8_t)device.type, now, last);
	uint64_t slots[] = {tf_tensor_address((uintptr_t)block, short_size), tf_arg(TF_ARG_BYTES, 0, size)};
	unsigned args = size < TF_TENSOR_SHORT ? 1 : 2;

	if (__builtin_expect(!event_put(&thread_self, now, first, slots, args), 0))
		record_slowly(now, first, slots[0], slots[1], args);
}

static inline __attribute__((always_inline)) void record_block(const void *block, size_t size,
								struct torch_device device)
{
	if (!is_recording() || !block || !size)
		return;
	if (!has_blocks)
		__atomic_store_n(&has_blocks, true, __ATOMIC_RELAXED);
	record(block, size, device, 0);
}

static inline __attribute__((always_inline)) void record_free(const void *block, size_t size,
							       struct torch_device device)
{
	if (is_wanted && __atomic_load_n(&has_blocks, __ATOMIC_RELAXED) && block && hook_attached())
		record(block, size, device, TF_TENSOR_FREED);
}

/* PyTorch's own function. libc10 may be in the scope of a library that was opened with RTLD_LOCAL. */
static void *torch_own(void **place, const char *symbol)
{
	void *found = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (__builtin_expect(!found, 0)) {
		found = dso_library_symbol("libc10.so", symbol);
		__atomic_store_n(place, found, __ATOMIC_RELAXED);
	}
	return found;
}

/* After the block is allocated, and before it is freed: another thread may be given the same address. */
void torch_new(void *reporter, void *block, size_t size)
{
	static void *place;
	void (*own)(void *, void *, size_t) = torch_own(&place, TORCH_NEW);

	record_block(block, size, (struct torch_device){TF_TENSOR_CPU, 0});
	if (own)
		own(reporter, block, size);
}

void torch_delete(void *reporter, void *block)
{
	static void *place;
	void (*own)(void *, void *) = torch_own(&place, TORCH_DELETE);

	record_free(block, 0, (struct torch_device){TF_TENSOR_CPU, 0});
	if (own)
		own(reporter, block);
}

/* The CPU's blocks are those of New and Delete, which call this while the program's own profiler records memory. */
void torch_report(void *block, int64_t size, size_t allocated, size_t reserved, struct torch_device device)
{
	static void *place;
	void (*own)(void *, int64_t, size_t, size_t, struct torch_device) = torch_own(&place, TORCH_REPORT);

	if (device.type != TF_TENSOR_CPU && size > 0)
		record_block(block, (size_t)size, device);
	else if (device.type != TF_TENSOR_CPU)
		record_free(block, (size_t)-size, device);
	if (own)
		own(block, size, allocated, reserved, device);
}

void heap_torch_begin(void)
{
	uint64_t address = tf_arg(TF_ARG_VALUE, 0, 0);

	__atomic_store_n(&is_wanted, true, __ATOMIC_RELEASE);
	event_instant(TF_TENSOR, TF_TENSOR_CPU, 0, &address, 1);
}
