// SPDX-License-Identifier: Apache-2.0
// The chart of the table `roofline`: kernels by arithmetic intensity and rate, below what their device allows.
import {rowAddress} from './address.mjs';
import {make} from './dom.mjs';
import {duration} from './format.mjs';
import {cellText} from './sheet.mjs';

// The plot in a picture of that size; how many kernels have a point and a name; the distance between two names.
const PLOT = {width: 1000, height: 420, left: 84, right: 980, top: 26, bottom: 372};
const POINTS = 200, NAMES = 6, NAME_LENGTH = 48, NAME_ROOM = [260, 15];

function cellsOf(table, title) {
	return table.cells[table.columns.findIndex(c => c.title === title)];
}

// The kernels with a place in the chart, those of the most time first, and the ceilings above them.
export function roofPoints(model, table) {
	const time = cellsOf(table, 'Total Time (ns)'), intensity = cellsOf(table, 'FLOP/byte');
	const rate = cellsOf(table, 'GFLOP/s'), peak = cellsOf(table, 'Peak GFLOP/s');
	const share = cellsOf(table, 'Attainable (%)');
	const text = (title, row) => cellText(model, table, table.columns.findIndex(c => c.title === title), row) ?? '';
	const points = [], ceilings = new Map();

	for (let row = 0; row < time.length && points.length < POINTS; row++)
		if (intensity[row] > 0 && rate[row] > 0)
			points.push({row, time: time[row], intensity: intensity[row], rate: rate[row], peak: peak[row],
				share: share[row], name: text('Name', row), type: text('Type', row)});
	for (const p of points)
		if (p.peak)
			ceilings.set(p.peak, p.type);
	return {points, ceilings: [...ceilings].map(([value, type]) => ({peak: value, type}))};
}

// The powers of ten around the values.
export function decades(values) {
	const logs = values.filter(v => v > 0).map(Math.log10);
	const from = Math.floor(Math.min(...logs)), to = Math.ceil(Math.max(...logs));

	return [from, Math.max(to, from + 1)];
}

function bandwidths(model) {
	const devices = model.tables.find(t => t.name === 'cuda_devices');

	return devices ? [...new Set(cellsOf(devices, 'Bandwidth (GB/s)').filter(v => v > 0))] : [];
}

// Both axes: the exponents at their ends, and the place of a value.
function scalesOf(points, peaks, memory) {
	const ridges = peaks.flatMap(peak => memory.map(rate => peak / rate));
	const across = decades([...points.map(p => p.intensity), ...ridges]);
	const up = decades([...points.map(p => p.rate), ...peaks]);
	const part = (value, [from, to]) => (Math.log10(value) - from) / (to - from);

	return {across, up, x: value => PLOT.left + part(value, across) * (PLOT.right - PLOT.left),
		y: value => PLOT.bottom - part(value, up) * (PLOT.bottom - PLOT.top)};
}

// The namespace of SVG is taken from an element, so that the page has no address in it, which a test checks.
let namespace = '';

