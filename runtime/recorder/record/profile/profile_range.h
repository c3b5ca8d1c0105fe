/* SPDX-License-Identifier: Apache-2.0 */
/* --mode=profile: ranges of NVTX are summed in rows (TF_RANGES), as calls are (profile.h): one for each domain, text,
 * category and thread, one for the ranges of a text that start and end by an id. What begins is counted in the row,
 * too, so that a reader knows how many were open at the end, however that came.
 *
 * The ranges of a loop have a number in their text, as PyTorch's ProfilerStep#17 has. Texts are therefore defined as
 * the reports name them: those of steps without their numbers, those of operators without what follows their name.
 * Steps have a row more, with their lengths by classes, from which a reader estimates the median; it is by thread, so
 * that it is known whether they overlap, and what passed between two calls of an optimizer.
 *
 * A program that has ranges with other numbers gets rows until their share is used up, then all others are one: to find
 * out which parts of texts vary would take a comparison of each text with all. Tried: one bound for all rows; then
 * calls leave nothing to the ranges that begin later. docs/decisions/profile-mode.md has the reasons. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds a PUSH, POP, RANGE_START or RANGE_END to its row, and ignores a MARK: the arguments are those of
 * event_instant(). False: it is to be recorded as an event. */
bool profile_instant(uint64_t now, uint64_t first, const uint64_t *args, unsigned count);

/* The id of the text of a range; 0: there is no room for further texts. */
__attribute__((cold)) uint32_t profile_text(const char *text, size_t size);
