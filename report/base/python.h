/* SPDX-License-Identifier: Apache-2.0 */
/* For verbs that are Python programs, or use one: see report/recipes/README.md. They are run as `PYTHON -I PROGRAM`:
 * neither PYTHONPATH nor another variable of the job decides which modules they have. */
#pragma once

#include <limits.h>
#include <stdbool.h>

enum { PYTHON_PROGRAM_MAX = PATH_MAX + 64 };

/* The Python that PILLION_PYTHON names, or python3. */
char *python_name(void);

/* The path of this program, and that of a Python program in a build or in an installation. False: there is none. */
bool python_find(const char *program, char ret_self[PATH_MAX], char ret[PYTHON_PROGRAM_MAX]);
