#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_columns.py DATABASE PARQUET ARROW: whether pyarrow, Polars, pandas and DuckDB read in the directories of
`-t parquetdir` and `-t arrow` what the database of `-t sqlite` has, row by row. Only pyarrow must be installed. Prints
the number of tables and rows and who read them."""
import importlib
import os
import sqlite3
import sys

import pyarrow.ipc
import pyarrow.parquet

readers = {'pyarrow': pyarrow}
for name in ('pandas', 'polars', 'duckdb'):
    try:
        readers[name] = importlib.import_module(name)
    except ImportError:
        pass

database, parquet, arrow = sys.argv[1:]
faults = []


def rows(values):
    """As a list that can be compared: NULL has no order among numbers."""
    return sorted(map(repr, map(tuple, values)))


def check(table, reader, got, wanted):
    if rows(got) != wanted:
        faults.append(f'{table}: {reader} reads other rows')


def check_table(table, wanted):
    files = os.path.join(parquet, table + '.parquet'), os.path.join(arrow, table + '.arrow')
    tables = pyarrow.parquet.read_table(files[0]), pyarrow.ipc.open_file(files[1]).read_all()
    for name, read in zip(('pyarrow.parquet', 'pyarrow.ipc'), tables):
        read.validate(full=True)
        check(table, name, zip(*(column.to_pylist() for column in read.columns)), wanted)
    if 'polars' in readers:
        check(table, 'polars.read_parquet', readers['polars'].read_parquet(files[0]).rows(), wanted)
        check(table, 'polars.read_ipc', readers['polars'].read_ipc(files[1]).rows(), wanted)
    if 'duckdb' in readers:
        check(table, 'duckdb', readers['duckdb'].sql(f"SELECT * FROM '{files[0]}'").fetchall(), wanted)
    if 'pandas' in readers and len(readers['pandas'].read_parquet(files[0])) != len(wanted):
        faults.append(f'{table}: pandas reads another number of rows')
    if wanted and 'start' in tables[0].column_names:
        least = min(value for value in tables[0].column('start').to_pylist() if value is not None)
        group = pyarrow.parquet.ParquetFile(files[0]).metadata.row_group(0)
        index = tables[0].column_names.index('start')
        if group.column(index).statistics.min != least:
            faults.append(f'{table}: the least start is not in the statistics')


db = sqlite3.connect(database)
names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
count = 0
for name in names:
    found = rows(db.execute(f'SELECT * FROM "{name}"'))
    count += len(found)
    check_table(name, found)
for directory, ending in ((parquet, '.parquet'), (arrow, '.arrow')):
    if set(os.listdir(directory)) != {name + ending for name in names}:
        faults.append(f'{directory} has other tables')
print(*faults, sep='\n', end='\n' if faults else '')
print(len(names), 'tables', count, 'rows', *readers)
sys.exit(bool(faults))
