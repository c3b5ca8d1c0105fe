// SPDX-License-Identifier: Apache-2.0
// Distributes the events of a track to lanes without overlap, and selects what a lane shows at a scale.

// Times are rounded, so adjacent events may appear to overlap by this much.
const SLACK_NS = 2;
const MOST_LANES = 48;

function isBefore(track, a, b) {
	return track.start[a] < track.start[b] ||
		(track.start[a] === track.start[b] && track.duration[a] >= track.duration[b]);
}

function merge(track, from, to, low, middle, high) {
	let a = low, b = middle;

	for (let i = low; i < high; i++)
		to[i] = b >= high || (a < middle && isBefore(track, from[a], from[b])) ? from[a++] : from[b++];
}

// Indices by start, longer events first. Events are nearly sorted, and sorted parts are not moved.
export function order(track) {
	const count = track.count;
	let from = new Uint32Array(count).map((zero, i) => i), to;

	for (let size = 1; size < count; size *= 2)
		for (let low = 0; low + size < count; low += 2 * size) {
			const middle = low + size, high = Math.min(count, low + 2 * size);

			if (isBefore(track, from[middle - 1], from[middle]))
				continue;
			to = to || new Uint32Array(count);
			merge(track, from, to, low, middle, high);
			from.set(to.subarray(low, high), low);
		}
	return from;
}

// The first lane that is free: nested calls are one lane lower.
function assign(track, sorted) {
	const ends = [], lanes = new Uint8Array(track.count), counts = [];

	for (const event of sorted) {
		const start = track.start[event];
		let lane = 0;

		while (lane < ends.length && ends[lane] > start + SLACK_NS)
			lane++;
		lane = Math.min(lane, MOST_LANES - 1);
		ends[lane] = start + track.duration[event];
		counts[lane] = (counts[lane] || 0) + 1;
		lanes[event] = lane;
	}
	return {lanes, counts};
}

// Lanes: {track, count, start, end, event, busy}. event: position in the track's columns; busy: time in events up to
// each.
export function makeLanes(track) {
	const sorted = order(track);
	const {lanes, counts} = assign(track, sorted);
	const made = counts.map(count => ({
					track,
					count: 0,
					start: new Float64Array(count),
					end: new Float64Array(count),
					event: new Uint32Array(count),
					busy: new Float64Array(count + 1),
				}));

	for (const event of sorted) {
		const lane = made[lanes[event]], i = lane.count++;

		lane.start[i] = track.start[event];
		lane.end[i] = track.start[event] + track.duration[event];
		lane.event[i] = event;
		lane.busy[i + 1] = lane.busy[i] + track.duration[event];
	}
	return made;
}

