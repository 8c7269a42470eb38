// What the page says, and how it writes numbers and times.

const inUTC = () => document.querySelector("[name=zone]:checked").value === "utc";

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "this browser";

const formats = {};

// formatted writes a time in the zone that was chosen. Hours are of 24, so that
// times in a column line up.
function formatted(kind, options, time) {
	const zone = inUTC() ? "UTC" : undefined;
	formats[kind + zone] ??= new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", timeZone: zone, ...options });
	return formats[kind + zone].format(time);
}

const clock = (time) => formatted("clock", { hour: "2-digit", minute: "2-digit", second: "2-digit" }, time);
const minute = (time) => formatted("minute", { hour: "2-digit", minute: "2-digit" }, time);
const day = (time) => formatted("day", { day: "numeric", month: "short" }, time);
// utcDay writes the day of a bar of the chart: carryon counts by the days of UTC.
const utcDayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const utcDay = (time) => utcDayFormat.format(time);
const moment = (time) => `${formatted("date", { weekday: "short", day: "numeric", month: "short", year: "numeric" }, time)}, ${clock(time)} ${inUTC() ? "UTC" : localZone}`;

// timeOf returns an element for a time, with the day if that is not the day of now.
function timeOf(text, now) {
	const time = new Date(text);
	const said = day(time) === day(now) ? clock(time) : `${day(time)}, ${clock(time)}`;
	return h("time", { datetime: text, title: moment(time) }, said);
}

const number = new Intl.NumberFormat("en-US");
const n = (value) => number.format(value);
const percent = (part, all) => `${Math.round((100 * part) / all)}%`;
const count = (value, one, many = one + "s") => `${n(value)} ${value === 1 ? one : many}`;
const times = (value) => ["never", "once", "twice"][value] ?? `${n(value)} times`;

