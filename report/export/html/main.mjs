// SPDX-License-Identifier: Apache-2.0
// Reads the data, fills the views and switches between them.
import {byId, make} from './dom.mjs';
import {readEvents, unpack} from './decode.mjs';
import {findingsView} from './findings.mjs';
import {FlameView} from './flameview.mjs';
import {overview} from './overview.mjs';
import {makeGroups} from './rows.mjs';
import {tableView} from './table.mjs';
import {Timeline} from './timeline.mjs';

const THEMES = ['auto', 'light', 'dark'];
const views = [...document.querySelectorAll('[role=tab]')].map(tab => tab.dataset.view);
const drawn = [];
let model;

async function take(id) {
	const element = byId(id), bytes = await unpack(element.textContent);

	element.remove();
	return bytes;
}

async function read() {
	const read = JSON.parse(new TextDecoder().decode(await take('model')));

	readEvents(await take('events'), read.tracks);
	read.groups = makeGroups(read);
	return read;
}

// ---- views ----

function show(view) {
	for (const name of views) {
		byId(name).hidden = name !== view;
		byId(`tab-${name}`).setAttribute('aria-selected', String(name === view));
		byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
	}
	byId('tip').hidden = true;
	drawn.forEach(one => one.draw());
	if (view === 'timeline')
		byId('scroller').focus({preventScroll: true});
}

function showTable(name) {
	const table = model.tables.find(candidate => candidate.name === name);

	show('tables');
	byId('sheet').replaceChildren(tableView(model, table));
	for (const button of byId('list').children)
		button.setAttribute('aria-pressed', String(button.dataset.name === name));
}

function listTables() {
	const shown = model.tables.filter(table => !table.info);

	byId('list').replaceChildren(...shown.map(
		table => make('button', {
			class: 'choice',
			'data-name': table.name,
			'aria-pressed': 'false',
			onclick: () => showTable(table.name)
		},
			      table.title, make('span', {class: 'soft'}, table.rows.toLocaleString('en')))));
	if (shown.length) {
		showTable(shown[0].name);
		show('overview');
	}
}

function fillLedger() {
	const of = ['ledger', 'calls_in_progress', 'not_recorded', 'settings'];
	const tables = of.map(name => model.tables.find(table => table.name === name)).filter(Boolean);

	byId('ledger').replaceChildren(make('p', {}, model.ledger),
				       ...model.problems.map(text => make('p', {class: 'note'}, text)),
				       ...tables.map(table => tableView(model, table, true)));
}

// ---- theme ----

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	byId('theme').textContent = `Theme: ${theme}`;
	drawn.forEach(one => one.restyle());
}

function nextTheme() {
	setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

// ---- keys that work everywhere ----

function onKey(event) {
	const isTyping = event.target.matches('input');

	if (event.key === '?' && !isTyping) {
		byId('help').showModal();
	} else if (event.key === '/' && !isTyping) {
		event.preventDefault();
		const view = views.find(name => !byId(name).hidden),
		      field = byId(view).querySelector('input[type=search]');

		(field || byId('search')).focus();
	} else if (/^[1-6]$/.test(event.key) && !isTyping && views[event.key - 1]) {
		show(views[event.key - 1]);
	}
}

function onTabKey(event) {
	const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];

	if (!step)
		return;
	const view = views[(views.indexOf(event.target.dataset.view) + step + views.length) % views.length];

	show(view);
	byId(`tab-${view}`).focus();
}

function listen() {
	for (const name of views) {
		byId(`tab-${name}`).addEventListener('click', () => show(name));
		byId(`tab-${name}`).addEventListener('keydown', onTabKey);
	}
	byId('theme').addEventListener('click', nextTheme);
	byId('help-button').addEventListener('click', () => byId('help').showModal());
	document.addEventListener('keydown', onKey);
	window.matchMedia('(prefers-color-scheme: dark)')
		.addEventListener('change', () => drawn.forEach(one => one.restyle()));
}

async function start() {
	model = await read();
	byId('overview').replaceChildren(...overview(model, showTable));
	drawn.push(new Timeline(model, model.groups), new FlameView(model));
	listTables();
	byId('findings').replaceChildren(...findingsView(model));
	fillLedger();
	listen();
	/* page.html#timeline opens there. */
	if (views.includes(location.hash.slice(1)))
		show(location.hash.slice(1));
	byId('when').textContent = new Date(model.realtime).toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
	document.documentElement.dataset.ready = '';
	performance.mark('ready');
}

start().catch(error => {
	byId('overview').replaceChildren(make('p', {class: 'note'},
		typeof DecompressionStream === 'undefined' ? 'This browser is too old: it has no DecompressionStream.' :
			`This page cannot be read: ${error.message}`));
	throw error;
});
