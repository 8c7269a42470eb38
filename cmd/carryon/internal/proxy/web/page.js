// The page: it asks for what has changed, and shows it.

const pause = 1500; // milliseconds between two questions
const find = (id) => document.getElementById(id);

// The state of the page: the last report, and the requests by number.
let report = null;
const requests = new Map();
let newestFirst = [];
const elements = new Map(); // of requests, by number
const folds = new Map(); // by the number of each request in it
const sections = new Map(); // of sessions, by id
const view = { filter: "all", session: null, grouped: false, live: true };

// ---- Asking

async function ask(after) {
	const response = await fetch(`?format=json&after=${after}`, { cache: "no-store" });
	if (!response.ok) throw new Error(`HTTP status ${response.status}`);
	return response.json();
}

async function refresh() {
	try {
		let fresh = await ask(report?.revision ?? 0);
		if (report && fresh.process !== report.process) { // another proxy stands there now
			requests.clear();
			fresh = await ask(0);
		}
		take(fresh);
		find("lost").hidden = true;
	} catch {
		show(find("lost"), report
			? ["carryon does not answer. What you see is from ", timeOf(report.now, new Date(report.now)), "."]
			: "carryon does not answer.");
		find("lost").hidden = false;
	}
}

function take(fresh) {
	const changed = !report || fresh.revision !== report.revision || fresh.process !== report.process;
	report = fresh;
	for (const request of fresh.requests) requests.set(request.number, request);
	for (const number of requests.keys()) {
		if (number < fresh.oldest || number > fresh.newest) requests.delete(number);
	}
	for (const drawn of [elements, folds]) {
		for (const number of drawn.keys()) if (!requests.has(number)) drawn.delete(number);
	}
	newestFirst = [...requests.values()].sort((a, b) => b.number - a.number);
	if (changed) showAll(fresh.requests);
	else showChart();
}

async function keepAsking() {
	if (view.live && !document.hidden) await refresh();
	setTimeout(keepAsking, pause);
}

// ---- Summary

function showAll(changed = newestFirst) {
	showAbout();
	showNotices();
	showSummary();
	showResults();
	showChart();
	showFilters();
	anchored(find("list"), () => {
		for (const request of changed) update(request);
		showList();
	});
	showFooter();
}

function showAbout() {
	const { settings, began, now } = report;
	show(find("about"), "in front of ", settings.upstreams.map((url, i) => [i ? " and " : "", h("code", null, url)]), ", since ", timeOf(began, new Date(now)));
	find("zone-local").title = localZone;
}

// isPlainName reports whether no shell sees more than a name in it. Names come from clients.
const isPlainName = (name) => /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/.test(name);

// showNotices says what is to be done, if anything is.
function showNotices() {
	const notices = [];
	const withTools = newestFirst.filter((r) => r.outcome && !r.outcome.left_alone && !["no_tools", "tool_calls"].includes(r.outcome.code));
	const alike = new Set(withTools.flatMap((r) => r.outcome.tools_alike ?? []));
	if (report.settings.dry_run) {
		notices.push(notice("dry", "Dry run: carryon decides and reports, and continues nothing."));
	}
	if (report.settings.holdout > 0) {
		notices.push(notice("holdout", `Holdout: ${percent(report.settings.holdout, 1)} of the named sessions are decided and counted, and never continued.`));
	}
	if (alike.size > 0) {
		const command = ["-todo-tools", ...[...alike].every(isPlainName) ? [[...alike].join(",")] : []].join(" ");
		notices.push(notice("alike", alike.size === 1 ? "A tool looks like a todo tool, and carryon does not know it. " : "Some tools look like todo tools, and carryon does not know them. ",
			"If it writes the list, start carryon with ", h("code", null, command), "."));
	}
	const { web_sockets, bodies_encoded } = report.counts;
	if (web_sockets > 0) notices.push(notice("sockets", `${count(web_sockets, "WebSocket")} passed, which carryon does not read: have the client post its requests.`));
	if (bodies_encoded > 0) notices.push(notice("encoded", `${count(bodies_encoded, "request")} had a body that carryon cannot decode: have the client send plain bodies.`));
	const unread = withTools.find((r) => ["list_unreadable", "unknown_status"].includes(r.outcome.code));
	if (unread) notices.push(notice("unread", `${unread.outcome.explanation}.`));
	if (!alike.size && !unread && withTools.length > 0 && withTools.every((r) => ["no_list", "no_list_tool"].includes(r.outcome.code))) {
		notices.push(notice("none", "No request had a todo list so far, and without one there is nothing to continue."));
	}
	show(find("notices"), notices);
}

