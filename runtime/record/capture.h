/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that this process records into, and the settings it does so with. In the first image after an exec only:
 * a forked child inherits both. Signals must be blocked; no allocation. */
#ifndef PILLION_CAPTURE_H
#define PILLION_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the settings from the environment and finds the capture; without a launcher it creates the capture. Sets
 * process_options, the thresholds, process_range and process_inherited. False: recording is off, and stderr says why
 * unless nobody asked for a recording. */
bool capture_find(char *const *environment);

/* Writes "recording is off: WHY PATH" to stderr: without a launcher there is no other place for it. */
void capture_report_off(const char *why, const char *path);

/* Never 0. */
uint64_t capture_random_number(void);

#endif
