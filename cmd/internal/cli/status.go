package cli

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// statusItem is a release with the present state of its objects.
type statusItem struct {
	releaseItem
	Healthy bool           `json:"healthy"`
	Drifted bool           `json:"drifted"`
	Stage   string         `json:"stage,omitempty"`
	Objects []statusObject `json:"objects"`
	// Operands counts the custom resources of the release's definitions, by
	// KIND.GROUP.
	Operands map[string]int `json:"operands"`
	// Uncounted is why operands could not be counted.
	Uncounted string `json:"uncounted,omitempty"`
	// Interrupted counts what became of the objects of an unfinished revision,
	// by state, as the cluster shows it.
	Interrupted map[string]int `json:"interrupted,omitempty"`
	// Approve is the digest to approve to go on with it.
	Approve string             `json:"approve,omitempty"`
	Undoes  *record.RollbackOf `json:"undoes,omitempty"` // the failed revision that this one takes back
	Unread  string             `json:"unread,omitempty"` // why nothing could be compared
	// Namespaces are those that the release created, which an apply counts too.
	Namespaces []string `json:"namespaces,omitempty"`
	// Certificates are the webhook certificates that plans of the release made.
	Certificates []statusCertificate `json:"certificates,omitempty"`
}

// statusCertificate is a certificate of webhooks that plans of the release
// generate, so that only an upgrade renews it.
type statusCertificate struct {
	ID   string    `json:"id"` // of its Secret
	Ends time.Time `json:"ends"`
	// Due is when an upgrade renews it.
	Due time.Time `json:"due"`
}

// addCertificate adds the certificate in a Secret (live), if it has one, to the
// status. After the certificate has expired the release is not healthy, because
// calls of its webhooks fail.
func (item *statusItem) addCertificate(id string, live map[string]any, now time.Time) {
	if cert := servingcert.Leaf(live); cert != nil {
		item.Certificates = append(item.Certificates, statusCertificate{id, cert.NotAfter.UTC(), servingcert.Due(cert).UTC()})
		item.Healthy = item.Healthy && now.Before(cert.NotAfter)
	}
}

// at says when the certificate expires, and from when on an upgrade renews it.
func (c statusCertificate) at(now time.Time) string {
	switch {
	case now.After(c.Ends):
		return fmt.Sprintf("%s ENDED on %s: calls of its webhooks fail; upgrade renews it", c.ID, c.Ends.Format(time.DateOnly))
	case now.After(c.Due):
		return fmt.Sprintf("%s ends on %s; upgrade renews it", c.ID, c.Ends.Format(time.DateOnly))
	}
	return fmt.Sprintf("%s ends on %s; upgrade renews it from %s on", c.ID, c.Ends.Format(time.DateOnly), c.Due.Format(time.DateOnly))
}

// statusObject is the state of one object: whether it is ready, and whether it
// differs from what the release applied.
type statusObject struct {
	ID      string   `json:"id"`
	State   string   `json:"state"`
	Drift   string   `json:"drift"`
	Paths   []string `json:"paths,omitempty"`
	Message string   `json:"message,omitempty"`
	Event   string   `json:"event,omitempty"`
	// Cause is the reason why it is not ready, and Offender the id of the first
	// object at fault.
	Cause    rollout.Cause `json:"cause,omitempty"`
	Offender string        `json:"offender,omitempty"`
}

func (a *app) newStatusCommand() *cobra.Command {
	var output itemsOutput
	var watch bool
	p := a.newSession()
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show whether a release is healthy and still what was applied",
		Long: `Read every object of a release and say whether it is ready, and whether it still
is what the newest revision made it: same, changed (and where), missing, taken
(no longer marked as the release's), kept from an earlier revision, or unknown.
What is not ready, or has drifted, comes first. Values are never shown. After an interrupted run it
says what the cluster shows to have been written.

Exit code 3 when something is not ready, or not as it was applied, or when the release's
record does not hold ("kubectl operator help records").`,
		Example: `  # Is it healthy?
  kubectl operator status mongodb

  # Follow it until it is
  kubectl operator status mongodb --watch

  # For a script
  kubectl operator status mongodb -n databases -o json`,
		Args: a.completer().releaseArgs(1, "the NAME of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return p.status(cmd.Context(), args[0], output.format, watch)
		},
		ValidArgsFunction: a.completer().releases,
	}
	output.add(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "print it again whenever it changes, until it is healthy and as it was applied")
	addRecordFlags(cmd.Flags(), &p.Records)
	return cmd
}

