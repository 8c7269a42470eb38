// Package scripts compares what carryon reads in scripts of Codex's code mode with what the scripts do in a JavaScript
// engine. Thousands of random scripts write plans: most in the ways of models, others so that a reader may be deceived.
// carryon may say that it cannot read a plan, and must never read another one than the engine has written.
package scripts
