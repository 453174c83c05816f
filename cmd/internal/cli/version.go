package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func (a *app) newVersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of its risk rules",
		Long: `Print the version of this program, of its risk rules and of the Go that built it.
As JSON it is with the commit, and with the digest of the program's file, which for a
release is the same on every machine of its platform.`,
		Example: `  # For a person
  kubectl operator version

  # For a script
  kubectl operator version -o json`,
		Args: rangeArgs(0, 0, "none"),
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "text":
				a.streams.Printf("kubectl-operator %s (ruleset %d, %s %s/%s)\n", a.version, preview.Ruleset, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return nil
			case "json":
				digest, err := ownDigest()
				if err != nil {
					return fmt.Errorf("hashing this program: %w", err)
				}
				return a.printJSON(map[string]any{
					"version": a.version, "ruleset": preview.Ruleset, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH, "commit": builtFrom(a.commit), "digest": digest,
				})
			}
			return usagef("-o %s: want text or json", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "output format: text or json")
	offer(cmd.Flags(), "text", "json")
	return cmd
}

// builtFrom returns the commit that the program was built from, empty if it is
// not known.
func builtFrom(commit string) string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	found, modified := "", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			found = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		return found + "-dirty"
	}
	return found
}

// ownDigest returns the digest of this program's file.
func ownDigest() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}