// The first position from `from` on whose value is at least `wanted`.
export function lowerBound(values, wanted, from, count) {
	let step = 1, low = from, high;

	while (low + step <= count && values[low + step - 1] < wanted) {
		low += step;
		step *= 2;
	}
	high = Math.min(count, low + step);
	while (low < high) {
		const middle = low + high >>> 1;

		if (values[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The contents of a lane from t0 to t1 at a scale: calls show(x, width, position, cover, count) for each event of a
// pixel or more, and once for all smaller ones that begin in the same pixel; cover: the share of it that they fill.
export function visit(lane, t0, t1, nsPerPixel, show) {
	const {start, end, busy, count} = lane;
	let i = lowerBound(end, t0, 0, count);

	while (i < count && start[i] < t1) {
		const x = (start[i] - t0) / nsPerPixel, width = (end[i] - start[i]) / nsPerPixel;

		if (width >= 1) {
			show(x, width, i, 1, 1);
			i++;
			continue;
		}
		const pixel = Math.floor(x), edge = t0 + (pixel + 1) * nsPerPixel;
		let next = Math.max(i + 1, lowerBound(start, edge, i, count));

		/* The last one may be long: it is drawn separately. */
		if (next > i + 1 && end[next - 1] - start[next - 1] >= nsPerPixel)
			next--;
		show(pixel, 1, i, Math.min(1, (busy[next] - busy[i]) / nsPerPixel), next - i);
		i = next;
	}
}

const BLOCK = 16;

// Of each block of positions, the longest event and its length.
function blocksOf(count, positionOf, lengthOf) {
	const at = new Uint32Array(Math.ceil(count / BLOCK)), long = new Float64Array(at.length).fill(-1);

	for (let i = 0; i < count; i++) {
		const block = Math.floor(i / BLOCK), length = lengthOf(i);

		if (length > long[block]) {
			long[block] = length;
			at[block] = positionOf(i);
		}
	}
	return {at, long};
}

// The position of the longest event from one position up to another: by blocks of blocks, by blocks, one by one.
export function longest(lane, from, to) {
	const {start, end} = lane;
	let best = from, length = -1, i = from;

	if (to - from > 2 * BLOCK && !lane.blocks) {
		const small = blocksOf(lane.count, k => k, k => end[k] - start[k]);

		lane.blocks = {small, large: blocksOf(small.at.length, k => small.at[k], k => small.long[k])};
	}
	while (i < to) {
		const isSmall = i % BLOCK === 0 && i + BLOCK <= to && lane.blocks;

		if (!isSmall) {
			if (end[i] - start[i] > length) {
				length = end[i] - start[i];
				best = i;
			}
			i++;
			continue;
		}
		const isLarge = i % (BLOCK * BLOCK) === 0 && i + BLOCK * BLOCK <= to;
		const {at, long} = isLarge ? lane.blocks.large : lane.blocks.small;
		const block = isLarge ? i / BLOCK / BLOCK : i / BLOCK;

		if (long[block] > length) {
			length = long[block];
			best = at[block];
		}
		i += isLarge ? BLOCK * BLOCK : BLOCK;
	}
	return best;
}

// The event at that instant, or the nearest one within `reach` ns; -1: none.
export function at(lane, instant, reach) {
	const i = lowerBound(lane.end, instant, 0, lane.count);
	let best = -1, distance = reach;

	for (let k = Math.max(0, i - 1); k <= i && k < lane.count; k++) {
		const away = Math.max(lane.start[k] - instant, instant - lane.end[k], 0);

		if (away <= distance) {
			best = k;
			distance = away;
		}
	}
	return best;
}

// Time in which any of the lanes is busy.
export function union(lanes) {
	const at = lanes.map(() => 0);
	let busy = 0, until = -Infinity;

	for (;;) {
		let first = -1;

		for (let k = 0; k < lanes.length; k++)
			if (at[k] < lanes[k].count &&
			    (first < 0 || lanes[k].start[at[k]] < lanes[first].start[at[first]]))
				first = k;
		if (first < 0)
			return busy;
		const end = lanes[first].end[at[first]], start = Math.max(until, lanes[first].start[at[first]]);

		if (end > start) {
			busy += end - start;
			until = end;
		}
		at[first]++;
	}
}

// By bin of the time from t0 on, the share in which the lanes are busy together, at most 1.
export function busyShares(lanes, t0, nsPerBin, bins) {
	const shares = new Float64Array(bins);

	for (const {start, end, busy, count} of lanes) {
		let i = lowerBound(end, t0, 0, count);

		for (let bin = 0; bin < bins && i < count; bin++) {
			const from = t0 + bin * nsPerBin, to = from + nsPerBin, first = lowerBound(end, from, i, count);
			const next = lowerBound(start, to, first, count);

			i = first;
			if (next <= first)
				continue;
			const outside = Math.max(0, from - start[first]) + Math.max(0, end[next - 1] - to);

			shares[bin] += Math.max(0, busy[next] - busy[first] - outside) / nsPerBin;
		}
	}
	return shares.map(share => Math.min(1, share));
}
