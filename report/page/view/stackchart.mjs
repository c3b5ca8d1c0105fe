// SPDX-License-Identifier: Apache-2.0
// CPU samples over time as boxes: a frame is as long as it stays in the same place of adjacent samples' stacks. Made
// when it is first shown, because stacks are deep.

const MOST_DEPTH = 64;
const UNKNOWN_NS = 1e6; // that a sample lasts if its CPU time is not known

// The position in model.names of a frame, which is added there if it is new.
function frameName(model, string) {
	const {names} = model;

	if (!model.frameNames) {
		const sample = model.categories.findIndex(category => category.name === 'sample');

		model.frameNames = new Map();
		model.frameCategory = Math.max(0, sample);
		for (let i = 0; i < names.length; i += 2)
			if (names[i + 1] === sample)
				model.frameNames.set(names[i], i / 2);
	}
	if (!model.frameNames.has(string)) {
		model.frameNames.set(string, names.length / 2);
		names.push(string, model.frameCategory);
	}
	return model.frameNames.get(string);
}

// When each sample begins and ends: it represents the CPU time before it.
function spans(track) {
	const moments = track.lanes.flatMap(lane => [...lane.start.keys()].map(i => [lane.start[i], lane.event[i]]));

	moments.sort((a, b) => a[0] - b[0]);
	return moments.map(([end, event], i) => {
		const long = track.value && track.value[event] ? track.value[event] : UNKNOWN_NS;

		return {start: i ? Math.max(moments[i - 1][0], end - long) : end - long, end, event};
	});
}

function toLane(track, depth, made) {
	const count = made.length;
	const lane = {
		count,
		start: Float64Array.from(made, box => box.start),
		end: Float64Array.from(made, box => box.end),
		event: Uint32Array.from(made.keys()),
		busy: new Float64Array(count + 1),
		track: {kind: 'stack', process: track.process, tid: track.tid, label: track.label, depth,
			name: Uint32Array.from(made, box => box.name),
			detail: Uint32Array.from(made, box => box.detail)}
	};

	for (let i = 0; i < count; i++)
		lane.busy[i + 1] = lane.busy[i] + lane.end[i] - lane.start[i];
	return lane;
}

// The lanes of a track of samples, the outermost frames first.
export function stackLanes(model, track) {
	if (track.stackLanes)
		return track.stackLanes;
	const levels = [], open = [];
	let last = -Infinity;

	for (const {start, end, event} of spans(track)) {
		const detail = track.detail[event], stack = detail ? model.details[detail - 1].stack || [] : [];
		const depth = Math.min(stack.length, MOST_DEPTH), isNext = start - last < (end - start) / 2;
		const most = isNext ? Math.min(depth, open.length) : 0;
		let same = 0;

		while (same < most && open[same].string === stack[stack.length - 1 - same])
			open[same++].end = end;
		open.length = same;
		for (let level = same; level < depth; level++) {
			const string = stack[stack.length - 1 - level];
			const box = {string, start, end, detail, name: frameName(model, string)};

			open.push(box);
			(levels[level] = levels[level] || []).push(box);
		}
		last = end;
	}
	track.stackLanes = levels.map((made, depth) => toLane(track, depth, made));
	return track.stackLanes;
}
