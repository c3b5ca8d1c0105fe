// SPDX-License-Identifier: Apache-2.0
// The panel of the selected time: time by name, states of threads, kernels, and a flame graph.
import {byId, make} from './dom.mjs';
import {headsOf, makeTree} from './flame.mjs';
import {FlameChart} from './flamechart.mjs';
import {duration, instant} from './format.mjs';
import {detailsIn, namesIn, stacksIn, threadsIn} from './range.mjs';
import {makeTable} from './sheet.mjs';
import {tableView} from './table.mjs';

const GRAPHS = {cpu: 'CPU samples', calls: 'Time in calls', gpu: 'GPU time'};
const DEVICE_WORK = ['kernel', 'copy', 'set', 'graph'];

export class RangePanel {
	// groups(): those that are visible; zoom(from, to); close()
	constructor(model, groups, zoom, close) {
		this.model = model;
		this.groups = groups;
		this.panel = byId('range');
		this.chart = new FlameChart(model, byId('range-flame'), byId('range-scroller'),
			{onLook: node => this.tell(node)});
		byId('range-zoom').addEventListener('click', () => zoom(...this.span));
		byId('range-close').addEventListener('click', close);
	}

	restyle() {
		this.chart.restyle();
	}

	show(span) {
		const groups = span && this.groups();

		this.span = span;
		this.panel.hidden = !span;
		if (!span)
			return;
		const [from, to] = span, long = to - from;

		byId('range-title').textContent = `${duration(long)} from ${instant(from, Math.max(1, long / 1000))}`;
		byId('range-tables').replaceChildren(...this.tables(groups, from, to).map(
			table => tableView(this.model, table, {isPlain: true})));
		this.stacks = stacksIn(this.model, groups, from, to);
		const graphs = Object.keys(GRAPHS).filter(key => this.stacks[key].length);

		byId('range-graphs').replaceChildren(...graphs.map(key => make('button',
			{class: 'choice', 'data-graph': key, onclick: () => this.graph(key)}, GRAPHS[key])));
		this.graph(graphs[0]);
	}

	tables(groups, from, to) {
		const {model} = this, names = namesIn(model, groups, from, to), threads = threadsIn(groups, from, to);
		const columns = [['Name', 'text', row => model.strings[row.name]],
			['Kind', 'text', row => row.category.title],
			['Time (ns)', 'ns', row => row.time], ['Count', 'count', row => row.count],
			['Max (ns)', 'ns', row => row.longest]];
		// the kernel accounts for threads inside and outside of capture ranges
		const whole = model.recorded.ranges ? ', in capture ranges or not' : '';
		const state = key => row => row.states ? row.states[key] : null;
		const kernels = names.filter(row => DEVICE_WORK.includes(row.category.name));
		const made = [makeTable(model, 'range_names', 'Time by name', columns, names)];

		if (kernels.length)
			made.push(makeTable(model, 'range_kernels', 'Kernels and copies', columns, kernels));
		if (threads.length)
			made.push(makeTable(model, 'range_threads', 'Threads', [
				['Thread', 'text', row => row.item.label], ['PID', 'id', row => row.group.pid],
				['TID', 'id', row => row.item.tid],
				[`On a CPU${whole} (ns)`, 'ns', state('running')],
				[`Runnable${whole} (ns)`, 'ns', state('runnable')],
				[`Blocked${whole} (ns)`, 'ns', state('blocked')],
				['In Calls (ns)', 'ns', row => row.calls], ['Calls', 'count', row => row.count],
				['CPU Samples', 'count', row => row.samples]
			], threads));
		const of = (name, title, head, keyOf, text) => {
			const some = detailsIn(model, groups, from, to, keyOf);

			if (some.length)
				made.push(makeTable(model, name, title, [[head, 'text', row => text(row.key)],
					['Time (ns)', 'ns', row => row.time],
					['Count', 'count', row => row.count]], some));
		};

		of('range_files', 'Files and peers', 'Path', detail => detail.file || detail.peer, key => key);
		of('range_lines', 'Calls by line', 'Line', detail => (detail.stack || [])[0],
			key => model.strings[key]);
		return made;
	}

	graph(key) {
		const stacks = key ? this.stacks[key] : [];

		for (const button of byId('range-graphs').children)
			button.setAttribute('aria-pressed', String(button.dataset.graph === key));
		byId('range-line').textContent = key ? '' : 'No calls and no samples.';
		byId('range-scroller').hidden = !key;
		this.root = makeTree(stacks, key ? GRAPHS[key] : '');
		if (key)
			this.chart.show([{root: this.root}], 'nanoseconds', headsOf(stacks));
	}

	tell(node) {
		const share = (100 * node.value / (this.root.value || 1)).toFixed(1), {chart} = this;

		byId('range-line').textContent =
			`${chart.text(node)} — ${chart.amount(node.value)}, ${share} % of the selected time's`;
	}
}
