#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Payloads with their schemas, counters, categories and names in the exports.
set -u
. "$(dirname "$0")/lib.sh"

"$targets/nvtx_extended" >out 2>err
[ $? -ne 77 ] || skip_all "built without the headers of NVTX's extensions"

pillion -o run "$targets/nvtx_extended" >out 2>err
is "$? $(cat out)$(grep line err)" '0 ' 'depths, ids and handles are those that NVTX specifies'
names=$(report stats -q -r nvtx_names -f csv run.pillion | cut -d, -f2-)
for name in ',CUDA device,0,the first device' ',CUDA stream,4660,copies' 'extended,category,7,seven here' \
	',category,7,seven there' \
	'extended,counter,0x[0-9a-f]*,queue' 'extended,payload schema,16777223,point' \
		'extended,payload enum,0x[0-9a-f]*,kind' 'extended,resource,1,the lock'; do
	like "$names" "^$name$" "nvtx_names: $name"
done
for what in 'deferred events (nvtxEventSubmit' 'time domains (nvtxTimeDomainRegister' 'batches of counter samples'; do
	is "$(report stats -q -r ledger -f csv run.pillion | grep -cF "$what")" 2 \
		"the ledger of each process counts it once: $what"
done
report export -t chrome -o run.json run.pillion >/dev/null 2>err
is "$? $(cat err)" '0 ' 'chrome export'
cat >loop.py <<'END'
import pillion
profiler = pillion.Profiler()
profiler.start()
profiler.step()
profiler.stop()
for name in 'Step#7', 'step 8 of 9', 'stepping 10', 'ProfilerStep#11':
    with pillion.annotate(name):
        pass
END
if PYTHONPATH=$tests_dir/../../python pillion -o loop -t nvtx python3 loop.py >out 2>err; then
	report export -t chrome -o loop.json loop.pillion >/dev/null 2>err
	is "$(grep -oE '"ProfilerStep#[^"]*"' loop.json | tr '\n' ' ')" \
		'"ProfilerStep#0" "ProfilerStep#1" "ProfilerStep#7" "ProfilerStep#11" ' \
		"steps have torch.profiler's name"
else
	skip 'steps' 'no python3'
