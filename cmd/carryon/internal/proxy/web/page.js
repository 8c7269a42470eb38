// The page: it asks for what has changed, and shows it.

const pause = 1500; // milliseconds between two questions
const find = (id) => document.getElementById(id);

// The state of the page: the last report, sessions by id, and requests by number.
let report = null;
const sessions = new Map();
const requests = new Map();
let newestFirst = [];
const elements = new Map(); // of requests, by number
const folds = new Map(); // by the number of each request in it
const sections = new Map(); // of sessions, by id
const view = { of: "sessions", filter: "all", session: null, words: "", range: "all", from: null, to: null, bar: null, live: true };

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
			for (const known of [requests, sessions]) known.clear();
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
	takeSessions(fresh.sessions);
	if (changed) showAll(fresh.requests);
	else showChart();
}

// takeSessions takes the figures of sessions. One whose first call has not ended has
// none yet, and requests without a session are shown as one.
function takeSessions(fresh) {
	for (const session of fresh) sessions.set(session.id, session);
	while (sessions.size > 2000) sessions.delete(sessions.keys().next().value);
	for (const session of sessions.values()) Object.assign(session, { open: 0, own: [] });
	for (const request of newestFirst) {
		const id = sessionID(request);
		if (!sessions.has(id)) sessions.set(id, { id, name: request.session ?? "", began: request.began, ended: request.began, open: 0, own: [] });
		const session = sessions.get(id);
		session.own.push(request);
		if (!request.ended) session.open++;
		if (!id && request.began > session.ended) session.ended = request.began;
	}
}

async function keepAsking() {
	if (view.live && !document.hidden) await refresh();
	setTimeout(keepAsking, pause);
}

// ---- What it was worth

function showAll(changed = newestFirst) {
	showAnswer();
	showNotices();
	showSummary();
	showHoldout(find("holdout"), report.holdout);
	showChart();
	showFilters();
	anchored(find("list"), () => {
		for (const request of changed) update(request);
		showList();
	});
	showFooter();
}

// covers says whose figures these are.
const covers = {
	file: "The figures are kept in a file, and cover all runs that use it",
	state: "The figures are kept in the shared state, and cover all proxies that use it",
};

function showAnswer() {
	const { settings, began, now, sentence } = report;
	show(find("sentence"), stressed(`carryon ${sentence}.`));
	show(find("about"), covers[settings.kept] ?? "The figures are of this process", ", since ", timeOf(began, new Date(now)), ". ",
		"carryon stands in front of ", settings.upstreams.map((url, i) => [i ? " and " : "", h("code", null, url)]), ".");
	find("zone-local").title = localZone;
}

// isPlainName reports whether no shell sees more than a name in it. Names come from clients.
const isPlainName = (name) => /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/.test(name);

// showNotices says what is to be done, if anything is.
function showNotices() {
	const notices = [];
	const withTools = newestFirst.filter((r) => r.outcome && !r.outcome.left_alone && !["no_tools", "tool_calls"].includes(r.outcome.code));
	const alike = new Set(withTools.flatMap((r) => r.outcome.tools_alike ?? []));
	if (report.settings.off_since) notices.push(notice("off", "Continuing is switched off since ", timeOf(report.settings.off_since, new Date(report.now)), ": carryon continues nothing."));
	if (report.settings.dry_run) notices.push(notice("dry", "Dry run: carryon decides and reports, and continues nothing."));
	if (alike.size > 0) {
		const command = ["-todo-tools", ...[...alike].every(isPlainName) ? [[...alike].join(",")] : []].join(" ");
		notices.push(notice("alike", [...alike].join(", "), alike.size === 1 ? " looks like a todo tool, and carryon does not know it. " : " look like todo tools, and carryon does not know them. ",
			"If it writes the list, start carryon with ", h("code", null, command), "."));
	}
	const { web_sockets, bodies_encoded } = report.counts;
	if (web_sockets > 0) notices.push(notice("sockets", `${count(web_sockets, "WebSocket")} passed, which carryon does not read: have the client post its requests.`));
	if (bodies_encoded > 0) notices.push(notice("encoded", `${count(bodies_encoded, "request")} had a body that carryon cannot decode: have the client send plain bodies.`));
	const unread = withTools.find((r) => ["list_unreadable", "unknown_status"].includes(r.outcome.code));
	if (unread) notices.push(notice("unread", `${unread.outcome.explanation}.`));
	show(find("notices"), notices);
}

