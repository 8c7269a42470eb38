package agents

import "github.com/carryon-go/carryon/adapters/langchaingo"

// ReadConversational is readConversational, for tests.
func ReadConversational(answer string) langchaingo.Reading { return readConversational(answer) }

// ReadOneShot is readOneShot, for tests.
func ReadOneShot(answer string) langchaingo.Reading { return readOneShot(answer) }
