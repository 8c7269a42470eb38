package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheDocumentHasARowForEachAgent(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `| agent | how it was run | files, of 3, alone | with carryon | requests added |
|---|---|---|---|---|
| Codex 0.1 | ChatGPT login; ChatGPT login, in a terminal; gpt-5 (plain HTTP) | 1 | 3 | 2 |
| pi 2.0 | as its user runs it | 1 | 3 | 2 |
| Codex 0.1 | API key | 1 | 2 | 1 |
`, condensed(`| agent | run | protocol | files, of 3, without | with | extra requests | prompts in its history | carryon says |
|---|---|---|---|---|---|---|---|
| Codex, ChatGPT login 0.1 | as its user runs it | Responses | 1 | 3 | 2 | 0 | 12 requests |
| Codex, ChatGPT login 0.1 | as its user runs it, in a terminal | Messages | 1 | 3 | 2 | 0 | 12 requests |
| pi 2.0 | as its user runs it | Messages | 1 | 3 | 2 | 0 | 12 requests |
| Codex, gpt-5 0.1 | as its user runs it, with an endpoint in plain HTTP | Responses | 1 | 3 | 2 | 0 | 8 requests |
| Codex, API key 0.1 | as its user runs it | Responses | 1 | 2 | 1 | 0 | 8 requests |
`))
}
