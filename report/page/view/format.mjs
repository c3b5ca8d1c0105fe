// SPDX-License-Identifier: Apache-2.0
// Formats numbers for people.

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// Four significant digits: 1.234 ms, 12.34 ms, 123.4 ms.
export function duration(ns) {
	const [scale, unit] = UNITS.find(([least]) => Math.abs(ns) >= least) || UNITS[3];
	const value = ns / scale;
	const digits = unit === 'ns' ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;

	return `${value.toFixed(digits)} ${unit}`;
}

// A point in time, with the digits that a distance of `step` requires.
export function instant(ns, step) {
	const [scale, unit] = UNITS.find(([least]) => Math.max(Math.abs(ns), step) >= least) || UNITS[3];
	const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / step))));

	return `${(ns / scale).toFixed(unit === 'ns' ? 0 : digits)} ${unit}`;
}

// The value of a counter: thousandths of its unit, or bytes.
export function counterText({unit}, value) {
	if (!unit)
		return bytes(value);
	value /= 1000;
	if (unit.startsWith('bytes'))
		return bytes(value) + unit.slice('bytes'.length);
	return `${value < 100 ? Number(value.toPrecision(3)) : whole(Math.round(value))} ${unit}`;
}

export function bytes(count) {
	const size = Math.abs(count);

	if (size < 1e4)
		return `${whole(count)} B`;
	if (size < 1e6)
		return `${(count / 1e3).toFixed(1)} kB`;
	return size < 1e9 ? `${(count / 1e6).toFixed(1)} MB` : `${(count / 1e9).toFixed(2)} GB`;
}

// 1,234,567
export function whole(count) {
	return String(Math.trunc(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

// 1,234,567.8
function grouped(value, digits) {
	return value.toFixed(digits).replace(/\B(?=(\d{3})+\.)/g, ',');
}

// Types of columns whose cells have a unit that suits each, as on a terminal.
export const MEASURES = ['ns', 'mean', 'mb'];

// A cell of a table by its column's type.
export function cell(value, type) {
	if (value === null)
		return '';
	switch (type) {
	case 'count':
		return whole(value);
	case 'ns':
	case 'mean':
		return value ? duration(value) : '0';
	case 'percent':
		return grouped(value, 1);
	case 'mb':
		return value ? bytes(1e6 * value) : '0';
	default:
		return String(value);
	}
}

// Such a cell with all of its digits.
export function exact(value, type) {
	return value === null ? '' : type === 'mb' ? `${grouped(value, 3)} MB`
		: `${type === 'mean' ? grouped(value, 1) : whole(value)} ns`;
}

// The title of a column without a unit that its cells have.
export function titleOf(title, type) {
	return MEASURES.includes(type) ? title.replace(/ \((ns|MB)\)$/, '') : title;
}

// "100 python3 train.py" of "python3 train.py [100]": the id of a process or a thread before its name.
export function idFirst(label) {
	return label.replace(/^(.*) \[(\d+)\]/s, '$2 $1');
}
