/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* After a trace file was copied: leaves out what was overwritten meanwhile. 0 or -errno. */
int copy_ring(int from, int to);