// watchEvery is how often status --watch reads the cluster.
const watchEvery = 2 * time.Second

// status prints the status of a release; with watch again whenever it has changed,
// until the release is healthy and as it was applied.
func (p *session) status(ctx context.Context, name, format string, watch bool) error {
	var shown *statusItem
	var earlier *record.Record
	for {
		stored, err := p.Find(ctx, name)
		if err != nil {
			return err
		}
		if err := stored.CheckChainSince(ctx, p.client, earlier); err != nil {
			return err
		}
		earlier = stored
		item, err := p.statusOf(ctx, stored)
		if err != nil {
			return err
		}
		switch {
		case shown != nil && reflect.DeepEqual(*shown, item):
		case format == "json":
			if err := p.app.printJSON(items[statusItem]{Items: []statusItem{item}}); err != nil {
				return err
			}
		default:
			p.app.printStatus(item)
		}
		shown = &item
		switch well := item.Healthy && !item.Drifted; {
		case well && item.Signature.Wrong() == "":
			return nil
		case well, !watch: // no wait mends a record
			return &silentExit{exitFailed}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}

// statusOf reads the state of every object of a release once.
func (p *session) statusOf(ctx context.Context, stored *record.Record) (statusItem, error) {
	item := statusItem{
		releaseItem: releaseItemOf(stored), Stage: stored.Stage, Objects: []statusObject{},
		Healthy: stored.State == record.Applied, Undoes: stored.Undoes, Namespaces: slices.Sorted(maps.Keys(stored.Namespaces)),
	}
	var refs []preview.Ref
	var certified []bool
	for _, member := range stored.Items() {
		refs = append(refs, member.Ref())
		certified = append(certified, slices.ContainsFunc(stored.Packages, func(pkg preview.Package) bool {
			return pkg.Name == member.Package && pkg.Parameters.Certs == preview.CertsGenerated
		}))
	}
	live := staticReader{reads.Recorded(ctx, p.client, refs)}
	var definitions []map[string]any
	for i, r := range live.results {
		refs[i] = r.Ref // in the version that is served
		if r.Err != nil && preview.ReasonOf(r.Err) == preview.ReasonUnavailable {
			return item, fmt.Errorf("reading %s: %w", refs[i].ID(), r.Err)
		}
		if certified[i] {
			item.addCertificate(refs[i].ID(), r.Body, time.Now())
		}
		if refs[i].Kind == "CustomResourceDefinition" && r.Body != nil {
			definitions = append(definitions, r.Body)
		}
	}
	drifts, err := install.Drifts(ctx, p.client, p.typer(), stored, live.results)
	if err != nil {
		item.Unread, item.Healthy = err.Error(), false
	}
	byID := map[string]install.ObjectDrift{}
	for _, d := range drifts {
		byID[d.ID] = d
	}
	for _, o := range rollout.Status(ctx, live, p.client, refs).Objects {
		if d := byID[o.Ref.ID()]; d.Drift != install.DriftRemoved {
			item.add(o, d)
		}
	}
	item.Operands, err = install.Operands(ctx, p.client, definitions)
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		item.Operands, item.Uncounted = map[string]int{}, err.Error()
	case err != nil:
		return item, err
	}
	return item, p.countInterrupted(ctx, stored, &item)
}

// staticReader returns objects that were read before, so that the rollout reads
// none again.
type staticReader struct{ results []preview.ReadResult }

func (r staticReader) Read(context.Context, []preview.Ref) []preview.ReadResult { return r.results }

func (item *statusItem) add(o rollout.Object, d install.ObjectDrift) {
	object := statusObject{
		ID: o.Ref.ID(), State: string(o.State), Drift: string(d.Drift), Paths: d.Paths, Message: o.Message, Event: o.Event,
	}
	if object.Cause = o.Cause; o.Offender.Name != "" {
		object.Offender = o.Offender.ID()
	}
	if d.Drift.Drifted() || d.Drift == install.DriftPending || d.Drift == install.DriftLeaving || d.Drift == install.DriftUnknown && o.Message == "" {
		object.Message = d.Why
	}
	item.Drifted = item.Drifted || d.Drift.Drifted()
	item.Healthy = item.Healthy && o.State == rollout.Ready && d.Drift != install.DriftUnknown
	item.Objects = append(item.Objects, object)
}

// countInterrupted counts the objects of an unfinished revision by state, and reads the
// cluster for those whose write was in flight.
func (p *session) countInterrupted(ctx context.Context, stored *record.Record, item *statusItem) error {
	if !stored.State.Unfinished() {
		return nil
	}
	objects, err := install.Reconcile(ctx, p.client, p.typer(), stored)
	if err != nil {
		return err
	}
	item.Interrupted, item.Approve = map[string]int{}, stored.Approves()
	for _, o := range objects {
		item.Interrupted[string(o.State)]++
	}
	return nil
}

func (c console) printStatus(item statusItem) {
	word := "healthy"
	switch {
	case !item.Healthy:
		word = "DEGRADED"
	case item.Drifted:
		word = "DRIFTED (healthy)"
	}
	state := item.State
	if item.Stage != "" {
		state += " (stage " + textsafe.Line(item.Stage) + ")"
	}
	c.streams.Printf("%s %s  namespace %s  revision %d %s  %s\n", item.Name, textsafe.Line(item.Version), item.Namespace, item.Revision, state, word)
	c.streams.Printf("  plan  %s\n", textsafe.Line(item.Digest))
	if item.Signature != nil {
		c.streams.Printf("  record  %s\n", textsafe.Line(item.Signature.String()))
	}
	if item.Undoes != nil {
		c.streams.Printf("  rolls back revision %d, which failed\n", item.Undoes.Revision)
	}
	if item.Unread != "" {
		c.streams.Printf("  nothing can be compared: %s\n", textsafe.Line(item.Unread))
	}
	if len(item.Interrupted) > 0 {
		c.streams.Printf("  interrupted: %s\n", countsOf(item.Interrupted))
		c.streams.Printf("  resume with the approval of the same plan: --yes --approve %s\n", textsafe.Line(item.Approve))
	}
	ready, same := 0, 0
	for _, o := range item.Objects {
		if o.State == string(rollout.Ready) {
			ready++
		}
		if !install.Drift(o.Drift).Drifted() && o.Drift != string(install.DriftUnknown) {
			same++
			if o.State == string(rollout.Ready) {
				continue
			}
		}
		c.printObject(o)
	}
	c.streams.Printf("  %d of %d objects ready, %d as applied\n", ready, len(item.Objects), same)
	if len(item.Namespaces) > 0 {
		c.streams.Printf("  created with it: namespace %s\n", textsafe.Line(strings.Join(item.Namespaces, ", ")))
	}
	for _, certificate := range item.Certificates {
		c.streams.Printf("  certificate  %s\n", textsafe.Line(certificate.at(time.Now())))
	}
	if item.Uncounted != "" {
		c.streams.Printf("  operands: not counted: %s\n", textsafe.Line(item.Uncounted))
	}
	if len(item.Operands) > 0 {
		c.streams.Printf("  operands: %s\n", textsafe.Line(countsOf(item.Operands)))
	}
}

func (c console) printObject(o statusObject) {
	c.streams.Printf("  %-8s %-8s %s  %s\n", o.State, o.Drift, textsafe.Line(o.ID), textsafe.Line(o.Message))
	for _, path := range o.Paths {
		c.streams.Printf("                    %s\n", textsafe.Line(path))
	}
	if o.Event != "" {
		c.streams.Printf("                    %s\n", textsafe.Line(o.Event))
	}
}

// countsOf returns numbers and their names as text, sorted by name.
func countsOf(numbers map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		words = append(words, fmt.Sprintf("%d %s", numbers[name], name))
	}
	return strings.Join(words, ", ")
}

