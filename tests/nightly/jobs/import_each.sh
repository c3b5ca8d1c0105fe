#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# import_each.sh planted|clean: computes the mean of a column of several files with pandas.
# Planted: a Python program is started for each file, and imports pandas each time. Clean: one program reads all files.
python=${NIGHTLY_PYTHON:-python3}

cat >mean.py <<'EOF'
import sys

import pandas

for path in sys.argv[1:]:
    table = pandas.read_csv(path)
    groups = table.groupby("group")["value"].agg(["mean", "std", "max"])
    print(path, round(float(groups["mean"].mean()), 3), round(float(groups["std"].mean()), 3))
EOF

for file in 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
	awk -v n=$file 'BEGIN {
		print "group,value,text"
		for (i = 0; i < 200000; i++)
			printf "%d,%d,item %d\n", i % (n + 100), i * n % 9973, i
	}' >part$file.csv
done
if [ "$1" = planted ]; then
	for file in part??.csv; do
		"$python" mean.py "$file" # PLANT
	done
else
	"$python" mean.py part??.csv
fi
