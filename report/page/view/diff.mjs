// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: the verdict, the rows, and the flame graph of either side coloured by what has changed.
import {changeColor, changedRows, growth, metricOfRows, metricsOf, pairedTree} from './changes.mjs';
import {unpack} from './decode.mjs';
import {byId, make} from './dom.mjs';
import {FlameChart} from './flamechart.mjs';
import {duration} from './format.mjs';
import {tableView} from './table.mjs';

const SIGNS = {'not worse': '✓', worse: '✗', 'cannot judge': '?'};
let model, chart, metrics;
const shown = {metric: 0, isAfter: true};

function percent(part, digits = 1) {
	return `${part >= 0 ? '+' : '−'}${(100 * Math.abs(part)).toFixed(digits)} %`;
}

function tile(name, value, more = '') {
	return make('div', {class: 'tile'}, make('span', {class: 'soft'}, name), make('strong', {}, value),
		    make('span', {class: 'soft small'}, more));
}

function captureNames(isAfter) {
	return model.captures.filter(capture => capture.isAfter === isAfter).map(capture => capture.name).join(', ');
}

function fillVerdict() {
	const {verdict, reason, before, after, change, noise, common, explained, gate, isPair} = model;
	const isKnown = before > 0 && after > 0;

	byId('verdict').dataset.verdict = verdict;
	byId('verdict').replaceChildren(
		make('h2', {}, make('span', {class: 'sign', 'aria-hidden': 'true'}, SIGNS[verdict]), verdict),
		make('p', {}, `${reason.slice(reason.indexOf(':') + 2)}.`));
	byId('tiles').replaceChildren(
		tile('Before', duration(before), captureNames(false)),
		tile('After', duration(after), captureNames(true)),
		...isKnown ? [tile('Change', percent(change),
				   `noise ±${(100 * noise).toFixed(1)} %, the standard error`)] : [],
		...isKnown && isPair ? [tile('Common to all rows', percent(common), 'as on a slower or faster machine')]
			: [],
		tile('By changed rows', percent(explained), 'whose change is no noise'),
		tile('Gate', `${(100 * gate).toFixed(1)} %`, 'worse from this change on'));
}

// The frames that the flame graph has, by their text and by their function.
function knownFrames() {
	const known = new Set();

	for (const {profiles} of model.captures)
		for (const {stacks} of profiles)
			for (const id of stacks.flatMap(stack => stack.slice(3)))
				known.add(model.strings[id]);
	return known;
}

function fillRows() {
	const table = changedRows(model, model.table), known = knownFrames();
	const [name, verdict] = ['Name', 'Verdict'].map(title =>
		table.columns.findIndex(column => column.title === title));
	const address = (of, {cells}, row) => {
		const text = of.strings[cells[name][row]].split(' -> ').at(-1);

		return known.has(text) ? `#${encodeURIComponent(text)}` : '';
	};

	byId('rows').replaceChildren(tableView(model, table, {
		addressOf: address,
		kindOf: row => model.strings[table.cells[verdict][row]].replaceAll(' ', '-')
	}));
}

// ---- the flame graph ----

function tellNode(node) {
	const [before, after] = shown.isAfter ? [node.other, node.value] : [node.value, node.other];
	const change = before ? percent(after / before - 1) : 'new';

	byId('flame-line').replaceChildren(make('span', {class: 'text'},
		`${chart.text(node)} — ${chart.amount(before)} before, ${chart.amount(after)} after: ${
			after ? change : 'vanished'}, ${percent(growth(node, shown.isAfter, chart.total))} of all`));
}

function showFlame(change) {
	Object.assign(shown, change);
	const metric = metrics[shown.metric], root = pairedTree(model.captures, metric, shown.isAfter);

	chart.total = shown.isAfter ? root.other || root.value : root.value || root.other;
	chart.show([{root}], metric.unit, new Set());
	byId('before').setAttribute('aria-pressed', String(!shown.isAfter));
	byId('after').setAttribute('aria-pressed', String(shown.isAfter));
}

function fillFlame() {
	metrics = metricsOf(model.captures);
	if (!metrics.length) {
		byId('tab-flames').hidden = true;
		return;
	}
	chart = new FlameChart(model, byId('flame'), byId('flame-scroller'), {onLook: tellNode,
		colorOf: (node, isDark) => changeColor(growth(node, shown.isAfter, chart.total), isDark)});
	byId('metric').replaceChildren(...metrics.map(({title}, i) => make('option', {value: String(i)}, title)));
	byId('metric').addEventListener('change', event => showFlame({metric: Number(event.target.value)}));
	byId('before').addEventListener('click', () => showFlame({isAfter: false}));
	byId('after').addEventListener('click', () => showFlame({isAfter: true}));
	byId('flame-search').addEventListener('input', event => chart.highlight(event.target.value.trim()));
	showFlame({metric: metricOfRows(metrics, model.by)});
	byId('metric').value = String(shown.metric);
}

// ---- tabs ----

function turn(view) {
	for (const tab of document.querySelectorAll('[role=tab]')) {
		const isShown = tab.dataset.view === view;

		byId(tab.dataset.view).hidden = !isShown;
		tab.setAttribute('aria-selected', String(isShown));
		tab.tabIndex = isShown ? 0 : -1;
	}
	if (chart)
		chart.draw();
}

// A row's link: its function in the flame graph, of a metric that has it.
function followRow() {
	const text = decodeURIComponent(location.hash.slice(1));

	if (!text || !chart)
		return;
	const has = ({metric}) => model.captures.flatMap(({profiles}) => profiles).some(profile =>
		profile.metric === metric &&
		profile.stacks.some(stack => stack.slice(3).some(id => model.strings[id] === text)));

	turn('flames');
	byId('flame-search').value = text;
	showFlame({metric: Math.max(0, metrics.findIndex(has))});
	byId('metric').value = String(shown.metric);
	chart.highlight(text);
	byId('flame-scroller').focus();
}

function listenTabs() {
	const tabs = [...document.querySelectorAll('[role=tab]')].filter(tab => !tab.hidden);

	tabs.forEach((tab, i) => {
		tab.addEventListener('click', () => turn(tab.dataset.view));
		tab.addEventListener('keydown', event => {
			const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];

			if (!step)
				return;
			const next = tabs[(i + step + tabs.length) % tabs.length];

			turn(next.dataset.view);
			next.focus();
		});
	});
	window.addEventListener('hashchange', followRow);
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => chart && chart.restyle());
}

async function startDiff() {
	const element = byId('model');

	model = JSON.parse(new TextDecoder().decode(await unpack(element.textContent)));
	element.remove();
	fillVerdict();
	fillRows();
	fillFlame();
	listenTabs();
	followRow();
	document.documentElement.dataset.ready = '';
}

startDiff().catch(error => {
	byId('verdict').replaceChildren(make('p', {class: 'note'}, `This page cannot be read: ${error.message}`));
	throw error;
});
