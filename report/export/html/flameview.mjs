// SPDX-License-Identifier: Apache-2.0
// The view of flame graphs: which values, in which order, of which processes; and where it is in the address.
import {formatAddress, functionOf} from './address.mjs';
import {byId, make} from './dom.mjs';
import {childrenOf, headsOf, invertedTree, makeTree, nodeAt, pathOf, sandwichTrees} from './flame.mjs';
import {FlameChart} from './flamechart.mjs';
import {foldedStack} from './fold.mjs';
import {idFirst} from './format.mjs';

const ORDERS = {callees: 'Callers to callees', callers: 'Inverted: to callers', sandwich: 'Sandwich: one function'};

export class FlameView {
	constructor(model, onChange) {
		this.model = model;
		this.onChange = onChange;
		this.state = {metric: 0, order: 'callees', by: 'process', function: '', focus: '', all: false};
		this.chart = new FlameChart(model, byId('flame'), byId('flame-scroller'), {
			onLook: node => this.tell(node),
			onPick: (node, tree) => this.keep({focus: pathOf(node) && `${tree}.${pathOf(node)}`})
		});
		byId('metrics').replaceChildren(...model.profiles.map(
			(profile, i) => make('button', {class: 'choice', 'aria-pressed': 'false',
				onclick: () => this.show({metric: i, focus: ''})}, profile.title)));
		byId('flame-order').replaceChildren(...Object.entries(ORDERS).map(
			([value, text]) => make('option', {value}, text)));
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

	// All stacks, or those of one process.
	stacks() {
		const {by} = this.state;

		return by === 'process' || by === 'merged' ? this.profile.stacks
			: this.profile.stacks.filter(stack => String(stack[1]) === by);
	}

	trees() {
		const {order, function: wanted} = this.state, {title} = this.profile, stacks = this.stacks();
		const skip = this.state.by === 'merged' ? 2 : 0;

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
		byId('flame-processes').value = this.state.by;
	}

	keep(change) {
		Object.assign(this.state, change);
		this.onChange();
	}

	show(change) {
		const state = Object.assign(this.state, change);

		this.profile = this.folded(this.model.profiles[state.metric]);
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
		this.chart.show(trees, this.profile.unit, headsOf(this.profile.stacks));
		if (path && trees[tree])
			this.chart.pick(nodeAt(trees[tree].root, path));
		this.onChange();
	}

	// What is known about a node, and where it leads.
	tell(node) {
		const share = (100 * node.value / (this.total || 1)).toFixed(1), text = this.chart.text(node);
		const own = this.chart.amount(node.own), isFrame = node.name >= 0 && !this.chart.heads.has(node.name);
		const sandwich = {view: 'flames', metric: this.profile.metric, order: 'sandwich', by: this.state.by};
		const links = isFrame ? [
			make('a', {href: formatAddress({...sandwich, function: text})}, 'Callers and callees'),
			make('a', {href: formatAddress({view: 'timeline', search: text})}, 'In the timeline')] : [];

		const amount = this.chart.amount(node.value);

		byId('flame-line').replaceChildren(make('span', {class: 'text'},
			`${text} — ${amount}, ${share} % of all, ${own} of it its own`), ...links);
	}

	address() {
		const {order, by, function: wanted, focus} = this.state;

		return {metric: this.profile && this.profile.metric, order: order === 'callees' ? '' : order,
			by: by === 'process' ? '' : by, function: wanted, focus, all: this.state.all ? 1 : '',
			search: byId('flame-search').value.trim()};
	}

	// A metric that is not named is the first one that has the function.
	restore({metric, order = 'callees', by = 'process', function: wanted = '', focus = '', search = '', all = ''}) {
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
			focus, all: all === '1'});
	}
}