const notice = (key, ...said) => h("p", { class: "notice", "data-key": key }, said);

function showSummary() {
	const { counts: c, worth: w, settings } = report;
	const all = c.tokens_added + c.tokens_of_clients;
	const unwanted = [[w.repeated, "repeated itself"], [w.no_progress, "without progress"]].filter(([found]) => found).map(([found, words]) => `${n(found)} ${words}`);
	const paused = w.paused ? `; the model paused in ${n(w.paused)}` : "";
	const cost = (value) => (value === undefined ? "" : ` · ${money(value)}`);
	const unsent = tokensOf(w.estimate);
	const failed = w.checks_failed ?? 0, asked = failed + (c.checks_passed ?? 0) + (c.checks_unknown ?? 0);
	const checks = asked ? [figureOf("Checks failed", n(failed), `of ${n(asked)}; ${n(w.checks_mended ?? 0)} passed after continuations`)] : [];
	show(find("summary"), c.calls === 0 ? [] : [
		settings.dry_run
			? [figureOf("Would have been sent", n(w.unsent ?? 0), "first continuations"), figureOf("Tokens, estimated", n(unsent), `of those alone${cost(w.money_estimate)}`), ...checks]
			: [
				figureOf("Stalls resumed", n(w.resumed ?? 0), c.continuations ? `of ${count(c.continuations, "continuation")}${paused}` : "carryon added no request"),
				figureOf("Todos finished", n(w.finished ?? 0), "after those stalls"),
				figureOf("Unwanted", n(unwantedOf(w)), unwanted.join(", ") || "no continuation was in vain"),
				figureOf("Tokens added", tokensWords(c.tokens_added, w.unreported), `${all ? percent(c.tokens_added, all) : "0%"} of ${n(all)}${cost(w.money)}`),
				...checks,
			]]);
}

function figureOf(name, value, more) {
	return h("div", { "data-key": name }, h("dt", null, name), h("dd", { class: "value" }, value), h("dd", null, more));
}

// ---- Chart

let bars = [];

function showChart() {
	bars = barsOf(view.range, report.chart, +new Date(report.began), +new Date(report.now));
	const plot = find("plot");
	if (view.bar !== null) view.bar = Math.min(view.bar, bars.length - 1);
	drawChart(plot, bars, view.bar, view.from);
	show(find("legend"), legendOf(bars));
	const read = view.bar === null ? bars : [bars[view.bar]];
	const said = `${view.bar === null ? { hour: "The last hour", day: "The last day", all: "All" }[view.range] : spanOf(bars[view.bar])}: ${readoutOf(read)}.`;
	show(find("readout"), said, view.bar !== null && bars[view.bar].from !== view.from ? h("span", { class: "hint" }, " Click, or press Enter, to show only these.") : null);
	for (const [name, value] of Object.entries({ valuemin: 0, valuemax: bars.length - 1, valuenow: view.bar ?? bars.length - 1, valuetext: said })) plot.setAttribute(`aria-${name}`, value);
}

function readOut(bar) {
	if (bar === view.bar) return;
	view.bar = bar;
	showChart();
}

// chooseTime shows only what happened in a bar, or everything again.
function chooseTime(bar) {
	choose(!bar || bar.from === view.from ? { from: null, to: null } : { from: bar.from, to: bar.to });
}

const barAt = (target) => (target.closest?.("[data-bar]") ? Number(target.closest("[data-bar]").dataset.bar) : null);

