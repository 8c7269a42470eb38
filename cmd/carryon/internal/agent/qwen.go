package agent

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"runtime"

	"github.com/tidwall/jsonc"
)

type object = map[string]any

// maxConfig is the largest file of settings that is read, in bytes.
const maxConfig = 32 << 20

// qwenList is a copy of the system's settings of qwen-code, which override the user's,
// with the todo list turned on: no flag and no variable does that (0.24.4).
func qwenList(getenv func(string) string) File {
	const variable = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
	usual := map[string]string{
		"darwin": "/Library/Application Support/QwenCode/settings.json", "windows": `C:\ProgramData\qwen-code\settings.json`,
	}[runtime.GOOS]
	settings := readJSON(cmp.Or(getenv(variable), usual, "/etc/qwen-code/settings.json"))
	text, err := json.Marshal(merged(settings, object{"tools": object{"todoWrite": object{"enabled": true}}}))
	if err != nil {
		panic("carryon/cmd/carryon/internal/agent: " + err.Error()) // it consists of what JSON has
	}
	return File{Variable: variable, Name: "settings.json", Content: string(text)}
}

// readJSON reads a file of JSON, which may have comments. It is nil unless the file is an
// object: the agent reports what is wrong with it.
func readJSON(path string) (value object) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(jsonc.ToJSON(text), &value) != nil {
		return nil
	}
	return value
}

// merged returns an object with the members of two; where both have one, that of over
// counts, and objects are merged.
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
