// SPDX-License-Identifier: Apache-2.0
// The timeline from top to bottom: processes with their threads, then devices with their streams.
import {idFirst} from './format.mjs';
import {makeLanes} from './lanes.mjs';

export const LANE = 19, HEADER = 28, COUNTER = 44, GAP = 7;

function threadItems(model, tracks) {
	const threads = new Map();

	for (const track of tracks) {
		const key = `${track.tid} ${track.label}`;

		if (!threads.has(key))
			threads.set(key, {label: idFirst(model.strings[track.label]), lanes: []});
		const lanes = threads.get(key).lanes;

		/* Ranges are above the calls inside them. */
		if (track.kind === 'nvtx')
			lanes.unshift(...track.lanes);
		else
			lanes.push(...track.lanes);
	}
	return [...threads.values()];
}

function processGroup(model, process, index, tracks) {
	const of = kind => tracks.filter(track => track.kind === kind);
	const counters = of('counter').map(track => ({label: model.strings[track.label], counter: track}));
	const ranges = of('ranges').map(track => ({label: model.strings[track.label], lanes: track.lanes}));
	const threads = threadItems(model, tracks.filter(track => ['calls', 'nvtx', 'samples'].includes(track.kind)));

	return {
		id: `p${index}`,
		title: idFirst(model.strings[process.label]),
		pid: process.pid,
		note: model.strings[process.ended],
		start: process.start,
		end: process.end,
		items: [...counters, ...ranges, ...threads]
	};
}

function deviceGroups(model, tracks) {
	const devices = new Map();
	const several = new Set(tracks.map(track => track.process)).size > 1;

	for (const track of tracks) {
		if (!devices.has(track.device))
			devices.set(track.device,
				    {id: `d${track.device}`, title: model.strings[track.device], note: '', items: []});
		const owner = several ? ` · ${model.processes[track.process].pid}` : '';

		devices.get(track.device).items.push({label: model.strings[track.label] + owner, lanes: track.lanes});
	}
	return [...devices.values()];
}

// Computes the lanes of each track and returns the groups that are not empty.
export function makeGroups(model) {
	const byProcess = model.processes.map(() => []);
	const streams = [];

	for (const track of model.tracks) {
		if (!track.count || track.kind === 'links')
			continue;
		if (track.kind !== 'counter') {
			track.lanes = makeLanes(track);
			track.start = track.duration = null;
		}
		(track.kind === 'stream' ? streams : byProcess[track.process]).push(track);
	}
	const groups = model.processes.map((process, i) => processGroup(model, process, i, byProcess[i]));

	return [...groups, ...deviceGroups(model, streams)];
}

// Rows from top to bottom: {kind: 'header' | 'lane' | 'counter', y, height, label, group, lane or counter}
export function layout(groups, collapsed) {
	const rows = [];
	let y = 0;
	const add = (kind, height, more) => {
		rows.push({kind, y, height, label: '', ...more});
		y += height;
	};

	for (const group of groups) {
		add('header', HEADER, {label: group.title, group});
		if (collapsed.has(group.id))
			continue;
		for (const item of group.items) {
			if (item.counter)
				add('counter', COUNTER, {label: item.label, group, counter: item.counter});
			(item.lanes ||
			 []).forEach((lane, i) => add('lane', LANE, {label: i ? '' : item.label, group, lane}));
			y += GAP;
		}
	}
	return {rows, height: y};
}

// The row at a height, or the one above it; -1 above all.
export function rowAt(rows, y) {
	let low = 0, high = rows.length;

	while (low < high) {
		const middle = low + high >>> 1;

		if (rows[middle].y <= y)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}
