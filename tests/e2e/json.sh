#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --json of every verb, against report/verbs/output/envelope.schema.json, which is installed; by the module jsonschema,
# which is fetched once per build directory, unless SCHEMA_PYTHON names a Python that has it.
. "$(dirname -- "$0")/lib.sh"

schema=${tests_dir%/tests/*}/report/verbs/output/envelope.schema.json
from_pypi SCHEMA_PYTHON schema jsonschema || skip_all "$why"
writer=$PILLION_BUILD_DIR/tests/trace-writer
"$writer" example run.pillion
"$writer" hostile hostile.pillion
cp -r run.pillion damaged.pillion
printf 'junk' >damaged.pillion/x.trace

# One process checks all of the outputs, because the module takes long to load: it reads lines "PATH STATUS STDERR
# EXPRESSION", and answers "valid" or what is wrong.
cat >check.py <<'END_OF_PYTHON'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.validators.validator_for(schema)(schema)
def check(path, status, stderr, expression):
    answer = json.load(open(path))
    validator.validate(answer)
    assert answer["status"] == int(status), (answer["status"], status)
    assert not open(stderr).read(), "something on standard error"
    for row in answer.get("rows", []):
        assert set(answer["row_key"][row["table"]]) <= set(row), row
    assert eval(expression, {"a": answer}), (expression, answer)
for line in sys.stdin:
    try:
        check(*line.rstrip("\n").split(" ", 3))
        print("valid", flush=True)
    except Exception as error:
        print(repr(error).replace("\n", " "), flush=True)
END_OF_PYTHON
coproc CHECK { exec "$python" check.py "$schema"; }
exec 5<&"${CHECK[0]}" 6>&"${CHECK[1]}"

# valid TEXT PATH STATUS STDERR [EXPRESSION]
valid() {
	local answer
	echo "$PWD/$2 $3 $PWD/$4 ${5:-True}" >&6
	read -r answer <&5
	is "$answer" valid "$1"
}

# envelope TEXT EXPRESSION ARGUMENT...: the output is valid, and the expression of the answer a is true
envelope() {
	local text=$1 expression=$2
	shift 2
	report "$@" >out 2>err
	valid "$text" out $? err "$expression"
}

first='a["rows"][0]'
envelope 'stats' 'a["verdict"] == "found" and len({row["table"] for row in a["rows"]}) > 5' stats --json run.pillion
envelope 'stats of one report' "${first}[\"Name\"] == 'waitpid' and a['row_key'] == {'osrt_sum': ['Name']}" \
	stats --json -r osrt_sum run.pillion
envelope 'what --top leaves out' 'a["truncated"] == {"shown": 1, "of": 3} and a["next"]' \
	stats --json --top=1 -r osrt_sum run.pillion
envelope 'nothing' 'a["verdict"] == "clean" and not a["rows"]' stats --json -r osrt_sum --filter-time=/1ns run.pillion
envelope 'a report without data' 'a["verdict"] == "could_not_check" and "OpenMP" in a["reason"]' \
	stats --json -r openmp_sum run.pillion
envelope 'the summary' "${first}['table'] == 'run' and {'calls', 'ledger'} <= {r['table'] for r in a['rows']}" \
	stats --json --summary run.pillion
envelope 'info' 'any(row["table"] == "processes" for row in a["rows"])' info --json run.pillion
envelope 'analyze' "${first}['Verdict'] == 'found' and ${first}['Rule'] in a['reason'] and a['next'] \
and 'Called From' in ${first}" \
	analyze --json run.pillion
envelope 'a rule that could not be checked' 'a["verdict"] == "could_not_check" and a["status"] == 1' \
	analyze --json -r late_message run.pillion
envelope 'analyze --fail-on' 'a["status"] == 3' analyze --json --fail-on=found run.pillion
envelope 'where' '"capture" in a or "error" in a' where --json run.pillion
envelope 'export' "${first}['Path'] == 'run.json' and ${first}['Bytes'] > 100" export --json -t chrome run.pillion
envelope 'export to standard output' '"both" in a["error"]' export --json -t chrome -o - run.pillion
envelope 'an export that exists' '"exists" in a["error"]' export --json -t chrome run.pillion
envelope 'pack' "a['rows'] and ${first}['Path'].endswith('.pillpack') or 'error' in a" pack --json run.pillion
if [ -e run.pillpack ]; then
	envelope 'unpack' "${first}['Path'] == 'again.pillion'" unpack --json -o again.pillion run.pillpack
fi
envelope 'view' '"rows" in a or "error" in a' view --json --no-open run.pillion
envelope 'diff' "a['verdict'] == 'clean' and ${first}['Verdict'] == 'not worse'" diff --json run.pillion run.pillion
envelope 'query' '"error" in a or a["rows"][0]["n"] == 3' query --json run.pillion 'SELECT COUNT(*) AS n FROM osrt_sum'
envelope 'query of the tables' '"error" in a or any("osrt_sum" in row["Text"] for row in a["rows"])' \
	query --json run.pillion .tables
envelope 'a statement that is wrong' '"error" in a and a["hint"] == "pillion query --help"' \
	query --json run.pillion 'SELECT nothing'
envelope 'a damaged capture' 'a["status"] == 1 and any("x.trace" in text for text in a["messages"])' \
	stats --json damaged.pillion
envelope 'markup in names' 'any("<img" in str(row) for row in a["rows"])' stats --json hostile.pillion
envelope 'doctor' "'recording' in a['reason'] and any(row['Check'] == 'glibc' for row in a['rows'])" doctor --json
envelope 'doctor with an unknown option' '"--nosuch" in a["error"]' doctor --json --nosuch
mkdir none && cd none || exit 99
for verb in stats info analyze where export pack unpack view diff query; do
	found='a["hint"] == "pillion '"$verb"' --help"'
	[ "$verb" = where ] && found='"capture" in a or "error" in a' # it takes the live run, if there is one
	envelope "$verb without a capture" "$found" "$verb" --json
	envelope "$verb with an unknown option" '"--nosuch" in a["error"]' "$verb" --json --nosuch
done
cd ..
envelope 'an unknown verb' 'a["verb"] is None' nosuch --json
report stats --json -o file.json run.pillion >out 2>err
is "$? $(wc -c <out)" '0 0' '-o: the object is in the file'
valid 'and is valid' file.json 0 err
# ---- SARIF: what its schema requires of the members that are written ----

# It is written by Python, which the script `pillion` starts.
analyze() {
	timeout "$patience" "$PILLION" analyze "$@"
}

cat >sarif.py <<'END_OF_PYTHON'
import json, sys
import jsonschema
def of(properties):
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}
text = of({"text": {"type": "string", "minLength": 1}})
place = of({"physicalLocation": of({
    "artifactLocation": of({"uri": {"type": "string", "pattern": "^(file:///)?[A-Za-z0-9._~/%-]+$"}}),
    "region": of({"startLine": {"type": "integer", "minimum": 1}})})})
driver = of({"name": {"const": "pillion"}, "version": {"type": "string"},
    "rules": {"type": "array", "items": of({"id": {"type": "string"}, "shortDescription": text})}})
result = of({"ruleId": {"type": "string"}, "level": {"enum": ["none", "note", "warning", "error"]}, "message": text,
    "locations": {"type": "array", "items": place}, "properties": of({"savesNs": {"type": "integer"}})})
log = of({"$schema": {"type": "string"}, "version": {"const": "2.1.0"}, "runs": {"type": "array", "minItems": 1,
    "items": of({"tool": of({"driver": driver}), "results": {"type": "array", "items": result}})}})
answer = json.load(sys.stdin)
jsonschema.validate(answer, log)
rules = [rule["id"] for rule in answer["runs"][0]["tool"]["driver"]["rules"]]
assert len(set(rules)) == len(rules) > 20
for one in answer["runs"][0]["results"]:
    places = [place["physicalLocation"] for place in one["locations"]]
    print(one["ruleId"], *(f"{p['artifactLocation']['uri'].split('/')[-1]}:{p['region']['startLine']}" for p in places))
END_OF_PYTHON
if has_unwinder && [ -x "$targets/locks" ]; then
	pillion -o locks "$targets/locks" convoy >out 2>err
	line=$(grep -n -m 1 mutex_lock "${tests_dir%/e2e}/targets/locks.c" | cut -d: -f1)
	analyze --sarif locks.pillion >out 2>err
	like "$? $("$python" sarif.py <out 2>&1)" "^(0 )?lock_convoy locks.c:$line\$" \
		'analyze --sarif: valid, with the line of the lock'
else
	skip 'analyze --sarif: the line of a lock' 'built without the unwinder'
fi
is "$(analyze --sarif hostile.pillion 2>err | "$python" sarif.py >out 2>&1; echo "$?")" 0 \
	'analyze --sarif of a hostile capture is valid'
analyze --sarif --json hostile.pillion >out 2>err
is "$? $(grep -c '^pillion analyze: --json and --sarif are two formats' err)" '2 1' \
	'analyze --sarif --json is refused'
analyze --sarif nosuch.pillion >out 2>err
is "$? $(cat out err)" '2 pillion analyze: nosuch.pillion: No such file or directory' \
	'and an error without a capture'

report stats --json run.pillion >/dev/full 2>err
is "$?" 2 'a full disk'
done_testing
