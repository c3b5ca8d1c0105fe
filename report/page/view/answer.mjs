// SPDX-License-Identifier: Apache-2.0
// What the page opens with, computed from its tables: what to fix first, roles with the parts of their time, and the
// text of sources with the cost of each line. Independent of the DOM.
import {cellText} from './sheet.mjs';

// The rows of a table as objects by title.
export function rowsOf(model, table) {
	const count = table && table.cells.length ? table.cells[0].length : 0;

	return Array.from({length: count}, (none, row) => Object.fromEntries(table.columns.map(({title}, k) =>
		[title, cellText(model, table, k, row)])));
}

// The frame of a row that has a line and a function, as the stacks have it.
export function frameOf({Line: line, Function: name}) {
	return line && name ? `${name} (${line})` : name || line || '';
}

// The place without its directories, and its function: "job.py:42 store".
export function placeWords({Line: line, Function: name}) {
	return [line ? line.slice(line.lastIndexOf('/') + 1) : '', name].filter(Boolean).join(' ');
}

// What the kinds of the table of roles are called here, and by the style.
const PART_WORDS = {cpu: 'computing', import: 'computing in imports', polling: 'polling for others',
	runnable: 'waiting for a CPU', wait: 'waiting', call: 'in a call',
	'blocked outside of calls': 'other waits',
	'runnable or blocked': 'waiting for a CPU, or other waits'};
const SHORT_SHARE = 0.02; // of a role's time: calls with less are one part

// Parts of a role, the largest first; its short calls are one.
function joinShort(parts, ns) {
	const isShort = part => part.call && part.ns < ns * SHORT_SHARE, short = parts.filter(isShort);
	const sum = short.reduce((all, part) => all + part.ns, 0);

	return [...parts.filter(part => !isShort(part)), ...sum ? [{kind: 'in other calls', ns: sum, row: {}}] : []]
		.sort((a, b) => b.ns - a.ns);
}

// Roles in the order of the summary: {name, ns, threads, processes, pid, parts}; a part: {kind, ns, call, waitsFor,
// row}.
export function rolesOf(model) {
	const roles = [];

	for (const row of rowsOf(model, model.answer.roles)) {
		const kind = row.Kind === 'call' && row['Waits For'] ? 'wait' : row.Kind;
		const part = {kind: PART_WORDS[kind] ?? kind, ns: row['Time (ns)'], call: row.Call,
			waitsFor: row['Waits For'], row};
		const last = roles.at(-1), ns = row['Lifetime (ns)'];

		if (last && last.name === row.Role && last.ns === ns && last.pid === row.PID)
			last.parts.push(part);
		else
			roles.push({name: row.Role, ns, threads: row.Threads, processes: row.Processes, pid: row.PID,
				parts: [part]});
	}
	roles.forEach(role => role.parts = joinShort(role.parts, role.ns));
	return roles;
}

const COSTS = [['CPU', ['CPU Python (ns)', 'CPU Native (ns)']], ['GPU', ['GPU Time (ns)']],
	['CUDA calls', ['CUDA Calls (ns)']], ['Off CPU', ['Off-CPU (ns)']]];

// By "file:line": {CPU, GPU, ...} in ns, of all functions of the line.
export function lineCosts(model) {
	const costs = new Map();

	for (const row of rowsOf(model, model.tables.find(table => table.name === 'lines'))) {
		const cost = costs.get(row.Line) || Object.fromEntries(COSTS.map(([title]) => [title, 0]));

		for (const [title, columns] of COSTS)
			cost[title] += columns.reduce((sum, column) => sum + (row[column] || 0), 0);
		costs.set(row.Line, cost);
	}
	return costs;
}

// The titles of costs that at least one of them has.
export function costTitles(costs) {
	return COSTS.map(([title]) => title).filter(title => [...costs].some(cost => cost && cost[title]));
}

// The lines of a file: [{number, text, place, cost}].
export function sourceLines(model, source, costs) {
	const file = model.strings[source.file];

	return source.lines.map((text, i) => ({number: i + 1, text, place: `${file}:${i + 1}`,
		cost: costs.get(`${file}:${i + 1}`)}));
}

// The text of the file of a place, "file:line": {file, table: its name, row: that of the line}; null: it is not in the
// page.
export function sourceOf(model, place) {
	const [, file, line] = /^(.*):(\d+)$/s.exec(place) || [];
	const source = model.sources.find(one => model.strings[one.file] === file);

	return source && Number(line) <= source.lines.length ? {file, table: `source:${file}`, row: line - 1} : null;
}

// The row whose place a sentence names: of these rows, then of the roles; null: the sentence names none of them.
export function namedPlace(model, text, rows) {
	const isNamed = row => row.Line && `${text} `.includes(`${placeWords(row)} `);

	return [...rows, ...rowsOf(model, model.answer.roles)].find(isNamed) || null;
}

// The lines of a file around a place, and the source; null: its text is not in the page.
export function snippet(model, place, costs, around = 4) {
	for (const source of place ? model.sources : []) {
		const lines = sourceLines(model, source, costs), at = lines.findIndex(line => line.place === place);

		if (at >= 0)
			return {source, lines: lines.slice(Math.max(0, at - around), at + around + 1)};
	}
	return null;
}
