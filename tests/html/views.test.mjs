// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import {formatAddress, frameParts, rowAddress, sourceAddress} from '../../report/page/view/address.mjs';
import {namedPlace, rolesOf, snippet} from '../../report/page/view/answer.mjs';
import {boxes, invertedTree, isOfPython, kindsOf, makeTree, nodeAt, pathOf, pickFrames,
	sandwichTrees} from '../../report/page/view/flame.mjs';
import {foldedRow, foldedStack} from '../../report/page/view/fold.mjs';
import {bytes, cell, duration, exact, instant, titleOf, whole} from '../../report/page/view/format.mjs';
import {makeStyles, ownColor} from '../../report/page/view/colors.mjs';
import {makeRanks, rankAt, RANK_BINS} from '../../report/page/view/ranks.mjs';
import {counterPeak, paintCounter} from '../../report/page/view/paint.mjs';
import {layout, makeChoice, makeGroups, rowAt, sortGroups} from '../../report/page/view/rows.mjs';
import {decades, roofPoints} from '../../report/page/view/roofline.mjs';
import {findEvent, findMatches, linked, matchSpan, nextMatch, related} from '../../report/page/view/search.mjs';
import {columnOrder, joinCells, pickRows, tableRecords} from '../../report/page/view/sheet.mjs';

test('numbers are written as people read them', () => {
	assert.deepEqual([0, 999, 1234, 12345, 123456789, 6e10].map(duration),
		['0 ns', '999 ns', '1.234 µs', '12.35 µs', '123.5 ms', '60.00 s']);
	assert.deepEqual([whole(0), whole(1234567), whole(-1234)], ['0', '1,234,567', '-1,234']);
	assert.deepEqual([bytes(900), bytes(-25000), bytes(4e6), bytes(3e9)],
		['900 B', '-25.0 kB', '4.0 MB', '3.00 GB']);
	assert.equal(instant(1.5e9, 1e6), '1.500 s');
	assert.deepEqual([cell(null, 'ns'), cell(1234, 'id'), cell(1234.5, 'mean'), cell(-0.4, 'percent'),
		cell(0.0625, 'mb'), cell(0, 'ns')], ['', '1234', '1.234 µs', '-0.4', '62.5 kB', '0']);
	assert.deepEqual([exact(1234567, 'ns'), exact(1234.5, 'mean'), exact(1.5, 'mb'), titleOf('Start (ns)', 'ns'),
		titleOf('Time (%)', 'percent')], ['1,234,567 ns', '1,234.5 ns', '1.500 MB', 'Start', 'Time (%)']);
});

