// SPDX-License-Identifier: Apache-2.0
// Sorts and filters the rows of a table, and writes them as text, independent of the DOM.

const NAME_TITLES = ['Name', 'NVTX Range', 'Range', 'Operation', 'Path', 'Peer', 'Line', 'Module', 'Command',
	'API Function', 'API Name', 'Kernel Name', 'Thread', 'Call', 'Setting', 'Fact', 'Program', 'Cause'];
const NO_NAME_TITLES = ['Rule', 'Verdict', 'Host', 'Rank'];

export function cellText(model, table, column, row) {
	const value = table.cells[column][row];

	return value !== null && table.columns[column].type === 'text' ? model.strings[value] : value;
}

// The column that says what a row is about.
export function nameColumn(table) {
	const column = title => table.columns.findIndex(c => c.title === title && c.type === 'text');
	const named = NAME_TITLES.map(column).find(k => k >= 0);
	const isText = c => c.type === 'text' && !NO_NAME_TITLES.includes(c.title);

	return named ?? Math.max(0, table.columns.findIndex(isText));
}

// Columns as they are shown: the name first.
export function columnOrder(table) {
	const name = nameColumn(table);

	return [name, ...table.columns.keys()].filter((k, i) => !i || k !== name);
}

// Rows with a cell that contains the filter, sorted by a column; column -1: unsorted. Missing cells are last.
// isFolded(row): the row is left out, unless there is a filter; null: none is.
export function pickRows(model, table, filter, column, isDown, isFolded = null) {
	const count = table.cells.length ? table.cells[0].length : 0, wanted = filter.toLowerCase();
	let rows = Array.from({length: count}, (none, row) => row);

	if (wanted)
		rows = rows.filter(row => table.columns.some((c, k) =>
			String(cellText(model, table, k, row) ?? '').toLowerCase().includes(wanted)));
	else if (isFolded)
		rows = rows.filter(row => !isFolded(row));
	if (column < 0)
		return rows;
	const sign = isDown ? -1 : 1, isText = table.columns[column].type === 'text';
	const key = row => cellText(model, table, column, row);

	return rows.sort((a, b) => {
		const x = key(a), y = key(b);

		if (x === null || y === null)
			return (x === null) - (y === null);
		return sign * (isText ? x.localeCompare(y, 'en', {numeric: true}) : x - y);
	});
}

const DIGITS = {mean: 1, percent: 1, mb: 3};

// Records as csv, or separated by tabs for pasting into a spreadsheet.
export function joinCells(records, separator) {
	const quote = cell => /[",\t\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

	return `${records.map(record => record.map(quote).join(separator)).join('\n')}\n`;
}

// These rows with the titles, in the order of columns and with the numbers of `pillion stats -f csv`.
export function tableRecords(model, table, rows) {
	const text = (row, k) => {
		const value = cellText(model, table, k, row), digits = DIGITS[table.columns[k].type];

		return value === null ? '' : digits ? value.toFixed(digits) : String(value);
	};

	return [table.columns.map(c => c.title), ...rows.map(row => table.columns.map((c, k) => text(row, k)))];
}

// A table as the page's data have them; `columns`: [title, type, value of a row].
export function makeTable(model, name, title, columns, rows) {
	const known = model.addedStrings = model.addedStrings || new Map();
	const stringOf = text => {
		if (!known.has(text))
			known.set(text, model.strings.push(text) - 1);
		return known.get(text);
	};

	return {name, title, rows: rows.length, columns: columns.map(([head, type]) => ({title: head, type})),
		cells: columns.map(([, type, value]) => rows.map(row => {
			const cell = value(row);

			return cell === null ? null : type === 'text' ? stringOf(cell) : Math.round(cell);
		}))};
}
