/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a wait is for the program's input, its user or its clients. Nothing in the job ends it, and no change to the
 * program makes it shorter: it is no finding. What a client waits for, an answer of a server, is one. */
#pragma once

#include "report/answers/roles/role.h"

enum input { INPUT_NONE, INPUT_DATA, INPUT_CLIENTS };

/* Of a call of the role whose end no recorded thread caused. Reads the descriptions of the descriptors of the role's
 * first process. */
enum input input_of_wait(const struct report_context *c, const struct role *r, const struct role_call *call);
