#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion ops: PyProf's table of databases in the form of Nsight Systems and of captures, in PyProf's layouts and in
# pillion's; FLOPs by definition.
set -u
. "$(dirname "$0")/lib.sh"
data=$tests_dir/../data golden=$tests_dir/../golden
command -v python3 >/dev/null || { skip 'all' 'no python3'; done_testing; exit; }
case $(report query x 2>&1) in
*'no sqlite'*) skip 'all' 'no sqlite'; done_testing; exit ;;
esac
all=idx,seq,altseq,tid,layer,trace,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,bytes

# ---- databases of Nsight Systems ----

ok 'the databases are made' python3 "$data/ops_sqlite.py" .
for name in cnn lstm; do
	is "$(python3 -c 'import sqlite3, sys
for path in sys.argv[1:]:
    print(hash("\n".join(sqlite3.connect(f"file:{path}?mode=ro", uri=True).iterdump())))' \
		ops_$name.sqlite "$data/ops_$name.sqlite" | sort -u | wc -l)" 1 \
		"$name: tests/data has what its script makes"
	report ops --csv -c $all "$data/ops_$name.sqlite" >table.csv 2>err
	is "$? $(cat err)" '0 ' "$name: the table of a database"
	is "$(diff "$golden/ops_$name.csv" table.csv)" '' "$name: all columns"
done
is "$(report ops -f csv -c params,flops ops_cnn.sqlite | grep -c '^"N=4,C=6.*g=1,fp16",1920000$')" 3 \
	'a convolution and its two gradients take as many operations'
is "$(report ops -f csv -c flops ops_lstm.sqlite | awk '{ sum += $1 } END { print sum }')" \
	$((2 * 8 * 256 * (32 + 64) * 3 + 2 * 5 * 8 * 256 * (32 + 64) + 2 * 2 * 8 * 64 * 256)) \
	'an LSTM: the products of three cells, a layer of cuDNN, two gradients'
# Some versions of nsys have no clock rate, so the peak is not known.
python3 -c 'import shutil, sqlite3
for name, column in ("clock", ", clockRate INTEGER"), ("clockless", ""):
    shutil.copy("ops_cnn.sqlite", name + ".sqlite")
    db = sqlite3.connect(name + ".sqlite")
    db.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER, computeMajor INTEGER, computeMinor INTEGER, smCount INTEGER, "
               "memoryBandwidth INTEGER" + column + ")")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 9, 0, 100, 3000000000000" + (", 1500000000)" if column else ")"))
    db.commit()'
report ops -f csv -c peak clock.sqlite >out 2>err
is "$? $(cat err) $(grep -c '^[0-9.]\+$' out)" '0  10' 'shares of the peak by the clock rate'
report ops --csv -c $all clockless.sqlite >table.csv 2>err
is "$? $(cat err)$(diff "$golden/ops_cnn.csv" table.csv)" '0 ' 'a table of devices without the clock rate'
report ops -f csv -c peak clockless.sqlite >out 2>err
is "$? $(cat err)$(grep '[0-9]' out)" '0 ' 'without it the peak is not known'
is "$(report ops -f csv -c all ops_cnn.sqlite)" "$(report ops -f csv -c "$all,type,peak" ops_cnn.sqlite)" \
	'all: every column'

# ---- layouts ----

report ops -c idx,dir,sub,mod,op,kernel,params,sil -w 150 ops_cnn.sqlite >wide 2>err
is "$? $(cat err)" '0 ' "PyProf's command line"
is "$(awk '{ print length() }' wide | sort -u | tr '\n' ' ')" '157 ' 'lines of one width and a blank after each column'
is "$(sed -n 2p wide | tr -s ' ')" ' 1 fprop 0 torch.nn.functi conv2d nchwToNhwcKernel na 300 ' 'cells are cut'
is "$(report ops -c trace,idx -w 40 ops_cnn.sqlite | sed -n 3p)" "$(printf '%-25s %7d ' lenet.py:20 2)" \
	'the innermost line'
report ops -c idx,mod,op -w 36 ops_cnn.sqlite >out 2>err
is "$? $(cat out err)" '2 pillion ops: these columns take at least --width=37' 'a width that is too small'
report ops ops_cnn.sqlite >out 2>err
is "$? $(cat err) $(sed -n 's/^ *Idx/Idx/; /Idx/s/  */ /gp' out)" \
	'0  Idx Direction Sub Module Op Kernel Params Sil(ns)' 'the default columns'
is "$(report ops -f json -c idx,flops ops_cnn.sqlite | python3 -c 'import json, sys
print(json.load(sys.stdin)[1])')" \
	"{'Idx': 2, 'FLOPs': 940800}" 'JSON'
