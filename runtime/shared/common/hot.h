/* SPDX-License-Identifier: Apache-2.0 */
/* For variables that every call reads: they are placed together, in one or two cache lines, whichever file defines
 * them. */
#pragma once

#define HOT __attribute__((section("pillion_hot")))

/* For large arrays that few programs use: the small variables, which every process writes, are then in few pages. The
 * name makes the section one without contents in the file. */
#define LARGE __attribute__((section(".sbss.pillion")))

/* For the declaration of a variable that another file defines: it is in our own object, so its address needs no load
 * from the global offset table. */
#define HIDDEN __attribute__((visibility("hidden")))
