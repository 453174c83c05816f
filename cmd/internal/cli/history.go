package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// revisionItem is one revision of a release in the output of history. Receipt
// is set if that revision was asked for.
type revisionItem struct {
	releaseItem
	Action        string           `json:"action"`
	Current       bool             `json:"current"`
	ContentDigest string           `json:"contentDigest"`
	Sources       []preview.Source `json:"sources"`
	ApprovedBy    string           `json:"approvedBy"`
	ApprovedHow   string           `json:"approvedHow"`
	Receipt       *record.Receipt  `json:"receipt,omitempty"`
}

func revisionItemOf(r *record.Record, current bool) revisionItem {
	approval := r.Receipt().Approval
	return revisionItem{
		releaseItem: releaseItemOf(r), Action: r.Request.Action, Current: current, ContentDigest: r.ContentDigest,
		Sources: r.Lineage(), ApprovedBy: approval.By, ApprovedHow: approval.How,
	}
}

func (a *app) newHistoryCommand() *cobra.Command {
	var output documentOutput
	var revision int
	p := a.newSession()
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "List the revisions of a release, or show the receipt of one",
		Long: `List what was installed as a release, the newest revision first: what was
approved, by whom and how, and how it ended. With --revision show the receipt of
one, object by object. Old revisions are forgotten after an apply, all but the
newest 10; see --history-max of install.`,
		Example: `  # Every revision on record
  kubectl operator history mongodb

  # What was observed of each object in the third
  kubectl operator history mongodb --revision 3 -o yaml`,
		Args: a.completer().releaseArgs(1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if cmd.Flags().Changed("revision") {
				return p.revision(cmd.Context(), args[0], revision, output)
			}
			return p.history(cmd.Context(), args[0], output)
		},
		ValidArgsFunction: a.completer().releases,
	}
	output.add(cmd)
	addRecordFlags(cmd.Flags(), &p.Records)
	cmd.Flags().IntVar(&revision, "revision", 0, "show the receipt of this revision")
	a.completer().addRevisions(cmd, "revision")
	return cmd
}

func (p *session) history(ctx context.Context, name string, output documentOutput) error {
	newest, err := p.Recall(ctx, name)
	if err != nil {
		return err
	}
	chain, err := history.Revisions(ctx, p.client, newest)
	if err != nil {
		return err
	}
	list := items[revisionItem]{Items: []revisionItem{}}
	rows := [][]string{{"REVISION", "STATE", "ACTION", "PACKAGE", "VERSION", "UPDATED", "APPROVED BY", "HOW"}}
	for i, r := range chain.Records {
		item := revisionItemOf(r, i == 0)
		list.Items = append(list.Items, item)
		rows = append(rows, []string{
			strconv.Itoa(item.Revision), item.signatureNote(), item.Action, item.Package, item.Version,
			item.Updated.Format(time.RFC3339), item.ApprovedBy, item.ApprovedHow + signersOf(r.Receipt().Approval),
		})
	}
	if err := p.app.printDocument(output, list, func() error { return streams.Table(p.app.streams.Human(), rows) }); err != nil {
		return err
	}
	for _, note := range chain.Notes() {
		p.app.streams.Errorf("note: %s\n", note)
	}
	if text := chain.Text(); text != "" {
		return fmt.Errorf("release %s: %s", name, text)
	}
	for _, r := range chain.Records {
		if r.Signature != nil && r.Signature.Approvals != "" {
			return fmt.Errorf("release %s: revision %d: %s", name, r.Revision, r.Signature.Approvals)
		}
	}
	return nil
}

// signersOf names those whose signatures an approval rests on, in words that follow how
// it was given.
func signersOf(a record.Approval) string {
	var names []string
	for _, s := range a.Signed {
		names = append(names, s.Approver)
	}
	if len(names) == 0 {
		return ""
	}
	return ", signed by " + strings.Join(names, ", ")
}

func (p *session) revision(ctx context.Context, name string, revision int, output documentOutput) error {
	newest, err := p.Recall(ctx, name)
	if err != nil {
		return err
	}
	r, err := history.Revision(ctx, p.client, newest, revision)
	if err != nil {
		return err
	}
	item := revisionItemOf(r, r.Revision == newest.Revision)
	item.Receipt = r.Receipt()
	return p.app.printDocument(output, item, func() error {
		p.app.printRevision(item, p.approvalNote(r))
		return nil
	})
}

// approvalNote says of the signed approvals of a record whether they were verified again.
func (p *session) approvalNote(r *record.Record) string {
	switch {
	case p.SigningKeys().Approvers == nil:
		return "not verified again: --record-approvers names who may approve"
	case r.Signature != nil && r.Signature.Approvals != "":
		return "not all verified again"
	}
	return "verified again"
}

// printRevision prints the receipt of a revision; approvals says whether its signed
// approvals were verified.
func (c console) printRevision(item revisionItem, approvals string) {
	c.streams.Printf("%s %s  namespace %s  revision %d %s\n", item.Name, textsafe.Line(item.Version), item.Namespace, item.Revision, item.State)
	lines := [][2]string{
		{"action", item.Action}, {"plan", item.Digest}, {"content", item.ContentDigest},
		{"approved", item.ApprovedHow + ", " + item.ApprovedBy}, {"began", item.Receipt.Started.Format(time.RFC3339)},
		{"ended", item.Receipt.Finished.Format(time.RFC3339)},
	}
	if item.Signature != nil {
		lines = append(lines, [2]string{"record", item.Signature.String()})
	}
	if u := item.Receipt.Undoes; u != nil {
		lines = append(lines, [2]string{"rollback", fmt.Sprintf("of revision %d, which failed", u.Revision)})
	}
	for _, check := range item.Receipt.HealthChecks {
		lines = append(lines, [2]string{"check", check})
	}
	for _, s := range item.Sources {
		lines = append(lines, [2]string{s.Kind, s.Reference + " " + s.Digest})
	}
	for _, s := range item.Receipt.Approval.Signed {
		lines = append(lines, [2]string{"signed", s.Approver + " with key " + s.KeyID + ", " + s.Signed + "; " + approvals})
	}
	for _, accepted := range item.Receipt.Approval.Accepted {
		lines = append(lines, [2]string{"accepted", accepted.ID})
	}
	for _, l := range lines {
		c.streams.Printf("  %-9s %s\n", l[0], textsafe.Line(l[1]))
	}
	for _, o := range item.Receipt.Objects {
		line := fmt.Sprintf("  %-9s %-9s %s", o.State, o.Action, preview.IDPlace(o.ID))
		for _, note := range append(slices.Clone(o.Notes), o.Message) {
			if note != "" {
				line += "  " + note
			}
		}
		c.streams.Printf("%s\n", textsafe.Line(line))
	}
}

// priorAcceptance returns who accepted the critical findings of a revision,
// when, and which version that was, for the screen; false if it cannot be read.
func (p *session) priorAcceptance(ctx context.Context, release preview.Release, revision int) (tabs.PriorAcceptance, bool) {
	if p.client == nil {
		return tabs.PriorAcceptance{}, false
	}
	newest, err := history.Load(ctx, p.client, release)
	if err != nil || newest == nil {
		return tabs.PriorAcceptance{}, false
	}
	r, err := history.Revision(ctx, p.client, newest, revision)
	if err != nil {
		return tabs.PriorAcceptance{}, false
	}
	receipt := r.Receipt()
	return tabs.PriorAcceptance{By: receipt.Approval.By, At: receipt.Finished, Version: r.Version()}, true
}
