// SPDX-License-Identifier: Apache-2.0
// The state of the page as the fragment of its address, and the fragments that rows of tables, findings and functions
// link to: #view?key=value&key=value. Links are resolved when they are followed: they name what to look for.
import {sourceOf} from './answer.mjs';
import {cellText} from './sheet.mjs';

const EVENT_NAMES = ['API Name', 'API Function', 'Kernel Name', 'NVTX Range', 'Name', 'Range', 'Operation', 'Call'];
const STARTS = ['Start (ns)', 'API Start (ns)', 'Call Start (ns)', 'Projected Start (ns)', 'Longest Start (ns)',
	'Peak At (ns)', 'At (ns)', 'Oldest At (ns)'];
const LENGTHS = ['Duration (ns)', 'API Dur (ns)', 'Call Duration (ns)', 'Projected Duration (ns)', 'Longest (ns)'];

export function parseAddress(hash) {
	const [view, rest = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);

	return {...Object.fromEntries(new URLSearchParams(rest)), view};
}

// Values that are empty are left out.
export function formatAddress({view, ...values}) {
	const parts = new URLSearchParams();

	for (const [key, value] of Object.entries(values))
		if (value !== undefined && value !== null && value !== '')
			parts.set(key, String(value));
	const text = String(parts);

	return `#${view}${text ? `?${text}` : ''}`;
}

// Names of events, and functions of the flame graphs' frames with and without their lines.
function knownTexts(model) {
	const events = new Set(), functions = new Set();

	for (let i = 0; i < model.names.length; i += 2)
		events.add(model.strings[model.names[i]]);
	for (const profile of model.profiles)
		for (const stack of profile.stacks)
			for (let i = 3; i < stack.length; i++)
				functions.add(stack[i]);
	for (const id of [...functions]) {
		functions.delete(id);
		functions.add(model.strings[id]);
		functions.add(functionOf(model.strings[id]));
	}
	return {events, functions};
}

// "work" and "train.py:42" of "work (train.py:42)". Names and paths may have pairs of parentheses.
export function frameParts(frame) {
	const place = / \(((?:[^()]|\([^()]*\))*)\)$/.exec(frame);

	return place ? [frame.slice(0, place.index), place[1]] : [frame, ''];
}

export function functionOf(frame) {
	return frameParts(frame)[0];
}

// "aten::mm" of "aten::mm, seq = 4, op_id = 7": what the events of PyTorch's operators are called.
export function operatorOf(range) {
	return range && range.replace(/, (seq|op_id|sizes) = .*$/s, '');
}

// Where the text of the line of a frame is, "work (train.py:42)"; '': it is not in the page.
export function sourceAddress(model, frame) {
	const [, place] = frameParts(frame), source = /:\d+$/.test(place) && sourceOf(model, place);

	return source ? formatAddress({view: 'tables', table: source.table, row: source.row}) : '';
}

// The fragment that a row of a table links to; '': none.
export function rowAddress(model, table, row) {
	const known = model.known = model.known || knownTexts(model);
	const value = titles => {
		for (const title of titles) {
			const k = table.columns.findIndex(c => c.title === title), text = k < 0 ? null
				: cellText(model, table, k, row);

			if (text !== null && text !== '')
				return text;
		}
		return undefined;
	};
	const pid = value(['PID', 'Pid']), tid = value(['TID', 'Tid']), start = value(STARTS);
	const step = value(['Step']), names = EVENT_NAMES.map(title => value([title]));
	const name = [...names, ...names.map(operatorOf), `step ${step}`].find(text => known.events.has(text));
	const line = value(['Line']), at = value(['Stack']), functions = [
		`${value(['Function'])} (${line})`, value(['Function']), value(['Name'])
	];
	const frame = functions.find(text => known.functions.has(text));

	if (start !== undefined)
		return formatAddress({view: 'timeline', name, pid, tid, start, length: value(LENGTHS)});
	if (frame !== undefined && (name === undefined || table.name.startsWith('sample')))
		return formatAddress({view: 'flames', order: 'sandwich', function: frame});
	if (name !== undefined)
		return formatAddress({view: 'timeline', name, pid, tid, in: at && at.split(' <- ')[0]});
	if (line !== undefined)
		return formatAddress({view: 'timeline', search: line});
	return pid === undefined ? '' : formatAddress({view: 'timeline', pid, tid});
}

// A finding leads to its first row, or to what has its line in its stack; one about a whole machine, to the timeline.
export function findingAddress(model, finding) {
	const line = model.strings[finding.line], row = finding.table.cells.length && finding.table.cells[0].length
		? rowAddress(model, finding.table, 0) : '';

	return row || formatAddress(line ? {view: 'timeline', search: line} : {view: 'timeline'});
}
