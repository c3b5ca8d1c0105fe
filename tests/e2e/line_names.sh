#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lines whose file and function have blanks, parentheses, colons and letters of other languages: every output names them
# as they are.
. "$(dirname -- "$0")/lib.sh"

python=$(command -v python3) || skip_all 'no python3'
names() { # FILE FUNCTION [BRIEF]
	"$PILLION_BUILD_DIR/tests/trace-writer" line named.pillion "$1" "$2"
	is "$("$python" "$tests_dir/line_names.py" "$PILLION_BUILD_DIR/report/pillion-report" \
		"${tests_dir%/tests/*}/report/recipes/sarif.py" named.pillion "$1" "$2" "${3:-$2}" 2>&1)" '' "$2 in $1"
}

names '/src/job.py' load
names '/src/proj (1)/job.py' load
names '/src/a (b) (c).py' load
names '/src/x)y/job.py' load
names '/src/x(y/job.py' load
names '/src/x) (y/job.py' load
names '/src/with blank/my job.py' load
names '/src/C:12/job.py' load
names '/src/größe/作業.py' größe
names '/src/box.cc' 'Box<void (*)(int)>::second' 'Box::second'
names '/src/a (1).cc' 'Box<void (*)(int)>::second' 'Box::second'
names '/src/box.cc' 'operator()(int)'
names '/src/box.cc' 'main::{lambda(int)#1}::operator()(int) const' 'main::{lambda#1}::operator()'
names '/src/job.py' 'main.<locals>.<lambda>'
names '/src/job.py' 'f (a.c:3)'
names 'relative/job.py' 'load'
done_testing
