package asynctask

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxCompletion is how many bytes the model is shown of one task. Of longer
// ones the texts are cut in the middle, each to the same length, and say so.
const MaxCompletion = 16 << 10

// shrunkSize is what is left of an output beyond the total size.
const shrunkSize = 2 << 10

// completion is how a task ended, as the model is told. It is not changed once
// it is made.
type completion struct {
	id    string
	state State

	output  bool // there is one: the following four are from it
	reason  excerpt
	vars    []variable // by name
	message *excerpt
	left    int // variables left out

	failure excerpt
	err     error // the failure itself; nil once the output was shrunk

	bytes int // what it takes in memory, about
	size  int // as JSON; all above MaxCompletion are the same
}

type variable struct {
	name  string
	value excerpt
}

// completed returns the completion of a task that ended well.
func completed(id string, o *Output) *completion {
	c := &completion{id: id, state: Completed}
	if o != nil {
		c.output = true
		c.reason = excerptOf(o.TerminateReason)
		if o.TerminateReason == "" {
			c.reason = excerpt{head: ReasonGoal}
		}
		for _, name := range slices.Sorted(maps.Keys(o.EmittedVars)) {
			c.vars = append(c.vars, variable{strings.ToValidUTF8(name, "\uFFFD"), excerptOf(o.EmittedVars[name])})
		}
		if o.FinalMessage != nil {
			message := excerptOf(*o.FinalMessage)
			c.message = &message
		}
	}
	return c.measure()
}

// failed returns the completion of a task that ended with err.
func failed(id string, err error) *completion {
	c := &completion{id: id, state: Failed, failure: excerptOf(errorText(err)), err: err}
	return c.measure()
}

// cancelled returns the completion of a task that was called off.
func cancelled(id string) *completion {
	c := &completion{id: id, state: Cancelled}
	return c.measure()
}

// errorText returns what err says, also if it panics saying it.
func errorText(err error) (text string) {
	defer func() {
		if value := recover(); value != nil {
			text = fmt.Sprintf("%T", err)
		}
	}()
	return err.Error()
}

// perVariable is what a variable takes besides its texts, about.
const perVariable = 64

func (c *completion) measure() *completion {
	c.size = c.frame()
	for i := range c.vars {
		c.bytes += perVariable + len(c.vars[i].name)
	}
	for _, text := range c.texts() {
		c.bytes += text.bytes()
		if c.size <= MaxCompletion {
			c.size += text.quoted(MaxCompletion + 1)
		}
	}
	return c
}

// texts returns what can be cut.
func (c *completion) texts() []*excerpt {
	texts := make([]*excerpt, 0, len(c.vars)+3)
	for i := range c.vars {
		texts = append(texts, &c.vars[i].value)
	}
	if c.output {
		texts = append(texts, &c.reason)
	}
	if c.message != nil {
		texts = append(texts, c.message)
	}
	if c.state == Failed {
		texts = append(texts, &c.failure)
	}
	return texts
}

// frame returns how long the JSON is without any of the texts.
func (c *completion) frame() int {
	blank := *c
	blank.reason, blank.failure = excerpt{}, excerpt{}
	if c.message != nil {
		blank.message = &excerpt{}
	}
	blank.vars = nil
	size := len(blank.append(nil))
	for i := range c.vars {
		size += nameSize(c.vars[i].name)
	}
	return size
}

// nameSize is what a variable with an empty value takes as JSON, at most.
func nameSize(name string) int {
	return len("\n    \"\": \"\",\n  ") + quotedLen(name, 2*MaxCompletion)
}

// cut returns the completion with its texts cut so that it is at most limit
// bytes as JSON, which must be smallest at least.
func (c *completion) cut(limit int) *completion {
	if c.size <= limit {
		return c
	}
	short := *c
	short.vars = nil
	if c.message != nil {
		message := *c.message
		short.message = &message
	}
	short.keepVars(c.vars, limit)
	texts := short.texts()
	sizes := make([]int, len(texts))
	for i, text := range texts {
		sizes[i] = text.quoted(limit)
	}
	share := fairShare(sizes, limit-short.frame())
	for _, text := range texts {
		*text = text.shorten(share)
	}
	short.bytes = 0
	return short.measure()
}

// keepVars keeps as many of the variables as can be named within limit, since
// names are not cut.
func (c *completion) keepVars(vars []variable, limit int) {
	room := limit - c.frame() - nameSize(leftOutName) - shortest
	for _, text := range c.texts() {
		room -= text.quoted(shortest)
	}
	kept := 0
	for ; kept < len(vars); kept++ {
		if room -= nameSize(vars[kept].name) + vars[kept].value.quoted(shortest); room < 0 {
			break
		}
	}
	c.vars = slices.Clone(vars[:kept])
	c.left += len(vars) - kept
}

// leftOutName is the name under which a completion says that there are more
// variables.
const leftOutName = "..."

// append appends the completion as JSON.
func (c *completion) append(dst []byte) []byte {
	dst = append(dst, "{\n  \"agent_id\": \""...)
	dst = appendQuoted(dst, c.id)
	if !c.output {
		dst = append(dst, "\",\n  \"status\": \""...)
		dst = append(dst, c.state...)
		if c.state == Failed {
			dst = append(dst, "\",\n  \"error\": \""...)
			dst = c.failure.appendQuoted(dst)
		}
		return append(dst, "\"\n}"...)
	}
	dst = append(dst, "\",\n  \"terminate_reason\": \""...)
	dst = c.reason.appendQuoted(dst)
	dst = append(dst, "\",\n  \"emitted_vars\": "...)
	dst = c.appendVars(dst)
	if c.message != nil {
		dst = append(dst, ",\n  \"final_message\": \""...)
		dst = c.message.appendQuoted(dst)
		dst = append(dst, '"')
	}
	return append(dst, "\n}"...)
}

func (c *completion) appendVars(dst []byte) []byte {
	open := len(dst)
	dst = append(dst, '{')
	appendVar := func(name string, value excerpt) {
		if len(dst) > open+1 {
			dst = append(dst, ',')
		}
		dst = append(dst, "\n    \""...)
		dst = appendQuoted(dst, name)
		dst = append(dst, "\": \""...)
		dst = value.appendQuoted(dst)
		dst = append(dst, '"')
	}
	for i := range c.vars {
		appendVar(c.vars[i].name, c.vars[i].value)
	}
	if c.left > 0 {
		appendVar(leftOutName, excerpt{head: fmt.Sprintf("[%d variables left out]", c.left)})
	}
	if len(dst) > open+1 {
		dst = append(dst, "\n  "...)
	}
	return append(dst, '}')
}

// shrink returns the completion as it is kept beyond the total size.
func (c *completion) shrink() *completion {
	short := c.cut(shrunkSize)
	if short != c {
		short.err = nil // it may hold as much as its text
	}
	return short
}

// outputOf returns the Output that the completion was made of, as far as it is
// kept.
func (c *completion) outputOf() *Output {
	if !c.output {
		return nil
	}
	o := &Output{TerminateReason: c.reason.String()}
	if len(c.vars) > 0 {
		o.EmittedVars = make(map[string]string, len(c.vars))
	}
	for i := range c.vars {
		o.EmittedVars[c.vars[i].name] = c.vars[i].value.String()
	}
	if c.message != nil {
		text := c.message.String()
		o.FinalMessage = &text
	}
	return o
}

// failureOf returns what the task failed with, nil if it did not.
func (c *completion) failureOf() error {
	switch {
	case c.state != Failed:
		return nil
	case c.err != nil:
		return c.err
	}
	return errors.New(c.failure.String())
}
