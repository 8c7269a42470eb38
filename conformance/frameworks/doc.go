// Package frameworks tests Go frameworks for agents, with carryon and without. Each has a loop of its own, and carryon
// enters it by one line: the HTTP client of its model. They are modules of their own, because they bring many others, and
// those of fantasy do not agree with those of genkit.
package frameworks
