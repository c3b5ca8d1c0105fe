// SPDX-License-Identifier: Apache-2.0
// Tables: only visible rows have elements. The first column is the name; it stays in view, and is a link.
import {rowAddress} from './address.mjs';
import {copyButtons} from './copy.mjs';
import {make, onceAFrame} from './dom.mjs';
import {foldedRow} from './fold.mjs';
import {cell, exact, MEASURES, titleOf} from './format.mjs';
import {cellText, columnOrder, pickRows, tableRecords} from './sheet.mjs';

const ROW = 26, MORE = 8; // height of a row; additional rows above and below the visible ones
const PRINTED = 500;

// Widths of the columns as a grid's, and the least width of all of them.
function widths(model, table, order) {
	const parts = order.map((k, place) => {
		const {title, type} = table.columns[k];
		let most = titleOf(title, type).length * 0.9;

		for (let row = 0; row < Math.min(table.cells[k].length, 200); row++)
			most = Math.max(most, cell(cellText(model, table, k, row), type).length);
		if (type !== 'text')
			return {least: `${most + 2.5}ch`, most: ''};
		const least = `${Math.min(most, place ? 24 : 34) + (place ? 2 : 4)}ch`;

		return {least: place ? least : `min(${least}, 46vw)`, most: `${Math.min(most, 90) + 2}fr`};
	});

	return {columns: parts.map(p => p.most ? `minmax(${p.least}, ${p.most})` : p.least).join(' '),
		least: `calc(${parts.map(p => p.least).join(' + ')})`};
}

