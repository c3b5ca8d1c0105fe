// SPDX-License-Identifier: Apache-2.0
// Finds events by a part of their name or of a frame of their stack, processes and threads by their ids, and the other
// ends of links.
import {lowerBound} from './lanes.mjs';
import {lanesOf} from './rows.mjs';

const CLOSE = 1e6; // ns: a time that was read from outside of a thread may be before its call

// The critical path repeats what is on other tracks, and is not searched.
const isSearched = track => track.kind !== 'path';

export function eachLane(groups, visit) {
	for (const group of groups)
		for (const item of group.items)
			lanesOf(item).filter(lane => isSearched(lane.track)).forEach(visit);
}

// Which strings contain the text: 1, 0, and 2 for those that were not looked at.
function matchStrings(model, text) {
	const known = new Uint8Array(model.strings.length).fill(2);

	return string => {
		if (known[string] === 2)
			known[string] = model.strings[string].toLowerCase().includes(text) ? 1 : 0;
		return known[string];
	};
}

// {isHit(lane, i); hits(lane): how many match before each; count: events; places: groups and items with that id}; null
// for no text.
export function findMatches(model, groups, text) {
	if (!text)
		return null;
	const wanted = text.toLowerCase(), has = matchStrings(model, wanted), known = new Map();
	const names = Uint8Array.from({length: model.names.length / 2}, (none, i) => has(model.names[2 * i]));
	const stacks = Uint8Array.from([{}, ...model.details || []],
		detail => detail.stack && detail.stack.some(has) ? 1 : 0);
	const isHit = ({track, event}, i) =>
		isSearched(track) ? names[track.name[event[i]]] | stacks[track.detail[event[i]]] : 0;
	const hits = lane => {
		if (!known.has(lane)) {
			const sums = new Uint32Array(lane.count + 1);

			for (let i = 0; i < lane.count; i++)
				sums[i + 1] = sums[i] + isHit(lane, i);
			known.set(lane, sums);
		}
		return known.get(lane);
	};
	const id = /^(?:(?:pid|tid) ?)?(\d+)$/.exec(wanted)?.[1], places = [];
	let count = 0;

	eachLane(groups, lane => count += hits(lane)[lane.count]);
	for (const group of id ? groups : []) {
		if (String(group.pid) === id)
			places.push({group});
		for (const item of group.items)
			if (String(item.tid) === id && item.tid !== group.pid)
				places.push({group, item});
	}
	return {isHit, hits, count, places};
}

// The time from the first match to the last one: [from, to]; null: there is none.
export function matchSpan(groups, found) {
	let from = Infinity, to = -Infinity;

	eachLane(groups, lane => {
		for (let i = 0; i < lane.count; i++)
			if (found.isHit(lane, i)) {
				from = Math.min(from, lane.start[i]);
				to = Math.max(to, lane.end[i]);
			}
	});
	return from <= to ? [from, to] : null;
}

// The match after `last` ({lane, i}) by time, then by row, starting over at the end; null: there is none.
export function nextMatch(rows, found, last, direction) {
	const lanes = rows.filter(row => row.lane).map(row => row.lane);
	const rank = last ? lanes.indexOf(last.lane) : -1,
	      from = last ? last.lane.start[last.i] : -direction * Infinity;
	const isAfter = (start, k, than, thanRank) => direction * (start - than || k - thanRank) > 0;
	let best = null, bestRank = -1, edge = null, edgeRank = -1;

	lanes.forEach((lane, k) => {
		for (let step = 0; step < lane.count; step++) {
			const i = direction > 0 ? step : lane.count - 1 - step, start = lane.start[i];

			if (!found.isHit(lane, i))
				continue;
			if (!edge || isAfter(edge.lane.start[edge.i], edgeRank, start, k)) {
				edge = {lane, i};
				edgeRank = k;
			}
			if (!isAfter(start, k, from, rank))
				continue;
			if (!best || isAfter(best.lane.start[best.i], bestRank, start, k)) {
				best = {lane, i};
				bestRank = k;
			}
			break;
		}
	});
	return best || edge;
}

