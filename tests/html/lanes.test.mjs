// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import {at, longest, lowerBound, makeLanes, order, union, visit} from '../../report/page/view/lanes.mjs';

function track(...events) {
	return {
		count: events.length, start: Float64Array.from(events, e => e[0]),
			duration: Float64Array.from(events, e => e[1]),
		name: new Uint32Array(events.length), detail: new Uint32Array(events.length),
	};
}

// Reproducible pseudo-random numbers.
function random(seed) {
	return () => (seed = Math.imul(seed, 1103515245) + 12345 >>> 0) / 2 ** 32;
}

test('calls come in the order of their ends and leave in that of their starts, the outer one first', () => {
	const t = track([10, 5], [20, 5], [0, 100], [0, 100], [0, 30]);

	assert.deepEqual([...order(t)], [2, 3, 4, 0, 1]);
});

test('any order is sorted', () => {
	const next = random(1), t = track(...Array.from({length: 3000}, () =>
		[Math.floor(next() * 500), Math.floor(next() * 9)]));
	const sorted = [...order(t)];

	assert.equal(new Set(sorted).size, 3000);
	for (let i = 1; i < sorted.length; i++) {
		const [a, b] = [sorted[i - 1], sorted[i]];

		assert.ok(t.start[a] < t.start[b] || (t.start[a] === t.start[b] && t.duration[a] >= t.duration[b]));
	}
});

test('what a call makes is one lane lower, and neighbours share a lane though rounding lets them touch', () => {
	const [outer, inner, more] = makeLanes(track([1, 3], [5, 5], [11, 3], [0, 10], [9, 20]));

	assert.deepEqual([...outer.start], [0, 9]);
	assert.deepEqual([...inner.start], [1, 5, 11]);
	assert.equal(more, undefined);
	assert.deepEqual([...inner.busy], [0, 3, 8, 11]);
	assert.deepEqual([...inner.event], [0, 1, 2]);
});

test('thousands at a time share the lanes that there are', () => {
	const lanes = makeLanes(track(...Array.from({length: 1000}, (none, i) => [i, 1e6])));

	assert.ok(lanes.length <= 48);
	assert.equal(lanes.reduce((sum, lane) => sum + lane.count, 0), 1000);
});

test('a search from anywhere finds the first that is not less', () => {
	const values = Float64Array.from({length: 100}, (none, i) => i * 2);

	for (let from = 0; from < 100; from += 7)
		for (let wanted = from * 2; wanted < 205; wanted++)
			assert.equal(lowerBound(values, wanted, from, 100),
				Math.max(from, Math.min(100, Math.ceil(wanted / 2))));
});

test('a lane shows each event once, and at most one thing of small ones to a pixel', () => {
	const next = random(7), events = [];

	for (let now = 0, i = 0; i < 20000; i++) {
		const length = i % 100 ? next() * 20 : 5000;

		events.push([now, length]);
		now += length + next() * 10 + 3;
	}
	const [lane] = makeLanes(track(...events)), end = lane.end[lane.count - 1];

	for (const nsPerPixel of [0.1, 10, 300, 1000, end / 700]) {
		const pixels = new Set();
		let shown = 0, covered = 0;

		visit(lane, 0, end, nsPerPixel, (x, width, i, cover, count) => {
			assert.equal(i, shown);
			shown += count;
			covered += width >= 1 && count === 1 && cover === 1 ? 0 : cover;
			if (width === 1 && cover < 1) {
				assert.ok(!pixels.has(x), `pixel ${x} twice at ${nsPerPixel}`);
				pixels.add(x);
			}
		});
		assert.equal(shown, 20000);
		assert.ok(covered <= end / nsPerPixel + 1);
	}
});

test('a view shows only what is in it', () => {
	const [lane] = makeLanes(track([0, 10], [20, 10], [40, 10], [60, 10])), seen = [];

	visit(lane, 25, 60, 1, (x, width, i) => seen.push([x, width, i]));
	assert.deepEqual(seen, [[-5, 10, 1], [15, 10, 2]]);
});

test('a pointer hits what it is on, or what is near', () => {
	const [lane] = makeLanes(track([0, 10], [20, 10]));

	assert.deepEqual([at(lane, 5, 0), at(lane, 25, 0), at(lane, 15, 0), at(lane, 18, 3), at(lane, 12, 3),
		at(lane, 99, 3)],
		[0, 1, -1, 1, 0, -1]);
});

test('time in which any lane is busy counts once', () => {
	assert.equal(union(makeLanes(track([0, 10], [5, 10], [30, 5]))), 20);
	assert.equal(union([]), 0);
});

test('the longest event between any two positions is found', () => {
	const next = random(3), events = Array.from({length: 1500}, (none, i) => [i * 100, Math.floor(next() * 90)]);
	const [lane] = makeLanes(track(...events));

	for (let from = 0; from < 1500; from += 37)
		for (let to = from + 1; to <= 1500; to += 61) {
			const wanted = Math.max(...events.slice(from, to).map(event => event[1]));
			const i = longest(lane, from, to);

			assert.ok(i >= from && i < to);
			assert.equal(lane.end[i] - lane.start[i], wanted);
		}
});
