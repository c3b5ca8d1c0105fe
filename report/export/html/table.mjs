// SPDX-License-Identifier: Apache-2.0
// Tables: only visible rows have elements.
import {make, onceAFrame} from './dom.mjs';
import {cell} from './format.mjs';
import {cellText, pickRows} from './sheet.mjs';

const ROW = 26, MORE = 8; // height of a row; additional rows above and below the visible ones

function widths(model, table) {
	return table.columns.map((column, k) => {
		let most = column.title.length * 0.9;

		for (let row = 0; row < Math.min(table.cells[k].length, 200); row++)
			most = Math.max(most, cell(cellText(model, table, k, row), column.type).length);
		return column.type === 'text' ? `minmax(${Math.min(most, 24) + 2}ch, ${Math.min(most, 90) + 2}fr)`
					      : `${most + 2.5}ch`;
	}).join(' ');
}

// A table that scrolls, with its own filter; returns its element.
export function tableView(model, table, isPlain = false) {
	let column = -1, isDown = false, rows = pickRows(model, table, '', -1, false);
	const filter =
		make('input', {type: 'search', placeholder: 'Filter rows', 'aria-label': `Filter ${table.title}`});
	const count = make('span', {class: 'soft', role: 'status'});
	const head = make('div', {class: 'row head', role: 'row', 'aria-rowindex': '1'});
	const body = make('div', {class: 'body', role: 'rowgroup'});
	const grid = make('div', {class: 'grid', role: 'table', tabindex: '0', 'aria-label': table.title}, head, body);
	const fill = onceAFrame(() => {
		const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - MORE);
		const last = Math.min(rows.length, Math.ceil((grid.scrollTop + grid.clientHeight) / ROW) + MORE);

		body.style.height = `${rows.length * ROW}px`;
		body.replaceChildren(...rows.slice(first, last).map((row, i) => line(row, first + i)));
	});

	function line(row, position) {
		const element = make('div', {class: 'row', role: 'row', 'aria-rowindex': String(position + 2)},
			...table.columns.map((c, k) => {
				const text = cell(cellText(model, table, k, row), c.type);
				const element = make(
					'span', {role: 'cell', class: c.type === 'text' ? 'text' : 'number'}, text);

				if (text.length > 24)
					element.title = text;
				return element;
			}));

		element.style.top = `${position * ROW}px`;
		return element;
	}

	function arrange() {
		rows = pickRows(model, table, filter.value.trim(), column, isDown);
		grid.setAttribute('aria-rowcount', String(rows.length + 1));
		const total = table.rows > table.cells[0].length
				      ? `first ${table.cells[0].length.toLocaleString('en')} of `
				      : '';

		count.textContent = rows.length === table.rows
					    ? `${rows.length.toLocaleString('en')} row${rows.length === 1 ? '' : 's'}`
					    : `${rows.length.toLocaleString('en')} of ${total}${
						      table.rows.toLocaleString('en')} rows`;
		heads.forEach((head, k) => head.setAttribute('aria-sort', k !== column ? 'none'
									  : isDown     ? 'descending'
										       : 'ascending'));
		fill();
	}

	function sortBy(k) {
		isDown = k === column ? !isDown : table.columns[k].type !== 'text';
		column = k;
		arrange();
	}

	const heads = table.columns.map(
		(c, k) => make('span', {role: 'columnheader', class: c.type === 'text' ? 'text' : 'number'},
			       make('button', {onclick: () => sortBy(k)}, c.title)));

	head.append(...heads);
	grid.style.setProperty('--columns', widths(model, table));
	grid.addEventListener('scroll', fill);
	filter.addEventListener('input', () => {
		grid.scrollTop = 0;
		arrange();
	});
	new ResizeObserver(fill).observe(grid);
	arrange();
	if (isPlain)
		grid.style.setProperty('--rows', Math.min(rows.length, 16));
	return make('section', {class: isPlain ? 'sheet plain' : 'sheet', 'data-table': table.name},
		    make('header', {}, make('h2', {}, table.title), make('code', {class: 'soft'}, table.name), count,
			 filter),
		    grid);
}
