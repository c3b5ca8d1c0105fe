// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {changedRows, growth, metricOfRows, metricsOf, pairedTree} from '../../report/page/view/changes.mjs';

const strings = ['worse', '(total)', 'noise', 'same', 'slower', 'work', 'main'];
const table = {name: 'diff', title: 'Changes', rows: 3, info: false,
	columns: [{title: 'Change (%)', type: 'percent'}, {title: 'Before (ns)', type: 'mean'},
		{title: 'Count Before', type: 'count'}, {title: 'Verdict', type: 'text'}, {title: 'Name', type: 'text'},
		{title: 'Line', type: 'text'}],
	cells: [[5, -1, 30], [3e8, 2e8, 1e8], [null, 7, 8], [0, 2, 4], [1, 3, 5], [null, null, null]]};

test('the total is no row, and rows that have changed are first', () => {
	const {columns, cells, rows} = changedRows({strings}, table);

	assert.equal(rows, 2);
	assert.deepEqual(columns.map(column => column.title),
		['Name', 'Verdict', 'Change (%)', 'Before (ns)', 'Count Before']);
	assert.deepEqual(cells[0].map(id => strings[id]), ['work', 'same']);
	assert.deepEqual(cells[3], [1e8, 2e8]);
});

const profile = (...stacks) => ({metric: 'cpu', title: 'CPU', unit: 'nanoseconds', stacks});
const captures = [{isAfter: false, profiles: [profile([40, 1, 1, 6, 3], [60, 1, 1, 6, 5])]},
	{isAfter: true, profiles: [profile([40, 2, 2, 6, 3], [100, 2, 2, 6, 5])]},
	{isAfter: true, profiles: [profile([40, 3, 3, 6, 3], [80, 3, 3, 6, 5])]}];

test('a node of one side knows the mean of the other', () => {
	const [metric] = metricsOf(captures), root = pairedTree(captures, metric, true);
	const work = root.children.get(6).children.get(5);

	assert.equal(root.value, 130);
	assert.equal(root.other, 100);
	assert.deepEqual([work.value, work.other], [90, 60]);
	assert.equal(growth(work, true, root.other), 0.3);
	assert.equal(growth(pairedTree(captures, metric, false).children.get(6), false, 100), 0.3);
});

test('what only one side has', () => {
	const only = [captures[0], {isAfter: true, profiles: []}], [metric] = metricsOf(only);

	assert.equal(pairedTree(only, metric, false).other, 0);
	assert.equal(pairedTree(only, metric, true).value, 0);
	assert.equal(metricOfRows([{metric: 'calls'}, {metric: 'cpu'}], 'line'), 1);
	assert.equal(metricOfRows([{metric: 'calls'}], 'kernel'), 0);
});
