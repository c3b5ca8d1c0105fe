// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import {boxes, invertedTree, makeTree, nodeAt, pathOf, sandwichTrees} from '../../report/export/html/flame.mjs';
import {bytes, cell, duration, instant, whole} from '../../report/export/html/format.mjs';
import {makeStyles, ownColor} from '../../report/export/html/colors.mjs';
import {layout, makeChoice, makeGroups, rowAt} from '../../report/export/html/rows.mjs';
import {decades, roofPoints} from '../../report/export/html/roofline.mjs';
import {findEvent, findMatches, linked, matchSpan, nextMatch} from '../../report/export/html/search.mjs';
import {columnOrder, joinCells, pickRows, tableRecords} from '../../report/export/html/sheet.mjs';

test('numbers are written as people read them', () => {
	assert.deepEqual([0, 999, 1234, 12345, 123456789, 6e10].map(duration),
		['0 ns', '999 ns', '1.234 µs', '12.35 µs', '123.5 ms', '60.00 s']);
	assert.deepEqual([whole(0), whole(1234567), whole(-1234)], ['0', '1,234,567', '-1,234']);
	assert.deepEqual([bytes(900), bytes(-25000), bytes(4e6), bytes(3e9)],
		['900 B', '-25.0 kB', '4.0 MB', '3.00 GB']);
	assert.equal(instant(1.5e9, 1e6), '1.500 s');
	assert.deepEqual([cell(null, 'ns'), cell(1234, 'id'), cell(1234.5, 'mean'), cell(-0.4, 'percent'),
		cell(0.0625, 'mb')], ['', '1234', '1,234.5', '-0.4', '0.063']);
});

test('stacks merge into a tree, and small boxes are left out', () => {
	const root = makeTree([[60, 1, 2], [30, 1, 3], [10, 4], [0.001, 5]], 'all');

	assert.equal(root.value, 100.001);
	assert.equal(root.children.get(1).value, 90);
	assert.equal(root.children.get(1).own, 0);
	const made = boxes(root, 1000);

	assert.deepEqual(made.map(b => b.node.name), [-1, 1, 2, 3, 4]);
	const inner = boxes(root.children.get(1), 900);

	assert.deepEqual(inner.map(b => [b.node.name, Math.round(b.x), Math.round(b.width)]),
		[[-1, 0, 900], [1, 0, 900], [2, 0, 600], [3, 600, 300]]);
});

test('graphs are inverted, shown for one function, and merged over processes', () => {
	const stacks = [[60, 90, 91, 1, 2], [30, 92, 93, 1, 3], [10, 90, 91, 3, 2, 3]];
	const inverted = invertedTree(stacks, 'all', 2);
	const {callers, callees} = sandwichTrees(stacks, 'f', id => id === 3, 2);

	assert.deepEqual([...inverted.children.values()].map(node => [node.name, node.value]), [[2, 60], [3, 40]]);
	assert.deepEqual([...inverted.children.get(3).children.keys()], [1, 2]);
	assert.deepEqual([callers.value, callees.value, callees.children.get(2).value], [40, 40, 10]);
	assert.deepEqual([...callers.children.keys()], [1]);
	assert.deepEqual([...makeTree(stacks, 'all', 2).children.keys()], [1, 3]);
	assert.deepEqual([...makeTree(stacks, 'all').children.keys()], [90, 92]);
	const node = inverted.children.get(3).children.get(1);

	assert.equal(pathOf(node), '3.1');
	assert.equal(nodeAt(inverted, '3.1'), node);
	assert.equal(nodeAt(inverted, '3.77.1'), node.parent);
	assert.equal(nodeAt(inverted, ''), inverted);
});

test('a table has its name first, and is written as csv and for a spreadsheet', () => {
	const model = {strings: ['a,"b"', 'plain']};
	const table = {columns: [{title: 'Time (%)', type: 'percent'}, {title: 'Host', type: 'text'},
		{title: 'Name', type: 'text'}], cells: [[12.5, null], [1, 1], [0, 1]]};
	const records = tableRecords(model, table, [1, 0]);

	assert.deepEqual(columnOrder(table), [2, 0, 1]);
	assert.equal(joinCells(records, ','), 'Time (%),Host,Name\n,plain,plain\n12.5,plain,"a,""b"""\n');
	assert.match(joinCells(records, '\t'), /^Time \(%\)\tHost\tName\n/);
});

