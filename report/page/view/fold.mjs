// SPDX-License-Identifier: Apache-2.0
// Idle helpers and processes of start-up, as the summary folds them: which rows of tables, stacks and tracks are of
// them.

// {heads: "process thread" by the strings of their labels, rows: "pid" and "pid tid" of what is folded;
// isFolded(track), isShim(track)}
export function foldsOf(model) {
	if (model.folds)
		return model.folds;
	const busy = {heads: new Set(), rows: new Set()}, all = {heads: new Set(), rows: new Set()};
	const isShim = ({process}) => Boolean(model.processes[process].shim);
	const isFolded = track => Boolean(track.idle) || isShim(track);

	model.processes.forEach(({pid, shim}) => (shim ? all : busy).rows.add(String(pid)));
	for (const track of model.tracks.filter(one => one.tid)) {
		const {label, pid} = model.processes[track.process], to = isFolded(track) ? all : busy;

		to.heads.add(`${label} ${track.label}`);
		to.rows.add(`${pid} ${track.tid}`);
	}
	for (const kind of ['heads', 'rows'])
		busy[kind].forEach(key => all[kind].delete(key));
	model.folds = {...all, isFolded, isShim};
	return model.folds;
}

// Whether a row of a table is of an idle helper or of start-up; null: the table has none, or nothing else.
export function foldedRow(model, {columns, cells}) {
	const of = titles => columns.findIndex(column => titles.includes(column.title));
	const [pid, tid] = [of(['PID', 'Pid']), of(['TID', 'Tid'])];

	if (pid < 0)
		return null;
	const {rows} = foldsOf(model), is = row => rows.has(String(cells[pid][row])) ||
		(tid >= 0 && rows.has(`${cells[pid][row]} ${cells[tid][row]}`));
	const count = cells[pid].reduce((sum, none, row) => sum + is(row), 0);

	return count && count < cells[pid].length ? is : null;
}

// Whether a stack is of a thread that is folded.
export function foldedStack(model, stack) {
	return foldsOf(model).heads.has(`${stack[1]} ${stack[2]}`);
}
