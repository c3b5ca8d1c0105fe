/* SPDX-License-Identifier: Apache-2.0 */
/* The table `runs`: one row for each live run. */
#pragma once

#include "report/base/table/emit.h"
#include "report/live/live_runs.h"

void live_table(const struct live_runs *runs, struct table *ret);