function listenToChart(plot) {
	plot.addEventListener("pointermove", ({ target }) => readOut(barAt(target)));
	plot.addEventListener("pointerdown", ({ target }) => readOut(barAt(target)));
	plot.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType === "mouse") readOut(null); });
	plot.addEventListener("blur", () => readOut(null));
	plot.addEventListener("click", ({ target }) => { if (barAt(target) !== null) chooseTime(bars[barAt(target)]); });
	plot.addEventListener("keydown", (event) => {
		const now = view.bar ?? bars.length;
		const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: bars.length - 1, PageUp: now - 10, PageDown: now + 10 }[event.key];
		if (next !== undefined) readOut(Math.max(0, Math.min(bars.length - 1, next)));
		else if (event.key === "Enter" && view.bar !== null) chooseTime(bars[view.bar]);
		else if (event.key === "Escape") chooseTime(null);
		else return;
		event.preventDefault();
	});
	new ResizeObserver(() => { if (report) showChart(); }).observe(plot);
}

// ---- Filters

const inTime = (time) => view.from === null || (time >= view.from && time < view.to);
const timeIn = (request) => +new Date(request.ended ?? request.began); // where the chart counts it
const inSession = (id) => view.session === null || id === view.session;

// says reports whether texts have all the words that the reader looks for.
function says(texts) {
	if (!view.words.trim()) return true;
	const text = texts.filter(Boolean).join("\n").toLowerCase();
	return view.words.trim().toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

const textsOf = (request) => [request.session, request.model, `${request.method} ${request.path}`, headline(request), states[request.state].badge, request.outcome?.code, request.outcome?.explanation, request.status];

const fits = (request) => inSession(sessionID(request)) && inTime(timeIn(request)) && says(textsOf(request));

// fitsSession reports whether a session is shown: if its own texts fit, or those of one
// of its requests do.
function fitsSession(session) {
	if (!inSession(session.id)) return false;
	const began = +new Date(session.began);
	const ended = +new Date(session.ended);
	if (view.from !== null && (began >= view.to || ended < view.from)) return false;
	return says([session.name || "without a session", modelOf(session), session.id && stages[stageOf(session, session.open)].badge, session.why, session.pause]) || session.own.some((request) => says(textsOf(request)));
}

const newestSession = (a, b) => Boolean(b.id) - Boolean(a.id) || (b.own[0]?.number ?? 0) - (a.own[0]?.number ?? 0) || +new Date(b.ended) - +new Date(a.ended);

// found returns what the filters show but for the one of the chips.
function found() {
	return view.of === "requests" ? newestFirst.filter(fits) : [...sessions.values()].filter((session) => (session.id || session.own.length) && fitsSession(session)).sort(newestSession);
}

function matchesChip(one) {
	if (view.filter === "all") return true;
	return view.of === "requests" ? matches(view.filter, one) : Boolean(one.id) && stageOf(one, one.open) === view.filter;
}

const chosen = () => found().filter(matchesChip);

function showFilters() {
	const all = found();
	const kinds = view.of === "requests" ? states : stages;
	const chips = ["all", ...Object.keys(kinds).filter((kind) => view.of === "sessions" || kind !== "open")].map((filter) => {
		const some = all.filter((one) => filter === "all" || (view.of === "requests" ? matches(filter, one) : Boolean(one.id) && stageOf(one, one.open) === filter)).length;
		return h("label", { class: `chip ${filter}`, hidden: !some && kinds[filter]?.rare && view.filter !== filter },
			h("input", { type: "radio", name: "filter", value: filter }),
			h("span", null, filter === "all" ? "All" : kinds[filter].badge, " ", h("b", null, n(some))));
	});
	show(find("filters"), h("legend", { class: "hidden" }, "Show"), chips);
	for (const [name, value] of [["filter", view.filter], ["view", view.of], ["range", view.range]]) {
		for (const input of document.querySelectorAll(`[name=${name}]`)) input.checked = input.value === value;
	}
	const name = view.session === null ? "" : sessionName(sessions.get(view.session)?.name ?? "?", view.session, ambiguousNames());
	show(find("chosen"),
		view.session !== null && h("button", { type: "button", class: "only", "data-key": "session", "data-drop": "session" }, name),
		view.from !== null && h("button", { type: "button", class: "only", "data-key": "time", "data-drop": "time" }, spanOf(view)));
	if (find("search").value !== view.words) find("search").value = view.words;
}

// ambiguousNames returns the names that several sessions have.
function ambiguousNames() {
	const once = new Set();
	const twice = new Set();
	for (const { name } of sessions.values()) (once.has(name) ? twice : once).add(name);
	return twice;
}

// ---- List

function showList() {
	const list = find("list");
	const all = chosen();
	if (all.length === 0) arrange(list, [emptyList()]);
	else if (view.of === "requests") showRequests(list, all);
	else {
		const ambiguous = ambiguousNames();
		showRows(list, all, (session) => sections.get(session.id), (session) => sectionOf(session, ambiguous));
	}
}

// showMoreRows draws more rows of a list.
function showMoreRows(list, some = portion) {
	list.most = (list.most ?? portion) + some;
	anchored(find("list"), showList);
}

function emptyList() {
	if (newestFirst.length > 0 || sessions.size > 0) {
		return h("p", { class: "empty" }, view.of === "requests" && newestFirst.length === 0 ? "No requests since carryon was started. " : "Nothing matches. ",
			h("button", { type: "button", "data-reset": true }, "Show all"));
	}
	return h("p", { class: "empty" }, "No requests yet. Point a client at ", h("code", null, `${location.origin}/v1`), ".");
}

// sectionOf returns the row of a session, which opens to its requests.
function sectionOf(session, ambiguous) {
	if (!sections.has(session.id)) {
		const element = h("details", { class: "session" }, h("summary"), h("div", { class: "rows" }));
		element.of = session.id;
		sections.set(session.id, element);
	}
	const section = sections.get(session.id);
	const stage = session.id && stageOf(session, session.open);
	const resumed = session.worth?.resumed ?? 0;
	const added = tokensOf(session.worth?.tokens);
	const small = [modelOf(session), session.held_out && "control group", count(Math.max(session.requests ?? 0, session.own.length), "request").replace(" ", "\u00a0")].filter(Boolean).join(" · ");
	show(section.firstElementChild,
		h("span", { class: "who" }, h("span", { class: "name" }, sessionName(session.name, session.id, ambiguous)), h("span", { class: "meta" }, small)),
		h("span", { class: "list" }, session.id ? listOf(session) : null),
		h("span", { class: "now" }, session.id ? [h("span", { class: `badge ${stage}` }, stages[stage].badge), " ", h("span", { class: "what" }, waitsFor(session, session.open))] : h("span", { class: "dim" }, "Nothing tells which of them belong together")),
		h("span", { class: "gain" },
			resumed > 0 ? h("span", { class: "resumed" }, `${count(resumed, "stall")} resumed`) : null,
			added > 0 || session.worth?.unreported ? h("span", { class: "meta" }, `+${tokensWords(added, session.worth.unreported)} tokens${session.money !== undefined ? ` · ${money(session.money)}` : ""}`) : null),
		h("span", { class: "last" }, timeOf(lastOf(session), new Date(report.now))));
	if (section.open) openSection(section);
	return section;
}

// modelOf returns the model of a session, of which maybe no call has ended yet.
const modelOf = (session) => session.model ?? session.own.find((request) => request.model)?.model;

// lastOf returns when something last happened in a session.
function lastOf({ ended, own }) {
	const began = own[0]?.began;
	return began && new Date(began) > new Date(ended) ? began : ended;
}

function openSection(section) {
	const own = sessions.get(section.of)?.own.filter((request) => inTime(timeIn(request))) ?? [];
	if (own.length) showRequests(section.lastElementChild, own);
	else arrange(section.lastElementChild, [h("p", { class: "empty" }, "Its requests are not kept any more.")]);
}

// listOf returns a session's list as a bar: a part for each todo, or for each status if
// there are many.
function listOf(session) {
	if (!hasList(session)) return h("span", { class: "dim" }, hasNoList(session, session.open) ? "no todo list" : "list not read yet");
	const { todos, completed, cancelled = 0 } = session.list;
	const open = Math.max(0, todos - completed - cancelled);
	const parts = [["completed", completed], ["cancelled", cancelled], ["left", open]];
	const single = todos <= 16;
	const gap = single ? 6 / Math.max(6, todos) : 0;
	let at = 0;
	const drawn = parts.flatMap(([name, size]) => Array.from({ length: single ? size : Math.min(1, size) }, () => {
		const width = (single ? 1 : size) * (100 / todos);
		const part = s("rect", { class: `todo ${name}`, x: at, y: name === "left" ? 3 : 0, width: Math.max(0.5, width - gap * 2), height: name === "left" ? 4 : 10 });
		at += width;
		return part;
	}));
	return [
		s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, drawn),
		h("span", { class: "count" }, `${n(completed + cancelled)} of ${count(todos, "todo")} done`, cancelled ? h("span", { class: "dim" }, `, ${n(cancelled)} cancelled`) : null),
	];
}