fi
if [ -x "$targets/cuda_steps" ]; then
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles pillion -o steps "$targets/cuda_steps" 2 >out 2>err
	report export -t chrome -o steps.json steps.pillion >/dev/null 2>err
	is "$(grep -oE '"stream [0-9]+ [^"]*of' steps.json | sed 's/[0-9]\+/N/' | sort | tr '\n' ';')" \
		"\"stream N (the last one's) of;\"stream N of;" \
		'a stream has the name given to its handle'
else
	skip 'names of streams' 'built without CUDA headers'
fi
if ! command -v python3 >/dev/null; then
	skip 'contents of the chrome export' 'no python3'
	done_testing
fi

# One fact per line: args of the events by their text.
python3 - >facts <<'END'
import json
for e in json.load(open('run.json'))['traceEvents']:
    a = e.get('args', {})
    if e['ph'] == 'M' and e['name'] == 'thread_name':
        print('thread', a['name'])
    if e['ph'] in 'XCib' and e.get('cat') in ('user_annotation', 'user_counter'):
        print(e['ph'], e['name'], json.dumps({k: v for k, v in a.items() if k not in ('domain', 'domain id')},
            sort_keys=True))
END
message='"at": {"x": -1, "y": 2}, "bytes": 1099511627776, "dims": \[3, -4, 5\], "flags": "EAGER|PINNED", '\
'"kind": "RECEIVE"'
text='"phase": "exchange", "ratio": 0.5, "tag": "tagged"'
like "$(cat facts)" \
	"^X exchange {\"end payload\": 4386, \"payload\": {$message, \"peer\": \"node \\\\\"seven\\\\\"\", $text}}$" \
	'a structure with enums, flags, texts behind addresses and handles, arrays and a structure; '\
'message of the range'
like "$(cat facts)" "^b exchange {\"end payload\": 4386, \"payload\": {$message" 'payload of a start/end range'
like "$(cat facts)" "^i exchange {\"payload\": {$message, \"peer\": \"0x10\", $text}}$" \
	'an invalid address is shown, not dereferenced'
like "$(cat facts)" '^X with a list {"category": "seven here", "color": "#ff102030", '\
'"payload": \[{"count": 2, "last": -9, "values": \[1.5, -0.25\]}, "0x2211"\]}$' \
	'an array whose length is in another entry, raw bytes, a category of the domain, a color'
like "$(cat facts)" '^i  {"payload": {"either": {"number": 8}}}$' \
	'only the member of a union that another entry selects'
for value in 18364758544493064720 -5 1.5 4294967294 -7 1.25; do
	like "$(cat facts)" "^i plain {\"payload\": $value}$" "plain payload $value"
done
is "$(grep -c '^C queue' facts) $(grep -c '^C queue {"value": -2}$' facts) $(grep '^C position' facts)" \
	'6 1 C position {"x": 11, "y": -12}' 'counters'
like "$(cat facts)" '^thread .*named by another' 'a thread named by another thread'
like "$(cat facts)" "^thread .*a name of its own that is longer than the kernel's" 'a thread named by itself'

if ! report export -t sqlite -o run.sqlite run.pillion >/dev/null 2>err; then
	skip 'sqlite' 'built without sqlite'
	done_testing
fi
python3 - >rows <<'END'
import sqlite3
d = sqlite3.connect('run.sqlite')
for row in d.execute('''select eventType, coalesce(text, (select value from StringIds where id = textId)),
	domainId, category, color,
	uint64Value,
	int64Value, doubleValue, uint32Value, int32Value, floatValue, jsonText from NVTX_EVENTS'''):
    print('|'.join('' if v is None else str(v) for v in row))
END
like "$(cat rows)" '^33\|seven here\|1\|7\|' 'a category number in one domain'
like "$(cat rows)" '^33\|seven there\|0\|7\|' 'the same category number in another domain'
like "$(cat rows)" '^59\|with a list\|1\|7\|4279246896\|' 'category and color of a range'
for value in '-81985529216486896|||||' '|-5||||' '||1.5|||' '|||4294967294||' '||||-7|' '|||||1.25'; do
	like "$(cat rows)" "^34\|plain\|0\|\|\|${value//|/\\|}\|$" "column of $value"
done
python3 - >schemas <<'END'
import sqlite3
d = sqlite3.connect('run.sqlite')
for row in d.execute('select s.name, payloadSize, idx, e.name, e.flags, arrayOrUnionDetail, offset '
        'from NVTX_PAYLOAD_SCHEMAS s join NVTX_PAYLOAD_SCHEMA_ENTRIES e using (domainId, schemaId)'):
    print(*row)
for row in d.execute('select s.name, size, numEntries, e.name, value, isFlag '
        'from NVTX_PAYLOAD_ENUMS s join NVTX_PAYLOAD_ENUM_ENTRIES e using (domainId, schemaId)'):
    print('enum', *row)
print('unknown', *d.execute('select count(*) from NVTX_PAYLOAD_SCHEMA_ENTRIES where type >= 1 << 24 and type not in '
    '(select schemaId from NVTX_PAYLOAD_SCHEMAS union select schemaId from NVTX_PAYLOAD_ENUMS)').fetchone())
END
for line in 'point 4 0 x 0 0 0' 'point 4 1 y 0 0 2' 'message 72 6 dims 16 3 44' 'message 72 8 tag 0 6 60' \
	'list None 1 values 48 0 8' 'list None 2 last 0 0 None' 'enum kind 1 2 RECEIVE 2 0' \
	'enum flags 4 2 PINNED 4 1'; do
	is "$(grep -cxF "$line" schemas)" 1 "NVTX_PAYLOAD tables: $line"
done
is "$(grep unknown schemas)" 'unknown 0' 'each type of an entry is a schema or an enum'
is "$(python3 -c "import sqlite3; print(*sqlite3.connect('run.sqlite').execute(
	'select name, deviceId from TARGET_INFO_NVTX_CUDA_DEVICE'))")" \
	"('the first device', 0)" 'the name of a device'
if [ -e steps.pillion ]; then
	report export -q -t sqlite steps.pillion 2>err
	is "$(python3 -c "import sqlite3; print(*sqlite3.connect('steps.sqlite').execute(
		'select name, streamId in (select streamId from CUPTI_ACTIVITY_KIND_KERNEL) '
		'from TARGET_INFO_NVTX_CUDA_STREAM'))")" \
		'("the last one'\''s", 1)' 'the name of a stream'
	report export -q -t html steps.pillion 2>err
	is "$? $(python3 - <<'END'
import base64, re, zlib
packs = re.findall('<script type="text/plain" id="[^"]*">([^<]*)<', open('steps.html').read())
print(sum("(the last one's)" in zlib.decompress(base64.b64decode(p), -15).decode('latin-1') for p in packs))
END
)" '0 1' 'payloads are in the HTML export'
fi
like "$(cat rows)" '^60\|exchange\|1\|.*\[{"kind":"RECEIVE","bytes":1099511627776,.*},4386\]$' \
	'jsonText: of the start and of the end'
report export -t html -o run.html run.pillion >/dev/null 2>err
is "$? $(cat err)" '0 ' 'html export'
done_testing
