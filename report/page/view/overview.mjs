// SPDX-License-Identifier: Apache-2.0
// The first view: what to fix first, what each role did, the critical path, and the largest entries of tables.
import {findingAddress, formatAddress, frameParts, rowAddress} from './address.mjs';
import {costTitles, frameOf, lineCosts, namedPlace, placeWords, rolesOf, rowsOf, snippet, sourceLines,
	sourceOf} from './answer.mjs';
import {make} from './dom.mjs';
import {inOrder} from './findings.mjs';
import {bytes, duration, idFirst, whole} from './format.mjs';
import {union} from './lanes.mjs';
import {counterPeak} from './paint.mjs';
import {rooflineCard} from './roofline.mjs';
import {cellText, makeTable, nameColumn} from './sheet.mjs';

const TOP = 6, LONGEST = 16, ROLES = 6, PARTS = 3;
const CARDS = [['cuda_gpu_kern_sum', 'Kernels'], ['cuda_gpu_mem_time_sum', 'Copies'], ['cuda_api_sum', 'CUDA calls'],
	['mpi_wait_sum', 'MPI: waits for other ranks'], ['mpi_event_sum', 'MPI calls'], ['files', 'Files'],
	['sockets', 'Sockets'], ['pytorch_sum', 'PyTorch operators'], ['nvtx_sum', 'NVTX ranges']];

// Of a table of memory at its peak: the titles of its columns of bytes, of blocks, and of shares.
const MEMORY = [['cuda_mem_peak', 'GPU memory at its peak', 'In Use (MB)', 'Blocks', 'Share (%)'],
	['mem_alloc_sum', 'Host memory at its peak', 'In Use At Peak (MB)', 'Allocations', 'Share of Peak (%)']];

const baseName = path => path.slice(path.lastIndexOf('/') + 1);
function shortFrame(frame) {
	const [name, place] = frameParts(frame);

	return place ? `${name} (${baseName(place)})` : frame;
}

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
	const counters = model.tracks.filter(t => t.kind === 'counter' && t.count && !t.unit);
	const peaks = counters.filter(t => model.strings[t.label].startsWith('Memory in use')).map(counterPeak);
	const resident = counters.filter(t => model.strings[t.label] === 'Resident').map(counterPeak);

	if (busy.length)
		made.push(tile('GPU busy', `${(100 * mean / (span || 1)).toFixed(1)} %`,
			busy.length > 1 ? `mean of ${busy.length} devices` : busy[0].name));
	if (peaks.length)
		made.push(tile('Device memory', bytes(Math.max(...peaks)), 'peak of a process'));
	if (resident.length)
		made.push(tile('Resident memory', bytes(Math.max(...resident)), 'peak of a process'));
	const shims = model.processes.filter(process => process.shim).length;

	made.push(tile('Processes', whole(model.processes.length - shims), `${shims
		? `and ${whole(shims)} of start-up, ` : ''}${counted(threads, 'thread')} with calls, ${
		counted(hosts, 'host')}`));
	made.push(tile('Events', whole(model.events),
		       model.leftOut.length ? 'the longest, see below' : 'all in the timeline'));
	return make('div', {class: 'tiles'}, ...made);
}

function bar(share) {
	const inner = make('i');

	inner.style.width = `${Math.max(0.5, 100 * share)}%`;
	return make('span', {class: 'bar', 'aria-hidden': 'true'}, inner);
}

function td(kind, ...children) {
	return make('td', {class: kind}, ...children);
}

// A card of rows {text, address, amount, note, share}; `button`: [its text, what it does].
function listCard(title, rows, button, more = {}) {
	const body = rows.slice(0, TOP).map(({text, address, amount, note = '', share}) => make('tr', {},
		make('td', {class: 'name', title: text}, address ? make('a', {href: address}, text) : text),
		td('number', amount), td('number soft', note),
		td('number', share === null ? '' : `${share.toFixed(1)} %`), td('wide', bar((share || 0) / 100))));

	return make('section', {class: 'card', ...more},
		    make('header', {}, make('h2', {}, title),
			 ...button ? [make('button', {class: 'quiet', onclick: button[1]}, button[0])] : []),
		    make('table', {}, make('tbody', {}, ...body)));
}

