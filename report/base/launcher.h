/* SPDX-License-Identifier: Apache-2.0 */
/* For verbs that record a command. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The path of pillion-launch, which is beside us: in a build tree, or in an installed one. False: it is not there. */
bool launcher_find(char ret[PATH_MAX]);
