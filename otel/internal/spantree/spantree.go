// Package spantree formats spans as a text tree, for examples and golden files.
package spantree

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Write writes the spans to w, each below its parent and ordered by start time, with
// their events, links and the attributes for which keep returns true. It omits times.
func Write(w io.Writer, spans []sdk.ReadOnlySpan, keep func(attribute.Key) bool) error {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b sdk.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	t := tree{keep: keep, names: make(map[trace.SpanID]string), children: make(map[trace.SpanID][]sdk.ReadOnlySpan)}
	for _, span := range spans {
		t.names[span.SpanContext().SpanID()] = span.Name()
	}
	for _, span := range spans {
		parent := span.Parent().SpanID()
		if t.names[parent] == "" {
			parent = trace.SpanID{} // not among these spans
		}
		t.children[parent] = append(t.children[parent], span)
	}
	t.write(trace.SpanID{}, 0)
	_, err := io.WriteString(w, t.out.String())
	return err
}

type tree struct {
	keep     func(attribute.Key) bool
	names    map[trace.SpanID]string
	children map[trace.SpanID][]sdk.ReadOnlySpan
	out      strings.Builder
}

func (t *tree) write(parent trace.SpanID, depth int) {
	for _, span := range t.children[parent] {
		t.line(depth, span.Name()+kind(span)+failure(span)+t.attributes(span.Attributes()))
		for _, event := range span.Events() {
			t.line(depth+1, "* "+event.Name+t.attributes(event.Attributes))
		}
		for _, link := range span.Links() {
			t.line(depth+1, "-> "+t.names[link.SpanContext.SpanID()])
		}
		t.write(span.SpanContext().SpanID(), depth+1)
	}
}

func (t *tree) line(depth int, text string) {
	fmt.Fprintf(&t.out, "%s%s\n", strings.Repeat("  ", depth), text)
}

func kind(span sdk.ReadOnlySpan) string {
	if span.SpanKind() == trace.SpanKindInternal {
		return ""
	}
	return " (" + span.SpanKind().String() + ")"
}

func failure(span sdk.ReadOnlySpan) string {
	if span.Status().Code != codes.Error {
		return ""
	}
	return strings.TrimSuffix(" FAILED: "+span.Status().Description, ": ")
}

func (t *tree) attributes(list []attribute.KeyValue) string {
	texts := make([]string, 0, len(list))
	for _, a := range list {
		if t.keep(a.Key) {
			texts = append(texts, string(a.Key)+"="+oneLine(a.Value.Emit()))
		}
	}
	slices.Sort(texts)
	return strings.TrimRight(" "+strings.Join(texts, " "), " ")
}

// oneLine quotes a text of several lines.
func oneLine(text string) string {
	if strings.Contains(text, "\n") {
		return strconv.Quote(text)
	}
	return text
}