const notice = (key, ...said) => h("p", { class: "notice", "data-key": key }, said);

function showSummary() {
	const c = report.counts;
	const all = c.tokens_added + c.tokens_of_clients;
	const ended = Object.values(c.results).reduce((sum, one) => sum + one, 0);
	show(find("summary"),
		figureOf("Requests", n(c.requests), `${n(c.calls)} to a model`),
		figureOf("Continuations", n(c.continuations), c.continuations ? `in ${count(c.calls_continued, "request")}` : "carryon added no request"),
		figureOf("Success rate", ended ? percent(c.results.tool_call, ended) : "–", ended ? `${n(c.results.tool_call)} of ${n(ended)} led to a tool call` : "of continuations"),
		figureOf("Tokens added", n(c.tokens_added), c.tokens_added ? `${percent(c.tokens_added, all)} of ${n(all)} in all` : "by continuations"));
}

function figureOf(name, value, more) {
	return h("div", { "data-key": name }, h("dt", null, name), h("dd", { class: "value" }, value), h("dd", null, more));
}

// showResults shows the results of continuations.
function showResults() {
	const found = Object.entries(report.counts.results);
	const all = found.reduce((sum, [, one]) => sum + one, 0);
	const order = Object.keys(results);
	found.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
	let left = 0;
	const parts = found.filter(([, one]) => one > 0).map(([name, one]) => {
		const part = s("rect", { class: name, x: left, y: 0, width: (one / all) * 1000, height: 10 });
		left += (one / all) * 1000;
		return part;
	});
	show(find("results"),
		h("figcaption", null, "Results of continuations"),
		h("div", { class: "bar" }, s("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" }, parts)),
		h("ul", { class: "legend" }, found.filter(([name, one]) => one > 0 || name === "tool_call" || name === "failed").map(([name, one]) =>
			h("li", { "data-key": name }, h("span", { class: `mark ${name}`, "aria-hidden": "true" }), h("b", null, n(one)), ` ${results[name]}`))));
}

// ---- Chart

const slots = 60;
const second = 1000;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((step) => step * second);

// showChart shows continuations over time, and all requests below.
function showChart() {
	const begin = newestFirst.length > 0 ? +new Date(newestFirst.at(-1).began) : +new Date(report.began);
	const end = +new Date(report.now);
	const step = steps.find((one) => (end - begin) / one <= slots - 1) ?? Math.ceil((end - begin) / slots / 86_400_000) * 86_400_000;
	const start = Math.floor(begin / step) * step;
	const bars = Array.from({ length: Math.max(20, Math.floor((end - start) / step) + 1) }, () => ({ requests: 0 }));
	for (const request of newestFirst) {
		const bar = bars[Math.floor((new Date(request.began) - start) / step)];
		if (!bar) continue;
		bar.requests++;
		for (const turn of (request.turns ?? []).slice(1)) bar[turn.result || "open"] = (bar[turn.result || "open"] ?? 0) + 1;
	}
	drawChart(bars, start, step);
}

const stacked = ["tool_call", "paused", "text", "open", "failed", "interrupted"];
const added = (bar) => stacked.reduce((sum, name) => sum + (bar[name] ?? 0), 0);