function shape(name, properties, ...children) {
	namespace ||= new DOMParser().parseFromString('<svg></svg>', 'text/html').querySelector('svg').namespaceURI;
	const element = document.createElementNS(namespace, name);

	for (const [key, value] of Object.entries(properties))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

function caption(x, y, text, anchor = 'start', more = {}) {
	return shape('text', {x, y, 'text-anchor': anchor, ...more}, text);
}

function segment(x1, y1, x2, y2, name) {
	return shape('line', {x1, y1, x2, y2, class: name});
}

// "10", "1000", "1e4", "0.01"
function power(exponent) {
	return exponent > 3 || exponent < -3 ? `1e${exponent}` : String(10 ** exponent);
}

function axes({across, up, x, y}) {
	const parts = [];

	for (let i = across[0]; i <= across[1]; i++)
		parts.push(segment(x(10 ** i), PLOT.top, x(10 ** i), PLOT.bottom, 'grid-line'),
			   caption(x(10 ** i), PLOT.bottom + 18, power(i), 'middle'));
	for (let i = up[0]; i <= up[1]; i++)
		parts.push(segment(PLOT.left, y(10 ** i), PLOT.right, y(10 ** i), 'grid-line'),
			   caption(PLOT.left - 8, y(10 ** i) + 4, power(i), 'end'));
	return [...parts, caption(PLOT.left - 8, PLOT.top - 10, 'GFLOP/s', 'end'),
		caption((PLOT.left + PLOT.right) / 2, PLOT.height - 8, 'FLOP per byte; bytes are estimates', 'middle')];
}

// A ceiling begins where the line of the memory meets it.
function roofs({across, up, x, y}, ceilings, memory) {
	const parts = [], widest = Math.max(...memory, 0), highest = Math.max(...ceilings.map(c => c.peak), 0);
	const left = 10 ** across[0], right = 10 ** across[1];

	for (const {peak, type} of ceilings) {
		const from = Math.max(left, widest ? peak / widest : left);

		parts.push(segment(x(from), y(peak), PLOT.right, y(peak), 'roof'),
			   caption(PLOT.right - 4, y(peak) - 5, `${type} ${(peak / 1e3).toFixed(1)} TFLOP/s`, 'end'));
	}
	for (const rate of memory) {
		const from = Math.max(left, 10 ** up[0] / rate), to = Math.min(right, (highest || 10 ** up[1]) / rate);

		if (to > from)
			parts.push(segment(x(from), y(from * rate), x(to), y(to * rate), 'roof'),
				   caption(x(from) + 12, Math.min(y(from * rate) + 18, PLOT.bottom - 6),
					   `memory ${Math.round(rate)} GB/s`));
	}
	return parts;
}

function pointOf(model, table, {x, y}, p, longest) {
	const text = `${p.name}: ${duration(p.time)}, ${p.rate} GFLOP/s, ${p.intensity} FLOP/byte, ${p.type}` +
		(p.share === null ? '' : `, ${p.share.toFixed(1)} % of what its device allows`);
	const circle = shape('circle', {cx: x(p.intensity), cy: y(p.rate), r: 4 + 10 * Math.sqrt(p.time / longest),
		class: 'point'}, shape('title', {}, text));
	const address = rowAddress(model, table, p.row);

	return address ? shape('a', {href: address, 'aria-label': text}, circle) : circle;
}

// Where two would overlap, only the name of the kernel with more time.
function namesOf({x, y}, points) {
	const placed = [];

	for (const p of points.slice(0, NAMES)) {
		const at = [x(p.intensity), y(p.rate)], {name} = p;
		const isFar = other => other.at.some((v, k) => Math.abs(v - at[k]) > NAME_ROOM[k]);

		if (placed.every(isFar))
			placed.push({at, text: name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH)}…` : name});
	}
	return placed.map(({at: [left, top], text}) => left > PLOT.width * 0.6
		? caption(left - 17, top + 4, text, 'end', {class: 'point-name'})
		: caption(left + 17, top + 4, text, 'start', {class: 'point-name'}));
}

// [] if nothing is known of what the kernels do.
export function rooflineCard(model, show) {
	const table = model.tables.find(t => t.name === 'roofline');
	const {points, ceilings} = table ? roofPoints(model, table) : {points: []};

	if (!points.length)
		return [];
	const memory = bandwidths(model), longest = Math.max(...points.map(p => p.time), 1);
	const scales = scalesOf(points, ceilings.map(c => c.peak), memory);
	const chart = shape('svg', {viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, class: 'roofline', role: 'group',
		'aria-label': `Roofline: ${points.length} kernels by arithmetic intensity and rate`},
		...axes(scales), ...roofs(scales, ceilings, memory),
		...points.map(p => pointOf(model, table, scales, p, longest)).reverse(), ...namesOf(scales, points));

	return [make('section', {class: 'card whole'},
		     make('header', {}, make('h2', {}, 'Roofline'),
			  make('button', {class: 'quiet', onclick: () => show('roofline')}, 'table')), chart)];
}