function card(model, table, title, show) {
	const total = table.columns.findIndex(c => c.type === 'ns' || c.type === 'mb'), name = nameColumn(table);
	const share = table.columns.findIndex(c => c.type === 'percent');
	const rows = Array.from({length: Math.min(TOP, table.rows)}, (none, row) => ({
		text: cellText(model, table, name, row) ?? '', address: rowAddress(model, table, row),
		amount: duration(table.cells[total][row]), note: `${whole(table.cells[total + 1][row])} ×`,
		share: share < 0 ? null : table.cells[share][row]}));

	return listCard(title, rows, [table.rows > TOP ? `all ${whole(table.rows)}` : 'table',
		() => show(table.name)], {'data-card': table.name});
}

// ---- the answer ----

const toTimeline = (text, search) => make('a', {href: formatAddress({view: 'timeline', search})}, text);
const inParentheses = place => `(${place})`;

function costCells(cost, titles) {
	return titles.map(title => td('number', cost && cost[title] ? duration(cost[title]) : ''));
}

// Lines of a source with their costs; the line at `place` is marked.
function sourceTable(model, found, place) {
	const titles = costTitles(found.lines.map(line => line.cost));
	const head = make('tr', {}, make('th', {scope: 'col'}, 'Line'), ...titles.map(title => make('th',
		{scope: 'col', class: 'number'}, title)), make('th', {scope: 'col'}, 'Source'));
	const body = found.lines.map(line => make('tr', line.place === place ? {class: 'hot'} : {},
		td('number soft', line.cost ? toTimeline(String(line.number), inParentheses(line.place))
			: String(line.number)),
		...costCells(line.cost, titles), make('td', {class: 'code'}, make('code', {}, line.text))));

	return make('table', {class: 'source'}, make('thead', {}, head), make('tbody', {}, ...body));
}

// Links to where a frame is: the timeline, the flame graphs, its source.
function frameLinks(model, row, show) {
	const frame = frameOf(row), source = sourceOf(model, row.Line || '');

	return make('p', {class: 'links'}, toTimeline('In the timeline', frame),
		make('a', {href: formatAddress({view: 'flames', order: 'sandwich', function: frame})},
			'Callers and callees'),
		...source ? [make('button', {class: 'quiet', onclick: () => show(source.table, source.row)},
			`All of ${baseName(source.file)}`)] : []);
}

function savingWords(row) {
	const low = row['Saves Low (ns)'], high = row['Saves High (ns)'], ns = row['Saves (ns)'];
	const interval = low ? `${duration(low)} to ${duration(high)}` : `at most ${duration(high)}`;

	return ns ? `saves ${!high || low === high ? duration(ns) : interval}, ${
		(row['Share (%)'] || 0).toFixed(0)} % of the run` : '';
}

// The functions through which the time passes, the outermost first.
function functionTable(row) {
	const frames = row.Frames ? JSON.parse(row.Frames) : [];
	const body = frames.map((frame, depth) => {
		const place = make('td', {}, placeWords(frame));

		place.style.paddingLeft = `${depth}em`;
		return make('tr', {}, place, make('td', {class: 'number'}, duration(frame['Time (ns)'])));
	});

	return frames.length > 1 ? [make('table', {class: 'functions'}, make('tbody', {}, ...body))] : [];
}

// The source around the line that a cause names, and where that is.
function causePlace(model, row, costs, show) {
	const at = namedPlace(model, row.Text, [row]) || (row.Line ? row : null);
	const found = at && snippet(model, at.Line, costs);

	return [...found ? [sourceTable(model, found, at.Line)] : [], ...at ? [frameLinks(model, at, show)] : []];
}

function firstCard(model, costs, show) {
	const [row, inside] = rowsOf(model, model.answer.fix_first);

	if (!row)
		return [];
	const finding = model.findings.find(one => one.rule === row.Rule), functions = functionTable(row);

	return [make('section', {class: 'card whole first', 'data-card': 'fix_first'},
		make('header', {}, make('h2', {}, 'Fix first'), make('strong', {}, finding || !row.Advice
			? savingWords(row) : `${savingWords(row)}: ${row.Advice}`)),
		make('p', {}, row.Line || row.Function || !finding ? row.Text
			: make('a', {href: findingAddress(model, finding)}, row.Text),
		...row['Called From'] && !functions.length ? [`, called from ${row['Called From']}`] : []),
		...finding && row.Advice ? [make('p', {class: 'soft'}, row.Advice)] : [],
		...functions, ...causePlace(model, row, costs, show),
		...inside ? [make('p', {}, `Within the job: ${inside.Text}. ${savingWords(inside)}`),
			...causePlace(model, inside, costs, show)] : [])];
}

