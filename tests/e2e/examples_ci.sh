#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/ci/compare: the first runs are the baseline, later ones are compared with it. What is compared here are runs
# that the trace writer makes, by a pillion that stands in for the recorder.
. "$(dirname -- "$0")/lib.sh"

mkdir bin
cat >bin/pillion <<END
#!/bin/bash
# pillion --stats=false -o NAME OPTION... -- bash -c COMMAND: a capture with COMMAND's words SLOWER and FACTOR
[ "\$1" != diff ] || exec "$PILLION" "\$@"
words=(\${!#})
[ "\${words[0]}" != fails ] || exit 7
echo "\$*" >>"$work/calls"
seed=\$(wc -l <"$work/calls")
exec "$PILLION_BUILD_DIR/tests/trace-writer" steps "\$3.pillion" "\$seed" 12 0.005 0 0.05 "\${words[@]}"
END
chmod +x bin/pillion
PATH=$work/bin:$PATH
compare=${tests_dir%/tests/*}/examples/ci/compare
export GITHUB_STEP_SUMMARY=$work/summary

"$compare" '0 1' >out 2>err
is "$? $(cat err)" '0 ' 'the first time'
like "$(cat out)" '^::notice::there is no baseline yet' 'says that there is no baseline'
is "$(ls .pillion-baseline)" $'run1.pillion\nrun2.pillion\nrun3.pillion' 'and keeps the runs'
like "$(cat calls)" '-s cpu -- bash -c 0 1' 'the command is recorded with CPU samples'
"$compare" '0 1' >out 2>err
is "$? $(cat err)" '0 ' 'the same again'
like "$(cat out)" '^::notice:: not worse' 'is not worse'
like "$(cat summary)" '^\| .*Change \(%\)' 'the summary has the table'
cp -r .pillion-baseline kept
PAGE=$work/page.html REPLACE=true OVER=step "$compare" '7 1.45' >out 2>err
is "$?" 1 'slower: the job fails'
like "$(grep '<title>' page.html)" ' · pillion diff</title>' 'PAGE has the comparison'
like "$(cat out)" '^::error:: worse: .*train.py:70' 'with the line'
ok 'a slower run does not become the baseline' diff -r kept .pillion-baseline
REPLACE=true "$compare" '7 0.9' >out 2>err
is "$?" 0 'faster'
not_ok 'with REPLACE it becomes the baseline' diff -rq kept .pillion-baseline
GATE=nonsense "$compare" '0 1' >out 2>err
is "$?" 1 'a gate that is no percentage'
"$compare" fails >out 2>err
is "$?" 1 'a command that fails'
done_testing
