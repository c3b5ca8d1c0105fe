// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import {formatAddress, parseAddress, rowAddress} from '../../report/page/view/address.mjs';
import {Camera} from '../../report/page/view/camera.mjs';
import {makeGroups} from '../../report/page/view/rows.mjs';
import {stackLanes} from '../../report/page/view/stackchart.mjs';
import {namesIn, stacksIn, statesIn, threadsIn} from '../../report/page/view/range.mjs';

// One thread: an outer call with an inner one, three samples of two stacks, and its accounts.
function example() {
	const columns = events => ({count: events.length, start: Float64Array.from(events, e => e[0]),
		duration: Float64Array.from(events, e => e[1]), name: Uint32Array.from(events, e => e[2]),
		detail: Uint32Array.from(events, e => e[3])});
	const model = {
		strings: ['outer', 'inner', 'run [7]', 'job [7]', 'main', 'work', 'deep', ''],
		names: [0, 0, 1, 0, 5, 1], details: [{stack: [5, 4]}, {stack: [6, 5, 4]}],
		categories: [{name: 'osrt', title: 'OS call', hue: 0, saturation: 0},
			{name: 'sample', title: 'CPU sample', hue: 0, saturation: 0}],
		profiles: [], processes: [{label: 3, ended: 7, start: 0, end: 1000, pid: 7}],
		tracks: [
			{kind: 'calls', process: 0, tid: 7, label: 2, ...columns([[100, 400, 0, 1], [200, 100, 1, 2]])},
			{kind: 'samples', process: 0, tid: 7, label: 2, value: Float64Array.of(10, 10, 10),
				...columns([[610, 0, 2, 1], [620, 0, 2, 2], [630, 0, 2, 1]])},
			{kind: 'states', process: 0, tid: 7, label: 2, value: Float64Array.of(0, 100, 0),
				...columns([[0, 0, 0, 0], [500, 100, 0, 0], [1000, 500, 0, 0]])},
		],
	};

	model.groups = makeGroups(model);
	return model;
}

test('a range has the parts of events that are inside', () => {
	const model = example(), names = namesIn(model, model.groups, 250, 620);

	assert.deepEqual(names.map(row => [model.strings[row.name], row.time, row.count]),
		[['outer', 250, 1], ['inner', 50, 1], ['work', 10, 1]]);
	const [thread] = threadsIn(model.groups, 250, 750);

	assert.equal(thread.item.label, '7 run');
	assert.deepEqual([thread.calls, thread.count, thread.samples], [250, 1, 3]);
	assert.deepEqual(thread.states, {running: 300, runnable: 50, blocked: 150});
	assert.deepEqual(threadsIn(model.groups, 2000, 3000), []);
});

test('the states of a thread add up to its life in any range', () => {
	const {states} = example().groups[0].items[0];

	for (const [from, to] of [[0, 1000], [0, 1], [499, 501], [333, 777], [-50, 2000]]) {
		const {running, runnable, blocked} = statesIn(states, from, to);

		assert.ok(Math.abs(running + runnable + blocked - (Math.min(to, 1000) - Math.max(from, 0))) < 1e-9);
	}
});

test('the stacks of a range have self times, a call within another below it', () => {
	const model = example(), {calls, cpu} = stacksIn(model, model.groups, 0, 1000);

	assert.deepEqual(calls, [[300, 3, 2, 4, 5, 0], [100, 3, 2, 4, 5, 0, 1]]);
	assert.deepEqual(cpu, [[20, 3, 2, 4, 5], [10, 3, 2, 4, 5, 6]]);
});

test('adjacent samples with the same frames are one box', () => {
	const model = example(), lanes = stackLanes(model, model.tracks[1]);
	const boxes = lane => [...lane.start.keys()].map(i => [lane.start[i], lane.end[i],
		model.strings[model.names[2 * lane.track.name[i]]]]);

	assert.deepEqual(lanes.map(boxes), [[[600, 630, 'main']], [[600, 630, 'work']], [[610, 620, 'deep']]]);
	assert.equal(stackLanes(model, model.tracks[1]), lanes);
});

test('the way back undoes one gesture at a time', () => {
	const camera = new Camera(0, 1000, () => {}), gesture = {};

	camera.resize(100);
	const whole = [camera.t0, camera.t1];

	camera.zoom(0.5, 50, gesture);
	camera.zoom(0.5, 50, gesture);
	const near = [camera.t0, camera.t1];

	camera.pan(10);
	camera.undo();
	assert.deepEqual([camera.t0, camera.t1], near);
	camera.undo();
	assert.deepEqual([camera.t0, camera.t1], whole);
	camera.undo();
	assert.deepEqual([camera.t0, camera.t1], whole);
	camera.resize(200);
	assert.ok(camera.t0 < 0 && camera.t1 > 1000);
	camera.look(200, 300);
	assert.ok(camera.t0 < 200 && camera.t1 > 300);
});

test('an address keeps any text, and leaves out what is empty', () => {
	const state = {view: 'timeline', search: 'a&b=c #<ü> 100%', from: '-5'};

	assert.deepEqual(parseAddress(formatAddress({...state, range: '', pin: null})), state);
	assert.equal(formatAddress({view: 'flames'}), '#flames');
	assert.deepEqual(parseAddress(''), {view: ''});
});

test('a row leads to its event, its function or its process', () => {
	const model = {...example(), profiles: [{stacks: [[1, 3, 2, 4, 5]]}]};
	const table = (name, columns, row) => ({name, columns: columns.map(title => ({title,
		type: typeof row[title] === 'string' ? 'text' : 'ns'})),
		cells: columns.map(title => [typeof row[title] === 'string' ? model.strings.push(row[title]) - 1
			: row[title]])});
	const of = (name, row) => rowAddress(model, table(name, Object.keys(row), row), 0);

	assert.equal(of('osrt_sum', {PID: 7, Name: 'inner'}), '#timeline?name=inner&pid=7');
	assert.equal(of('trace', {'Start (ns)': 5, 'Duration (ns)': 9, Name: 'inner'}),
		'#timeline?name=inner&start=5&length=9');
	assert.equal(of('sample_sum', {Name: 'work'}), '#flames?order=sandwich&function=work');
	assert.equal(of('lines', {Line: 'a.py:3', Function: 'none'}), '#timeline?search=a.py%3A3');
	assert.equal(of('time_sum', {PID: 7, Thread: 'run'}), '#timeline?pid=7');
	assert.equal(of('settings', {Setting: 'x', Value: 'y'}), '');
});
