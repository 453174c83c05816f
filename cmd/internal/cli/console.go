package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// console is what commands say, and ask, beside the screens: reports of plans,
// lists, documents for tools, questions.
type console struct {
	streams *streams.Streams
}

// documentOutput is -o of commands that print one document.
type documentOutput struct{ format string }

func (f *documentOutput) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "output format: text, json or yaml")
	offer(cmd.Flags(), "text", "json", "yaml")
}

func (f *documentOutput) check() error {
	if slices.Contains([]string{"text", "json", "yaml"}, f.format) {
		return nil
	}
	return usagef("-o %s: want text, json or yaml", f.format)
}

// printDocument prints a document in the form asked for; text prints it for a
// person.
func (c console) printDocument(output documentOutput, document any, text func() error) error {
	switch output.format {
	case "json":
		return c.printJSON(document)
	case "yaml":
		data, err := yaml.Marshal(document)
		if err != nil {
			return err
		}
		_, err = c.streams.Human().Write(data)
		return err
	}
	return text()
}

// itemsOutput is -o of commands that print a list.
type itemsOutput struct {
	format string
}

func (f *itemsOutput) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "output format: text or json")
	offer(cmd.Flags(), "text", "json")
}

func (f *itemsOutput) check() error {
	if f.format == "text" || f.format == "json" {
		return nil
	}
	return usagef("-o %s: want text or json", f.format)
}

// items is the JSON form of every list.
type items[T any] struct {
	Items []T `json:"items"`
}

func (c console) printItems(format string, list any, rows [][]string) error {
	if format == "json" {
		return c.printJSON(list)
	}
	return table(c.streams.Human(), rows)
}

// table prints rows in aligned columns; the first is the header.
func table(w io.Writer, rows [][]string) error {
	columns := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(columns, "\t")
			}
			fmt.Fprint(columns, textsafe.Line(cell))
		}
		fmt.Fprintln(columns)
	}
	return columns.Flush()
}

func (c console) writeJSON(data []byte) error {
	_, err := c.streams.Out.Write(append(textsafe.JSON(data), '\n'))
	return err
}

// printJSON writes one document for tools.
func (c console) printJSON(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return c.writeJSON(data)
}

func argument(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// patience is how long a log goes without a line while a command works.
const patience = time.Minute

// progress tells a waiting person on standard error what is being done: a
// terminal gets every step. Elsewhere a command that takes long says now and
// then where it is, so that nobody takes it for dead.
func (a *app) progress() func(string) {
	if a.streams.ErrTTY() {
		return func(line string) {
			a.log.Info(line)
			a.streams.Status(line)
		}
	}
	throttle := &throttled{say: a.streams.Status, now: time.Now, said: time.Now()}
	return func(line string) {
		a.log.Info(line)
		throttle.tell(line)
	}
}

// throttled passes on a line when none was printed for a while.
type throttled struct {
	say  func(string)
	now  func() time.Time
	mu   sync.Mutex
	said time.Time
}

func (t *throttled) tell(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); now.Sub(t.said) >= patience {
		t.said = now
		t.say(line)
	}
}
