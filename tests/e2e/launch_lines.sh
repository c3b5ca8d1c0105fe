#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The nine command lines of the guides, verbatim after `pillion`.
set -u
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
mkdir bin
ln -s "$(command -v python3)" bin/python
PATH=$work/bin:$PATH
for name in script demo net; do
	echo "import sys, time; time.sleep(0.005); print('$name', *sys.argv[1:])" >$name.py
done

line() { # CAPTURE OUTPUT ARG...
	local capture=$1 output=$2
	shift 2
	rm -rf ./*.pillion
	is "$(pillion "$@" 2>err)" "$output" "pillion $*"
	ok "pillion $*: the capture is $capture" test -d "$capture"
	like "$(cat "$capture"/*.index)" '^child	.*status=0' "pillion $*: COMMAND ended with status 0"
}

line nsight_report.pillion 'script args...' profile -w true -t cuda,nvtx,osrt,cudnn,cublas -s none -o nsight_report \
	-f true -x true python script.py args...
line nsight_report.pillion 'script args...' profile -w true -t cuda,nvtx,osrt,cudnn,cublas -s cpu -o nsight_report \
	-f true --cudabacktrace=true --cudabacktrace-threshold=10000 --osrt-threshold=10000 -x true python script.py \
	args...
line nsight_report.pillion 'script args...' profile -w true -t cuda,nvtx,osrt,cudnn,cublas -s cpu -o nsight_report \
	-f true --capture-range=cudaProfilerApi --stop-on-range-end=true --cudabacktrace=true \
	--cudabacktrace-threshold=10000 --osrt-threshold=10000 -x true python script.py args...
line baseline.out.pillion demo --output=baseline.out python3 demo.py
line delimited.out.pillion demo profile --output=delimited.out --capture-range cudaProfilerApi python3 demo.py
line apis.out.pillion demo profile --output=apis.out --trace cuda,osrt,nvtx,cublas,cudnn python3 demo.py
line report1.pillion demo profile --cuda-memory-usage true python3 demo.py
line net.sql.pillion net -f -o net.sql --profile-from-start off -- python net.py
line net.sql.pillion net -f -o net.sql -- python net.py
done_testing
