package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"github.com/carryon-go/carryon/cmd/carryon/internal/proxy"
)

// helpWidth is the width in columns of the help.
const helpWidth = 80

// printHelp prints the help of a command: its flags in groups, each with its meaning below it.
func printHelp(w io.Writer, _ string, data any) {
	c, ok := data.(*cli.Command)
	if !ok {
		return
	}
	var b strings.Builder
	wrap(&b, "", c.FullName()+": "+c.Usage)
	usage := c.UsageText
	if usage == "" {
		usage = strings.TrimSpace(c.FullName() + " [flags] " + c.ArgsUsage)
	}
	if len(c.VisibleCommands()) > 0 {
		usage = c.FullName() + " COMMAND [flags]"
	}
	b.WriteString("\nUsage: " + usage + "\n")
	if c.Description != "" {
		b.WriteString("\n")
		printText(&b, c.Description)
	}
	printCommands(&b, c)
	printFlags(&b, c)
	_, _ = io.WriteString(w, b.String()) // the reader may be gone
}

// printText prints paragraphs: lines of the same indent, up to an empty one.
func printText(b *strings.Builder, text string) {
	indent, paragraph := "", ""
	flush := func() {
		if paragraph != "" {
			wrap(b, indent, paragraph)
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		if before := line[:len(line)-len(words)]; words == "" || before != indent {
			flush()
			indent = before
		}
		if words == "" {
			b.WriteString("\n")
		}
		paragraph += " " + words
		if words == "" {
			paragraph = ""
		}
	}
	flush()
}

func printCommands(b *strings.Builder, c *cli.Command) {
	if len(c.VisibleCommands()) == 0 {
		return
	}
	b.WriteString("\nCommands:\n")
	for _, sub := range c.VisibleCommands() {
		fmt.Fprintf(b, "  %s\n", sub.Name)
		wrap(b, "      ", sub.Usage)
	}
	b.WriteString("  help\n")
	wrap(b, "      ", cli.UsageCommandHelp)
}

// printFlags prints the flags in their groups, those without one last.
func printFlags(b *strings.Builder, c *cli.Command) {
	for _, group := range []string{proxy.GroupContinuing, proxy.GroupEndpoint, proxy.GroupFigures, proxy.GroupOperators, ""} {
		flags := slices.DeleteFunc(c.VisibleFlags(), func(f cli.Flag) bool {
			in, ok := f.(cli.CategorizableFlag)
			return ok && in.GetCategory() != group || !ok && group != ""
		})
		if len(flags) > 0 {
			fmt.Fprintf(b, "\n%s:\n", cmp.Or(group, "Flags"))
		}
		for _, f := range flags {
			printFlag(b, f)
		}
	}
}

// printFlag prints a flag with one dash, as the documents spell it.
func printFlag(b *strings.Builder, f cli.Flag) {
	described, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return
	}
	usage := described.GetUsage()
	value := ""
	if before, rest, found := strings.Cut(usage, "`"); found { // the value's name is quoted
		name, after, _ := strings.Cut(rest, "`")
		usage, value = before+name+after, " "+name
	}
	if text := cmp.Or(described.GetDefaultText(), described.GetValue()); text != "" && described.TakesValue() {
		usage += fmt.Sprintf(" (default: %s)", text)
	}
	if variables := described.GetEnvVars(); len(variables) > 0 {
		usage += " [$" + strings.Join(variables, "] [$") + "]"
	}
	names := make([]string, 0, 2)
	for _, name := range f.Names() {
		names = append(names, "-"+name)
	}
	fmt.Fprintf(b, "  %s%s\n", strings.Join(names, ", "), value)
	wrap(b, "      ", usage)
}

// wrap writes a text in lines of at most helpWidth columns. It breaks no word.
func wrap(b *strings.Builder, indent, text string) {
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > helpWidth {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
