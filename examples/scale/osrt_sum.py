#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""osrt_sum of any number of captures, by an engine of your choice, from their Parquet exports.

    pillion export -t parquetdir -o a_pqtdir a.pillion      (for each capture)
    osrt_sum.py duckdb|dask|spark a_pqtdir b_pqtdir ... > table.csv

Each directory has strings of its own, so calls get their names before the directories are joined.
"""
import csv
import sys

COLUMNS = ["Total Time (ns)", "Num Calls", "Med (ns)", "Min (ns)", "Max (ns)", "Name"]


def by_duckdb(directories):
    import duckdb
    calls = " union all ".join(
        f"""select s.value as name, "end" - start as ns from read_parquet('{path}/OSRT_API.parquet') as c
            join read_parquet('{path}/StringIds.parquet') as s on s.id = c.nameId""" for path in directories)
    return duckdb.sql(f"select sum(ns), count(*), median(ns), min(ns), max(ns), name from ({calls}) group by name"
                      ).fetchall()


def by_dask(directories):
    import dask.dataframe
    from dask.distributed import Client

    def named(path):
        calls = dask.dataframe.read_parquet(f"{path}/OSRT_API.parquet", columns=["start", "end", "nameId"])
        strings = dask.dataframe.read_parquet(f"{path}/StringIds.parquet")
        calls = calls.merge(strings, left_on="nameId", right_on="id")
        return calls.assign(ns=calls["end"] - calls["start"])[["value", "ns"]]

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        by_name = dask.dataframe.concat([named(path) for path in directories]).groupby("value")["ns"]
        table = by_name.agg(["sum", "count", "min", "max"]).compute()
        medians = by_name.median().compute()
    return [(r["sum"], r["count"], medians[name], r["min"], r["max"], name) for name, r in table.iterrows()]


def by_spark(directories):
    from pyspark.sql import SparkSession, functions as f
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    calls = None
    for path in directories:
        named = spark.read.parquet(f"{path}/OSRT_API.parquet").join(
            spark.read.parquet(f"{path}/StringIds.parquet"), f.col("nameId") == f.col("id"))
        named = named.select(f.col("value").alias("name"), (f.col("end") - f.col("start")).alias("ns"))
        calls = named if calls is None else calls.unionAll(named)
    table = calls.groupBy("name").agg(f.sum("ns"), f.count("ns"), f.expr("percentile(ns, 0.5)"), f.min("ns"),
                                      f.max("ns"))
    rows = [(r[1], r[2], r[3], r[4], r[5], r[0]) for r in table.collect()]
    spark.stop()
    return rows


ENGINES = {"duckdb": by_duckdb, "dask": by_dask, "spark": by_spark}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ENGINES:
        print(__doc__, file=sys.stderr)
        return 2
    rows = ENGINES[sys.argv[1]](sys.argv[2:])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for row in sorted(rows, key=lambda r: (-int(r[0]), r[5])):
        out.writerow([int(row[0]), int(row[1]), float(row[2]), int(row[3]), int(row[4]), row[5]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
