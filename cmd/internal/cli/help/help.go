// Package help is the manual that the program carries: one page in Markdown for
// each topic, as "kubectl operator help TOPIC" shows it and as it reads in the
// repository.
package help

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Topic is one page of the manual.
type Topic struct {
	// Name is the argument of the help command, such as exit-codes.
	Name string
	// Summary is the rest of its first heading, "# NAME: SUMMARY".
	Summary string
	// Text is the page, in Markdown, UTF-8.
	Text string
}

// Topics returns every page of the manual, by name.
func Topics() []Topic {
	entries, err := fs.ReadDir(pages, ".")
	if err != nil {
		panic(err) // the pages are part of the program
	}
	var out []Topic
	for _, entry := range entries {
		text, err := pages.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		out = append(out, newTopic(strings.TrimSuffix(entry.Name(), ".md"), string(text)))
	}
	return out
}

// Find returns the topic with that name.
func Find(name string) (Topic, bool) {
	topics := Topics()
	i := slices.IndexFunc(topics, func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return Topic{}, false
	}
	return topics[i], true
}

func newTopic(name, text string) Topic {
	heading, _, _ := strings.Cut(text, "\n")
	_, summary, _ := strings.Cut(heading, ": ")
	return Topic{Name: name, Summary: summary, Text: text}
}

// Write writes the page, wrapped to a width in columns. Lines of code are never
// wrapped, so that they can be copied.
func (t Topic) Write(to io.Writer, width int) error {
	if _, err := io.WriteString(to, render(t.Text, width)); err != nil {
		return fmt.Errorf("printing the topic %s: %w", t.Name, err)
	}
	return nil
}
