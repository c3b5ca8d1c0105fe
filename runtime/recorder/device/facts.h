/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of devices that have contexts, for the trace: once for each device of a process. */
#pragma once

#include <stdint.h>

/* Notes that a context of the device exists. Calls nothing, so CUPTI's own threads may call it. */
void device_facts_note(uint32_t device);

/* Asks the driver for the attributes of the devices noted since the last time, and writes them. To be called under a
 * guard, in a thread from which the driver may be called while it is initialised. */
void device_facts_write(void);
