package agent

import (
	"encoding/json"
	"maps"
	"os"
	"strings"

	"github.com/tidwall/jsonc"
)

type object = map[string]any

// maxConfig is the largest configuration file that is read, in bytes.
const maxConfig = 32 << 20

// readConfig reads a user's file. A file that is missing, or too large to be a
// configuration, is as good as empty.
func readConfig(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// readJSON reads a file of JSON, which may have comments. It is nil unless the file
// is an object: the agent reports what is wrong with it.
func readJSON(path string) object { return parseJSON(readConfig(path)) }

func parseJSON(text []byte) object {
	var value object
	if json.Unmarshal(jsonc.ToJSON(text), &value) != nil {
		return nil
	}
	return value
}

// dotenv reads the variables of a file such as .env.
func dotenv(path string) map[string]string {
	variables := make(map[string]string)
	for line := range strings.Lines(string(readConfig(path))) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		name = strings.TrimSpace(name)
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			if inside, _, closed := strings.Cut(value[1:], value[:1]); closed {
				value = inside
			}
		} else if before, _, found := strings.Cut(value, " #"); found {
			value = strings.TrimSpace(before)
		}
		variables[name] = value
	}
	return variables
}

// at returns the value in an object at a path of names, or nil.
func at(value any, names ...string) any {
	for _, name := range names {
		inside, ok := value.(object)
		if !ok {
			return nil
		}
		value = inside[name]
	}
	return value
}

// textAt returns the text in an object at a path of names, or "".
func textAt(value any, names ...string) string {
	text, _ := at(value, names...).(string)
	return text
}

// merged returns an object with the members of two; where both have one, that of
// over counts, and objects are merged.
func merged(under, over object) object {
	all := make(object, len(under)+len(over))
	maps.Copy(all, under)
	for name, value := range over {
		inner, isObject := value.(object)
		if own, both := all[name].(object); both && isObject {
			value = merged(own, inner)
		}
		all[name] = value
	}
	return all
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic("carryon/cmd/carryon/internal/agent: " + err.Error()) // it consists of what JSON has
	}
	return string(text)
}
