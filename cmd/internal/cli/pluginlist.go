package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

func (a *app) newPluginListCommand() *cobra.Command {
	p := a.newSession()
	var output documentOutput
	var f pluginFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the generations of a plugin set, what differs on disk and from its config",
		Long: `List what is installed at a location: every generation with its version, when and
by whom it was installed, what its files came from, and which files are not as they
were installed: changed, missing, extra, or of another mode.

With a config it says too how far that is what the config and its lock file want:
which plugins are missing, which are extra, which came from elsewhere or are other
bytes. No artifact is fetched for that; what is behind an address now shows plugin
preview.`,
		Example: `  # Those of the location that a config names, and whether it is what the config wants
  kubectl operator plugin list -c plugin_config.yaml

  # What the server's config wants of this machine
  kubectl operator plugin list --mode client -c https://optimus.example.com/plugin_config.yaml

  # Those of another place, for a script
  kubectl operator plugin list --location /opt/piped/plugins -o json`,
		Args: rangeArgs(0, 0, "none: the place is named with -c FILE or --location DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if f.Lock != "" && f.Config == "" {
				return usagef("--lock needs a config; add -c FILE")
			}
			location, set, err := f.placeOf(cmd.Context(), p)
			if err != nil {
				return err
			}
			return a.pluginList(cmd.Context(), location, set, f, output)
		},
	}
	f.add(cmd)
	f.addLock(cmd)
	addConfigSourceFlags(cmd.Flags(), &p.Source)
	output.add(cmd)
	return cmd
}

// setList is the output of plugin list: the generations at a location and, if a
// config is named, how the current generation differs from it.
type setList struct {
	Items  []installed.Generation `json:"items"`
	Wanted *plugins.SyncStatus    `json:"wanted,omitempty"`
}

func (a *app) pluginList(ctx context.Context, location string, set *plugins.Set, f pluginFlags, output documentOutput) error {
	generations, err := installed.List(ctx, location)
	if err != nil {
		return err
	}
	list := setList{Items: append([]installed.Generation{}, generations...)}
	if set != nil {
		if list.Wanted, err = f.Status(location, set, generations); err != nil {
			return err
		}
	}
	return a.printDocument(output, list, func() error {
		if err := a.printGenerations(location, generations); err != nil || list.Wanted == nil {
			return err
		}
		return a.printWanted(list.Wanted, generations)
	})
}

// printWanted prints the state of each plugin of a config: installed, changed or
// missing.
func (c console) printWanted(w *plugins.SyncStatus, generations []installed.Generation) error {
	s := c.streams
	lock := "no lock file"
	if w.Lock != "" {
		lock = "lock file " + w.Lock
	}
	s.Printf("\nWanted by %s, for %s, %s:\n", w.Config, w.Platform, lock)
	var rows [][]string
	agreed := len(w.ConfigChanges) == 0
	for _, p := range w.Plugins {
		agreed = agreed && p.State == plugins.StandsOK
		rows = append(rows, []string{"  " + p.State, p.Plugin, cmp.Or(p.Why, p.Installed)})
	}
	if err := streams.Table(s.Human(), rows); err != nil {
		return err
	}
	if n := len(w.ConfigChanges); n > 0 {
		s.Printf("  settings that change for the host: %s\n", preview.Plural(n, "setting"))
	}
	for _, g := range generations {
		if g.Current && len(g.Drift) > 0 { // ok is about what was installed
			agreed = false
			s.Printf("  files of generation %d are not as they were installed, see above\n", g.Number)
		}
	}
	if !agreed {
		s.Printf("plugin preview -c %s shows what an install would change.\n", w.Config)
	}
	return nil
}

// printGenerations prints the generations as a table, then the plugins of the
// current one and the files that differ on disk.
func (c console) printGenerations(location string, generations []installed.Generation) error {
	s := c.streams
	if len(generations) == 0 {
		s.Printf("Nothing is installed at %s.\n", location)
		return nil
	}
	rows := [][]string{{"GENERATION", "SET", "VERSION", "PLATFORM", "FILES", "INSTALLED", "BY", "DRIFT", "CONTENT"}}
	for i := range generations {
		rows = append(rows, generationRow(&generations[i]))
	}
	if err := streams.Table(s.Human(), rows); err != nil {
		return err
	}
	for _, g := range generations {
		if g.Current && len(g.Artifacts) > 0 {
			s.Printf("\nFrom:\n")
			for _, one := range g.Artifacts {
				s.Printf("  %s  %s  %s\n", one.Plugin, one.Reference, one.Digest)
			}
		}
	}
	for _, g := range generations {
		if g.Problem != "" {
			s.Printf("\nGeneration %d cannot be read: %s\n", g.Number, g.Problem)
		}
		if len(g.Drift) > 0 {
			s.Printf("\nGeneration %d is not as it was installed:\n", g.Number)
		}
		for _, d := range g.Drift {
			s.Printf("  %s\n", d)
		}
	}
	return nil
}

func generationRow(g *installed.Generation) []string {
	row := []string{strconv.Itoa(g.Number), "", "", "", "", "", "", "unknown", ""}
	if g.Current {
		row[0] += " (current)"
	}
	r := g.Receipt
	if r == nil {
		return row
	}
	row = []string{row[0], r.Set, r.Version, r.Platform, strconv.Itoa(len(r.Files)), "", r.Approval.By, "none", r.ContentDigest}
	if !r.Finished.IsZero() {
		row[5] = r.Finished.UTC().Format(time.RFC3339)
	}
	switch {
	case r.State == installed.StateFound:
		row[5] = "found there"
	case r.State == installed.StatePending:
		row[5] = "interrupted after the switch"
	}
	switch {
	case g.Problem != "":
		row[7] = "unknown"
	case len(g.Drift) == 1:
		row[7] = "1 file"
	case len(g.Drift) > 1:
		row[7] = fmt.Sprintf("%d files", len(g.Drift))
	}
	return row
}
