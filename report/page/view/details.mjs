// SPDX-License-Identifier: Apache-2.0
// The details of one event.
import {sourceAddress} from './address.mjs';
import {byId, make} from './dom.mjs';
import {bytes, counterText, duration, idFirst, instant, whole} from './format.mjs';
import {lowerBound} from './lanes.mjs';
import {rankAt} from './ranks.mjs';

function facts(model, {lane, i}) {
	const {track} = lane, event = lane.event[i], name = track.name[event];
	const detail = track.detail[event] ? model.details[track.detail[event] - 1] : {};
	const value = track.value ? track.value[event] : 0;

	return {
		name: model.strings[model.names[2 * name]],
		category: model.categories[model.names[2 * name + 1]].title,
		start: lane.start[i],
		length: lane.end[i] - lane.start[i],
		detail,
		value,
		process: idFirst(model.strings[model.processes[track.process].label]),
		where: idFirst(model.strings[track.label]),
	};
}

function valueText(kind, value) {
	if (kind === 'usual duration')
		return duration(value);
	return kind === 'bytes' ? bytes(value) : value < 0 ? `−${whole(-value)}` : whole(value);
}

// For the tooltip: the name, and the lines below it.
export function summaryOf(model, event) {
	const f = facts(model, event);
	const lines = [`${duration(f.length)} · ${f.category}`];

	if (f.detail.kernel)
		lines.push(f.detail.kernel);
	if (f.detail.file || f.detail.peer)
		lines.push(f.detail.file || f.detail.peer);
	if (f.detail.value)
		lines.push(`${f.detail.value} ${valueText(f.detail.value, f.value)}`);
	return {name: f.name, lines};
}

// What a row without events shows at an instant: {name, facts: [[word, value]], target: a process}; null: nothing.
export function rowFacts(model, row, at, height) {
	if (row.kind === 'states')
		return stateFacts(row.states, at);
	if (row.kind === 'counter') {
		const {counter} = row, i = lowerBound(counter.start, at + 1, 0, counter.count) - 1;
		const value = i < 0 ? 0 : counter.value ? counter.value[i] : 0;

		return {name: row.item.label,
			facts: [['Value', counterText(counter, value)], ['At', instant(at, 1000)]]};
	}
	if (row.kind === 'use')
		return {name: `${row.group.title}: utilisation`, facts: [['At', instant(at, 1000)],
			['Streams', whole(row.uses.length)]]};
	if (row.kind === 'ranks') {
		const found = rankAt(row.ranks, at, height);

		return found && {name: found.processes.length > 1 ? `${found.processes.length} ranks` :
			`Rank ${model.strings[model.processes[found.processes[0]].rank]}`,
		facts: [['In MPI and NCCL', `${(100 * found.share).toFixed(0)} % of this part of the time`],
			...found.processes.slice(0, 8).map(i =>
				['Process', idFirst(model.strings[model.processes[i].label])])],
		target: found.processes[0]};
	}
	const {group} = row;

	return row.kind !== 'header' || group.end === undefined ? null : {name: group.title, facts: [
		['Wall time', duration(group.end - group.start)], ['Ended', group.note], ['Command', group.command]]};
}

// The part of a thread's accounts in which an instant is.
function stateFacts({start, duration: used, value, count}, at) {
	const i = lowerBound(start, at + 1, 0, count);

	if (i < 1 || i >= count)
		return null;
	const long = start[i] - start[i - 1] || 1, running = Math.min(1, used[i] / long);
	const runnable = Math.min(1 - running, value ? value[i] / long : 0);
	const part = share => `${(100 * share).toFixed(0)} %`;

	return {name: 'State of the thread', facts: [['On a CPU', part(running)],
		['Runnable, without a CPU', part(runnable)], ['Blocked', part(1 - running - runnable)],
		['Of', `${duration(long)} from ${instant(start[i - 1], 1000)}`]]};
}

// Shows what rowFacts() tells; `go` leads to the process, if there is one.
export function showRow(facts, go) {
	const panel = byId('details'), list = make('dl');

	panel.hidden = !facts;
	if (!facts)
		return;
	for (const [key, value] of facts.facts)
		list.append(make('dt', {}, key), make('dd', {}, value));
	panel.replaceChildren(make('h2', {}, facts.name), list);
	if (facts.target !== undefined)
		panel.append(make('button', {class: 'quiet', onclick: go}, 'Go to its process'));
}

function rows(model, f) {
	const all = [['Kind', f.category], ['Duration', `${duration(f.length)}`], ['Start', instant(f.start, 1000)],
		['Process', f.process], ['On', f.where]];

	for (const [key, value] of Object.entries(f.detail))
		if (key === 'value')
			all.push([value, valueText(value, f.value)]);
		else if (key !== 'stack')
			all.push([key, value]);
	return all;
}

function stack(model, frames) {
	return [
		make('h3', {}, 'Stack'),
		make('ol', {class: 'stack'}, ...frames.map(id => {
			const text = model.strings[id], address = sourceAddress(model, text);

			return make('li', {}, address ? make('a', {href: address}, text) : text);
		}))
	];
}

// Fills the panel; `others` are the events that it is related to, `go` shows one.
export function showDetails(model, selection, others, go) {
	const panel = byId('details');

	panel.hidden = !selection;
	if (!selection)
		return;
	const f = facts(model, selection);
	const list = make('dl');

	for (const [key, value] of rows(model, f))
		list.append(make('dt', {}, key), make('dd', {}, value));
	panel.replaceChildren(make('h2', {}, f.name), list);
	panel.append(...others.map(({event, words}) =>
		make('button', {class: 'quiet', onclick: () => go(event)}, words)));
	if (f.detail.stack && f.detail.stack.length)
		panel.append(...stack(model, f.detail.stack));
}
