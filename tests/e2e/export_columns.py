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
    check_statistics(table, tables[0], pyarrow.parquet.ParquetFile(files[0]).metadata)
    required = {row[1] for row in db.execute(f'PRAGMA table_info("{table}")') if row[3]}
    for name, read in zip(('Parquet', 'Arrow'), tables):
        if {field.name for field in read.schema if not field.nullable} != required:
            faults.append(f'{table}: in {name} other columns than NOT NULL ones are required')


def check_statistics(table, read, metadata):
    """The first row group has the least and the largest value of each column of integers."""
    for index, column in enumerate(read.columns if metadata.num_row_groups == 1 else ()):
        statistics = metadata.row_group(0).column(index).statistics
        values = [value for value in column.to_pylist() if isinstance(value, int)]
        if statistics and statistics.has_min_max and values and \
                (statistics.min, statistics.max) != (min(values), max(values)):
            faults.append(f'{table}: wrong statistics of {read.column_names[index]}')
    if read.num_rows and 'start' in read.column_names:
        if not metadata.row_group(0).column(read.column_names.index('start')).statistics.has_min_max:
            faults.append(f'{table}: no statistics of start')


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
