/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that `pillion mcp` offers. Each executes a verb with --json in a process of its own. */
#pragma once

#include "report/base/table/json_writer.h"
#include "report/verbs/mcp/json_reader.h"
#include "report/verbs/mcp/mcp_call.h"

/* Appends the descriptions of all tools, with the JSON Schema of their arguments. */
void mcp_tools_describe(struct json_writer *w);

/* Makes the command line of a call from the arguments at $.params.arguments of the request. `roots`: the directories
 * below which sources may be shown. -ENOENT: there is no such tool; -EINVAL: for mcp_tool_failed. */
int mcp_tool_call(struct json_reader *request, const char *name, const struct texts *roots, struct mcp_call *ret,
		  struct err *err);

/* Appends the envelope of a call that failed. */
void mcp_tool_failed(const struct mcp_call *c, const struct err *err, struct buffer *ret);
