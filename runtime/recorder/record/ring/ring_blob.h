/* SPDX-License-Identifier: Apache-2.0 */
/* With --ring, blobs that do not belong to a thread's chunk: facts that are written once, and what threads have counted
 * when a turn begins. */
#pragma once

#include "runtime/recorder/record/ring/ring.h"
#include "runtime/recorder/record/thread/thread_state.h"

/* Facts that stay for as long as the image: they are few, and are written once. */
static inline bool ring_keeps(unsigned blob)
{
	return 1ull << blob &
	       (1ull << TF_BLOB_MODULE | 1ull << TF_BLOB_DOMAIN | 1ull << TF_BLOB_NVTX | 1ull << TF_BLOB_NOTE |
		1ull << TF_BLOB_DEVICE_NAME | 1ull << TF_BLOB_DEVICE_SOURCE | 1ull << TF_BLOB_DEVICE_FACTS |
		1ull << TF_BLOB_DEVICE_GAP | 1ull << TF_BLOB_DEVICE_LOST | 1ull << TF_BLOB_DEVICE_CLOCK |
		1ull << TF_BLOB_XLA_MODULE | 1ull << TF_BLOB_JAX_EXECUTABLE);
}

/* Writes such a blob, of two parts. False: no room. */
__attribute__((cold)) bool ring_keep(struct thread *t, unsigned blob, uint32_t id, const void *bytes, size_t first,
				     const void *more, size_t second);

/* A chunk of slots, as file_chunk(). With --ring, begins the next turn before that if it is due, and writes what all
 * threads have counted by then. Under a guard. */
struct tf_chunk *ring_chunk(const struct tf_chunk *mine, uint32_t size, uint32_t thread, uint32_t sequence);
