#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion mcp and pillion skill. mcp_client.py speaks the protocol itself; then the public client, the package mcp,
# does: it is fetched once per build directory, unless MCP_PYTHON names a Python that has it.
. "$(dirname -- "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
like "$(report skill)" '^description: .*slow' 'skill prints the page'
is "$(report skill | awk 'length > 120')" '' 'its lines are short'
report mcp run.pillion >out 2>err </dev/null
is "$?" 2 'mcp takes no captures'
report mcp >out 2>err </dev/null
if grep -q sqlite err; then
	done_testing
	exit
fi
is "$? $(wc -c <out)" '0 0' 'without a request it says nothing'

writer=$PILLION_BUILD_DIR/tests/trace-writer
"$writer" example run.pillion
"$writer" hostile hostile.pillion
"$writer" nvtx large.pillion 20000
for side in before after; do
	"$writer" steps $side.pillion ${#side} 12 0.01 0 0.05 0 1
done
"$writer" steps slower.pillion 9 12 0.01 0 0.05 7 1.45
seq 1 130 | sed 's/^/layer() # /' >train.py
touch -d 2000-01-01 train.py # older than the capture: what it executed
printf 'secret_of_the_system = 1\n' >shadow
printf 'secret_of_the_system = 1\n' >elsewhere.py
for file in shadow elsewhere.py train.py; do
	cat >"names_$file" <<-END
		exec(compile("def f():\n s = 0\n for i in range(3000000): s += i * i\nf()\n", "$work/$file", "exec"))
	END
	PILLION_STATS=summary pillion -f -o "names_$file" -s cpu python3 "names_$file" 2>err
done
# the record of train.py, of the path that the written capture has
sed -n 's#file=[^\t]*/train\.py\t#file=/home/user/train.py\t#p' names_train.py.pillion/names.sources \
	>before.pillion/names.sources
is "$(grep -c hash= before.pillion/names.sources)" 1 'the source of a run is recorded'
adopt python3 "$tests_dir/mcp_client.py" raw "$PILLION" mcp

# summary_of WORD...: the answer of a server that is started so.
summary_of() {
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"summary","arguments":{' \
		'"capture":"run.pillion"}}}' | tr -d '\n' | "$@" "$PILLION" mcp 2>&1
}
mkdir planted
echo 'raise SystemExit("planted")' | tee planted/json.py >planted/ctypes.py
like "$(summary_of env PYTHONPATH=planted PYTHONHOME=planted)" '"isError":false' \
	'PYTHONPATH and PYTHONHOME of a job do not concern it'
cat >without_ctypes <<'END'
#!/bin/sh
shift
exec python3 -c 'import runpy, sys
sys.modules["ctypes"] = None
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
END
chmod +x without_ctypes
like "$(summary_of env PILLION_PYTHON=./without_ctypes)" '"isError":false' 'it works without ctypes'

# source_of FILE [OPTION]...: the answer about a file of the capture named, by a server with these options.
source_of() {
	local file=$1
	shift
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"source","arguments":{' \
		"\"capture\":\"$capture\",\"file\":\"$file\"}}}" | tr -d '\n' | report mcp "$@"
}
mkdir below
capture=names_shadow.pillion
unlike "$(source_of "$work/shadow")" secret_of 'source: a file that is not named like a source is not shown'
capture=names_elsewhere.py.pillion
like "$(source_of elsewhere.py)" secret_of 'source: what was recorded, below the working directory'
unlike "$(source_of elsewhere.py --source-root=below)" secret_of 'but not outside of --source-root'
like "$(source_of elsewhere.py --source-root=below --source-root=.)" secret_of 'which may be repeated'
rm names_elsewhere.py.pillion/names.sources
like "$(source_of elsewhere.py)" 'cannot be verified' 'source: a capture without a record: it says so'
unlike "$(source_of elsewhere.py)" secret_of 'and the text is not shown'
like "$(report stats --source elsewhere.py $capture 2>&1)" 'cannot be verified' 'stats --source says so, too'
report stats -q --summary --keep-sources $capture >out 2>err
is "$? $(cat err)" '0 ' '--keep-sources'
printf 'secret_of_the_system = 2\n' >elsewhere.py
like "$(report stats --source elsewhere.py $capture 2>&1)" 'was changed after the run' 'a source that was changed'
unlike "$(report stats --source elsewhere.py $capture 2>/dev/null)" secret_of 'is not shown'

if from_pypi MCP_PYTHON mcp mcp; then
	for mode in auto legacy; do
		adopt "$python" "$tests_dir/mcp_client.py" "$mode" "$PILLION" mcp
	done
else
	skip 'the public client' "$why"
fi
done_testing
