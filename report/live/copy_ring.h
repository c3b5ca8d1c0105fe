/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PILLION_COPY_RING_H
#define PILLION_COPY_RING_H

/* After a trace file was copied: leaves out what was overwritten meanwhile. 0 or -errno. */
int copy_ring(int from, int to);

#endif
