/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that `pillion mcp` offers. Each executes a verb with --json in a process of its own. */
#ifndef PILLION_MCP_TOOL_H
#define PILLION_MCP_TOOL_H

#include "report/json_reader.h"

/* Appends the descriptions of all tools, with the JSON Schema of their arguments. */
void mcp_tools_describe(struct buffer *ret);

/* Calls a tool with the arguments at $.params.arguments of the request. Appends the envelope that it prints. -ENOENT:
 * there is no such tool; 0 otherwise, also if it fails: then *ret_failed is set and the envelope says why. */
int mcp_tool_call(struct json_reader *request, const char *name, struct buffer *ret, bool *ret_failed);

#endif
