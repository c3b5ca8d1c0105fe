// SPDX-License-Identifier: Apache-2.0
// The timeline from top to bottom: groups (processes, devices) of items (threads, streams, counters), which consist of
// rows; and which of them are folded, hidden or pinned.
import {foldsOf} from './fold.mjs';
import {idFirst} from './format.mjs';
import {makeLanes} from './lanes.mjs';
import {makeRanks} from './ranks.mjs';
import {stackLanes} from './stackchart.mjs';

export const LANE = 19, HEADER = 28, COUNTER = 44, STATES = 12, GAP = 7, USE = 30;

// Kinds of a thread's tracks with lanes, from top to bottom: ranges are above the calls inside them.
const THREAD_LANES = ['steps', 'phases', 'nvtx', 'calls'];

function threadItems(model, tracks) {
	const threads = new Map();

	for (const track of [...tracks].sort((a, b) => THREAD_LANES.indexOf(a.kind) - THREAD_LANES.indexOf(b.kind))) {
		const key = `${track.tid} ${track.label}`;

		if (!threads.has(key))
			threads.set(key, {label: idFirst(model.strings[track.label]), tid: track.tid, lanes: [],
				isIdle: foldsOf(model).isFolded(track)});
		const item = threads.get(key);

		if (THREAD_LANES.includes(track.kind))
			item.lanes.push(...track.lanes);
		else
			item[track.kind] = track;
	}
	return [...threads.values()];
}

function processGroup(model, process, index, tracks) {
	const of = kind => tracks.filter(track => track.kind === kind);
	const counters = of('counter').map(track => ({label: model.strings[track.label], counter: track}));
	const ranges = [...of('path'), ...of('ranges')]
		.map(track => ({label: model.strings[track.label], lanes: track.lanes}));
	const threads = threadItems(model,
		tracks.filter(track => [...THREAD_LANES, 'samples', 'states'].includes(track.kind)));

	return {
		id: `p${index}`,
		title: idFirst(model.strings[process.label]),
		pid: process.pid,
		note: model.strings[process.ended],
		isIdle: Boolean(process.shim),
		command: model.strings[process.command],
		start: process.start,
		end: process.end,
		items: [...counters, ...ranges, ...threads]
	};
}

// The counters of each machine.
function machineGroups(model, tracks) {
	const hosts = [...new Set(tracks.map(track => track.host))];

	return hosts.map(host => ({id: `m${host}`, title: `Counters of ${model.strings[host]}`, note: '',
		isLast: true,
		items: tracks.filter(track => track.host === host)
			.map(track => ({label: model.strings[track.label], counter: track}))}));
}

function deviceGroups(model, tracks) {
	const devices = new Map();
	const several = new Set(tracks.map(track => track.process)).size > 1;

	for (const track of tracks) {
		if (!devices.has(track.device))
			devices.set(track.device,
				    {id: `d${track.device}`, title: model.strings[track.device], note: '', items: []});
		const owner = several ? `${model.processes[track.process].pid} ` : '';

		devices.get(track.device).items.push({label: owner + model.strings[track.label], lanes: track.lanes});
	}
	for (const device of devices.values())
		device.items.unshift({label: 'Utilisation', uses: device.items.flatMap(item => item.lanes)});
	return [...devices.values()];
}

// Adds a lane with a thread's waits for Python's global interpreter lock, from the table of them.
function addGil(model, groups) {
	const table = (model.tables || []).find(one => one.name === 'python_gil_trace');
	const column = title => table.cells[table.columns.findIndex(one => one.title === title)];
	const rows = new Map();

	if (!table)
		return;
	const [pids, tids, states, starts, lengths] =
		['PID', 'TID', 'State', 'Start (ns)', 'Duration (ns)'].map(column);
	const category = model.categories.findIndex(one => one.name === 'wait'), names = new Map();

	starts.forEach((start, row) => {
		const key = `${pids[row]} ${tids[row]}`;

		if (!names.has(states[row]))
			names.set(states[row], model.names.push(states[row], category) / 2 - 1);
		rows.set(key, rows.get(key) || []);
		rows.get(key).push(row);
	});
	for (const group of groups)
		for (const item of group.items.filter(one => rows.has(`${group.pid} ${one.tid}`))) {
			const own = rows.get(`${group.pid} ${item.tid}`), process = Number(group.id.slice(1));
			const track = {kind: 'gil', process, tid: item.tid, count: own.length,
				label: model.tracks.find(one => one.process === process && one.tid === item.tid).label,
				start: Float64Array.from(own, row => starts[row]),
				duration: Float64Array.from(own, row => lengths[row]),
				name: Uint32Array.from(own, row => names.get(states[row])),
				detail: new Uint32Array(own.length)};

			item.gil = track.lanes = makeLanes(track);
		}
}

