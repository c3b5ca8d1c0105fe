# SPDX-License-Identifier: Apache-2.0
"""Common functions of the comparisons with the simulated GPU's account: reading the account and reports as CSV."""
import csv
import json


def read_log(path):
    """All events of an account; the last line of a killed program may be torn."""
    events = []
    with open(path, encoding='utf-8') as file:
        for line in file:
            try:
                events.append(json.loads(line))
            except ValueError:
                pass
    return events


def read_table(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(line for line in file if line.strip()))


def read_tables(path):
    """Several reports, separated by empty lines."""
    with open(path, newline='', encoding='utf-8') as file:
        for table in file.read().split('\n\n'):
            rows = csv.DictReader(table.strip('\n').split('\n'))
            yield rows.fieldnames or [], list(rows)
