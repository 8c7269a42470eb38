// Package hostile makes random conversations of a model that carryon continues
// twice, in every wire protocol, as no test would list them: answers with pings,
// unknown events, repeated ids and indexes, data on several lines, other line ends,
// events that are lost, doubled, exchanged or of another protocol, errors, missing
// ends, and cuts at any byte.
//
// A seed makes a [Conversation]. A client reads each of its answers alone, and then
// the joined answer, from an [Upstream]. [Conversation.Judge] compares: what a client
// accepts alone, it accepts joined; half a call never looks whole; nothing of
// carryon's prompts and of todo_pause is shown; no text is lost; and the joined answer
// is no larger than its parts.
//
// The package is for tests. It knows no SDK: a test brings the clients.
package hostile
