/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct cupti_api;

/* Finds the functions of the process's CUPTI and its path. Returns NULL, or the reason why there is none. */
const char *cupti_open(struct cupti_api *ret, char *ret_path, size_t size);
