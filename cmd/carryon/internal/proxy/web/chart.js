// The chart: continuations over time, on one scale. Each bar can be read out and
// chosen with the mouse, a finger or the keyboard.

const ranges = {
	hour: { bars: "minutes", step: 60, count: 60 },
	day: { bars: "quarters", step: 900, count: 96 },
};

// series are stacked from below. Their patterns differ too, for whom the colors do not.
const series = [
	["resumed", "resumed a stall"],
	["paused", "paused by the model"],
	["unwanted", "unwanted"],
	["failed", "failed or interrupted"],
	["unsent", "not sent"],
];

const sumOf = (bars, name) => bars.reduce((sum, bar) => sum + (bar[name] ?? 0), 0);
const heightOf = (bar) => series.reduce((sum, [name]) => sum + (bar[name] ?? 0), 0);

// barsOf returns the bars of a range, each with its beginning and end in milliseconds.
function barsOf(range, chart, began, now) {
	let { bars, step, count: most } = ranges[range] ?? allOf(began, now);
	const last = Math.floor(now / 1000 / step);
	let first = last - most + 1;
	let merged = 1; // days in a bar
	if (range === "all") {
		first = Math.min(last - 19, Math.floor(began / 1000 / step));
		merged = Math.ceil((last - first + 1) / 62);
	}
	const all = [];
	for (let number = first; number <= last; number += merged) {
		const bar = { from: number * step * 1000, to: Math.min(number + merged, last + 1) * step * 1000 };
		for (let i = number; i < number + merged; i++) {
			for (const [name, value] of Object.entries(chart[bars]?.[i] ?? {})) bar[name] = (bar[name] ?? 0) + value;
		}
		all.push(bar);
	}
	return all;
}

// allOf returns the finest bars that reach back to the beginning.
function allOf(began, now) {
	const seconds = (now - began) / 1000;
	if (seconds < 3500) return { bars: "minutes", step: 60 };
	if (seconds < 85_000) return { bars: "quarters", step: 900 };
	return { bars: "days", step: 86_400 };
}

// ticksOf returns the numbers on the axis, which are round.
function ticksOf(most) {
	const step = [1, 2, 5].flatMap((n) => [n, n * 10, n * 100, n * 1000, n * 10_000, n * 100_000, n * 1_000_000]).sort((a, b) => a - b).find((n) => most / n <= 4) ?? most;
	return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, i) => i * step);
}

const room = { left: 34, right: 8, top: 10, bottom: 22, height: 168 };

// drawChart draws bars into an element that is as wide as it is.
function drawChart(plot, bars, selected, chosen) {
	const width = Math.max(plot.clientWidth, 240);
	const ticks = ticksOf(Math.max(...bars.map(heightOf)));
	const most = ticks.at(-1);
	const slot = (width - room.left - room.right) / bars.length;
	const floor = room.height - room.bottom;
	const y = (value) => floor - (value / most) * (floor - room.top);
	const gap = Math.min(3, Math.max(1, slot * 0.2));
	const drawn = bars.map((bar, i) => {
		const left = room.left + i * slot;
		let below = 0;
		const parts = series.filter(([name]) => bar[name]).map(([name]) => {
			const part = s("rect", {
				class: `part ${name}`, x: left + gap / 2, width: slot - gap, y: y(below + bar[name]), height: y(below) - y(below + bar[name]), fill: `url(#pattern-${name})`,
			});
			below += bar[name];
			return part;
		});
		return s("g", { "data-bar": i, class: [i === selected && "selected", bar.from === chosen && "chosen"].filter(Boolean).join(" ") || null },
			s("rect", { class: "hit", x: left, y: room.top, width: slot, height: floor - room.top + 4 }),
			bar.requests && !below ? s("rect", { class: "quiet", x: left + gap / 2, y: floor - 2, width: slot - gap, height: 2 }) : null,
			parts);
	});
	show(plot, s("svg", { width, height: room.height, viewBox: `0 0 ${width} ${room.height}`, "aria-hidden": "true" },
		patterns(),
		ticks.map((tick) => [
			s("line", { class: tick ? "grid" : "floor", x1: room.left, x2: width - room.right, y1: y(tick), y2: y(tick) }),
			s("text", { class: "tick", x: room.left - 8, y: y(tick) + 4, "text-anchor": "end" }, n(tick)),
		]),
		drawn, labels(bars, slot, width)));
}

// labels returns the times below the bars, as many as there is room for.
function labels(bars, slot, width) {
	const step = (bars[0].to - bars[0].from) / 1000;
	const every = [1, 2, 5, 10, 15, 20, 30, 60, 4, 8, 12, 16, 24, 48].filter((k) => step !== 900 || k % 4 === 0).sort((a, b) => a - b).find((k) => k * slot >= 74) ?? bars.length;
	return bars.map((bar, i) => {
		const at = bar.from / 1000 / step;
		const place = room.left + i * slot;
		if (Math.round(at) % every !== 0 || place > width - 40) return null;
		return s("text", { class: "tick", x: place, y: room.height - 5 }, step >= 86_400 ? utcDay(bar.from) : minute(bar.from));
	});
}

// patterns returns what the bars are filled with.
function patterns() {
	const pattern = (name, size, ...drawn) => s("pattern", { id: `pattern-${name}`, width: size, height: size, patternUnits: "userSpaceOnUse" },
		s("rect", { class: `ground ${name}`, width: size, height: size }), drawn);
	return s("defs", null,
		pattern("resumed", 6),
		pattern("paused", 6, s("path", { class: "ink", d: "M0 3H6" })),
		pattern("unwanted", 6, s("path", { class: "ink", d: "M-1 7L7 -1M-1 1L1 -1M5 7L7 5" })),
		pattern("failed", 5, s("path", { class: "ink", d: "M0 0L5 5M5 0L0 5" })),
		pattern("unsent", 5, s("circle", { class: "dot", cx: 2.5, cy: 2.5, r: 1.1 })));
}

// legendOf returns the series that a chart has.
function legendOf(bars) {
	return series.filter(([name]) => name === "resumed" || sumOf(bars, name) > 0).map(([name, words]) => h("li", { "data-key": name },
		s("svg", { class: `swatch ${name}`, width: 14, height: 14, "aria-hidden": "true" }, s("rect", { class: `part ${name}`, x: 1, y: 1, width: 12, height: 12, fill: `url(#pattern-${name})` })),
		h("span", null, h("b", null, n(sumOf(bars, name))), ` ${words}`)));
}

// readoutOf says what happened in some bars. A continuation is judged later than it is
// sent, when its list is read again.
function readoutOf(bars) {
	const said = (some) => some.filter(([name]) => sumOf(bars, name) > 0).map(([name, words]) => `${n(sumOf(bars, name))} ${words}`).join(", ");
	const judged = said(series.filter(([name]) => name !== "unsent"));
	return [
		`${count(sumOf(bars, "continuations"), "continuation")} sent in ${count(sumOf(bars, "requests"), "request")}`,
		judged && `judged: ${judged}`,
		said(series.filter(([name]) => name === "unsent")),
	].filter(Boolean).join("; ");
}

// spanOf says when a bar is.
function spanOf(bar) {
	const long = bar.to - bar.from;
	if (long < 86_400_000) return `${day(bar.from)}, ${minute(bar.from)} to ${minute(bar.to)}`;
	return `${long < 2 * 86_400_000 ? utcDay(bar.from) : `${utcDay(bar.from)} to ${utcDay(bar.to - 1)}`} in UTC`;
}
