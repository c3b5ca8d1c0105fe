// SPDX-License-Identifier: Apache-2.0
// The view of flame graphs: which values, in which order, of which processes; and where it is in the address.
import {formatAddress, functionOf, sourceAddress} from './address.mjs';
import {changeColor, comparedTree, growth} from './changes.mjs';
import {color} from './colors.mjs';
import {byId, make, palette} from './dom.mjs';
import {childrenOf, headsOf, invertedTree, isOfPython, kindsOf, makeTree, nodeAt, pathOf, pickFrames,
	sandwichTrees} from './flame.mjs';
import {FlameChart, KINDS} from './flamechart.mjs';
import {foldedStack} from './fold.mjs';
import {idFirst} from './format.mjs';

const FRAMES = {python: 'Python only', program: 'Without the interpreter', all: 'All frames'};
const ORDERS = {callees: 'Callers to callees', callers: 'Inverted: to callers', sandwich: 'Sandwich: one function'};

export class FlameView {
	constructor(model, onChange) {
		this.model = model;
		this.onChange = onChange;
		this.state = {metric: 0, order: 'callees', by: 'process', function: '', focus: '', all: false,
			compare: ''};
		this.chart = new FlameChart(model, byId('flame'), byId('flame-scroller'), {
			onLook: node => this.tell(node),
			onPick: (node, tree) => this.keep({focus: pathOf(node) && `${tree}.${pathOf(node)}`})
		});
		this.colorOf = (node, isDark) => changeColor(growth(node, true, this.total), isDark);
		model.kinds = kindsOf(model.profiles);
		this.usual = model.profiles.length && isOfPython(this.folded(model.profiles[0]).stacks, model.kinds)
			? 'python' : 'program';
		this.state.frames = this.usual;
		byId('flame-frames').hidden = ![...model.kinds.values()].includes('python');
		byId('flame-frames').replaceChildren(...this.options(FRAMES));
		byId('flame-frames').addEventListener('change', event =>
			this.show({frames: event.target.value, focus: ''}));
		byId('flame-compare').addEventListener('change', event =>
			this.show({compare: event.target.value, focus: ''}));
		byId('metrics').replaceChildren(...model.profiles.map(
			(profile, i) => make('button', {class: 'choice', 'aria-pressed': 'false',
				onclick: () => this.show({metric: i, focus: ''})}, profile.title)));
		byId('flame-order').replaceChildren(...this.options(ORDERS));
		byId('flame-order').addEventListener('change', event =>
			this.show({order: event.target.value, focus: '', function: this.function()}));
		byId('flame-processes').addEventListener('change', event =>
			this.show({by: event.target.value, focus: ''}));
		byId('flame-fold').addEventListener('click', () => this.show({all: !this.state.all, focus: ''}));
		byId('flame-search').addEventListener('input', event => {
			this.chart.highlight(event.target.value.trim());
			this.keep({});
		});
		if (model.profiles.length)
			this.show({});
	}

	draw() {
		this.chart.draw();
	}

	restyle() {
		this.chart.restyle();
		this.legend();
	}

	options(texts) {
		return Object.entries(texts).map(([value, text]) => make('option', {value}, text));
	}

	// The kinds of frames that are shown, with their colours.
	legend() {
		const {isDark} = palette(), shown = new Set(this.profile.stacks.flatMap(stack =>
			stack.slice(3).map(id => this.model.kinds.get(id))));
		const swatch = (css, title) => {
			const box = make('i', {'aria-hidden': 'true'});

			box.style.background = css;
			return make('span', {}, box, title);
		};

		byId('flame-legend').replaceChildren(...this.state.compare
			? [swatch(changeColor(1, isDark), 'more here'), swatch(changeColor(-1, isDark), 'more there')]
			: Object.entries(KINDS).filter(([kind]) => shown.has(kind))
				.map(([, kind]) => swatch(color(kind, kind.title, isDark), kind.title)));
	}

	// The function whose sandwich is shown: the one that was looked at, or the one with the most of its own.
	function() {
		const {node} = this.chart;

		if (this.state.function)
			return this.state.function;
		if (node && node.parent && !this.chart.heads.has(node.name))
			return this.model.strings[node.name];
		const [first] = childrenOf(invertedTree(this.profile.stacks, '', 2));

		return first ? this.model.strings[first.name] : '';
	}

	// Without the stacks of idle helpers and of start-up, unless there are no others.
	folded(profile) {
		const stacks = profile.stacks.filter(stack => !foldedStack(this.model, stack));
		const hasFolded = stacks.length && stacks.length < profile.stacks.length;

		byId('flame-fold').hidden = !hasFolded;
		byId('flame-fold').setAttribute('aria-pressed', String(this.state.all));
		return hasFolded && !this.state.all ? {...profile, stacks} : profile;
	}

	of(process) {
		return this.profile.stacks.filter(stack => String(stack[1]) === process);
	}

	// All stacks, or those of one process.
	stacks() {
		const {by, compare} = this.state;

		return compare ? this.of(by) : by === 'process' || by === 'merged' ? this.profile.stacks
			: this.of(by);
	}

	trees() {
		const {order, function: wanted} = this.state, {title} = this.profile, stacks = this.stacks();
		const isOne = new Set(stacks.map(stack => stack[1])).size === 1;
		const skip = this.state.by === 'merged' ? 2 : isOne ? 1 : 0; /* a root for each thread */

		if (this.state.compare)
			return [{root: comparedTree(stacks, this.of(this.state.compare), title)}];

		if (order === 'callers')
			return [{root: invertedTree(stacks, title, skip)}];
		if (order !== 'sandwich')
			return [{root: makeTree(stacks, title, skip)}];
		const ids = new Map();
		const isFunction = id => {
			if (!ids.has(id))
				ids.set(id, this.model.strings[id] === wanted ||
					functionOf(this.model.strings[id]) === wanted);
			return ids.get(id);
		};
		const {callers, callees} = sandwichTrees(stacks, wanted, isFunction, skip);

		return [{root: callers, isUp: true}, {root: callees}];
	}