// Computes the lanes of each track and returns the groups.
export function makeGroups(model) {
	const byProcess = model.processes.map(() => []);
	const streams = [], machines = [];

	for (const track of model.tracks) {
		if (!track.count || track.kind === 'links')
			continue;
		if (track.kind !== 'counter' && track.kind !== 'states') {
			track.lanes = makeLanes(track);
			track.start = track.duration = null;
		}
		(track.kind === 'stream' ? streams : track.host === undefined ? byProcess[track.process] : machines)
			.push(track);
	}
	const groups = [...makeRanks(model), ...deviceGroups(model, streams),
		...model.processes.map((process, i) => processGroup(model, process, i, byProcess[i])),
		...machineGroups(model, machines)];

	for (const group of groups)
		group.items.forEach((item, i) => item.id = `${group.id}.${i}`);
	addGil(model, groups);
	return groups;
}

// What a thread did by its records: the time on a CPU, if it is known, else in its outermost calls.
function activity(item) {
	if (item.states)
		return item.states.duration.reduce((sum, ns) => sum + ns, 0);
	const lane = (item.lanes || [])[0];

	return lane ? lane.busy[lane.count] : 0;
}

// Groups in another order; 'active': the most active processes and threads first, after ranks and devices.
export function sortGroups(groups, order) {
	const sum = group => group.items.reduce((all, item) => all + (item.tid === undefined ? 0 : activity(item)), 0);
	const isFirst = group => group.pid === undefined && !group.isLast;

	if (order !== 'active')
		return groups;
	const known = new Map(groups.map(group => [group, sum(group)]));

	const sorted = [...groups].sort((a, b) => isFirst(b) - isFirst(a) || known.get(b) - known.get(a));

	return sorted.map(group => ({...group, items: [...group.items].sort((a, b) =>
		(a.tid !== undefined) - (b.tid !== undefined) ||
			(a.tid === undefined ? 0 : activity(b) - activity(a)))}));
}

// The lanes of an item's calls and of its samples.
export function lanesOf(item) {
	return [...item.lanes || [], ...item.gil || [], ...item.samples ? item.samples.lanes : []];
}

// What the user did to the tracks: sets of ids of groups and items.
export function makeChoice() {
	return {folded: new Set(), hidden: new Set(), pinned: new Set(), stacks: new Set(), filter: '',
		order: 'active', hasIdle: false};
}

function itemRows(model, group, item, choice, add) {
	const isFolded = choice.folded.has(item.id);
	let label = item.label;
	const row = (kind, height, more) => {
		add(kind, height, {label, group, item, ...more});
		label = '';
	};

	if (item.counter)
		row('counter', COUNTER, {counter: item.counter});
	if (item.uses)
		row('use', USE, {uses: item.uses});
	if (item.ranks)
		row('ranks', item.ranks.height + 6, {ranks: item.ranks});
	if (item.states)
		row('states', STATES + 7, {states: item.states});
	const lanes = [...item.lanes || [], ...item.gil || []], samples = !item.samples ? []
		: choice.stacks.has(item.id) ? stackLanes(model, item.samples) : item.samples.lanes;

	[...lanes, ...samples].slice(0, isFolded ? 1 : undefined).forEach(lane => row('lane', LANE, {lane}));
}

// Whether a group or one of its items has the filter's text in its label.
function isWanted(label, filter) {
	return label.toLowerCase().includes(filter);
}

// {rows, height, pinned, pinnedHeight}. Rows from top to bottom: {kind: 'header' | 'lane' | 'counter' | 'states', y,
// height, label, group, item, and lane, counter or states}. Pinned items stand apart.
export function layout(model, groups, choice) {
	const filter = choice.filter.toLowerCase(), rows = [], pinned = [];
	let to = rows, y = 0, pinnedHeight = 0;
	const add = (kind, height, more) => {
		to.push({kind, y, height, label: '', ...more});
		y += height;
	};

	for (const group of groups.filter(one => choice.hasIdle || filter || !one.isIdle)) {
		const isWhole = !filter || isWanted(group.title, filter);
		const items = group.items.filter(item => !choice.hidden.has(item.id) &&
			(choice.hasIdle || filter || !item.isIdle || choice.pinned.has(item.id)) &&
			(isWhole || isWanted(item.label, filter)));

		for (const item of items.filter(one => choice.pinned.has(one.id) || choice.pinned.has(group.id))) {
			[to, y] = [pinned, pinnedHeight];
			itemRows(model, group, {...item, label: item.label.startsWith(String(group.pid)) ? item.label
				: `${group.pid ?? ''} ${item.label}`.trim()}, choice, add);
			pinnedHeight = y + GAP;
		}
		to = rows;
		y = rows.length ? rows.end : 0;
		if (!choice.hidden.has(group.id) && (isWhole || items.length)) {
			add('header', HEADER, {label: group.title, group});
			for (const item of choice.folded.has(group.id) ? [] : items) {
				itemRows(model, group, item, choice, add);
				y += GAP;
			}
		}
		rows.end = y;
	}
	return {rows, height: rows.end || 0, pinned, pinnedHeight};
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
