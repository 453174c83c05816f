package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// statusItem is a release with its objects as they stand now.
type statusItem struct {
	releaseItem
	Healthy bool           `json:"healthy"`
	Stage   string         `json:"stage,omitempty"`
	Objects []statusObject `json:"objects"`
}

type statusObject struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	Event   string `json:"event,omitempty"`
}

func (a *app) newStatusCommand() *cobra.Command {
	var output itemsOutput
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show whether a release is healthy, and what is not",
		Long: `Read every object of a release and say whether it is ready; what is not comes
first, with the reason. Exit code 3 when something is missing, failed, still
waiting, or no longer belongs to the release.`,
		Example: `  # Is it healthy?
  kubectl operator status mongodb

  # For a script
  kubectl operator status mongodb -n databases -o json`,
		Args: rangeArgs(1, 1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.status(cmd.Context(), args[0], output.format)
		},
		ValidArgsFunction: a.completeReleases,
	}
	output.add(cmd)
	return cmd
}

func (a *app) status(ctx context.Context, name, format string) error {
	p := &planner{app: a}
	record, err := p.find(ctx, name)
	if err != nil {
		return err
	}
	item, err := p.statusOf(ctx, record)
	if err != nil {
		return err
	}
	if format == "json" {
		err = a.printJSON(items[statusItem]{Items: []statusItem{item}})
	} else {
		err = a.printStatus(item)
	}
	if err == nil && !item.Healthy {
		return &silentExit{exitFailed}
	}
	return err
}

// statusOf reads every member of a release. A member that another release or
// tool has taken over counts as drift.
func (p *planner) statusOf(ctx context.Context, record *history.Record) (statusItem, error) {
	item := statusItem{
		releaseItem: releaseItemOf(record), Stage: record.Stage, Objects: []statusObject{},
		Healthy: record.State == install.RecordApplied,
	}
	var refs []preview.Ref
	leaving := map[string]bool{}
	for _, member := range record.Inventory() {
		refs = append(refs, member.Ref)
		leaving[member.Ref.ID()] = member.Action == preview.ActionDelete
	}
	drifted, gone := map[string]string{}, map[string]bool{}
	for i, r := range p.cluster.Read(ctx, refs) {
		switch {
		case r.Err != nil && preview.ReasonOf(r.Err) == preview.ReasonUnavailable:
			return item, fmt.Errorf("reading %s: %w", refs[i].ID(), r.Err)
		case r.Err == nil && r.Body == nil && leaving[refs[i].ID()]:
			gone[refs[i].ID()] = true // its finalizers let it go
		case r.Err == nil && r.Body == nil:
			drifted[refs[i].ID()] = "missing: somebody deleted it"
		case r.Err == nil && !preview.Ours(r.Body, record.Release):
			drifted[refs[i].ID()] = "no longer marked as part of this release"
		}
	}
	for _, o := range rollout.Status(ctx, p.cluster, p.cluster, refs).Objects {
		if gone[o.Ref.ID()] {
			continue
		}
		object := statusObject{ID: o.Ref.ID(), State: string(o.State), Message: o.Message, Event: o.Event}
		if why := drifted[object.ID]; why != "" {
			object.State, object.Message = "drifted", why
		}
		if object.State != string(rollout.Ready) {
			item.Healthy = false
		}
		item.Objects = append(item.Objects, object)
	}
	return item, nil
}

func (a *app) printStatus(item statusItem) error {
	word := "healthy"
	if !item.Healthy {
		word = "NOT HEALTHY"
	}
	state := item.State
	if item.Stage != "" {
		state += " (stage " + item.Stage + ")"
	}
	a.streams.Printf("%s %s  namespace %s  revision %d %s  %s\n", item.Name, item.Version, item.Namespace, item.Revision, state, word)
	a.streams.Printf("  plan  %s\n", item.Digest)
	ready := 0
	for _, o := range item.Objects {
		if o.State == string(rollout.Ready) {
			ready++
			continue
		}
		a.streams.Printf("  %-8s %s  %s\n", o.State, textsafe.Line(o.ID), textsafe.Line(o.Message))
		if o.Event != "" {
			a.streams.Printf("           %s\n", textsafe.Line(o.Event))
		}
	}
	a.streams.Printf("  %d of %d objects ready\n", ready, len(item.Objects))
	return nil
}

// clipped keeps table rows on one line.
func clipped(s string, cells int) string { return textsafe.Truncate(textsafe.Line(s), cells) }
