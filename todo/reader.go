package todo

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/toolcall"
)

// Reader reads a list that an agent keeps in calls of a kind of its own, such as
// statements of a language. [FromConversation] makes one for each search with
// [WithReader], and shows it the calls, newest first, that are not of a todo tool which
// FromConversation knows. As soon as a call of such a tool has been found, or changes of
// a list, the Reader is shown no more: its list would be older. A Reader need not be
// safe for concurrent use, and must bound what it reads.
type Reader interface {
	// Look examines the next older call. about reports whether the call has to do with
	// the list. last ends the search: no older call can change what List returns.
	Look(call Call) (about, last bool)
	// List returns the list, and its origin with Tool and Written. It is called once, and
	// only if a call was about the list. older yields the calls that are older than those
	// that the search has examined.
	//
	// If the error is [ErrNoList], an older list counts. With any other error the list
	// could not be read, and an older list counts only if Look has not ended the search.
	// Unconfirmed of the origin then says why a call does not count.
	List(older iter.Seq[Call]) ([]Todo, Origin, error)
}

// WithReader makes [FromConversation] read lists with a [Reader] too. newReader is called
// for each search. It receives the names of the tools that the request offers, or nil if
// they are not known. tools are the names of tools with which the model writes that list:
// a request that offers one of them can have a list.
func WithReader(newReader func(offered iter.Seq[string]) Reader, tools ...string) ConversationOption {
	if newReader == nil {
		panic("carryon/todo: WithReader: nil function")
	}
	names := make([]toolcall.Name, 0, len(tools))
	for _, name := range tools {
		if plain := toolcall.NewName(name); plain != "" {
			names = append(names, plain)
		}
	}
	return func(c *conversationSource) {
		c.newReaders = append(c.newReaders, newReader)
		c.readerTools = append(c.readerTools, names...)
	}
}

// isReaderTool reports whether the model writes the list of a Reader with a tool.
func (c *conversationSource) isReaderTool(tool string) bool {
	return toolcall.AnyNames(c.readerTools, tool)
}

// readers are the readers of one search.
type readers struct {
	all   []Reader
	about []int  // the indexes of those that a call was about, the newest first
	read  int    // calls that the search has examined
	doubt error  // of the newest call that may have written a list but does not count
	why   string // it does not
}

// look shows a call to the readers.
func (r *readers) look(call *Call) (about, last bool) {
	for i, reader := range r.all {
		mine, ends := reader.Look(*call)
		if !mine {
			continue
		}
		if !slices.Contains(r.about, i) {
			r.about = append(r.about, i)
		}
		return true, ends
	}
	return false, false
}

// older yields the calls that the search has not examined.
func (r *readers) older(ctx context.Context) iter.Seq[Call] {
	read := r.read
	return func(yield func(Call) bool) {
		seen := 0
		for call := range ConversationFrom(ctx) {
			if seen++; seen <= read {
				continue
			}
			if !yield(unwrapCall(&call)) {
				return
			}
		}
	}
}

// list returns the list of the first reader that has one. The error is nil with a list,
// [ErrNoList] if no reader has anything to say, and else says what could not be read.
func (r *readers) list(ctx context.Context) ([]Todo, Origin, error) {
	result := ErrNoList
	for _, i := range r.about {
		list, origin, err := r.all[i].List(r.older(ctx))
		if err == nil {
			list, err = normalize(list)
		}
		if err == nil {
			return list, origin, nil
		}
		if !errors.Is(err, ErrNoList) && errors.Is(result, ErrNoList) {
			result = &UnreadableError{Tool: strings.Clone(origin.Tool), Err: err}
		}
		if origin.Unconfirmed != "" && r.why == "" {
			r.doubt, r.why = result, origin.Unconfirmed
		}
	}
	return nil, Origin{}, result
}
