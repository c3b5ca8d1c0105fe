#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# HDF5: the program's output and file are the same, error stacks too; each call is recorded with its file, object and
# bytes. Also of a forked child, in profile mode, with a closed capture range, of h5py and of ranks of MPI.
set -u
. "$(dirname "$0")/lib.sh"

program=$targets/hdf5_io
[ -x "$program" ] || skip_all 'built without HDF5'

rows() { # CAPTURE: "calls bytes function file object" of each row
	report stats -q -r hdf5_sum -f csv "$1.pillion" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["Num Calls"], $at["Bytes"] + 0, $at["Name"],
			$at["File"] ? $at["File"] : "-", $at["Object"] ? $at["Object"] : "-" }' |
		sort -k 3
}

"$program" bare.h5 >wanted 2>&1
is "$?" 0 'bare: status'
pillion -o job -t hdf5 "$program" job.h5 >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'status and output'
is "$(grep -v '^pillion: ' err)" '' 'nothing is printed'
ok 'the file is the same' cmp bare.h5 job.h5
# 10 parts of 100 floats, 100 floats by the selection in the file, a child's 1000 shorts, 1000 doubles by H5Oopen
cat >known <<'END'
1 0 H5Acreate2 job.h5 /group/set
1 0 H5Awrite job.h5 /group/set
2 0 H5Dclose job.h5 /group/set
1 0 H5Dclose - -
1 0 H5Dcreate2 job.h5 /group/set
1 0 H5Dopen2 job.h5 /
1 0 H5Dopen2 job.h5 /group/set
1 0 H5Dread job.h5 /
13 14400 H5Dread job.h5 /group/set
1 8000 H5Dread - -
1 8000 H5Dwrite job.h5 /group/set
1 0 H5Fclose job.h5 /
1 0 H5Fcreate job.h5 /
1 0 H5Fflush job.h5 /
1 0 H5Gcreate2 job.h5 /group
1 0 H5Oopen job.h5 /group/set
END
is "$(rows job)" "$(sort -k 3 known)" 'calls and bytes by file and object; none for an object of a reference'
ok 'chrome' report export -t chrome -o job.json job.pillion
like "$(cat job.json)" 'count=100 element=4 object=/group/set file=job.h5' 'a transfer in the timeline'

pillion -o sums --mode=profile -t hdf5 "$program" job.h5 >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'profile mode: status and output'
is "$(rows sums)" "$(rows job)" 'profile mode: the same calls and bytes'

pillion -o default "$program" bare2.h5 >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'not selected: status and output'
is "$(rows default)" '' 'not selected: no calls'

pillion -o ring --ring=20MB -t hdf5 "$program" job.h5 >out 2>err
is "$? $(cat out) $(rows ring)" "0 $(cat wanted) $(rows job)" 'with a ring'

# ---- h5py, whose library has a name of its own ----
python=${H5PY_PYTHON:-python3}
if "$python" -c 'import h5py' 2>/dev/null; then
	cat >job.py <<'END'
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as f:
    f.create_group("deep").create_dataset("x", data=numpy.arange(1000.0), chunks=(100,), compression="gzip")
with h5py.File(sys.argv[1], "r") as f:
    total = sum(float(f["deep"]["x"][i * 10:i * 10 + 10].sum()) for i in range(100))
    x = f["deep/x"]
    again = x.file["deep/x"][:]
    print(total, again.sum())
try:
    f["deep"]
except (KeyError, ValueError) as e:
    print(type(e).__name__)
END
	"$python" job.py bare.h5 >wanted 2>&1
	pillion -o py -t hdf5 "$python" job.py py.h5 >out 2>err
	is "$? $(cat out)" "0 $(cat wanted)" 'h5py: status and output'
	is "$(rows py | grep -E '^[0-9]+ [1-9][0-9]* ')" "$(printf '%s\n' '101 16000 H5Dread py.h5 /deep/x' \
		'1 8000 H5Dwrite py.h5 /deep/x')" 'h5py: transfers with file, dataset and bytes'
	is "$(rows py | grep -c 'H5Oopen py.h5 /deep/x')" 1 'h5py: opens'
else
	skip 'h5py' 'no h5py'
fi

# ---- parallel ----
if [ -x "$targets/hdf5_mpi" ] && command -v mpirun >/dev/null && ranks 1 true >out 2>err; then
	export OMPI_MCA_mpi_yield_when_idle=1
	PILLION_STATS=false ranks 2 "$PILLION" -o parallel -t hdf5,mpi "$targets/hdf5_mpi" all.h5 >out 2>err
	is "$? $(cat out)" '0 2 ranks' 'ranks: status and output'
	is "$(rows parallel | grep H5Dwrite)" '2 16000 H5Dwrite all.h5 /shared' 'ranks: the part that each writes'
	like "$(report stats -q -r mpi_sum -f csv parallel.pillion)" ',MPI_File_write_at_all,' \
		"ranks: calls of MPI inside of HDF5's"
else
	skip 'ranks' 'no parallel HDF5'
fi
done_testing
