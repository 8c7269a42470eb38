// Package adk tests Google's framework adk-go, with carryon and without, on Gemini's protocol.
package adk