// releaseItem is one release in the output of list.
type releaseItem struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	Revision  int       `json:"revision"`
	State     string    `json:"state"`
	Package   string    `json:"package"`
	Version   string    `json:"version"`
	Digest    string    `json:"digest"`
	Updated   time.Time `json:"updated"`
	// Signature is the verification of the record's signature, where a key is
	// configured.
	Signature *preview.RecordSignature `json:"signature,omitempty"`
	// Problem says why the record cannot be read; empty where it can.
	Problem string `json:"problem,omitempty"`
}

// signatureNote returns the state of a release, with a remark if no trusted key
// has signed its record.
func (i releaseItem) signatureNote() string {
	if i.Signature.Wrong() != "" {
		return i.State + " (" + i.Signature.String() + ")"
	}
	return i.State
}

func releaseItemOf(r *record.Record) releaseItem {
	return releaseItem{
		Name: r.Release.Name, Namespace: r.Release.Namespace, Revision: r.Revision, State: string(r.State),
		Package: r.Name(), Version: r.Version(), Digest: r.Digest, Updated: r.Updated, Signature: r.Signature,
	}
}

func (a *app) newListCommand() *cobra.Command {
	output := itemsOutput{forms: listForms()}
	var everywhere bool
	p := a.newSession()
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the releases in the cluster",
		Example: `  # Every release, in all namespaces
  kubectl operator list

  # Those of one namespace, for a script
  kubectl operator list -n mongodb -o json

  # As kubectl prints them
  kubectl operator list -o 'jsonpath={.items[*].name}'`,
		Args: rangeArgs(0, 0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if everywhere && a.kube.Namespace() != "" {
				return usagef("--all-namespaces and --namespace %s exclude each other", a.kube.Namespace())
			}
			return p.list(cmd.Context(), output.format)
		},
	}
	output.add(cmd)
	addRecordFlags(cmd.Flags(), &p.Records)
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the releases of all namespaces, which is the default")
	return cmd
}

