# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# PyTorch's processes: by one torchrun on each of two nodes, and by srun with the variables that PyTorch reads.
python=${NIGHTLY_PYTHON:-python3}
if ! "$python" -c 'import torch.distributed' 2>/dev/null; then
	skip 'torchrun' "$python has no PyTorch"
	return
fi
export python
# The bare and the traced job each have a port for each part.
read -ra ports < <(free_ports 4)
file port <<END
case \$PWD in
*/bare/*) port=\$((\$1 ? ${ports[0]} : ${ports[1]})) ;;
*) port=\$((\$1 ? ${ports[2]} : ${ports[3]})) ;;
esac
END
file train.py <<'END'
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(3) * dist.get_rank()
for _ in range(5):
    dist.all_reduce(x)
print("rank", dist.get_rank(), "of", dist.get_world_size(), x.tolist(), flush=True)
dist.destroy_process_group()
END
submit -N 2 --ntasks-per-node=1 -c 4 --mem=4000 <<-'END'
	#!/bin/bash
	. ./port 0
	srun record "$python" -m torch.distributed.run --nnodes 2 --nproc-per-node 2 \
		--rdzv-backend c10d --rdzv-endpoint "127.0.0.1:$port" --rdzv-id "$SLURM_JOB_ID" train.py
	echo "status $?"
END
compare 'a torchrun on each node'
captured 'a torchrun on each node' 'job.pillion '
is "$(ranks_of job.pillion)" '0 1 2 3 ' 'a torchrun on each node: each rank is in the capture'
is "$(columns job.pillion)" "$(printf "${job[traced]},,0,,%s " node1 node2)" \
	'a torchrun on each node: job, step and nodes'

part srun
submit -N 2 -n 4 --mem=4000 <<-'END'
	#!/bin/bash
	. ./port 1
	export MASTER_ADDR=127.0.0.1 MASTER_PORT=$port WORLD_SIZE=4
	srun sh -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID exec record "$python" train.py'
	echo "status $?"
END
compare 'PyTorch by srun'
captured 'PyTorch by srun' 'job.pillion '
is "$(ranks_of job.pillion)" '0 1 2 3 ' 'PyTorch by srun: each rank is in the capture'