function drawChart(bars, start, step) {
	const most = Math.max(1, ...bars.map(added));
	const busiest = Math.max(1, ...bars.map((bar) => bar.requests));
	const drawn = bars.map((bar, i) => {
		if (!bar.requests) return null;
		let y = 44;
		const parts = stacked.filter((name) => bar[name]).map((name) => {
			const height = (bar[name] / most) * 42;
			y -= height;
			return s("rect", { class: name, x: i * 10 + 1, y, width: 8, height });
		});
		const height = Math.max(2, (bar.requests / busiest) * 12);
		const at = new Date(start + i * step);
		return s("g", { "data-key": i },
			s("title", null, `${day(at)}, ${clock(at)}: ${count(bar.requests, "request")}, ${count(added(bar), "continuation")}`),
			s("rect", { class: "hit", x: i * 10, y: 0, width: 10, height: 60 }),
			parts, s("rect", { class: "request", x: i * 10 + 1, y: 48, width: 8, height }));
	});
	const total = bars.reduce((sum, bar) => sum + added(bar), 0);
	const label = `${count(total, "continuation")} in ${count(newestFirst.length, "request")} from ${minute(start)} to ${minute(start + bars.length * step)}`;
	show(find("chart"),
		h("figcaption", null, "Continuations over time; below, all requests"),
		s("svg", { viewBox: `0 0 ${bars.length * 10} 60`, preserveAspectRatio: "none", role: "img", "aria-label": label },
			s("line", { x1: 0, x2: bars.length * 10, y1: 45.5, y2: 45.5 }), drawn),
		h("p", { class: "axis" }, h("span", null, axis(start, step)), h("span", null, `each bar: ${span(step)}`), h("span", null, axis(start + bars.length * step, step))));
}

const axis = (time, step) => (step * slots > 86_400_000 ? day(time) : step < 60_000 ? clock(time) : minute(time));

// ---- Filters

function showFilters() {
	const ambiguous = ambiguousNames();
	const names = new Map();
	for (const request of newestFirst) if (!names.has(sessionID(request))) names.set(sessionID(request), sessionName(request, ambiguous));
	if (view.session !== null && !names.has(view.session)) view.session = null;
	for (const id of sections.keys()) if (!names.has(id)) sections.delete(id);
	const chips = ["all", ...Object.keys(states).filter((state) => state !== "open")].map((filter) => {
		const found = newestFirst.filter((request) => inSession(request) && matches(filter, request)).length;
		return h("label", { class: `chip ${filter}`, hidden: !found && states[filter]?.rare && view.filter !== filter },
			h("input", { type: "radio", name: "filter", value: filter }),
			h("span", null, filter === "all" ? "All" : states[filter].badge, " ", h("b", null, n(found))));
	});
	show(find("filters"), h("legend", { class: "hidden" }, "Show"), chips);
	show(find("session"), h("option", { value: "*" }, "All"), [...names].map(([id, name]) => h("option", { value: `=${id}` }, name)));
	for (const input of document.querySelectorAll("[name=filter]")) input.checked = input.value === view.filter;
	find("session").value = view.session === null ? "*" : `=${view.session}`;
	find("session-field").hidden = names.size < 2 && view.session === null;
	find("grouped").parentElement.hidden = names.size < 2 && !view.grouped;
	find("grouped").checked = view.grouped;
}

const inSession = (request) => view.session === null || sessionID(request) === view.session;

// chosen returns the requests that the filters show, newest first.
const chosen = () => newestFirst.filter((request) => matches(view.filter, request) && inSession(request));

// ambiguousNames returns the names that sessions of several keys have.
function ambiguousNames() {
	const keys = new Map();
	for (const { session, session_id } of newestFirst) {
		if (session) keys.set(session, (keys.get(session) ?? new Set()).add(session_id));
	}
	return new Set([...keys].filter(([, all]) => all.size > 1).map(([name]) => name));
}

// ---- List

function showList() {
	const list = find("list");
	const shown = chosen();
	taken.clear();
	if (shown.length === 0) {
		arrange(list, [emptyList()]);
	} else if (view.grouped) {
		arrange(list, groups(shown));
	} else {
		arrange(list, rows(shown));
	}
}