test('rows are filtered, and sorted with the absent ones last', () => {
	const model = {strings: ['b10', 'b9', 'a']};
	const table = {columns: [{type: 'ns'}, {type: 'text'}], cells: [[5, null, 7], [0, 1, 2]]};

	assert.deepEqual(pickRows(model, table, '', -1, false), [0, 1, 2]);
	assert.deepEqual(pickRows(model, table, '', 0, true), [2, 0, 1]);
	assert.deepEqual(pickRows(model, table, '', 1, false), [2, 1, 0]);
	assert.deepEqual(pickRows(model, table, 'B', -1, false), [0, 1]);
	assert.deepEqual(pickRows(model, table, '7', -1, false), [2]);
});

// A process whose one thread launches twice, and the two kernels; names: 0 launch, 1 kernel.
function example() {
	const column = (array, ...values) => array.from(values);
	const model = {
		strings: ['launch', 'kernel', 'thread', 'GPU', 'p', ''], names: [0, 0, 1, 1], details: [],
		categories: [{name: 'cuda_runtime', title: 'CUDA runtime', hue: 142, saturation: 36},
			{name: 'kernel', title: 'Kernel', hue: 212, saturation: 70}],
		processes: [{label: 4, ended: 5, start: 0, end: 100, pid: 1}],
		tracks: [
			{kind: 'calls', process: 0, tid: 1, label: 2, count: 2, start: column(Float64Array, 10, 30),
				duration: column(Float64Array, 5, 5), name: column(Uint32Array, 0, 0),
					detail: new Uint32Array(2)},
			{kind: 'stream', process: 0, tid: 7, label: 2, device: 3, count: 2,
				start: column(Float64Array, 50, 20),
				duration: column(Float64Array, 9, 9), name: column(Uint32Array, 1, 1),
					detail: new Uint32Array(2),
				link: column(Uint32Array, 12, 11)},
			{kind: 'links', process: 0, of: 0, count: 2, start: column(Float64Array, 30, 10),
				link: column(Uint32Array, 12, 11)},
		],
	};

	model.groups = makeGroups(model);
	return model;
}

test('processes stand above devices, and fold', () => {
	const model = example(), {rows, height} = layout(model, model.groups, makeChoice());

	assert.deepEqual(rows.map(row => row.kind), ['header', 'lane', 'header', 'lane']);
	assert.deepEqual(rows.map((row, i) => rowAt(rows, row.y + 1)), [0, 1, 2, 3]);
	assert.ok(rowAt(rows, height + 100) === 3 && rowAt(rows, -1) === -1);
	const kinds = change => {
		const choice = makeChoice();

		change(choice);
		const made = layout(model, model.groups, choice);

		return [made.rows.map(row => row.kind).join(' '), made.pinned.length];
	};

	assert.deepEqual(kinds(choice => choice.folded.add(model.groups[0].id)), ['header header lane', 0]);
	assert.deepEqual(kinds(choice => choice.hidden.add(model.groups[0].id)), ['header lane', 0]);
	assert.deepEqual(kinds(choice => choice.hidden.add(model.groups[0].items[0].id)), ['header header lane', 0]);
	assert.deepEqual(kinds(choice => choice.pinned.add(model.groups[1].items[0].id)),
		['header lane header lane', 1]);
	assert.deepEqual(kinds(choice => choice.filter = 'gpu'), ['header lane', 0]);
	assert.deepEqual(kinds(choice => choice.filter = 'none such'), ['', 0]);
});

test('a launch and its kernel lead to each other', () => {
	const model = example(), [calls] = model.tracks[0].lanes, [kernels] = model.tracks[1].lanes;

	assert.deepEqual([0, 1].map(i => linked(model, {lane: calls, i})),
		[{lane: kernels, i: 0}, {lane: kernels, i: 1}]);
	assert.deepEqual([0, 1].map(i => linked(model, {lane: kernels, i})),
		[{lane: calls, i: 0}, {lane: calls, i: 1}]);
	model.tracks[2].count = 0;
	assert.equal(linked(model, {lane: calls, i: 0}), null);
});