// What ended or stopped the run: each row leads to its thread.
function endedCard(model) {
	const rows = rowsOf(model, model.answer.ended);
	const words = row => [row.Rank === null ? '' : `rank ${row.Rank}`,
		row.TID === null ? `process ${row.PID}` : `thread ${row.TID}`, row.Thread && `(${row.Thread})`,
		row.Line && `at ${shortFrame(row.Line)}`].filter(Boolean).join(' ');
	const body = rows.map((row, i) => make('tr', {}, make('th', {scope: 'row'}, row.Kind),
		make('td', {}, row.PID === null ? ''
			: make('a', {href: rowAddress(model, model.answer.ended, i)}, words(row)),
		` ${row['Waits For'] || row.Ended || ''}`)));

	return !rows.length ? [] : [make('section', {class: 'card whole first', 'data-card': 'ended'},
		make('header', {}, make('h2', {}, 'What ended the run')),
		make('table', {}, make('tbody', {}, ...body)))];
}

// What was found beside what to fix first.
function findingsCard(model) {
	const [first] = rowsOf(model, model.answer.fix_first);
	const rows = inOrder(model.findings).filter(one => one.verdict === 'found' && one.rule !== first?.Rule);
	const body = rows.slice(0, TOP).map(one => make('tr', {}, make('td', {},
		make('a', {href: findingAddress(model, one)}, one.title)), make('td', {}, model.strings[one.text],
		...model.strings[one.line] ? [`: ${shortFrame(model.strings[one.line])}`] : [])));

	return !rows.length ? [] : [make('section', {class: 'card whole', 'data-card': 'findings'},
		make('header', {}, make('h2', {}, 'Also found'),
			make('a', {href: formatAddress({view: 'findings'})}, `all ${whole(rows.length)}`)),
		make('table', {}, make('tbody', {}, ...body)))];
}

// The largest part of a role's own work first: a bar, and its parts in words.
function roleRow(model, role) {
	const sum = role.parts.reduce((all, part) => all + part.ns, 0) || 1;
	const many = role.processes > 1 ? ` of ${role.processes} processes` : role.threads > 1
		? ` of ${role.threads} threads` : '';
	const pieces = role.parts.map(({kind, ns}) => {
		const piece = make('i', {'data-kind': kind, title: `${kind}: ${duration(ns)}`});

		piece.style.width = `${100 * ns / sum}%`;
		return piece;
	});
	const words = role.parts.filter(({ns}) => ns >= sum / 100).slice(0, PARTS).map(part => {
		const {kind, ns, call, waitsFor, row} = part, place = placeWords(row);
		const text = `${call ? `${kind}: ${call}` : kind}${waitsFor ? `, for ${waitsFor}` : ''}`;

		return make('span', {class: 'part'}, make('i', {'data-kind': kind, 'aria-hidden': 'true'}),
			`${(100 * ns / sum).toFixed(0)} % ${text} `,
			...place ? [toTimeline(place, frameOf(row))] : []);
	});

	return make('tr', {},
		make('th', {scope: 'row'}, role.pid === null ? role.name
			: make('a', {href: formatAddress({view: 'timeline', pid: role.pid})}, role.name)),
		td('number', duration(role.ns), make('span', {class: 'soft'}, many)),
		td('parts', make('span', {class: 'stacked', 'aria-hidden': 'true'}, ...pieces),
			make('span', {class: 'words'}, ...words)));
}

function rolesCard(model) {
	const roles = rolesOf(model), [run] = rowsOf(model, model.answer.run), shown = roles.slice(0, ROLES);
	const folded = [[run && run['Idle Helpers'], 'idle helper'],
		[run && run['Start-up Processes'], 'shell and start-up process'],
		[roles.length - shown.length, 'role']].filter(([count]) => count)
		.map(([count, word]) => `${whole(count)} ${word}${count === 1 ? '' : word.endsWith('s') ? 'es' : 's'}`);

	if (!roles.length)
		return [];
	return [make('section', {class: 'card whole', 'data-card': 'roles'},
		make('header', {}, make('h2', {}, 'Where the time of each role went')),
		make('table', {class: 'roles'}, make('tbody', {}, ...shown.map(role => roleRow(model, role)))),
		...folded.length ? [make('p', {class: 'soft'}, `Folded: ${folded.join(', ')}.`)] : [])];
}

