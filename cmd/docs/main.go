// Command docs writes a man page and a page of Markdown for every command, a page of
// Markdown for every topic of the manual, and a completion script for every shell.
package main

import (
	"context"
	"errors"
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
	out := flag.String("out", "", "directory for man/, reference/ and completions/")
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
	return writeCompletions(filepath.Join(out, "completions"))
}

// writeCompletions writes the completion script of each shell, as the program
// prints it.
func writeCompletions(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the completions: %w", err)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		file, err := os.Create(filepath.Join(dir, shell))
		if err != nil {
			return fmt.Errorf("writing the completions: %w", err)
		}
		code := cli.Main(context.Background(), []string{"completion", shell}, cli.Options{In: os.Stdin, Out: file, Err: os.Stderr, Getenv: func(string) string { return "" }})
		if err := file.Close(); err != nil || code != 0 {
			return errors.Join(fmt.Errorf("writing the completions of %s: exit code %d", shell, code), err)
		}
	}
	return nil
}

// prepare removes the date of generation from the pages of a command and its
// subcommands.
func prepare(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, sub := range cmd.Commands() {
		prepare(sub)
	}
}
