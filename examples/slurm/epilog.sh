#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# epilog.sh CAPTURE...: one line of JSON for each capture, with the answer, the roles, the ranks and the ledger of its
# summary: for a job's epilog, or for a file that a dashboard reads.
for capture; do
	pillion stats --summary --json "$capture" | tr -d '\n' && echo
done