test('a frame comes apart where its last pair of parentheses begins', () => {
	assert.deepEqual(frameParts('load (/x/proj (1)/job.py:3)'), ['load', '/x/proj (1)/job.py:3']);
	assert.deepEqual(frameParts('Box<void (*)(int)>::f (box.cc:7)'), ['Box<void (*)(int)>::f', 'box.cc:7']);
	assert.deepEqual(frameParts('operator()(int)'), ['operator()(int)', '']);
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

test('devices stand above processes, and fold', () => {
	const model = example(), {rows, height} = layout(model, model.groups, makeChoice());

	assert.deepEqual(rows.map(row => row.kind), ['header', 'use', 'lane', 'header', 'lane']);
	assert.deepEqual(rows.map((row, i) => rowAt(rows, row.y + 1)), [0, 1, 2, 3, 4]);
	assert.ok(rowAt(rows, height + 100) === 4 && rowAt(rows, -1) === -1);
	const kinds = change => {
		const choice = makeChoice();

		change(choice);
		const made = layout(model, model.groups, choice);

		return [made.rows.map(row => row.kind).join(' '), made.pinned.length];
	};

	assert.deepEqual(kinds(choice => choice.folded.add(model.groups[0].id)), ['header header lane', 0]);
	assert.deepEqual(kinds(choice => choice.hidden.add(model.groups[0].id)), ['header lane', 0]);
	assert.deepEqual(kinds(choice => choice.hidden.add(model.groups[1].items[0].id)),
		['header use lane header', 0]);
	assert.deepEqual(kinds(choice => choice.pinned.add(model.groups[1].items[0].id)),
		['header use lane header lane', 1]);
	assert.deepEqual(kinds(choice => choice.filter = 'gpu'), ['header use lane', 0]);
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
	assert.deepEqual(findMatches(model, model.groups, '1').places, [{group: model.groups[1]}]);
	assert.deepEqual(findEvent(model, model.groups, {name: 'launch', pid: '1'}), {lane: calls, i: 0});
	assert.deepEqual(findEvent(model, model.groups, {name: 'launch', start: 29}), {lane: calls, i: 1});
	assert.deepEqual(findEvent(model, model.groups, {name: 'launch', frame: 'GPU'}), {lane: calls, i: 1});
	assert.equal(findEvent(model, model.groups, {name: 'launch', pid: '2'}), null);
	assert.deepEqual(findEvent(model, model.groups, {pid: '1', start: calls.start[0]}), {lane: calls, i: 0});
	assert.equal(findEvent(model, model.groups, {pid: '1', start: 9e9}), null);
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

test('threads that are folded are so in rows and stacks; one that is busy elsewhere is not', () => {
	const model = {processes: [{label: 0, pid: 7}, {label: 1, pid: 8, shim: true}], tracks: [
		{process: 0, tid: 7, label: 2}, {process: 0, tid: 9, label: 3, idle: true},
		{process: 1, tid: 8, label: 4}]};
	const table = (columns, cells) => ({columns: columns.map(title => ({title})), cells});

	const is = foldedRow(model, table(['PID', 'TID'], [[7, 7, 8], [7, 9, 8]]));

	assert.deepEqual([0, 1, 2].map(is), [false, true, true]);
	assert.equal(foldedRow(model, table(['PID'], [[8, 8]])), null);
	assert.equal(foldedRow(model, table(['Name'], [[1]])), null);
	assert.deepEqual([[1, 0, 2], [1, 0, 3], [1, 1, 4]].map(stack => foldedStack(model, stack)),
		[false, true, true]);
});

test('the most active process is first, idle ones are left out', () => {
	const lane = ns => ({count: 1, busy: [0, ns], start: [0], end: [ns], track: {kind: 'calls'}});
	const group = (id, ns, more = {}) => ({id, pid: 1, title: id, items: [{id: `${id}.0`, tid: 1, label: 't',
		lanes: [lane(ns)]}], ...more});
	const groups = [group('p0', 5), group('p1', 50), group('p2', 500, {isIdle: true})];
	const sorted = sortGroups(groups, 'active');
	const shown = choice => layout({}, sorted, choice).rows.filter(row => row.kind === 'header')
		.map(row => row.group.id);

	assert.deepEqual(sorted.map(one => one.id), ['p2', 'p1', 'p0']);
	assert.deepEqual(sortGroups(groups, 'start').map(one => one.id), ['p0', 'p1', 'p2']);
	assert.deepEqual(shown(makeChoice()), ['p1', 'p0']);
	assert.deepEqual(shown({...makeChoice(), hasIdle: true}), ['p2', 'p1', 'p0']);
});

test('frames are left out by kind', () => {
	const profiles = [{kinds: [1, 'other', 2, 'python', 3, 'interpreter', 4, 'native', 5, 'call', 6, 'import'],
		stacks: []}];
	const kinds = kindsOf(profiles), stacks = [[9, 1, 1, 4, 3, 6, 2, 3, 5], [1, 1, 1, 4, 5]];

	assert.deepEqual(pickFrames(stacks, kinds, 'python'), [[9, 1, 1, 2, 5], [1, 1, 1, 4, 5]]);
	assert.deepEqual(pickFrames(stacks, kinds, 'program'), [[9, 1, 1, 4, 2, 5], [1, 1, 1, 4, 5]]);
	assert.equal(pickFrames(stacks, kinds, 'all'), stacks);
	assert.deepEqual([isOfPython(stacks, kinds), isOfPython(stacks.slice(1), kinds)], [true, false]);
});

test('ranks are an image of the time in messages; many of them share a row', () => {
	const make = count => {
		const strings = Array.from({length: count}, (none, i) => String(i));
		const model = {strings, names: [0, 0, 0, 1], categories: [{name: 'osrt'}, {name: 'mpi'}],
			processes: strings.map((none, i) => ({rank: i, pid: i, start: 0, end: 1000})), tracks: []};

		/* rank 0 does not wait; the others wait in the second half */
		model.tracks = strings.map((none, i) => {
			const track = {kind: 'calls', process: i, count: 1, name: [i ? 1 : 0]};

			track.lanes = [{track, count: 1, start: [500], end: [1000], event: [0]}];
			return track;
		});
		return makeRanks(model);
	};
	const [{items: [{ranks}]}] = make(3);

	assert.deepEqual([ranks.rows, ranks.perRow, ranks.shares.length], [3, 1, 3 * RANK_BINS]);
	assert.deepEqual([[0, 900], [1, 100], [1, 900]].map(([row, at]) =>
		rankAt(ranks, at, row * ranks.tall).share), [0, 0, 1]);
	assert.equal(rankAt(ranks, 2000, 0), null);
	const [{items: [{ranks: many}]}] = make(1000);

	assert.deepEqual([many.rows, many.perRow, many.height <= 256], [250, 4, true]);
	assert.deepEqual(rankAt(many, 900, 0), {processes: [0, 1, 2, 3], share: 0.75});
	assert.deepEqual(make(1), []);
});

test('a wait leads to the holder of its lock and to what ended it, a message to its peer', () => {
	const column = (...values) => Float64Array.from(values);
	const track = (process, tid, details, ...spans) => ({kind: 'calls', process, tid, label: 0, count: spans.length,
		start: column(...spans.map(([start]) => start)), duration: column(...spans.map(([, long]) => long)),
		name: new Uint32Array(spans.length), detail: Uint32Array.from(details)});
	const model = {strings: ['', '0', '1'], names: [0, 0], categories: [{name: 'osrt'}],
		details: [{'held by thread': '12', 'ended by thread': '12'}, {'peer rank': '1'}],
		processes: [{label: 0, ended: 0, command: 0, rank: 1, pid: 11, start: 0, end: 100},
			{label: 0, ended: 0, command: 0, rank: 2, pid: 21, start: 0, end: 100}],
		tracks: [track(0, 11, [1, 2], [10, 30], [60, 10]), track(0, 12, [0, 0], [5, 20], [35, 6]),
			track(1, 21, [0], [50, 30])]};
	const groups = makeGroups(model), [waits] = model.tracks[0].lanes, [holds] = model.tracks[1].lanes;

	assert.deepEqual(related(model, groups, {lane: waits, i: 0}).map(({event, isFrom, at, words}) =>
		[event, isFrom, at, words.split(' ')[0]]),
	[[{lane: holds, i: 0}, true, 10, 'Held'], [{lane: holds, i: 1}, true, 40, 'Released']]);
	assert.deepEqual(related(model, groups, {lane: waits, i: 1}).map(({event}) => event.lane.track.tid), [21]);
});

test('roles have their parts, and a place the lines around it with their costs', () => {
	const strings = ['main', 'cpu', 'wait', 'f', 'dir/job.py:2', 'dir/job.py'];
	const columns = (...titles) => titles.map(([title, type = 'ns']) => ({title, type}));
	const roles = {columns: columns(['Role', 'text'], ['Lifetime (ns)'], ['PID', 'id'], ['Kind', 'text'],
		['Time (ns)'], ['Line', 'text'], ['Function', 'text']),
	cells: [[0, 0], [10, 10], [7, 7], [1, 2], [3, 7], [4, null], [3, null]]};
	const model = {strings, answer: {roles}, sources: [{file: 5, lines: ['a', 'b', 'c', 'd']}]};
	const [role] = rolesOf(model);

	assert.deepEqual(role.parts.map(({kind, ns}) => [kind, ns]), [['waiting', 7], ['computing', 3]]);
	const found = snippet(model, 'dir/job.py:2', new Map([['dir/job.py:2', {CPU: 3}]]), 1);

	assert.deepEqual(found.lines.map(({number, text, cost}) => [number, text, cost && cost.CPU]),
		[[1, 'a', undefined], [2, 'b', 3], [3, 'c', undefined]]);
	assert.equal(snippet(model, 'other.py:2', new Map()), null);
});

test('the line that is marked is the one that the sentence names', () => {
	const strings = ['a.py:12', 'f', 'dir/b.py:13', 'g', 'dir/b.py'];
	const roles = {columns: ['Line', 'Function'].map(title => ({title, type: 'text'})), cells: [[0, 2], [1, 3]]};
	const model = {strings, answer: {roles}, sources: [{file: 4, lines: Array(13).fill('')}]};

	assert.equal(namedPlace(model, 'no CPU for the threads, working: b.py:13 g', [{}]).Line, 'dir/b.py:13');
	assert.equal(namedPlace(model, 'waits: c.py:1 h', [{Line: 'x/c.py:1', Function: 'h'}]).Line, 'x/c.py:1');
	assert.equal(namedPlace(model, 'a run without a line', [{}]), null);
	assert.equal(sourceAddress(model, 'g (dir/b.py:13)'),
		formatAddress({view: 'tables', table: 'source:dir/b.py', row: 12}));
	assert.equal(sourceAddress(model, 'g (dir/b.py:14)') + sourceAddress(model, 'f (a.py:12)'), '');
});

test('rows of steps and of operators lead to their events', () => {
	const table = (name, ...columns) => ({name, columns: columns.map(([title, type]) => ({title, type})),
		cells: columns.map(([, , value]) => [value])});
	const model = {strings: ['step 3', 'aten::mm', 'aten::mm, seq = 4, op_id = 7'], names: [0, 0, 1, 0],
		profiles: []};
	const steps = table('steps', ['PID', 'id', 5], ['Step', 'count', 3], ['Start (ns)', 'ns', 9]);
	const ranges = table('nvtx_pushpop_trace', ['Start (ns)', 'ns', 9], ['Name', 'text', 2]);

	assert.match(rowAddress(model, steps, 0), /name=step\+3&pid=5&start=9/);
	assert.match(rowAddress(model, ranges, 0), /name=aten%3A%3Amm&start=9/);
});

test('steps and phases are above the ranges and the calls of their thread', () => {
	const track = kind => ({kind, process: 0, tid: 1, label: 0, count: 1, start: Float64Array.of(0),
		duration: Float64Array.of(5), name: new Uint32Array(1), detail: new Uint32Array(1)});
	const model = {strings: ['1'], names: [0, 0], categories: [{name: 'osrt'}],
		processes: [{label: 0, ended: 0, command: 0, rank: 0, pid: 1, start: 0, end: 9}],
		tracks: ['calls', 'nvtx', 'phases', 'steps'].map(track)};

	assert.deepEqual(makeGroups(model).at(-1).items[0].lanes.map(lane => lane.track.kind),
		['steps', 'phases', 'nvtx', 'calls']);
});

test('a counter is 0 after the end of its process, also where its last value is within the same pixel', () => {
	const counter = {count: 3, start: Float64Array.of(0, 100, 101), value: Float64Array.of(5, 9, 0)}, drawn = [];
	const c = {fillRect: (...box) => drawn.push(box)};

	for (const nsPerPixel of [0.5, 10]) {
		drawn.length = 0;
		paintCounter(c, {counter, height: 17}, 0, {t0: 0, nsPerPixel}, 400, 'grey');
		const right = Math.max(...drawn.filter(box => box[3]).map(([x, , wide]) => x + wide));

		assert.ok(right >= 100 / nsPerPixel && right <= 101 / nsPerPixel + 1, `${nsPerPixel}: ${right}`);
	}
	assert.equal(counterPeak(counter), 9);
});