function duration(ms) {
	if (ms < 1) return "under 1\u00a0ms";
	if (ms < 999.5) return `${Math.round(ms)}\u00a0ms`;
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)}\u00a0s`;
	const seconds = Math.round(ms / 1000);
	if (seconds < 3600) return `${Math.floor(seconds / 60)}\u00a0min ${seconds % 60}\u00a0s`;
	return `${Math.floor(seconds / 3600)}\u00a0h ${Math.floor((seconds % 3600) / 60)}\u00a0min`;
}

// span is duration for round numbers.
function span(ms) {
	for (const [unit, name] of [[86_400_000, "day"], [3_600_000, "hour"], [60_000, "minute"]]) {
		if (ms >= unit) return count(ms / unit, name);
	}
	return count(ms / 1000, "second");
}

// states are the words of badges and filters of requests, in the order of the filters. A
// rare filter is shown only if it finds something.
const states = {
	open: { badge: "Under way" },
	continued: { badge: "Continued" },
	paused: { badge: "Paused" },
	failed: { badge: "Failed" },
	limit: { badge: "Limit reached", rare: true },
	dry_run: { badge: "Dry run", rare: true },
	holdout: { badge: "Held out", rare: true },
	passed: { badge: "Passed" },
};

// stages are the same for sessions.
const stages = {
	open: { badge: "At work" },
	waiting: { badge: "Waiting" },
	paused: { badge: "Paused" },
	done: { badge: "Finished" },
	stopped: { badge: "Stopped", rare: true },
	failed: { badge: "Failed", rare: true },
	limit: { badge: "Limit reached", rare: true },
	dry_run: { badge: "Dry run", rare: true },
	holdout: { badge: "Held out", rare: true },
	none: { badge: "No list", rare: true },
};

const hasList = (session) => session.list?.todos > 0;

// withoutList are the codes of decisions that were taken without a list because there is
// none. With other codes, carryon did not read it. Those of the second line follow the reading.
const withoutList = new Set([
	"no_list", "no_list_tool", "no_tools", "no_session", "list_empty", "ask", "asked_before", "nothing_open",
	"asks_user", "background", "already_active", "max_attempts", "token_budget", "too_soon", "holdout",
	"check_failed", "check_passed", "check_unknown", "check_exhausted",
]);

// hasNoList reports whether a session is known to have no list, or had no call of a model.
const hasNoList = (session, open) => !hasList(session) && (session.code ? withoutList.has(session.code) : open === 0);

// isFinished reports whether the work of a session is done: by its check, or else by its list.
const isFinished = (session) => session.check ? session.check === "passed" : hasList(session) && session.list.completed + (session.list.cancelled ?? 0) >= session.list.todos;

// isQuiet reports whether a session has been quiet for so long that nobody works on it.
const isQuiet = (session) => new Date(report.now) - new Date(session.ended) > 3_600_000;

// stageOf returns how far a session is. open is how many of its requests are under way.
function stageOf(session, open) {
	if (open > 0) return "open";
	if (session.state === "failed" || session.state === "limit") return session.state;
	if (isFinished(session)) return "done";
	if (["paused", "dry_run", "holdout"].includes(session.state)) return session.state;
	if (["asks_user", "left_to_user", "list_untouched", "others_work", "background"].includes(session.code)) return "waiting";
	if (session.code === "tool_calls" || session.code === "already_active") return isQuiet(session) ? "stopped" : "open";
	if (session.check) return "stopped";
	return hasNoList(session, open) ? "none" : "stopped";
}

// waitsFor says in a sentence what a session waits for, or why it went no further.
function waitsFor(session, open) {
	if (open > 0) return "The model is answering";
	switch (stageOf(session, open)) {
	case "done":
		return session.check ? "The check passed" : "All todos are done";
	case "paused":
		return session.pause ? ["The model says: ", h("q", null, session.pause)] : "The model paused until the user writes again";
	case "holdout":
		return "Stopped with work left, and was not continued: it is in the control group";
	case "dry_run":
		return "Stopped with work left; carryon would have continued it";
	case "limit":
		return `carryon stopped: ${lower(session.why)}`;
	case "failed":
		return session.code === "failed" ? "A continuation failed; the client got the answer without it" : "The last answer was an error, or cut short";
	}
	switch (session.code) {
	case "tool_calls":
		return isQuiet(session) ? "The model called tools, and the program has not come back for an hour" : "The program runs the tools that the model called";
	case "asks_user":
		return "Waits for the user, whom the model asked something";
	case "left_to_user":
		return "Waits for the user, to whom the model left the rest";
	case "background":
		return "Waits for work in the background to report";
	case "list_untouched":
		return "Waits for the user: the model did not write the list in this user turn";
	case "no_list": case "no_list_tool": case "list_empty":
		return "No todo list, so there is nothing to continue";
	case "broke_off":
		return "The client ended the call";
	}
	return session.why ?? (session.requests > 0 ? "No call that could work on a todo list" : "No call of a model so far");
}

// wasRefused reports whether the model wanted to pause in a turn, and was not let.
const wasRefused = (turn) => turn.notes?.some((note) => note.kind === "pause_refused");

// matches reports whether a filter shows a request.
function matches(filter, request) {
	switch (filter) {
	case "all":
		return true;
	case "continued":
		return request.continuations > 0;
	case "paused":
		return request.state === "paused" || request.turns?.some((turn) => turn.result === "paused" && !wasRefused(turn));
	}
	return request.state === filter;
}

// headline says in a sentence what became of a request.
function headline(request) {
	const added = request.continuations ?? 0;
	const outcome = request.outcome;
	switch (request.state) {
	case "open":
		return added ? `Continuation ${n(added)} is under way` : "Waiting for the model";
	case "failed":
		return failure(request);
	case "paused":
		if (added) return `The model paused after ${count(added, "continuation")}`;
		return outcome.code === "paused" ? "The session is paused until the user writes again" : "The model paused";
	case "limit":
		return `${added ? `Continued ${times(added)}, then stopped` : "Not continued"}: ${lower(outcome.explanation)}`;
	case "dry_run":
	case "holdout":
		return "It would have been continued";
	case "continued":
		return continued(request, added);
	}
	if (request.client_left) return "The client left before the end";
	if (!outcome) return "Passed on";
	return (outcome.left_alone ? "Passed on unchanged: " : "") + (outcome.left_alone ? lower(outcome.explanation) : outcome.explanation);
}

function failure(request) {
	const broken = request.turns?.at(-1);
	if (broken?.number > 1 && broken.result === "failed") return `A continuation failed (${broken.failure.split(": ", 1)}); the client got the answer without it`;
	if (request.cut_short) return "The answer was cut short";
	return `The answer was an error: HTTP status ${request.status}`;
}

function continued(request, added) {
	const last = request.turns?.at(-1)?.result;
	const start = `Continued ${times(added)}`;
	switch (last) {
	case "tool_call":
		return `${start}, then the model called a tool`;
	case "interrupted":
		return `${start}, then the client left`;
	}
	return `${start}: ${lower(request.outcome?.explanation ?? "the model answered with text")}`;
}

const lower = (sentence) => sentence.charAt(0).toLowerCase() + sentence.slice(1);

const statusOf = (request) => (request.status ? `HTTP ${request.status}` : "none");

// answer says what the client received.
function answer(request) {
	const took = request.ended ? ` in ${duration(request.took_ms ?? 0)}` : "";
	if (!request.ended) return "no answer yet";
	if (request.client_left) return `${statusOf(request)}; the client left after ${took.slice(4)}`;
	if (request.cut_short) return `${statusOf(request)}, cut short after ${took.slice(4)}`;
	return `${statusOf(request)}${took}`;
}

// sessionName tells sessions of the same name and different callers apart.
function sessionName(name, id, ambiguous) {
	if (!id) return "Requests without a session";
	return ambiguous.has(name) ? `${name} (${id.slice(0, 4)})` : name;
}

// sentenced begins with a capital letter and ends with a full stop.
const sentenced = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

// stressed returns a text with its numbers in bold type, but for those of ranges.
const stressed = (text) => text.split(/(\(95% range:[^)]*\))/).map((part, i) => (i % 2 ? part : part.split(/(\$?[+-]?\d[\d,.]*\d%?|\$?[+-]?\d%?)/).map((piece, k) => (k % 2 ? h("b", null, piece) : piece))));

const sessionID = (request) => request.session_id ?? "";
