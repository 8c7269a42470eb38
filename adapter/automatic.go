package adapter

import "github.com/carryon-go/carryon/internal/automatic"

// IsAutomatic reports whether the agent, and not its user, wrote a message with the
// user's role: it consists only of elements such as
// <system-reminder>…</system-reminder>, perhaps behind lines that say that it is no
// input of the user. Such a message does not begin a user turn, and adapters do not
// count it among [Request].Users.
func IsAutomatic(text string) bool { return automatic.Is(text) }
