// SPDX-License-Identifier: Apache-2.0
// What kind of event has which colour. A name keeps its shade of it everywhere.

// Category: [title, hue, saturation]
export const CATEGORIES = {
	osrt: ['OS call', 214, 16], cuda: ['CUDA runtime', 142, 36], driver: ['CUDA driver', 96, 26],
	nvtx: ['NVTX', 268, 36], cublas: ['cuBLAS', 176, 40], cudnn: ['cuDNN', 188, 44], cusparse: ['cuSPARSE', 164, 30],
	cusolver: ['cuSOLVER', 158, 34], cufft: ['cuFFT', 150, 36], nccl: ['NCCL', 22, 55], mpi: ['MPI', 46, 46], kernel: ['Kernel', 212, 70],
	copy: ['Copy', 32, 60], set: ['Memset', 14, 40], graph: ['Graph', 236, 44], memory: ['Memory', 338, 40],
	frame: ['Frame', 30, 40], other: ['Other', 0, 0],
};
const SHADES = 3;

export function title(category) {
	return (CATEGORIES[category] || CATEGORIES.other)[0];
}

function hash(text) {
	let value = 2166136261;

	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619);
	return value >>> 0;
}

export function color(category, text, isDark) {
	const [, hue, saturation] = CATEGORIES[category] || CATEGORIES.other;
	const shade = hash(text) % SHADES;

	return isDark ? `hsl(${hue + 5 * (shade - 1)} ${saturation * 0.8}% ${37 + shade * 4}%)` :
		`hsl(${hue + 5 * (shade - 1)} ${saturation}% ${60 + shade * 6}%)`;
}

// Styles to draw names with: equal ones are drawn in one go. {colors: CSS by style, byName: style of each name}
export function makeStyles(model, isDark) {
	const colors = [], known = new Map(), byName = new Uint16Array(model.names.length / 2);

	for (let i = 0; i < byName.length; i++) {
		const css = color(model.categories[model.names[2 * i + 1]], model.strings[model.names[2 * i]], isDark);

		if (!known.has(css)) {
			known.set(css, colors.length);
			colors.push(css);
		}
		byName[i] = known.get(css);
	}
	return {colors, byName};
}
