// SPDX-License-Identifier: Apache-2.0
// What happened in a part of the time: sums by name, the states of threads, and stacks. Independent of the DOM.
import {lowerBound} from './lanes.mjs';
import {lanesOf} from './rows.mjs';

// The events of a lane within [from, to): visit(i, ns of it inside).
function within(lane, from, to, visit) {
	const {start, end, count} = lane;

	for (let i = lowerBound(end, from, 0, count); i < count && start[i] < to; i++)
		visit(i, Math.max(0, Math.min(end[i], to) - Math.max(start[i], from)));
}

// {time, count, longest} by name. A sample counts with the CPU time that it represents.
function sumNames(model, groups, from, to) {
	const many = model.names.length / 2;
	const time = new Float64Array(many), count = new Uint32Array(many), longest = new Float64Array(many);

	for (const group of groups)
		for (const lane of group.items.flatMap(lanesOf)) {
			const {track, event} = lane;

			within(lane, from, to, (i, ns) => {
				const name = track.name[event[i]];
				const part = track.kind === 'samples' ? track.value ? track.value[event[i]] : 0 : ns;

				time[name] += part;
				count[name]++;
				longest[name] = Math.max(longest[name], part);
			});
		}
	return {time, count, longest};
}

export function namesIn(model, groups, from, to) {
	const {time, count, longest} = sumNames(model, groups, from, to);
	const rows = [...time.keys()].filter(name => count[name]).map(name => ({
		name: model.names[2 * name],
		category: model.categories[model.names[2 * name + 1]],
		time: time[name], count: count[name], longest: longest[name]
	}));

	return rows.sort((a, b) => b.time - a.time || b.count - a.count);
}

// {time, count} by what `keyOf` says of an event's detail, of the calls of threads; the largest first.
export function detailsIn(model, groups, from, to, keyOf) {
	const sums = new Map(), keys = model.details.map(keyOf);

	for (const group of groups)
		for (const lane of group.items.flatMap(item => item.lanes || [])) {
			if (lane.track.kind !== 'calls')
				continue;
			within(lane, from, to, (i, ns) => {
				const detail = lane.track.detail[lane.event[i]];
				const key = detail ? keys[detail - 1] : undefined;

				if (key === undefined)
					return;
				const row = sums.get(key) || {key, time: 0, count: 0};

				row.time += ns;
				row.count++;
				sums.set(key, row);
			});
		}
	return [...sums.values()].sort((a, b) => b.time - a.time);
}

// A thread's accounts between two instants, in proportion where one is between two samples: {running, runnable,
// blocked}.
export function statesIn({start, duration, value, count}, from, to) {
	const sums = {running: 0, runnable: 0, blocked: 0};

	for (let i = 1; i < count; i++) {
		const inside = Math.min(start[i], to) - Math.max(start[i - 1], from), long = start[i] - start[i - 1];

		if (inside <= 0)
			continue;
		const running = Math.min(1, duration[i] / long) * inside;
		const runnable = Math.min(inside - running, (value ? value[i] / long : 0) * inside);

		sums.running += running;
		sums.runnable += runnable;
		sums.blocked += inside - running - runnable;
	}
	return sums;
}

// For each thread: time in its outermost calls, its samples, and its states if they are known (else null).
export function threadsIn(groups, from, to) {
	const rows = [];

	for (const group of groups)
		for (const item of group.items.filter(one => one.tid !== undefined)) {
			const row = {group, item, calls: 0, count: 0, samples: 0,
				states: item.states ? statesIn(item.states, from, to) : null};
			const outer = (item.lanes || []).find(lane => lane.track.kind === 'calls');

			if (outer)
				within(outer, from, to, (i, ns) => {
					row.calls += ns;
					row.count++;
				});
			for (const lane of item.samples ? item.samples.lanes : [])
				within(lane, from, to, () => row.samples++);
			if (row.count || row.samples || (row.states && row.states.running + row.states.blocked > 0))
				rows.push(row);
		}
	return rows.sort((a, b) => b.calls - a.calls);
}

// ---- stacks, as flame.mjs takes them ----

function framesOf(model, detail) {
	return detail ? [...model.details[detail - 1].stack || []].reverse() : [];
}

// Adds the self time of the calls of a thread; a call within another is below it.
function addCalls(model, lanes, head, from, to, add) {
	let above = null;

	for (const lane of lanes) {
		const level = {lane, nodes: new Map()}, known = new Map();
		let parent = 0;

		within(lane, from, to, (i, ns) => {
			const event = lane.event[i], name = lane.track.name[event], detail = lane.track.detail[event];

			while (above && parent < above.lane.count && above.lane.end[parent] < lane.end[i])
				parent++;
			const outer = above && above.nodes.get(parent);
			const key = `${outer ? outer.id : ''} ${name} ${detail}`;

			if (!known.has(key)) {
				const frames = outer ? outer.stack : [...head, ...framesOf(model, detail)];

				known.set(key, add([...frames, model.names[2 * name]]));
			}
			const node = known.get(key);

			node.value += ns;
			if (outer)
				outer.value -= ns;
			level.nodes.set(i, node);
		});
		above = level;
	}
}

// {calls, cpu, gpu}: stacks [value, process, thread, outermost frame, ...] of what is in the range.
export function stacksIn(model, groups, from, to) {
	const nodes = {calls: [], cpu: [], gpu: []}, known = {cpu: new Map(), gpu: new Map()};
	const adder = list => stack => {
		list.push({id: list.length, stack, value: 0});
		return list[list.length - 1];
	};
	const addTo = {calls: adder(nodes.calls), cpu: adder(nodes.cpu), gpu: adder(nodes.gpu)};
	const sum = (kind, key, ns, makeStack) => {
		if (!known[kind].has(key))
			known[kind].set(key, addTo[kind](makeStack()));
		known[kind].get(key).value += ns;
	};

	for (const item of groups.flatMap(group => group.items)) {
		const lanes = lanesOf(item), calls = lanes.filter(lane => lane.track.kind === 'calls');

		for (const lane of lanes) {
			const {track, event} = lane, head = [model.processes[track.process].label, track.label];

			if (lane === calls[0])
				addCalls(model, calls, head, from, to, addTo.calls);
			if (track.kind === 'samples')
				within(lane, from, to, i => {
					const detail = track.detail[event[i]];

					sum('cpu', `${head} ${detail}`, track.value ? track.value[event[i]] : 1,
						() => [...head, ...framesOf(model, detail)]);
				});
			if (track.kind === 'stream')
				within(lane, from, to, (i, ns) => {
					const name = model.names[2 * track.name[event[i]]];

					sum('gpu', `${head} ${name}`, ns, () => [...head, name]);
				});
		}
	}
	const made = list => list.filter(node => node.value > 0).map(node => [node.value, ...node.stack]);

	return {calls: made(nodes.calls), cpu: made(nodes.cpu), gpu: made(nodes.gpu)};
}
