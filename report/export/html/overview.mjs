// SPDX-License-Identifier: Apache-2.0
// The first view: the duration of the run and what it was spent on.
import {formatAddress, rowAddress} from './address.mjs';
import {make} from './dom.mjs';
import {bytes, duration, idFirst, whole} from './format.mjs';
import {union} from './lanes.mjs';
import {counterPeak} from './paint.mjs';
import {rooflineCard} from './roofline.mjs';
import {cellText} from './sheet.mjs';

const TOP = 6, LONGEST = 16;
const CARDS = [['cuda_gpu_kern_sum', 'Kernels'], ['cuda_gpu_mem_time_sum', 'Copies'], ['cuda_api_sum', 'CUDA calls'],
	['osrt_sum', 'OS calls'], ['nvtx_sum', 'NVTX ranges']];

function tile(label, value, note = '') {
	return make('div', {class: 'tile'}, make('span', {class: 'soft'}, label), make('strong', {}, value),
		make('span', {class: 'soft small'}, note));
}

function counted(count, word) {
	return `${whole(count)} ${word}${count === 1 ? '' : 's'}`;
}

// Duration of the run since its start, which is 0, as in the summary.
function wall(model) {
	return model.processes.reduce((most, p) => Math.max(most, p.end), 0);
}

// By device, the time in which any of its streams was busy.
export function deviceBusy(model) {
	const devices = new Map();

	for (const track of model.tracks)
		if (track.kind === 'stream' && track.count)
			devices.set(track.device, [...(devices.get(track.device) || []), ...track.lanes]);
	return [...devices].map(([device, lanes]) => ({name: model.strings[device], busy: union(lanes)}));
}

function tiles(model) {
	const {recorded} = model, span = recorded.ranges ? recorded.ns : wall(model), busy = deviceBusy(model);
	const made = [tile('Wall time', duration(wall(model)), recorded.ranges ?
		`recorded: ${duration(recorded.ns)} in ${counted(recorded.ranges, 'capture range')}` : '')];
	const threads = new Set(model.tracks.filter(t => t.kind === 'calls' && t.count)).size;
	const hosts = new Set(model.processes.map(p => p.host)).size;
	const mean = busy.reduce((sum, d) => sum + d.busy, 0) / (busy.length || 1);
	const counters = model.tracks.filter(t => t.kind === 'counter' && t.count);
	const peaks = counters.filter(t => model.strings[t.label].startsWith('Memory in use')).map(counterPeak);
	const resident = counters.filter(t => model.strings[t.label] === 'Resident').map(counterPeak);

	if (busy.length)
		made.push(tile('GPU busy', `${(100 * mean / (span || 1)).toFixed(1)} %`,
			busy.length > 1 ? `mean of ${busy.length} devices` : busy[0].name));
	if (peaks.length)
		made.push(tile('Device memory', bytes(Math.max(...peaks)), 'peak of a process'));
	if (resident.length)
		made.push(tile('Resident memory', bytes(Math.max(...resident)), 'peak of a process'));
	made.push(tile('Processes', whole(model.processes.length),
		       `${counted(threads, 'thread')} with calls, ${counted(hosts, 'host')}`));
	made.push(tile('Events', whole(model.events),
		       model.leftOut.length ? 'the longest, see below' : 'all in the timeline'));
	return make('div', {class: 'tiles'}, ...made);
}

function bar(share) {
	const inner = make('i');

	inner.style.width = `${Math.max(0.5, 100 * share)}%`;
	return make('span', {class: 'bar', 'aria-hidden': 'true'}, inner);
}

function card(model, table, title, show) {
	const total = table.columns.findIndex(c => c.type === 'ns' || c.type === 'mb'), name = table.columns.length - 1;
	const share = table.columns.findIndex(c => c.type === 'percent');
	const body = make('tbody');

	for (let row = 0; row < Math.min(TOP, table.rows); row++) {
		const text = cellText(model, table, name, row), address = rowAddress(model, table, row);
		const part = share < 0 ? 0 : table.cells[share][row];

		body.append(make('tr', {}, make('td', {class: 'name', title: text},
				      address ? make('a', {href: address}, text) : text),
				 make('td', {class: 'number'}, duration(table.cells[total][row])),
				 make('td', {class: 'number soft'}, `${whole(table.cells[total + 1][row])} ×`),
				 make('td', {class: 'number'}, `${part.toFixed(1)} %`),
				 make('td', {class: 'wide'}, bar(part / 100))));
	}
	return make('section', {class: 'card'},
		    make('header', {}, make('h2', {}, title),
			 make('button', {class: 'quiet', onclick: () => show(table.name)},
			      table.rows > TOP ? `all ${whole(table.rows)}` : 'table')),
		    make('table', {}, body));
}

