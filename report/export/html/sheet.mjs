// SPDX-License-Identifier: Apache-2.0
// Sorts and filters the rows of a table, independent of the DOM.

export function cellText(model, table, column, row) {
	const value = table.cells[column][row];

	return value !== null && table.columns[column].type === 'text' ? model.strings[value] : value;
}

// Rows with a cell that contains the filter, sorted by a column; column -1: unsorted. Missing cells are last.
export function pickRows(model, table, filter, column, isDown) {
	const count = table.cells.length ? table.cells[0].length : 0, wanted = filter.toLowerCase();
	let rows = Array.from({length: count}, (none, row) => row);

	if (wanted)
		rows = rows.filter(row => table.columns.some((c, k) =>
			String(cellText(model, table, k, row) ?? '').toLowerCase().includes(wanted)));
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
