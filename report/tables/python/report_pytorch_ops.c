/* SPDX-License-Identifier: Apache-2.0 */
/* pytorch_ops: each kernel with the PyTorch operator that launched it, in the columns of PyProf. */
#include "report/tables/ops/ops.h"
#include "report/tables/report.h"

void report_pytorch_ops(const struct report_context *c, struct table *table)
{
	ops_columns(table);
	ops_of_model(c, table);
	device_none(c->model, table);
}