// By process, the time in calls of a kind; of nested calls only the outer one counts.
function processSums(model) {
	const sums = model.processes.map(() => ({cuda: 0, os: 0, gpu: 0}));

	for (const track of model.tracks) {
		const sum = sums[track.process];

		if (track.kind === 'stream' && track.count)
			sum.gpu += union(track.lanes);
		if (track.kind !== 'calls' || !track.count)
			continue;
		const [lane] = track.lanes;

		for (let i = 0; i < lane.count; i++) {
			const category = model.categories[model.names[2 * track.name[lane.event[i]] + 1]];

			sum[category.name === 'osrt' ? 'os' : 'cuda'] += lane.end[i] - lane.start[i];
		}
	}
	return sums;
}

function spread(title, values) {
	const sorted = [...values].sort((a, b) => a - b), middle = sorted[sorted.length >> 1];

	return make('span', {class: 'soft'},
		    [title + ': ' + duration(sorted[0]), duration(middle),
		     duration(sorted[sorted.length - 1])].join(' – '));
}

function processCard(model, show) {
	const sums = processSums(model), body = make('tbody');
	const columns = [['GPU', 'gpu'], ['CUDA and libraries', 'cuda'], ['OS calls', 'os']].filter(
		([, key]) => sums.some(s => s[key]));
	const most = sums.reduce((least, s) => Math.max(least, s.gpu, s.cuda, s.os), 1);
	const hasRanks = model.processes.some(process => model.strings[process.rank]);
	const length = process => process.end - process.start;
	const shown = model.processes.map((process, i) => [process, i])
			      .sort(([a], [b]) => length(b) - length(a))
			      .slice(0, LONGEST);

	shown.forEach(
		([process, i]) => body.append(make(
			'tr', {}, ...hasRanks ? [make('td', {class: 'number soft'}, model.strings[process.rank])] : [],
			make('td', {class: 'name', title: model.strings[process.command]},
			     make('a', {href: formatAddress({view: 'timeline', pid: process.pid, start: process.start,
				     length: length(process)})}, idFirst(model.strings[process.label]))),
			make('td', {class: 'number'}, duration(length(process))),
			make('td', {class: 'ended soft'}, model.strings[process.ended]),
			...columns.flatMap(([, key]) => [make('td', {class: 'number'}, duration(sums[i][key])),
							 make('td', {class: 'wide'}, bar(sums[i][key] / most))]))));
	const th = (label, more = {}) => make('th', {scope: 'col', ...more}, label);
	const head = make('tr', {}, ...hasRanks ? [th('Rank')] : [], th('Process'), th('Wall', {class: 'number'}),
			  th('Ended'), ...columns.flatMap(([label]) => [th(label, {class: 'number'}), make('td')]));
	const lines = model.processes.length > 1 ? [spread('Wall', model.processes.map(p => p.end - p.start)),
		...columns.map(([label, key]) => spread(label, sums.map(s => s[key])))] : [];

	return make('section', {class: 'card whole'},
		    make('header', {},
			 make('h2', {}, shown.length < sums.length ? `The ${LONGEST} longest processes` : 'Processes'),
			 make('button', {class: 'quiet', onclick: () => show('processes')},
			      `all ${whole(model.processes.length)}`)),
		    make('table', {}, make('thead', {}, head), body),
		    ...lines.length ? [make('p', {class: 'spread'},
					    make('span', {class: 'soft'}, 'Least – middle – most'), ...lines)]
				    : []);
}

export function overview(model, show) {
	const cards = CARDS.map(([name, title]) => [model.tables.find(t => t.name === name), title])
			      .filter(([table]) => table)
			      .map(([table, title]) => card(model, table, title, show));
	const notes = [...model.leftOut, ...model.problems].map(text => make('p', {class: 'note'}, text));

	return [tiles(model), ...notes,
		make('div', {class: 'cards'}, ...cards, ...rooflineCard(model, show), processCard(model, show)),
		...[...model.remarks, model.ledger].map(text => make('p', {class: 'soft'}, text))];
}
