/* SPDX-License-Identifier: Apache-2.0 */
/* What pprof and OpenTelemetry have in common: texts are numbered in the order of their first use, from 0 for "", and a
 * stack is a list of numbers of frames. */
#ifndef PILLION_PROFILE_PROTO_H
#define PILLION_PROFILE_PROTO_H

#include "report/base/table/protobuf.h"
#include "report/time/profile.h"

/* The number of the text. If it is new it is appended to `out` as field `field`. */
uint32_t profile_proto_text(struct aggregate *known, const char *text, unsigned int field, struct buffer *out);

/* Appends the numbers of a stack's frames, the innermost first, packed. `first` is the number of the profile's first
 * frame. */
void profile_proto_stack(const struct profile *p, size_t row, size_t first, struct buffer *ret);

/* Appends a message as a field, and empties it. */
void profile_proto_message(unsigned int field, struct buffer *message, struct buffer *out);

#endif