// A table that scrolls, with its own filter; returns its element. onChange is called with {filter, sort}. kindOf
// returns the data-kind of a row, by which it has a style; addressOf what the row links to. `row`: the one that is
// marked and in view.
export function tableView(model, table, {isPlain = false, filter: wanted = '', sort = '', row: marked = '',
	onChange = null, addressOf = rowAddress, kindOf = () => '',
	isFolded = isPlain ? null : foldedRow(model, table)} = {}) {
	const order = columnOrder(table), shown = new Map();
	let column = -1, isDown = false, rows = [], isPrinting = false, hides = Boolean(isFolded);
	const filter =
		make('input', {type: 'search', placeholder: 'Filter rows', 'aria-label': `Filter ${table.title}`});
	const count = make('span', {class: 'soft', role: 'status'});
	const fold = make('button', {class: 'quiet', 'data-fold': '', 'aria-pressed': 'false', onclick: () => {
		hides = !hides;
		fold.setAttribute('aria-pressed', String(!hides));
		arrange();
	}}, 'Idle helpers and start-up');
	const head = make('div', {class: 'row head', role: 'row', 'aria-rowindex': '1'});
	const body = make('div', {class: 'body', role: 'rowgroup'});
	const grid = make('div', {class: 'grid', role: 'table', tabindex: '0', 'aria-label': table.title},
		make('div', {class: 'head-group', role: 'rowgroup'}, head), body);
	const fill = onceAFrame(() => fillNow());

	/* Rows that stay keep their elements, so that they keep the focus. */
	function fillNow() {
		const first = isPrinting ? 0 : Math.max(0, Math.floor(grid.scrollTop / ROW) - MORE);
		const last = isPrinting ? Math.min(rows.length, PRINTED)
			: Math.min(rows.length, Math.ceil((grid.scrollTop + grid.clientHeight) / ROW) + MORE);

		body.style.height = `${(isPrinting ? last : rows.length) * ROW}px`;
		for (const [position, element] of shown)
			if (position < first || position >= last) {
				element.remove();
				shown.delete(position);
			}
		for (let position = first; position < last; position++)
			if (!shown.has(position)) {
				shown.set(position, line(rows[position], position));
				const next = shown.get(position + 1);

				body.insertBefore(shown.get(position), next && next.parentNode ? next : null);
			}
	}

	function line(row, position) {
		const address = addressOf(model, table, row), kind = kindOf(row);
		const element = make('div', {class: 'row', role: 'row', 'aria-rowindex': String(position + 2)},
			...order.map((k, place) => {
				const {type} = table.columns[k];
				const text = cell(cellText(model, table, k, row), type);
				const isLink = !place && address && text;
				const element = make('span', {role: 'cell', class: type === 'text' ? 'text' : 'number'},
					isLink ? make('a', {href: address}, text) : text);

				if (MEASURES.includes(type))
					element.title = exact(table.cells[k][row], type);
				else if (text.length > 24)
					element.title = text;
				return element;
			}));

		element.style.top = `${position * ROW}px`;
		if (kind)
			element.dataset.kind = kind;
		element.classList.toggle('hot', String(row) === String(marked));
		return element;
	}

	function pick(folded) {
		return pickRows(model, table, filter.value.trim(), column, isDown, folded);
	}

	function arrange() {
		rows = pick(hides ? isFolded : null);
		shown.clear();
		body.replaceChildren();
		grid.setAttribute('aria-rowcount', String(rows.length + 1));
		const total = table.rows > table.cells[0].length
				      ? `first ${table.cells[0].length.toLocaleString('en')} of `
				      : '';

		count.textContent = rows.length === table.rows
					    ? `${rows.length.toLocaleString('en')} row${rows.length === 1 ? '' : 's'}`
					    : `${rows.length.toLocaleString('en')} of ${total}${
						      table.rows.toLocaleString('en')} rows`;
		heads.forEach((head, place) => head.setAttribute('aria-sort', order[place] !== column ? 'none'
									      : isDown ? 'descending'
										       : 'ascending'));
		fill();
	}

	function tell() {
		if (onChange)
			onChange({filter: filter.value.trim(),
				sort: column < 0 ? '' : `${column}${isDown ? 'd' : 'a'}`});
	}

	function sortBy(k) {
		isDown = k === column ? !isDown : table.columns[k].type !== 'text';
		column = k;
		arrange();
		tell();
	}

	const heads = order.map(k => make('span',
		{role: 'columnheader', class: table.columns[k].type === 'text' ? 'text' : 'number'},
		make('button', {title: table.columns[k].title, onclick: () => sortBy(k)},
			titleOf(table.columns[k].title, table.columns[k].type))));
	const {columns, least} = widths(model, table, order);

	head.append(...heads);
	grid.style.setProperty('--columns', columns);
	grid.style.setProperty('--least', least);
	grid.addEventListener('scroll', fill);
	/* All of a row follows its link. */
	body.addEventListener('click', event => {
		const link = event.target.closest('.row')?.querySelector('a');

		if (link && !event.target.closest('a') && !String(getSelection()))
			link.click();
	});
	filter.addEventListener('input', () => {
		grid.scrollTop = 0;
		arrange();
		tell();
	});
	const toMarked = marked === '' ? null : new ResizeObserver(() => {
		grid.scrollTop = Math.max(0, rows.indexOf(Number(marked)) * ROW - grid.clientHeight / 3);
		toMarked.disconnect();
	});

	new ResizeObserver(fill).observe(grid);
	if (toMarked)
		toMarked.observe(grid);
	for (const [event, is] of [['beforeprint', true], ['afterprint', false]])
		window.addEventListener(event, () => {
			isPrinting = is;
			if (grid.isConnected)
				fillNow();
		});
	filter.value = wanted;
	if (/^\d+[ad]$/.test(sort) && parseInt(sort, 10) < table.columns.length) {
		column = parseInt(sort, 10);
		isDown = sort.endsWith('d');
	}
	arrange();
	if (isPlain)
		grid.style.setProperty('--rows', Math.min(rows.length, 16));
	return make('section', {class: isPlain ? 'sheet plain' : 'sheet', 'data-table': table.name},
		    make('header', {}, make('h2', {}, table.title), make('code', {class: 'soft'}, table.name), count,
			 ...isFolded ? [fold] : [], filter,
			 ...copyButtons(table.name, table.title, () => tableRecords(model, table, pick(null)))),
		    grid);
}
