// SPDX-License-Identifier: Apache-2.0
// What the page of a comparison shows, independent of the DOM: its rows, and trees of both sides.
import {makeTree} from './flame.mjs';

const CHANGED = ['slower', 'faster', 'new', 'vanished'];
const LEADING = ['Name', 'Verdict', 'Change (%)', 'Noise (%)', 'Share (%)'];

// The table without its first row, the total: what says what has changed first, rows whose change is no noise first.
export function changedRows(model, table) {
	const place = column => (LEADING.indexOf(column.title) + LEADING.length + 1) % (LEADING.length + 1);
	const order = [...table.columns.keys()].sort((a, b) => place(table.columns[a]) - place(table.columns[b]) ||
		a - b).filter(k => table.columns[k].type !== 'text' || table.cells[k].some(cell => cell !== null));
	const verdicts = table.cells[table.columns.findIndex(column => column.title === 'Verdict')];
	const isSure = row => verdicts && CHANGED.includes(model.strings[verdicts[row]]);
	const rows = [...table.cells[0].keys()].slice(1).sort((a, b) => isSure(b) - isSure(a) || a - b);

	return {...table, rows: table.rows - 1, columns: order.map(k => table.columns[k]),
		cells: order.map(k => rows.map(row => table.cells[k][row]))};
}

// The stacks of one side, with values per run.
function stacksOf(captures, metric, isAfter) {
	const side = captures.filter(capture => capture.isAfter === isAfter);

	return side.flatMap(capture => capture.profiles.filter(profile => profile.metric === metric)
		.flatMap(({stacks}) => stacks.map(([value, ...stack]) => [value / side.length, ...stack])));
}

// The metrics for which at least one side has stacks.
export function metricsOf(captures) {
	const known = new Map(captures.flatMap(capture => capture.profiles.map(profile => [profile.metric, profile])));

	return [...known.values()].map(({metric, title, unit}) => ({metric, title, unit}));
}

// The metric that the rows are of.
export function metricOfRows(metrics, by) {
	return Math.max(0, metrics.findIndex(({metric}) => metric === {kernel: 'gpu', line: 'cpu'}[by]));
}

// Gives each node what the other tree has at its place: node.other.
function pair(node, other) {
	node.other = other ? other.value : 0;
	for (const [name, child] of node.children)
		pair(child, other && other.children.get(name));
}

// The tree of one side, processes merged, whose nodes know the value of the other side.
export function pairedTree(captures, {metric, title}, isAfter) {
	return comparedTree(stacksOf(captures, metric, isAfter), stacksOf(captures, metric, !isAfter), title);
}

// The tree of some stacks, processes merged, whose nodes know the value that other stacks have at their place.
export function comparedTree(stacks, others, title) {
	const tree = makeTree(stacks, title, 2);

	pair(tree, makeTree(others, title, 2));
	return tree;
}

const FULL = 0.05; // the part of all whose change has the full colour

// Of a growth as a part of all: red has grown, blue has shrunk; the more, the stronger.
export function changeColor(part, isDark) {
	const strength = Math.min(1, Math.abs(part) / FULL), light = isDark ? 34 + 8 * strength : 88 - 22 * strength;

	return `hsl(${part > 0 ? 8 : 214} ${Math.round(75 * strength)}% ${Math.round(light)}%)`;
}

// How much more a node has after than before, as a part of all.
export function growth(node, isAfter, total) {
	return total ? (isAfter ? node.value - node.other : node.other - node.value) / total : 0;
}
