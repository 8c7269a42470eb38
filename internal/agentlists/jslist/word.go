package jslist

import "strings"

// keywords are the words that are no names in a module.
var keywords = map[string]bool{ //nolint:gochecknoglobals // constant
	"await": true, "break": true, "case": true, "catch": true, "class": true, "const": true, "continue": true,
	"debugger": true, "default": true, "delete": true, "do": true, "else": true, "enum": true, "export": true,
	"extends": true, "false": true, "finally": true, "for": true, "function": true, "if": true, "import": true,
	"in": true, "instanceof": true, "let": true, "new": true, "null": true, "return": true, "static": true,
	"super": true, "switch": true, "this": true, "throw": true, "true": true, "try": true, "typeof": true,
	"var": true, "void": true, "while": true, "with": true, "yield": true, "implements": true, "interface": true,
	"package": true, "private": true, "protected": true, "public": true, "async": true,
}

func isKeyword(name string) bool { return keywords[name] }

// isValueWord reports whether a keyword is a value.
func isValueWord(name string) bool {
	switch name {
	case "this", "super", "null", "true", "false", "async":
		return true
	}
	return false
}

// isControl reports whether a keyword stands before brackets and a statement.
func isControl(name string) bool {
	switch name {
	case "if", "while", "for", "with", "switch", "catch":
		return true
	}
	return false
}

// isAccess reports whether a symbol stands before the name of a property.
func isAccess(symbol string) bool { return symbol == "." || symbol == "?." || symbol == "#" }

// reachesAll reports whether a script that uses a name may call any function, without
// naming it.
func reachesAll(name string) bool {
	switch name {
	case "eval", "Function", "constructor", "globalThis":
		return true
	}
	return false
}

// isHazard reports whether a script that uses a name may change what it does later: end
// early, run text as code, or change how values become JSON.
func isHazard(name string) bool {
	switch name {
	case "exit", "import", "prototype", "toJSON", "getPrototypeOf", "setPrototypeOf", "defineProperty", "defineProperties",
		"Reflect", "Proxy":
		return true
	}
	return reachesAll(name) || strings.HasPrefix(name, "__")
}
