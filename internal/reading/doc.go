// Package reading keeps what was read of a call's turns: text, reasoning, tool calls, how
// a turn ended. A dialect reports it chunk by chunk; carryon/adapter/join shows it, and
// the engine decides by it.
package reading
