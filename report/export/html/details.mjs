// SPDX-License-Identifier: Apache-2.0
// The details of one event.
import {byId, make} from './dom.mjs';
import {bytes, duration, idFirst, instant, whole} from './format.mjs';

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
	return kind === 'bytes' ? bytes(value) : value < 0 ? `−${whole(-value)}` : whole(value);
}

// For the tooltip: the name, and the lines below it.
export function summaryOf(model, event) {
	const f = facts(model, event);
	const lines = [`${duration(f.length)} · ${f.category}`];

	if (f.detail.kernel)
		lines.push(f.detail.kernel);
	if (f.detail.value)
		lines.push(`${f.detail.value} ${valueText(f.detail.value, f.value)}`);
	return {name: f.name, lines};
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
		make('ol', {class: 'stack'}, ...frames.map(id => make('li', {}, model.strings[id])))
	];
}

// Fills the panel; `other` is the event at the other end of the link, `go` shows it.
export function showDetails(model, selection, other, go) {
	const panel = byId('details');

	panel.hidden = !selection;
	if (!selection)
		return;
	const f = facts(model, selection);
	const list = make('dl');

	for (const [key, value] of rows(model, f))
		list.append(make('dt', {}, key), make('dd', {}, value));
	panel.replaceChildren(make('h2', {}, f.name), list);
	if (other)
		panel.append(make('button', {class: 'quiet', onclick: () => go(other)},
			other.lane.track.kind === 'stream' ? 'Go to its work' : 'Go to its call'));
	if (f.detail.stack && f.detail.stack.length)
		panel.append(...stack(model, f.detail.stack));
}