function emptyList() {
	if (newestFirst.length > 0) {
		return h("p", { class: "empty" }, "No requests match. ", h("button", { type: "button", "data-reset": true }, "Show all"));
	}
	return h("p", { class: "empty" }, "No requests yet. Point a client at ", h("code", null, `${location.origin}/v1`), ".");
}

// groups returns a section for each session, the one with the newest request first.
function groups(shown) {
	const ambiguous = ambiguousNames();
	const bySession = new Map();
	for (const request of shown) {
		const id = sessionID(request);
		bySession.set(id, [...(bySession.get(id) ?? []), request]);
	}
	return [...bySession].map(([id, own]) => {
		if (!sections.has(id)) {
			sections.set(id, h("details", { class: "group", open: true }, h("summary"), h("div", { class: "rows" })));
		}
		const section = sections.get(id);
		const name = sessionName(own[0], ambiguous);
		const total = (of) => own.reduce((sum, request) => sum + (of(request) ?? 0), 0);
		const list = own.find((request) => request.outcome?.list)?.outcome.list;
		show(section.firstElementChild,
			h("span", { class: "name" }, name),
			h("span", { class: "total" }, [
				count(own.length, "request"),
				count(total((r) => r.continuations), "continuation"),
				total((r) => r.tokens_added) ? `${n(total((r) => r.tokens_added))} tokens added` : "",
				list ? progress(list) : "",
			].filter(Boolean).join(" · ")));
		arrange(section.lastElementChild, rows(own));
		return section;
	});
}

const progress = (list) => `${n(list.completed + list.cancelled)} of ${count(list.todos, "todo")} done`;

// rows returns the elements of requests. Those that passed are folded away, where
// several follow one another, unless they are what was asked for.
function rows(shown) {
	const rows = [];
	let run = [];
	const flush = () => {
		if (run.length > 0) rows.push(foldOf(run));
		run = [];
	};
	for (const request of shown) {
		if (view.filter !== "passed" && request.state === "passed" && !inUse(request)) {
			run.push(request);
			continue;
		}
		flush();
		rows.push(elementOf(request));
	}
	flush();
	return rows;
}

// inUse reports whether a reader has a request that is not folded away open, or
// the focus on it: it is not taken from under their eyes.
function inUse(request) {
	const element = elements.get(request.number);
	return element?.isConnected && !element.closest(".fold") && (element.open || element.contains(document.activeElement));
}

const taken = new Set(); // folds that have their place in the list already

// foldOf returns the fold of requests that passed. It is the one that the oldest of
// them is in already, if there is one.
function foldOf(run) {
	const known = run.toReversed().map((request) => folds.get(request.number)).find((fold) => fold && !taken.has(fold));
	const fold = known ?? h("details", { class: "fold" }, h("summary"), h("div", { class: "rows" }));
	taken.add(fold);
	fold.run = run;
	for (const request of run) folds.set(request.number, fold);
	const reasons = new Map();
	for (const { outcome } of run) if (outcome) reasons.set(outcome.code, (reasons.get(outcome.code) ?? 0) + 1);
	const most = [...reasons].sort(([, a], [, b]) => b - a).slice(0, 3);
	const now = new Date(report.now);
	show(fold.firstElementChild,
		h("span", { class: "when" }, timeOf(run[0].began, now)),
		h("span", { class: "what" }, `${count(run.length, "request")} passed unchanged`),
		h("span", { class: "meta" }, most.map(([code, found], i) => [i ? ", " : "", `${n(found)} × `, h("code", null, code)])));
	if (fold.open) arrange(fold.lastElementChild, run.map(elementOf));
	return fold;
}

// ---- A request

function elementOf(request) {
	let element = elements.get(request.number);
	if (!element) {
		element = h("details", { class: "request", id: `request-${request.number}` }, h("summary"), h("div", { class: "more" }));
		element.number = request.number;
		elements.set(request.number, element);
		update(request);
	}
	return element;
}

