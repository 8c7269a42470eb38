package toolcall

import (
	"iter"
	"strings"
)

// IDs yields the ids in a list of them, separated by commas, each with or without "#".
func IDs(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range strings.SplitSeq(list, ",") {
			id = strings.TrimPrefix(strings.TrimSpace(id), "#")
			if id != "" && !yield(id) {
				return
			}
		}
	}
}
