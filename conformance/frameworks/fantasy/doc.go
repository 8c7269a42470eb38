// Package fantasy tests the framework fantasy, with carryon and without, on two of its protocols. Its provider for Messages
// takes an HTTP client too; it is left out, because it compiles the SDKs of two clouds.
package fantasy
