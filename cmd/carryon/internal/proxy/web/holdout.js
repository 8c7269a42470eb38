// The comparison of both arms of the holdout.

const share = (value) => `${Math.round(100 * value)}%`;
const points = (value) => `${value > 0 ? "+" : value < 0 ? "\u2212" : "±"}${Math.abs(Math.round(100 * value))}`;
const signed = (value, write) => `${value > 0 ? "+" : value < 0 ? "\u2212" : "±"}${write(Math.abs(value))}`;
const money = (value) => (value > 0 && value < 0.005 ? "under $0.01" : `$${value.toFixed(2)}`);

// showHoldout shows the comparison, if there is a control group.
function showHoldout(section, compared) {
	section.hidden = !compared;
	if (!compared) return;
	const { continued, held_out: held } = compared;
	show(section,
		h("h2", { id: "holdout-title" }, "With carryon, and without"),
		h("p", { class: "verdict" }, stressed(sentenced(compared.verdict))),
		h("div", { class: "scroll" }, h("table", { class: "arms" },
			h("thead", null, h("tr", null, ["", "With carryon", "Control group", "Difference"].map((name) => h("th", { scope: "col" }, name || h("span", { class: "hidden" }, "Figure"))))),
			h("tbody", null,
				armsRow("Sessions with a todo list", n(continued.sessions), n(held.sessions)),
				armsRow("Lists finished", shareCell(continued.finished, continued.sessions), shareCell(held.finished, held.sessions), compared.enough && inPoints(compared.finished)),
				armsRow("Users had to say “go on”", shareCell(continued.told, continued.sessions), shareCell(held.told, held.sessions), compared.enough && inPoints(compared.told)),
				armsRow("Tokens in a session", n(Math.round(continued.tokens)), n(Math.round(held.tokens)), compared.enough && rangeOf(compared.tokens, (value) => n(Math.round(value)))),
				armsRow("Time of a session", duration(1000 * continued.seconds), duration(1000 * held.seconds), compared.enough && rangeOf(compared.seconds, (value) => (value < 0.001 ? "0\u00a0s" : duration(1000 * value)))),
				continued.money !== undefined && held.money !== undefined ? armsRow("Cost of a session", money(continued.money), money(held.money), compared.enough && signed(continued.money - held.money, (value) => `$${value.toFixed(value < 0.005 ? 4 : 2)}`)) : null))),
		h("p", { class: "small" }, `A hash of their names puts ${share(compared.share)} of the sessions into the control group: carryon decides on their turns, but continues none. A session counts as it stands now. Ranges are of 95%, by the methods of Wilson, Newcombe and Welch.`));
}

function armsRow(name, ...values) {
	return h("tr", { "data-key": name }, h("th", { scope: "row" }, name),
		["With carryon", "Control group", "Difference"].map((column, i) => h("td", { "data-name": column, class: values[i] ? null : "without" }, values[i] || "–")));
}

// shareCell returns a share with its range, drawn too.
function shareCell(part, all) {
	if (!all) return "–";
	return [
		h("span", { class: "value" }, share(part.value)),
		h("span", { class: "dim" }, ` ${n(part.count)} of ${n(all)}`),
		s("svg", { class: "range", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": `95% range: ${share(part.low)} to ${share(part.high)}` },
			s("rect", { class: "track", width: 100, height: 8 }),
			s("rect", { class: "span", x: 100 * part.low, width: 100 * (part.high - part.low), height: 8 }),
			s("rect", { class: "at", x: Math.min(98.5, Math.max(0, 100 * part.value - 0.75)), width: 1.5, height: 8 })),
		h("span", { class: "dim ends" }, `${share(part.low)} to ${share(part.high)}`),
	];
}

function inPoints(difference) {
	return [h("span", { class: "value" }, `${points(difference.value)} points`),
		h("span", { class: "dim ends" }, `${points(difference.low)} to ${points(difference.high)}${certain(difference)}`)];
}

function rangeOf(difference, write) {
	return [h("span", { class: "value" }, signed(difference.value, write)),
		h("span", { class: "dim ends" }, `${signed(difference.low, write)} to ${signed(difference.high, write)}${certain(difference)}`)];
}

const certain = (difference) => (difference.low > 0 || difference.high < 0 ? "" : ", so not certain");