// update shows what is known of a request now.
function update(request) {
	const element = elements.get(request.number);
	if (!element) return;
	element.dataset.state = request.state;
	show(element.firstElementChild,
		h("span", { class: "when" }, timeOf(request.began, new Date(report.now))),
		h("span", { class: `badge ${request.state}` }, states[request.state].badge),
		h("span", { class: "what" }, headline(request)),
		request.tokens_added ? h("span", { class: "cost" }, `+${n(request.tokens_added)} tokens`) : null,
		h("span", { class: "meta" }, [request.model || `${request.method} ${request.path}`, request.session, answer(request)].filter(Boolean).join(" · ")));
	if (element.open) showMore(element, request);
}

function showMore(element, request) {
	const { outcome } = request;
	const list = outcome?.list;
	show(element.lastElementChild,
		h("dl", { class: "facts" },
			row("Reason", outcome && reasonOf(outcome)),
			row("Todo list", list && [list.text, h("span", { class: "dim" }, `, read from ${list.source}`)]),
			row("Tools called", outcome?.tools_called && toolNames(outcome.tools_called)),
			row("Looks like a todo tool", outcome?.tools_alike && toolNames(outcome.tools_alike)),
			row("Request", h("code", null, `${request.method} ${request.path}`), request.streamed ? ", streamed" : ""),
			row("Model", request.model && h("code", null, request.model)),
			row("Session", request.session && [h("code", null, request.session), " ",
				h("button", { type: "button", class: "link", "data-session": sessionID(request) }, "Show only this session")]),
			row("Began", moment(new Date(request.began))),
			row("Answer", answer(request))),
		request.turns?.length ? turnsOf(request) : null);
}

// row returns a fact. One that is not known has its place already, so that the
// others stay where they are when it comes.
const row = (name, ...value) => h("div", { hidden: !value.some(Boolean) }, h("dt", null, name), h("dd", null, value));

const toolNames = (tools) => tools.map((name, i) => [i ? ", " : "", h("code", null, name)]);

function reasonOf(outcome) {
	return [outcome.explanation, outcome.dry_run ? " (dry run)" : "", " ", h("code", { class: "code" }, outcome.code), outcome.error ? h("p", null, outcome.error) : null];
}

// turnsOf returns the table of the calls to the model.
function turnsOf(request) {
	const head = ["Turn", "Result", "Prompt", "Completion", "Tokens", "Took"];
	return h("table", null,
		h("caption", null, "Turns: each is a paid call to the model"),
		h("thead", null, h("tr", null, head.map((name, i) => h("th", { scope: "col", class: i > 1 ? "number" : null }, name)))),
		h("tbody", null, request.turns.map((turn) => turnOf(turn))));
}

function turnOf(turn) {
	const cell = (name, ...value) => h("td", { class: "number", "data-name": name }, value);
	const usage = turn.usage;
	return h("tr", { "data-key": turn.number, class: turn.attempt ? "added" : null },
		h("th", { scope: "row" }, n(turn.number), " ", h("span", { class: "by" }, turn.attempt ? "carryon" : "client")),
		h("td", { class: "story" }, storyOf(turn)),
		cell("Prompt", usage ? [n(usage.prompt), part(usage.cached, "cached")] : "–"),
		cell("Completion", usage ? [n(usage.completion), part(usage.reasoning, "reasoning")] : "–"),
		cell("Tokens", usage ? n(usage.total) : "–"),
		cell("Took", turn.took_ms ? duration(turn.took_ms) : "–"));
}

const part = (tokens, what) => (tokens ? h("span", { class: "dim" }, `${n(tokens)} ${what}`) : null);

const said = (note) => (note.kind === "paused" ? `Paused ${note.text}` : note.text.charAt(0).toUpperCase() + note.text.slice(1));

