// Downloads of what is shown, as a table or as JSON.

// cell quotes a value for CSV. What a spreadsheet would take for a formula begins with an
// apostrophe: names come from clients.
function cell(value) {
	let text = String(value ?? "");
	if (typeof value !== "number" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
	return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (rows) => `${[Object.keys(rows[0] ?? {}), ...rows.map(Object.values)].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;

const sessionRow = (session) => ({
	session: session.name, id: session.id, began: session.began, ended: session.ended, model: session.model ?? "", stage: stages[stageOf(session, session.open)].badge,
	todos: session.list?.todos ?? 0, completed: session.list?.completed ?? 0, cancelled: session.list?.cancelled ?? 0,
	requests: session.requests ?? 0, continuations: session.continuations ?? 0, stalls_resumed: session.worth?.resumed ?? 0, todos_finished: session.worth?.finished ?? 0,
	paused: session.worth?.paused ?? 0, unwanted: unwantedOf(session.worth), tokens_added: tokensOf(session.worth?.tokens), tokens: tokensOf(session.tokens), seconds: (session.took_ms ?? 0) / 1000,
	user_messages: session.wrote ?? 0, go_on_messages: session.go_ons ?? 0, held_out: Boolean(session.held_out),
});

const requestRow = (request) => ({
	number: request.number, began: request.began, ended: request.ended ?? "", method: request.method, path: request.path, session: request.session ?? "", model: request.model ?? "",
	state: states[request.state].badge, what: headline(request), reason: request.outcome?.code ?? "", status: request.status ?? 0, seconds: (request.took_ms ?? 0) / 1000,
	continuations: request.continuations ?? 0, tokens_added: request.tokens_added ?? 0,
});

// What a provider has not reported is unknown, and not nothing.
const tokensWords = (tokens, unreported) => (!unreported ? n(tokens) : tokens ? `at least ${n(tokens)}` : "unknown");
const tokensOf = (tokens) => (tokens ? tokens.input + tokens.cached + tokens.output : 0);
const unwantedOf = (worth) => (worth?.repeated ?? 0) + (worth?.no_progress ?? 0);

// download gives the reader a file.
function download(kind, name, rows) {
	const content = kind === "csv" ? csv(rows) : `${JSON.stringify(rows, null, 2)}\n`;
	const address = URL.createObjectURL(new Blob([content], { type: kind === "csv" ? "text/csv" : "application/json" }));
	h("a", { href: address, download: `carryon-${name}.${kind}` }).click();
	setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