is "$(report ops --json -c idx,flops ops_cnn.sqlite | python3 -c 'import json, sys
print(json.load(sys.stdin)["rows"][1])')" "{'table': 'ops', 'Idx': 2, 'FLOPs': 940800}" 'the envelope'
report ops --csv -c idx -o file.csv ops_cnn.sqlite
is "$(sed -n 1,2p file.csv | tr '\n' ' ')" '"Idx" "1" ' 'a file'

# ---- what is refused ----

refused() { # TEXT PATTERN ARG...
	report ops "${@:3}" >out 2>err
	is "$? $(cat out)" '2 ' "$1: refused"
	like "$(cat err)" "$2" "$1: why"
}
refused 'an unknown column' 'no .flop.; there are all, or idx seq .* bytes type peak$' -c idx,flop ops_cnn.sqlite
refused 'no column' 'no ..; there are all, or idx' -c , ops_cnn.sqlite
refused 'two layouts' 'two layouts' --csv -w 150 ops_cnn.sqlite
refused 'a filter of captures' 'are for captures' --filter-time=1ms/ ops_cnn.sqlite
python3 -c 'import sqlite3; sqlite3.connect("other.sqlite").execute("CREATE TABLE t (x)")'
refused 'a database of another program' 'other.sqlite: no CUPTI_ACTIVITY_KIND_KERNEL' other.sqlite
head -c 4000 ops_cnn.sqlite >cut.sqlite
refused 'a damaged database' 'cut.sqlite: ' cut.sqlite
python3 - ops_cnn.sqlite <<'END'
import shutil, sqlite3, sys
kernels = 'CUPTI_ACTIVITY_KIND_KERNEL'
for name in 'view', 'slow':
    shutil.copy(sys.argv[1], name + '.sqlite')
    db = sqlite3.connect(name + '.sqlite')
    db.execute(f'ALTER TABLE {kernels} RENAME TO kernels')
    if name == 'view':
        db.execute(f'CREATE VIEW {kernels} AS SELECT a.* FROM kernels a, kernels b')
    else:
        db.execute(f'CREATE TABLE {kernels} (start, end, correlationId, shortName, deviceId, streamId, gridX, gridY, '
                   'gridZ, blockX, blockY, blockZ)')
        db.executemany(f'INSERT INTO {kernels} (start) VALUES (?)', [(i,) for i in range(20000)])
        db.execute(f'ALTER TABLE {kernels} ADD COLUMN globalPid AS (length(hex(zeroblob(1000000 + start))))')
    db.commit()
END
refused 'a view, which may compute without end' 'view.sqlite: access to view "CUPTI_ACTIVITY_KIND_KERNEL" prohibited' \
	view.sqlite
refused 'a column that takes long to compute' 'slow.sqlite: reading it takes longer than 1 s' --time-limit=1 \
	slow.sqlite
refused 'captures and databases' 'one kind at a time' ops_cnn.sqlite other

# ---- captures ----

doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -x "$targets/cuda_gemm" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o gemm -t cuda,cublas "$targets/cuda_gemm" 200 sizes >sizes 2>err
	is "$? $(wc -l <sizes)" '0 200' '200 products by cuBLAS and cuBLASLt'
	report ops -f csv -c params,flops,bytes gemm.pillion >rows 2>err
	is "$? $(cat err)" '0 ' 'the table of a capture'
	is "$(tail -n +2 rows)" "$(awk '{ printf "\"M=%d,N=%d,K=%d\",%.0f,%.0f\n", $1, $2, $3, 2 * $1 * $2 * $3,
		4 * ($1 * $2 + $1 * $3 + $2 * $3) }' sizes)" 'FLOPs are 2MNK of each product'
	report export -q -t sqlite -o gemm.sqlite gemm.pillion
	is "$(report ops -f csv -c idx,tid,kernel,sil,device,stream,grid,block gemm.sqlite)" \
		"$(report ops -f csv -c idx,tid,kernel,sil,device,stream,grid,block gemm.pillion)" \
		'the export of the capture has the same kernels'
	report ops -f csv -c flops --filter-time=/1ns gemm.pillion >out 2>err
	is "$? $(cat out)" '1 FLOPs' 'a filter that leaves nothing'
else
	skip 'captures' 'built without CUDA headers'
fi
pillion -o none -t osrt true 2>err
report ops none.pillion >out 2>err
is "$?" 1 'a capture without kernels'
like "$(cat err)" 'ops: no kernels were launched$' 'why'
done_testing