test('a search finds frames and pids, and a link the longest event of its name', () => {
	const model = example(), [calls] = model.tracks[0].lanes;

	model.details = [{stack: [3, 5]}];
	model.tracks[0].detail[1] = 1;
	const found = findMatches(model, model.groups, 'gpu');

	assert.deepEqual([found.count, ...found.hits(calls)], [1, 0, 0, 1]);
	assert.deepEqual(findMatches(model, model.groups, '1').places, [{group: model.groups[0]}]);
	assert.deepEqual(findEvent(model, model.groups, {name: 'launch', pid: '1'}), {lane: calls, i: 0});
	assert.deepEqual(findEvent(model, model.groups, {name: 'launch', start: 29}), {lane: calls, i: 1});
	assert.deepEqual(findEvent(model, model.groups, {name: 'launch', frame: 'GPU'}), {lane: calls, i: 1});
	assert.equal(findEvent(model, model.groups, {name: 'launch', pid: '2'}), null);
});

test('a search goes through its matches by time, and around the end', () => {
	const model = example(), {rows} = layout(model, model.groups, makeChoice());
	const found = findMatches(model, model.groups, 'KERN');
	const [kernels] = model.tracks[1].lanes;

	assert.equal(found.count, 2);
	assert.deepEqual(matchSpan(model.groups, found), [kernels.start[0], kernels.end[1]]);
	assert.equal(matchSpan(model.groups, findMatches(model, model.groups, 'none')), null);
	let at = nextMatch(rows, found, null, 1);

	assert.deepEqual(at, {lane: kernels, i: 0});
	at = nextMatch(rows, found, at, 1);
	assert.deepEqual(at, {lane: kernels, i: 1});
	assert.deepEqual(nextMatch(rows, found, at, 1), {lane: kernels, i: 0});
	assert.deepEqual(nextMatch(rows, found, null, -1), {lane: kernels, i: 1});
	assert.equal(findMatches(model, model.groups, ''), null);
	assert.equal(nextMatch(rows, findMatches(model, model.groups, 'none'), null, 1), null);
});

test("the program's own colours keep their hue and stay readable, others keep the style of their name", () => {
	assert.equal(ownColor('#ff0000ff', true), 'hsl(240 100% 36%)');
	assert.equal(ownColor('#00FF00', false), 'hsl(120 100% 68%)');
	assert.equal(ownColor('#ffffffff', false), 'hsl(0 0% 78%)');
	for (const none of ['', 'red', '#12345', '#1234567', 'url(x)'])
		assert.equal(ownColor(none, false), '');
	const {colors, byName, byDetail} = makeStyles({strings: ['a'],
		categories: [{name: 'nvtx', title: 'NVTX', hue: 268, saturation: 36}], names: [0, 0],
		details: [{color: '#ff00ff00'}, {domain: 'x'}, {color: '#ff00ff00'}]}, false);

	assert.deepEqual([...byDetail].map(style => colors[style]), ['', 'hsl(120 100% 68%)', '', 'hsl(120 100% 68%)']);
	assert.match(colors[byName[0]], /^hsl/);
});

test('the roofline has kernels whose intensity is known, and a ceiling for each peak', () => {
	const model = {strings: ['a', 'b', 'c', 'fp32', 'fp16 tensor']};
	const titles = ['Total Time (ns)', 'FLOP/byte', 'GFLOP/s', 'Type', 'Peak GFLOP/s', 'Attainable (%)', 'Name'];
	const table = {columns: titles.map(title => ({title, type: /Type|Name/.test(title) ? 'text' : 'mean'})),
		cells: [[30, 20, 10], [2, null, 300], [7, 8, 9000], [3, 3, 4], [100, 100, 1e5], [70, null, null],
			[0, 1, 2]]};
	const {points, ceilings} = roofPoints(model, table);

	assert.deepEqual(points.map(p => [p.name, p.type, p.row, p.share]), [['a', 'fp32', 0, 70],
		['c', 'fp16 tensor', 2, null]]);
	assert.deepEqual(ceilings, [{peak: 100, type: 'fp32'}, {peak: 1e5, type: 'fp16 tensor'}]);
	assert.deepEqual([decades([2, 300]), decades([0.5]), decades([10, 10])], [[0, 3], [-1, 0], [1, 2]]);
});
