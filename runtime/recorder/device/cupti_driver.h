/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the driver by functions that neither initialise it nor change anything. */
#pragma once

#include <stdbool.h>

/* Searches all libraries until one is the driver; then cupti_driver_is_found(). */
bool cupti_driver_is_initialized(void);
bool cupti_driver_is_found(void);

/* Is the stream being captured into a graph? */
bool cupti_driver_is_capturing(void *stream);
