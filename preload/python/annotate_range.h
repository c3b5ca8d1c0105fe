/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges around Python code. They are NVTX ranges, made through NVTX's tables as in any program, so domains, capture
 * ranges and exports apply to them as well. */
#pragma once

#include <stdbool.h>

#include "preload/nvtx/nvtx.h"

/* To be called before the other functions. False: nothing is recorded. */
bool annotate_range_init(void);

/* A domain of that name, and a text registered in it. NULL is the default domain. */
void *annotate_range_domain(const char *name);
void *annotate_range_text(void *domain, const char *text);

/* Any thread. */
void annotate_range_push_attributes(void *domain, const struct nvtx_attributes *a);
void annotate_range_push(void *domain, const char *text);
void annotate_range_pop(void *domain);
/* In the default domain. The returned number ends it, in any thread. */
uint64_t annotate_range_start(enum nvtx_message type, const void *message);
void annotate_range_end(uint64_t number);
