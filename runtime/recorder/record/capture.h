/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that this process records into, and its settings. Used in the first image after an exec only: a forked
 * child inherits both. Signals must be blocked; nothing is allocated. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads the settings from the environment and finds the capture, or creates it if there is no launcher. Sets
 * process_options, the thresholds, process_range and process_inherited. Returns false if recording is off; the
 * reason is then on stderr, unless no recording was requested. */
bool capture_find(char *const *environment);

/* Writes "recording is off: WHY PATH" to stderr, the only place for it without a launcher. */
void capture_report_off(const char *why, const char *path);

/* A random number; never 0. */
uint64_t capture_random_number(void);

/* How many seccomp filters the launcher has that permit CPU samples; -1: there is no launcher. */
extern int64_t capture_filters;
