package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli/help"
	"github.com/spf13/cobra"
)

func TestEveryCommandAndTopicHasItsPages(t *testing.T) {
	out := t.TempDir()
	begun := time.Now()
	if err := write(out, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the pages took %s", took)
	}
	commands := count(cli.Command(cli.Options{Getenv: func(string) string { return "" }}))
	for pattern, want := range map[string]int{"man/*.1": commands, "reference/*.md": commands + len(help.Topics())} {
		pages, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(pages) != want {
			t.Errorf("%s are %d files, want %d", pattern, len(pages), want)
		}
	}
}

// count is the number of commands at and below one that are shown.
func count(cmd *cobra.Command) int {
	n := 1
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			n += count(sub)
		}
	}
	return n
}