	listProcesses() {
		const ids = [...new Set(this.profile.stacks.map(stack => stack[1]))];
		const option = (value, text) => make('option', {value}, text);

		byId('flame-processes').replaceChildren(option('process', 'By process'),
			option('merged', 'Processes merged'),
			...ids.map(id => option(String(id), idFirst(this.model.strings[id]))));
		if (!['process', 'merged', ...ids.map(String)].includes(this.state.by))
			this.state.by = 'process';
		byId('flame-compare').hidden = ids.length < 2;
		if (!ids.map(String).includes(this.state.compare))
			this.state.compare = '';
		if (this.state.compare && (!ids.map(String).includes(this.state.by) ||
			this.state.by === this.state.compare))
			this.state.by = String(ids.find(id => String(id) !== this.state.compare));
		byId('flame-compare').replaceChildren(option('', 'Compare with …'),
			...ids.map(id => option(String(id), idFirst(this.model.strings[id]))));
		byId('flame-compare').value = this.state.compare;
		byId('flame-processes').value = this.state.by;
	}

	keep(change) {
		Object.assign(this.state, change);
		this.onChange();
	}

	show(change) {
		const state = Object.assign(this.state, change);

		const profile = this.folded(this.model.profiles[state.metric]);

		this.profile = {...profile, stacks: pickFrames(profile.stacks, this.model.kinds, state.frames)};
		byId('flame-frames').value = state.frames;
		[...byId('metrics').children].forEach(
			(button, i) => button.setAttribute('aria-pressed', String(i === state.metric)));
		if (state.order === 'sandwich')
			state.function = this.function();
		else
			state.function = '';
		this.listProcesses();
		byId('flame-order').value = state.order;
		const trees = this.trees(), [, tree, path] = /^(\d)\.(.*)$/.exec(state.focus) || [];

		this.total = makeTree(this.stacks(), '').value;
		this.chart.colorOf = state.compare ? this.colorOf : null;
		this.legend();
		this.chart.show(trees, this.profile.unit, headsOf(this.profile.stacks));
		if (path && trees[tree])
			this.chart.pick(nodeAt(trees[tree].root, path));
		this.onChange();
	}

	// What is known about a node, and where it leads.
	tell(node) {
		const share = (100 * node.value / (this.total || 1)).toFixed(1), text = this.chart.text(node);
		const own = this.chart.amount(node.own), isRoot = !node.parent;
		const isFrame = isRoot ? this.state.order === 'sandwich' : !this.chart.heads.has(node.name);
		const sandwich = {view: 'flames', metric: this.profile.metric, order: 'sandwich', by: this.state.by};
		const source = isFrame && sourceAddress(this.model, text);
		const links = isFrame ? [
			make('a', {href: formatAddress({...sandwich, function: text})}, 'Callers and callees'),
			make('a', {href: formatAddress({view: 'timeline', search: text})}, 'In the timeline'),
			...source ? [make('a', {href: source}, 'Source')] : []] : [];

		const amount = this.chart.amount(node.value);

		const there = this.state.compare ? `, ${this.chart.amount(node.other || 0)} in ${
			idFirst(this.model.strings[this.state.compare])}` : '';

		byId('flame-line').replaceChildren(make('span', {class: 'text'},
			`${text} — ${amount}, ${share} % of all, ${own} of it its own${there}`), ...links);
	}

	address() {
		const {order, by, function: wanted, focus} = this.state;

		return {metric: this.profile && this.profile.metric, order: order === 'callees' ? '' : order,
			by: by === 'process' ? '' : by, function: wanted, focus, all: this.state.all ? 1 : '',
			frames: this.state.frames === this.usual ? '' : this.state.frames,
			compare: this.state.compare,
			search: byId('flame-search').value.trim()};
	}

	// Whether a function is of a kind that these frames leave out.
	isHidden(wanted, frames) {
		const {strings, kinds} = this.model;
		const named = [...kinds.keys()].filter(id =>
			strings[id] === wanted || functionOf(strings[id]) === wanted);

		return named.length > 0 && named.every(id =>
			pickFrames([[1, 0, 0, -1, id]], new Map([...kinds, [-1, 'python']]), frames)[0].length < 5);
	}

	// A metric that is not named is the first one that has the function.
	restore({metric, order = 'callees', by = 'process', function: wanted = '', focus = '', search = '', all = '',
		frames = this.usual, compare = ''}) {
		const {profiles, strings} = this.model;

		if (!profiles.length)
			return;
		const has = profile => profile.stacks.some(stack => stack.some((id, i) => i > 2 &&
			(strings[id] === wanted || functionOf(strings[id]) === wanted)));
		const named = profiles.findIndex(profile => profile.metric === metric);
		const index = named >= 0 ? named : wanted ? profiles.findIndex(has) : 0;

		byId('flame-search').value = search;
		this.chart.highlight(search);
		this.show({metric: Math.max(0, index), order: ORDERS[order] ? order : 'callees', by, function: wanted,
			focus, all: all === '1', compare,
			frames: FRAMES[frames] && !this.isHidden(wanted, frames) ? frames : 'all'});
	}
}