// showRequests shows requests in a list. Those that passed are folded away, where
// several follow one another, unless they are what was asked for.
function showRequests(list, shown) {
	const taken = new Set(); // folds that have their place in the list already
	showRows(list, folded(shown),
		(one) => (Array.isArray(one) ? folds.get(one.at(-1).number) : elements.get(one.number)),
		(one) => (Array.isArray(one) ? foldOf(one, list, taken) : elementOf(one)));
}

// folded returns requests, and lists of those that belong into a fold.
function folded(shown) {
	const all = [];
	let run = null;
	for (const request of shown) {
		if (view.filter === "passed" || view.words || request.state !== "passed" || inUse(request)) {
			all.push(request);
			run = null;
		} else if (run) run.push(request);
		else all.push(run = [request]);
	}
	return all;
}

// inUse reports whether a reader has a request that is not folded away open, or
// the focus on it: it is not taken from under their eyes.
function inUse(request) {
	const element = elements.get(request.number);
	return element?.isConnected && !element.closest(".fold") && (element.open || element.contains(document.activeElement));
}

// foldOf returns the fold of requests that passed. It is the one that the oldest of
// them is in already, if there is one in this list.
function foldOf(run, list, taken) {
	const known = run.toReversed().map((request) => folds.get(request.number)).find((fold) => fold?.parentElement === list && !taken.has(fold));
	const fold = known ?? h("details", { class: "fold" }, h("summary"), h("div", { class: "rows" }));
	taken.add(fold);
	fold.run = run;
	for (const request of run) folds.set(request.number, fold);
	const reasons = new Map();
	for (const { outcome } of run) if (outcome) reasons.set(short[outcome.code] ?? lower(outcome.reason), (reasons.get(short[outcome.code] ?? lower(outcome.reason)) ?? 0) + 1);
	const often = [...reasons].sort(([, a], [, b]) => b - a).slice(0, 3);
	const now = new Date(report.now);
	show(fold.firstElementChild,
		h("span", { class: "when" }, timeOf(run[0].began, now)),
		h("span", { class: "what" }, `${count(run.length, "request")} passed unchanged`),
		h("span", { class: "meta" }, often.map(([words, some]) => `${n(some)} × ${words}`).join(", ")));
	if (fold.open) openFold(fold);
	return fold;
}

