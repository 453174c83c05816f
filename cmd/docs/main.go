// Command docs writes a man page and a page of Markdown for every command, and a
// page of Markdown for every topic of the manual.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli/help"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func main() {
	out := flag.String("out", "", "directory for man/ and reference/")
	version := flag.String("version", "dev", "version in the pages")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(out, version string) error {
	root := cli.Command(cli.Options{Version: version, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: func(string) string { return "" }})
	man, reference := filepath.Join(out, "man"), filepath.Join(out, "reference")
	for _, dir := range []string{man, reference} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("writing the documents: %w", err)
		}
	}
	prepare(root)
	header := &doc.GenManHeader{Title: "KUBECTL-OPERATOR", Section: "1", Source: "kubectl operator " + version, Manual: "kubectl operator"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return fmt.Errorf("writing the man pages: %w", err)
	}
	if err := doc.GenMarkdownTree(root, reference); err != nil {
		return fmt.Errorf("writing the reference: %w", err)
	}
	for _, topic := range help.Topics() {
		if err := os.WriteFile(filepath.Join(reference, topic.Name+".md"), []byte(topic.Text), 0o644); err != nil {
			return fmt.Errorf("writing the reference: %w", err)
		}
	}
	return nil
}

// prepare leaves out of the pages on which day they were made.
func prepare(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, sub := range cmd.Commands() {
		prepare(sub)
	}
}