// The event of that name on a thread or in a process: the one at `start`, else the longest; null: none. Without a name:
// the one that lasts then. `frame`: the innermost one of its stack.
export function findEvent(model, groups, {name, pid, tid, frame, start}) {
	const names = Uint8Array.from({length: model.names.length / 2},
				      (none, i) => !name || model.strings[model.names[2 * i]] === name ? 1 : 0);
	const lasts = (lane, i) => name || (lane.start[i] <= Number(start) + CLOSE && lane.end[i] >= start);
	const has = detail => !frame ||
		(detail && model.strings[(model.details[detail - 1].stack || [])[0]] === frame);
	const fits = ({process, tid: own}) => (pid === undefined || String(model.processes[process].pid) === pid) &&
		(tid === undefined || String(own) === tid);
	let best = null, least = Infinity;

	eachLane(groups, lane => {
		for (let i = 0; fits(lane.track) && i < lane.count; i++) {
			const event = lane.event[i], away = start === undefined ? lane.start[i] - lane.end[i]
				: Math.abs(lane.start[i] - start);

			if (away < least && lasts(lane, i) && names[lane.track.name[event]] &&
				has(lane.track.detail[event])) {
				best = {lane, i};
				least = away;
			}
		}
	});
	return best;
}

// The event of a track's lanes that is at that position in its columns, or that begins then; null: there is none.
export function pick(track, event, start) {
	for (const lane of track.lanes || []) {
		const i = event < 0 ? lane.start.indexOf(start) : lane.event.indexOf(event);

		if (i >= 0)
			return {lane, i};
	}
	return null;
}

// The other end of an event's link: the first device operation of a call, or the call of a device operation; null: not
// known.
// Tracks of links have the start of a call in the track `of`, and the id of its device operations.
export function linked(model, {lane, i}) {
	const {track} = lane, isWork = track.kind === 'stream';
	const links =
		model.tracks.filter(other => other.kind === 'links' && other.count && other.process === track.process);

	if (isWork && !(track.link && track.link[lane.event[i]]))
		return null;
	for (const link of links) {
		const calls = model.tracks[link.of];
		const k = isWork            ? link.link.indexOf(track.link[lane.event[i]])
			  : calls === track ? link.start.indexOf(lane.start[i])
					    : -1;

		if (k < 0)
			continue;
		if (isWork)
			return pick(calls, -1, link.start[k]);
		for (const stream of model.tracks) {
			const event = stream.kind === 'stream' && stream.process === track.process && stream.link ?
				stream.link.indexOf(link.link[k]) : -1;

			if (event >= 0)
				return pick(stream, event);
		}
	}
	return null;
}

// The event of a thread at an instant: the innermost one, else the last one before it, else the first one.
function eventAt(item, instant) {
	const lanes = (item.lanes || []).filter(lane => lane.track.kind === 'calls');
	let best = null;

	for (const lane of lanes) {
		let i = lowerBound(lane.start, instant + 1, 0, lane.count) - 1;

		if (i >= 0 && (!best || lane.end[i] >= instant))
			best = {lane, i};
	}
	return best || (lanes.length ? {lane: lanes[0], i: 0} : null);
}

// The events that one is related to: [{event, words, isFrom, at, label}]: what it launched or was launched by, the
// holder of the lock that it waits for when the wait begins, the thread that ended its wait, and the rank that a
// message is to or from. isFrom: the arrow leads from there; at: it is drawn at this instant, with a label.
export function related(model, groups, selection) {
	const {lane, i} = selection, {track} = lane, other = linked(model, selection), found = [];
	const detail = track.detail[lane.event[i]] ? model.details[track.detail[lane.event[i]] - 1] : {};
	const own = groups.find(group => group.id === `p${track.process}`);
	const thread = tid => own && own.items.find(item => String(item.tid) === tid);
	const add = (item, instant, words, isFrom, more = {}) => {
		const event = item && eventAt(item, instant);

		if (event)
			found.push({event, words, isFrom, ...more});
	};
	const addThread = (tid, at, what) => {
		const item = tid && thread(tid);

		if (item)
			add(item, at, `${what} ${item.label}`, true,
				{at, label: `${what.toLowerCase()} ${item.label}`});
	};

	if (other)
		found.push(other.lane.track.kind === 'stream' ? {event: other, words: 'Go to its work', isFrom: false}
			: {event: other, words: 'Go to its call', isFrom: true});
	addThread(detail['held by thread'], lane.start[i], 'Held by');
	addThread(detail['ended by thread'], lane.end[i], 'Released by');
	if (detail['peer rank']) {
		const process = model.processes.findIndex(one => model.strings[one.rank] === detail['peer rank']);
		const peer = groups.find(group => group.id === `p${process}`);

		add(peer && peer.items.find(item => item.tid === peer.pid), lane.end[i],
		    `Go to rank ${detail['peer rank']} at its end`, false);
	}
	return found;
}