function openFold(fold) {
	showRows(fold.lastElementChild, fold.run, (request) => elements.get(request.number), elementOf);
}

// short are words for reasons whose sentence is long.
const short = {
	tool_calls: "the model called a tool", no_tools: "no tools", no_list_tool: "no tool that writes a list", no_list: "no todo list", no_active_todos: "all done",
	path: "another path", method: "no POST", side_call: "a side call of the agent", asks_user: "a question to the user", left_to_user: "left to the user", list_empty: "an empty list",
};

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
		h("span", { class: "meta" }, [request.model || `${request.method} ${request.path}`, view.of === "requests" && request.session, answer(request)].filter(Boolean).join(" · ")));
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
		turn.asked ? h("p", null, "Asked whether anything is open") : null,
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
		return wasRefused(turn) ? "Wanted to pause" : "Paused";
	case "nothing_open":
		return "Answered that nothing is open";
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
	const { settings, newest, oldest } = report;
	const gone = oldest > 1 ? `The requests are the latest ${n(newestFirst.length)} of ${n(newest)}; the figures count all. ` : "";
	show(find("footer"),
		h("p", null, gone, settings.content
			? ["Texts of todos, pauses and errors are shown, because carryon was started with ", h("code", null, "-content"), "."]
			: ["Texts of todos, pauses and errors are not shown. Start carryon with ", h("code", null, "-content"), " to see them."]),
		h("p", null, "The same data for programs: ", h("a", { href: "?format=json" }, "JSON"), "."));
}