function storyOf(turn) {
	const { decision } = turn;
	return [
		turn.todo ? h("p", null, "Asked to carry on with: ", h("q", null, turn.todo)) : null,
		h("p", null, h("b", { class: turn.result || "open" }, endOf(turn)), finishOf(turn), turn.waited_ms >= 1 ? `, after ${duration(turn.waited_ms)} of waiting` : ""),
		(turn.notes ?? []).map((note) => h("p", null, said(note))),
		decision ? h("p", { class: "dim" }, `${verdict(decision)}: ${decision.reason} `, h("code", { class: "code" }, decision.code)) : null,
	];
}

function endOf(turn) {
	switch (turn.result) {
	case "tool_call":
		return turn.tool_calls === 1 ? "Called a tool" : `Called ${n(turn.tool_calls)} tools`;
	case "failed":
		return `Failed: ${turn.failure}`;
	case "interrupted":
		return "Interrupted by the client";
	case "paused":
		return "Paused";
	case "text":
		return "Answered with text";
	}
	return "Under way";
}

const finishOf = (turn) => (turn.finish ? [", finish reason ", h("code", null, turn.finish)] : "");

function verdict(decision) {
	if (decision.go_on) return decision.dry_run ? "Would be continued" : "Continued";
	return decision.code === "too_soon" ? "Waited" : "Not continued";
}

function showFooter() {
	const { settings, counts, oldest } = report;
	const gone = oldest > 1 ? `The list holds the latest ${n(newestFirst.length)} of ${n(counts.requests)} requests; the figures above it count all. ` : "";
	show(find("footer"),
		h("p", null, gone, settings.content
			? ["Texts of todos, pauses and errors are shown, because carryon was started with ", h("code", null, "-content"), "."]
			: ["Texts of todos, pauses and errors are not shown. Start carryon with ", h("code", null, "-content"), " to see them."]),
		h("p", null, "The same data for programs: ", h("a", { href: "?format=json" }, "JSON"), "."));
}

// ---- What the reader does

function changed() {
	remember();
	showAll();
	show(find("found"), `${count(chosen().length, "request")} shown`);
}

// remember keeps what the reader chose in the address, so that it survives a
// reload and can be sent to others.
function remember() {
	const kept = new URLSearchParams();
	if (view.filter !== "all") kept.set("show", view.filter);
	if (view.session !== null) kept.set("session", view.session);
	if (view.grouped) kept.set("group", "session");
	if (inUTC()) kept.set("zone", "utc");
	history.replaceState(null, "", `${location.pathname}${location.search}${kept.size ? "#" : ""}${kept}`);
}

function recall() {
	const kept = new URLSearchParams(location.hash.slice(1));
	view.filter = Object.hasOwn(states, kept.get("show")) ? kept.get("show") : "all";
	view.session = kept.get("session");
	view.grouped = kept.get("group") === "session";
	document.querySelector(`[name=zone][value=${kept.get("zone") === "utc" ? "utc" : "local"}]`).checked = true;
}

document.addEventListener("change", ({ target }) => {
	if (target.name === "filter") view.filter = target.value;
	else if (target.id === "session") view.session = target.value === "*" ? null : target.value.slice(1);
	else if (target.id === "grouped") view.grouped = target.checked;
	else if (target.name !== "zone") return;
	if (report) changed();
});

document.addEventListener("click", ({ target }) => {
	const session = target.closest("[data-session]");
	if (session) {
		view.session = session.dataset.session;
		changed();
	} else if (target.closest("[data-reset]")) {
		Object.assign(view, { filter: "all", session: null });
		changed();
	}
});

find("live").addEventListener("click", ({ currentTarget }) => {
	view.live = !view.live;
	currentTarget.setAttribute("aria-pressed", view.live);
	if (view.live) refresh();
});

// What is folded away is drawn when it is opened.
document.addEventListener("toggle", ({ target }) => {
	if (!target.open) return;
	if (target.matches(".request")) showMore(target, requests.get(target.number));
	if (target.matches(".fold")) arrange(target.lastElementChild, target.run.map(elementOf));
}, { capture: true });

document.addEventListener("visibilitychange", () => { if (!document.hidden && view.live) refresh(); });
addEventListener("hashchange", () => { recall(); if (report) showAll(); });

recall();
keepAsking();
