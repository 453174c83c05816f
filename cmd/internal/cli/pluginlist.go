package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
)

func (a *app) newPluginListCommand() *cobra.Command {
	p := &planner{app: a}
	var output documentOutput
	var f pluginFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the generations of a plugin set, and what differs on disk",
		Long: `List what is installed at a location: every generation with its version, when and
by whom it was installed, what its files came from, and which files are not as they
were installed: changed, missing, extra, or of another mode.`,
		Example: `  # Those of the location that a config names
  kubectl operator plugin list -c plugin_config.yaml

  # Those of another place, for a script
  kubectl operator plugin list --location /opt/piped/plugins -o json`,
		Args: rangeArgs(0, 0, "none: the place is named with -c FILE or --location DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			location, err := f.place(cmd.Context(), p)
			if err != nil {
				return err
			}
			return a.pluginList(cmd.Context(), location, output)
		},
	}
	f.add(cmd)
	output.add(cmd)
	return cmd
}

func (a *app) pluginList(ctx context.Context, location string, output documentOutput) error {
	generations, err := installed.List(ctx, location)
	if err != nil {
		return err
	}
	list := items[installed.Generation]{Items: []installed.Generation{}}
	list.Items = append(list.Items, generations...)
	return a.printDocument(output, list, func() error { return a.printGenerations(location, generations) })
}

// printGenerations prints a table, then what the current generation is made of
// and what differs on disk.
func (a *app) printGenerations(location string, generations []installed.Generation) error {
	s := a.streams
	if len(generations) == 0 {
		s.Printf("Nothing is installed at %s.\n", location)
		return nil
	}
	rows := [][]string{{"GENERATION", "SET", "VERSION", "PLATFORM", "FILES", "INSTALLED", "BY", "DRIFT", "CONTENT"}}
	for i := range generations {
		rows = append(rows, generationRow(&generations[i]))
	}
	if err := table(s.Human(), rows); err != nil {
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