// ---- What the reader does

// choose changes what is shown.
function choose(part) {
	Object.assign(view, part);
	delete find("list").most;
	if (report) changed();
}

function changed() {
	remember();
	showAll();
	show(find("found"), view.of === "requests" ? `${count(chosen().length, "request")} shown` : `${count(chosen().length, "session")} shown`);
}

// remember keeps what the reader chose in the address, so that it survives a
// reload and can be sent to others.
function remember() {
	const kept = new URLSearchParams();
	if (view.of !== "sessions") kept.set("view", view.of);
	if (view.filter !== "all") kept.set("show", view.filter);
	if (view.session !== null) kept.set("session", view.session);
	if (view.words) kept.set("search", view.words);
	if (view.range !== "all") kept.set("range", view.range);
	if (view.from !== null) kept.set("time", `${view.from}-${view.to}`);
	if (inUTC()) kept.set("zone", "utc");
	history.replaceState(null, "", `${location.pathname}${location.search}${kept.size ? "#" : ""}${kept}`);
}

function recall() {
	const kept = new URLSearchParams(location.hash.slice(1));
	const one = (name, known, otherwise) => (Object.hasOwn(known, kept.get(name)) ? kept.get(name) : otherwise);
	view.of = one("view", { requests: 1 }, "sessions");
	view.filter = one("show", view.of === "requests" ? states : stages, "all");
	view.range = one("range", ranges, "all");
	view.session = kept.get("session");
	view.words = kept.get("search") ?? "";
	const time = /^(\d{1,14})-(\d{1,14})$/.exec(kept.get("time") ?? "");
	Object.assign(view, time ? { from: Number(time[1]), to: Number(time[2]) } : { from: null, to: null });
	document.querySelector(`[name=zone][value=${kept.get("zone") === "utc" ? "utc" : "local"}]`).checked = true;
}

document.addEventListener("change", ({ target }) => {
	if (target.name === "filter") choose({ filter: target.value });
	else if (target.name === "view") choose({ of: target.value, filter: "all" });
	else if (target.name === "range") choose({ range: target.value, bar: null, from: null, to: null });
	else if (target.name === "zone" && report) changed();
});

find("search").addEventListener("input", ({ target }) => choose({ words: target.value }));

document.addEventListener("click", ({ target }) => {
	const only = target.closest("[data-session]");
	const drop = target.closest("[data-drop]");
	const more = target.closest(".end");
	const kind = target.closest("[data-download]");
	if (kind) {
		download(kind.dataset.download, view.of, chosen().filter((one) => view.of === "requests" || one.id).map(view.of === "requests" ? requestRow : sessionRow));
		return;
	}
	if (only) choose({ session: only.dataset.session });
	else if (drop) choose(drop.dataset.drop === "session" ? { session: null } : { from: null, to: null });
	else if (target.closest("[data-reset]")) choose({ filter: "all", session: null, words: "", from: null, to: null });
	else if (more) showMoreRows(more.parentElement, Infinity);
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
	if (target.matches(".fold")) openFold(target);
	if (target.matches(".session")) openSection(target);
}, { capture: true });

document.addEventListener("visibilitychange", () => { if (!document.hidden && view.live) refresh(); });
addEventListener("hashchange", () => { recall(); if (report) showAll(); });

recall();
listenToChart(find("plot"));
keepAsking();
