/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's records of calls, which relate a host call to the device operations that it requested. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void cupti_calls_set(bool is_on);

/* Is a record of this call stored? `function` is its callback id. */
bool cupti_calls_wanted(bool is_driver, uint32_t function);
