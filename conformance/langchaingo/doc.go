// Package langchaingo holds tests of the langchaingo adapter with the clients of
// providers that are too heavy for carryon's own module: googleai and mistral.
package langchaingo
