#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nsys-ai, a reader of nsys's newer schema, knows the schema of our sqlite, and its analyses run on it. It is fetched
# from PyPI once per build directory, unless NSYS_AI_PYTHON names a Python that has it.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
report export -t sqlite -o x "$work" 2>&1 | grep -q 'no sqlite' && skip_all 'this build has no sqlite'
from_pypi NSYS_AI_PYTHON nsys-ai nsys-ai || skip_all "$why"
pillion -o steps "$targets/cuda_steps" 20 >out 2>err
report export -q -t sqlite steps.pillion
unset LD_LIBRARY_PATH
"$python" -c 'import nsys_ai.skills.registry' 2>err || skip_all 'nsys-ai cannot be imported'

cat >skills.py <<'END'
import sqlite3
from nsys_ai.skills import registry

connection = sqlite3.connect('file:steps.sqlite?mode=ro', uri=True)
connection.row_factory = sqlite3.Row
for skill in registry.all_skills():
    if any(getattr(p, 'required', False) for p in skill.params):
        continue
    try:
        rows = skill.execute(connection)
        error = rows[0].get('error') if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
        print(skill.name, 'states' if error else 'runs', len(rows), error or '')
    except Exception as e:
        print(skill.name, 'fails', repr(e))
    if skill.name == 'top_kernels':
        print('kernels', sum(row['invocations'] for row in rows))
END
timeout "$patience" "$python" skills.py >skills 2>err
is "$?" 0 'its skills are run'
is "$(grep -c ' fails ' skills) $(grep ' fails ' skills)" '0 ' 'none of them fails'
ok "at least 20 have a result ($(grep -c ' runs ' skills))" test "$(grep -c ' runs ' skills)" -ge 20
is "$(grep '^kernels ' skills)" "$(report stats -q -r cuda_gpu_kern_sum -f csv steps.pillion |
	awk -F, 'NR > 1 { count += $3 } END { print "kernels", count }')" \
	'top_kernels has the kernels of cuda_gpu_kern_sum'
timeout "$patience" "$python" -m nsys_ai doctor steps.sqlite >doctor 2>err
like "$(cat doctor)" 'Schema compatibility +\[OK' 'its doctor knows the schema'
unlike "$(cat doctor)" 'schema unknown' 'and does not call it unknown'
done_testing
