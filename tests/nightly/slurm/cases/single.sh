# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# A program in the batch script, without srun; and one that replaces the batch script.
submit -N 1 <<-'END'
	#!/bin/bash
	record sh -c 'echo "out $0"; exit 3' word
	echo "status $?"
	exit 5
END
compare 'a program in the batch script'
captured 'a program in the batch script' 'job.pillion '
is "$(columns job.pillion)" "${job[traced]},,,,node1 " 'a program in the batch script: job and node, no step'

part exec
submit -N 1 <<-'END'
	#!/bin/bash
	exec record sh -c 'echo "out $0"; exit 4' word
END
compare 'a program that replaces the batch script'
captured 'a program that replaces the batch script' 'job.pillion '