function criticalCard(model, show) {
	const rows = rowsOf(model, model.answer.critical);
	const text = row => [row.Name === 'CPU' ? '' : row.Name, shortFrame(row.Line || row.Thread || '')]
		.filter(Boolean).join(' · ');
	const address = row => formatAddress(row.Line ? {view: 'timeline', search: row.Line}
		: {view: 'timeline', name: row.Name, tid: /\[(\d+)\]$/.exec(row.Thread || '')?.[1]});

	return !rows.length ? [] : [listCard('Critical path: what the end of the run waited for',
		rows.map(row => ({text: text(row) || row.Kind, address: address(row),
			amount: duration(row['Time (ns)']), note: row.Kind, share: row['Time (%)']})),
		[`all ${whole(rows.length)}`, () => show('critical')], {'data-card': 'critical'})];
}

function linesCard(model, show) {
	const table = model.tables.find(one => one.name === 'lines');
	const rows = rowsOf(model, table).filter(row => row.Line && row.Line !== '?');
	const most = row => costTitles([row.cost])
		.reduce((best, title) => row.cost[title] > (row.cost[best] || 0) ? title : best, '');
	const costs = lineCosts(model);

	rows.forEach(row => row.cost = costs.get(row.Line));
	return !rows.length ? [] : [listCard('Source lines', rows.map(row => ({text: placeWords(row),
		address: formatAddress({view: 'timeline', search: frameOf(row)}),
		amount: duration(row['Total Time (ns)']), note: most(row), share: row['Time (%)']})),
		[`all ${whole(table.rows)}`, () => show('lines')], {'data-card': 'lines'})];
}

// Who holds memory when it is most: a row for each line, or each stack of an allocation.
function memoryCards(model, show) {
	return MEMORY.flatMap(([name, title, bytesTitle, count, share]) => {
		const table = model.tables.find(one => one.name === name);
		const rows = rowsOf(model, table).slice(0, TOP).map((row, i) => ({
			text: shortFrame(row.Line ? frameOf(row) : (row.Stack || row.Name).split(' <- ')[0]),
			address: rowAddress(model, table, i), amount: bytes(1e6 * row[bytesTitle]),
			note: `${whole(row[count])} ×`, share: row[share]}));

		return rows.length ? [listCard(title, rows, [`all ${whole(table.rows)}`, () => show(name)],
			{'data-card': name})] : [];
	});
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
	const own = model.processes.map((process, i) => [process, i]).filter(([process]) => !process.shim);
	const shown = own.sort(([a], [b]) => length(b) - length(a)).slice(0, LONGEST);

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
			 make('h2', {}, shown.length < own.length ? `The ${LONGEST} longest processes` : 'Processes'),
			 make('button', {class: 'quiet', onclick: () => show('processes')},
			      `all ${whole(model.processes.length)}`)),
		    make('table', {}, make('thead', {}, head), body),
		    ...lines.length ? [make('p', {class: 'spread'},
					    make('span', {class: 'soft'}, 'Least – middle – most'), ...lines)]
				    : []);
}

// The text of each source as a table, with the cost of each line.
export function sourceTables(model) {
	const costs = lineCosts(model);

	return model.sources.map(source => {
		const lines = sourceLines(model, source, costs), titles = costTitles(lines.map(line => line.cost));

		return {...makeTable(model, sourceOf(model, `${model.strings[source.file]}:1`).table,
			baseName(model.strings[source.file]),
			[['Line', 'id', line => line.number],
				...titles.map(title => [`${title} (ns)`, 'ns',
					line => line.cost && line.cost[title] ? line.cost[title] : null]),
				['Source', 'text', line => line.text]], lines),
		addressOf: (none, table, row) => lines[row].cost
			? formatAddress({view: 'timeline', search: inParentheses(lines[row].place)}) : ''};
	});
}

export function overview(model, show) {
	const costs = lineCosts(model), named = name => model.tables.find(t => t.name === name);
	const cards = CARDS.map(([name, title]) => [named(name), title])
			      .filter(([table]) => table)
			      .map(([table, title]) => card(model, table, title, show));
	const {calls} = model.answer;
	const notes = [...model.leftOut, ...model.problems].map(text => make('p', {class: 'note'}, text));

	return [...endedCard(model), ...firstCard(model, costs, show), tiles(model), ...notes,
		make('div', {class: 'cards'}, ...rolesCard(model), ...findingsCard(model), ...criticalCard(model, show),
			...linesCard(model, show), ...memoryCards(model, show), ...cards,
			...calls.rows ? [card(model, {...calls, name: 'osrt_sum'}, 'OS calls', show)] : [],
			...rooflineCard(model, show), processCard(model, show)),
		...[...model.remarks, model.ledger].map(text => make('p', {class: 'soft'}, text))];
}
