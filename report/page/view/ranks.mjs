// SPDX-License-Identifier: Apache-2.0
// Ranks over time as an image: a row for each rank, and for each part of the time the share that the rank spent in
// calls of MPI or NCCL. A rank that others wait for is seen as the one that is not in these calls. Independent of
// the DOM.

export const RANK_BINS = 1024;
const MOST_ROWS = 256, LEAST_RANKS = 2, WAITING = ['mpi', 'nccl'];

// Adds the parts of a lane's events that are wanted to the bins: ns of each.
function addLane(lane, isWanted, first, nsPerBin, bins, sums) {
	for (let i = 0; i < lane.count; i++) {
		if (!isWanted(lane, i))
			continue;
		const from = (lane.start[i] - first) / nsPerBin, to = (lane.end[i] - first) / nsPerBin;

		for (let bin = Math.max(0, Math.floor(from)); bin < Math.min(bins, to); bin++)
			sums[bin] += Math.max(0, Math.min(to, bin + 1) - Math.max(from, bin));
	}
}

// Groups for the timeline: none, or one with the image {first, last, bins, rows, perRow, tall, height, processes,
// shares}. Of more ranks than fit on a screen, several are one row, with their mean.
export function makeRanks(model) {
	const ranks = model.processes.map((process, i) => ({process, i, number: Number(model.strings[process.rank])}))
		.filter(({process, number}) => model.strings[process.rank] !== '' && Number.isInteger(number) &&
			!process.shim)
		.sort((a, b) => a.number - b.number);
	const waiting = model.names.map((category, i) => i % 2 && WAITING.includes(model.categories[category].name));

	if (ranks.length < LEAST_RANKS)
		return [];
	const perRow = Math.ceil(ranks.length / MOST_ROWS), rows = Math.ceil(ranks.length / perRow);
	const first = ranks.reduce((least, {process}) => Math.min(least, process.start), Infinity);
	const last = ranks.reduce((most, {process}) => Math.max(most, process.end), first + 1);
	const shares = new Float32Array(rows * RANK_BINS), place = new Map(ranks.map(({i}, k) => [i, k]));
	const isWanted = (lane, i) => waiting[2 * lane.track.name[lane.event[i]] + 1];

	for (const track of model.tracks)
		if (track.kind === 'calls' && track.count && place.has(track.process)) {
			const row = Math.floor(place.get(track.process) / perRow);

			addLane(track.lanes[0], isWanted, first, (last - first) / RANK_BINS, RANK_BINS,
				shares.subarray(row * RANK_BINS, (row + 1) * RANK_BINS));
		}
	for (let i = 0; i < shares.length; i++)
		shares[i] = Math.min(1, shares[i] / perRow);
	const tall = Math.max(1, Math.min(14, Math.floor(256 / rows)));

	const image = {first, last, bins: RANK_BINS, rows, perRow, tall, height: rows * tall,
		processes: ranks.map(({i}) => i), shares};

	return [{id: 'ranks', title: 'Ranks: time in MPI and NCCL', note: '', items: [{ranks: image,
		label: `${ranks.length} ranks${perRow > 1 ? `, ${perRow} in a row` : ''}`}]}];
}

// What is at a place of the image: {processes, share}; null: nothing.
export function rankAt(image, instant, height) {
	const row = Math.floor(height / image.tall);
	const bin = Math.floor((instant - image.first) / (image.last - image.first) * image.bins);

	if (row < 0 || row >= image.rows || bin < 0 || bin >= image.bins)
		return null;
	return {processes: image.processes.slice(row * image.perRow, (row + 1) * image.perRow),
		share: image.shares[row * image.bins + bin]};
}
