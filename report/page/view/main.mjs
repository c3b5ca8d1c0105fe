// SPDX-License-Identifier: Apache-2.0
// Reads the data, fills the views and switches between them.
import {formatAddress, parseAddress} from './address.mjs';
import {byId, make} from './dom.mjs';
import {readEvents, unpack} from './decode.mjs';
import {findingsView} from './findings.mjs';
import {FlameView} from './flameview.mjs';
import {overview, sourceTables} from './overview.mjs';
import {makeGroups} from './rows.mjs';
import {tableView} from './table.mjs';
import {Timeline} from './timeline.mjs';

const THEMES = ['auto', 'light', 'dark'];
const views = [...document.querySelectorAll('[role=tab]')].map(tab => tab.dataset.view);
const REMEMBER_MS = 300;
const drawn = [];
let model, timeline, flames, shownTable = {}, remembering;

async function take(id) {
	const element = byId(id), bytes = await unpack(element.textContent);

	element.remove();
	return bytes;
}

async function read() {
	const read = JSON.parse(new TextDecoder().decode(await take('model')));

	readEvents(await take('events'), read.tracks);
	read.profiles.sort((a, b) => (b.metric === 'cpu') - (a.metric === 'cpu'));
	read.groups = makeGroups(read);
	return read;
}

// ---- views, and the address that names what is seen ----

// Shows a view; returns whether it was another one.
function show(view) {
	const isNew = byId(view).hidden;

	for (const name of views) {
		byId(name).hidden = name !== view;
		byId(`tab-${name}`).setAttribute('aria-selected', String(name === view));
		byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
	}
	byId('tip').hidden = true;
	drawn.forEach(one => one.draw());
	if (view === 'timeline')
		byId('scroller').focus({preventScroll: true});
	return isNew;
}

// A tab or a key: the view as it was left, and a step that the browser can go back.
function turnTo(view) {
	if (show(view))
		history.pushState(null, '', formatAddress(address()));
}

function address() {
	const view = views.find(name => !byId(name).hidden);
	const of = {tables: () => shownTable, timeline: () => timeline.address(), flames: () => flames.address()};

	return {view, ...of[view] ? of[view]() : {}};
}

// Keeps the address current; browsers limit how often it may change.
function remember() {
	clearTimeout(remembering);
	remembering = setTimeout(() => {
		if (document.documentElement.dataset.ready !== undefined)
			history.replaceState(null, '', formatAddress(address()));
	}, REMEMBER_MS);
}

function follow() {
	const {view, ...rest} = parseAddress(location.hash), hasMore = Object.keys(rest).length > 0;

	clearTimeout(remembering);
	show(views.includes(view) ? view : 'overview');
	if (view === 'tables' && hasMore)
		showTable(rest);
	else if (view === 'timeline' && hasMore)
		timeline.restore(rest);
	else if (view === 'flames' && hasMore)
		flames.restore(rest);
}

function showTable({table: name, ...state}) {
	const table = model.tables.find(candidate => candidate.name === name && !candidate.info);

	if (!table)
		return;
	shownTable = {table: name, ...state};
	byId('sheet').replaceChildren(tableView(model, table, {...state,
		...table.addressOf ? {addressOf: table.addressOf} : {}, onChange: change => {
			shownTable = {table: name, ...change};
			remember();
		}}));
	for (const button of byId('choices').querySelectorAll('button'))
		button.setAttribute('aria-pressed', String(button.dataset.name === name));
}

function turnToTable(name, row = '') {
	show('tables');
	showTable({table: name, row});
	history.pushState(null, '', formatAddress(address()));
}

// By topic; the critical path is of the run, and sources are apart.
function topicsOf(shown) {
	const titles = [...model.topics, 'Sources'], last = model.topics.length - 1;
	const topic = ({name}) => name.startsWith('source:') ? last + 1 : model.topicOf[name] ?? last;

	return titles.map((title, i) => ({title, tables: shown.filter(table => topic(table) === i)}))
		.filter(({tables}) => tables.length);
}

function listTables() {
	const shown = model.tables.filter(table => !table.info);
	const button = table => make('button', {class: 'choice', 'data-name': table.name, 'aria-pressed': 'false',
		onclick: () => turnToTable(table.name)}, table.title,
	make('span', {class: 'soft'}, table.rows.toLocaleString('en')));

	byId('choices').replaceChildren(...topicsOf(shown).map(({title, tables}) =>
		make('section', {}, make('h2', {}, title), ...tables.map(button))));
	byId('find-table').addEventListener('input', event => findTables(event.target.value.trim().toLowerCase()));
	if (shown.length)
		showTable({table: shown[0].name});
}

// Leaves the tables that have the text in their title, their name or a title of a column.
function findTables(wanted) {
	for (const section of byId('choices').children) {
		for (const button of section.querySelectorAll('button')) {
			const {title, name, columns} = model.tables.find(one => one.name === button.dataset.name);

			button.hidden = ![title, name, ...columns.map(column => column.title)]
				.some(text => text.toLowerCase().includes(wanted));
		}
		section.hidden = !section.querySelector('button:not([hidden])');
	}
}

function fillLedger() {
	const of = ['crashes', 'ledger', 'calls_in_progress', 'not_recorded', 'settings'];
	const tables = of.map(name => model.tables.find(table => table.name === name)).filter(Boolean);

	byId('ledger').replaceChildren(make('p', {}, model.ledger),
				       ...model.problems.map(text => make('p', {class: 'note'}, text)),
				       ...tables.map(table => tableView(model, table, {isPlain: true})));
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
	const isTyping = event.target.matches('input, select');

	if (event.key === '?' && !isTyping) {
		byId('help').showModal();
	} else if (event.key === '/' && !isTyping) {
		event.preventDefault();
		const view = views.find(name => !byId(name).hidden),
		      field = byId(view).querySelector('input[type=search]');

		(field || byId('search')).focus();
	} else if (/^[1-6]$/.test(event.key) && !isTyping && views[event.key - 1]) {
		turnTo(views[event.key - 1]);
	}
}

function onTabKey(event) {
	const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];

	if (!step)
		return;
	const view = views[(views.indexOf(event.target.dataset.view) + step + views.length) % views.length];

	turnTo(view);
	byId(`tab-${view}`).focus();
}

function listen() {
	for (const name of views) {
		byId(`tab-${name}`).addEventListener('click', () => turnTo(name));
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
	model.tables.push(...model.answer.critical.rows ? [{...model.answer.critical, info: false}] : [],
			  ...sourceTables(model));
	byId('overview').replaceChildren(...overview(model, turnToTable));
	timeline = new Timeline(model, model.groups, remember);
	flames = new FlameView(model, remember);
	drawn.push(timeline, flames);
	listTables();
	byId('findings').replaceChildren(...findingsView(model));
	fillLedger();
	listen();
	if (location.hash)
		follow();
	window.addEventListener('hashchange', follow);
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