func (p *session) list(ctx context.Context, format string) error {
	cluster, err := p.connect(ctx)
	if err != nil {
		return err
	}
	records, err := history.List(ctx, cluster, p.app.kube.Namespace())
	unreadable, ok := history.Unreadable(err)
	if !ok {
		return err
	}
	list := items[releaseItem]{Items: []releaseItem{}}
	rows := [][]string{{"NAME", "NAMESPACE", "REVISION", "STATE", "PACKAGE", "VERSION", "UPDATED"}}
	for i := range records {
		if _, err := p.Verified(ctx, &records[i], nil); err != nil {
			return err
		}
		item := releaseItemOf(&records[i])
		list.Items = append(list.Items, item)
		rows = append(rows, []string{
			item.Name, item.Namespace, fmt.Sprint(item.Revision), item.signatureNote(), item.Package, item.Version, item.Updated.Format(time.RFC3339),
		})
	}
	for _, broken := range unreadable { // of one tenant, who keeps the list from no other
		item := releaseItem{Name: broken.Release.Name, Namespace: broken.Release.Namespace, State: "unreadable", Problem: broken.Why.Error()}
		list.Items = append(list.Items, item)
		rows = append(rows, []string{item.Name, item.Namespace, "", item.State + ": " + item.Problem, "", "", ""})
	}
	if err := p.app.printItems(format, list, rows); err != nil {
		return err
	}
	every := func(string, string) bool { return true } // status has each flag of the connection
	for _, broken := range unreadable {
		p.app.streams.Errorf("note: %s\n", commandline.Complete(broken, p.app.given, every))
	}
	return nil
}
