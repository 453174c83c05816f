package olmcluster

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

const (
	groupAPI        = "operators.coreos.com/v1"
	groupKind       = "OperatorGroup"
	installPlanKind = "InstallPlan"
	// Approved is the annotation of a Subscription and of an InstallPlan with the digest
	// of the plan that was approved here: it is the record of what was reviewed, as OLM
	// itself keeps only that an InstallPlan was approved.
	Approved = "kubectl-operator/approved"
)

// Bundle is a bundle of the plan that was reviewed.
type Bundle struct {
	Name   string // of its ClusterServiceVersion
	Digest string // of its image
	// Manifests are the objects in its directory manifests.
	Manifests []map[string]any
}

// Install is what OLM v0 is asked for, as it was reviewed.
type Install struct {
	Release          preview.Release // the names of the Subscription and of its namespace
	Package, Channel string
	Catalog          string   // NAMESPACE/NAME of a CatalogSource
	Targets          []string // namespaces that the operator watches; none for all
	// Namespace is the object of the release's namespace where that does not exist, or nil.
	Namespace map[string]any
	Bundles   []Bundle // the package's own first, then those that it depends on
	Digest    string   // of the approved plan
	Timeout   time.Duration
}

// NewInstall returns what OLM is asked for so that it installs a plan of this program.
// Manifests reads those of a package's bundle.
func NewInstall(p *preview.Plan, timeout time.Duration, manifests func(*preview.Package) ([]map[string]any, error)) (*Install, error) {
	out := &Install{Release: p.Release, Digest: p.Digest, Timeout: timeout}
	for i := range p.Packages {
		pkg := &p.Packages[i]
		if pkg.Bundle == "" || len(pkg.Sources) != 1 || len(pkg.Via) == 0 {
			return nil, planning.Usagef("OLM v0 installs packages of catalogs, and %s is not of one; name a package, or leave out --via", pkg.Name)
		}
		objects, err := manifests(pkg)
		if err != nil {
			return nil, err
		}
		out.Bundles = append(out.Bundles, Bundle{Name: pkg.Bundle, Digest: pkg.Sources[0].Digest, Manifests: objects})
	}
	asked := slices.IndexFunc(p.Packages, func(pkg preview.Package) bool { return pkg.Name == packageOf(p) })
	if asked < 0 {
		asked = len(p.Packages) - 1
	}
	pkg := &p.Packages[asked]
	out.Bundles[0], out.Bundles[asked] = out.Bundles[asked], out.Bundles[0]
	out.Package, out.Channel = pkg.Name, pkg.Via[0].Channel
	served, ok, err := catalog.ParseServed(pkg.Via[0].Reference)
	if err != nil || !ok || served.Kind != catalog.CatalogSourceKind {
		command := commandline.Operator("catalog", "list")
		return nil, &commandline.Advised{Err: planning.Usagef("OLM v0 installs from a CatalogSource of the cluster, and %s is none; name one with --catalog catalogsource:NAMESPACE/NAME, of \"%s\"", pkg.Via[0].Reference, command),
			Commands: []string{command}, Scope: commandline.Connection}
	}
	out.Catalog = served.Namespace + "/" + served.Name
	switch pkg.Parameters.InstallMode {
	case "AllNamespaces":
	case "OwnNamespace":
		out.Targets = []string{p.Release.Namespace}
	default:
		out.Targets = slices.Sorted(slices.Values(pkg.Parameters.WatchNamespaces))
	}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Kind == "Namespace" && o.Name == p.Release.Namespace && o.Action == preview.ActionCreate {
			out.Namespace = o.Planned
		}
	}
	return out, nil
}

// Ask shows what is to be created, and carries it out once that is allowed.
func (in *Install) Ask(ctx context.Context, s Session, consent Consent, say func(string)) error {
	reader, err := s.Reader(ctx)
	if err != nil {
		return err
	}
	objects, err := in.Objects(ctx, reader)
	if err != nil {
		return err
	}
	list := make([]any, len(objects))
	for i, object := range objects {
		list[i] = object
	}
	yes, err := consent.allowed(ctx, s, "For OLM, which installs "+in.names()+" then, these would be created, and its InstallPlan approved if it is what was reviewed:", list, "Create them?")
	if err != nil || !yes {
		return err
	}
	writer, err := s.Writer(ctx)
	if err != nil {
		return err
	}
	return in.Run(ctx, writer, objects, say)
}

// Via is the flag --via: the OLM that installs what was approved, empty for none.
type Via string

// Add adds the flag.
func (v *Via) Add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(v), "via", "", "have the cluster's OLM install what was reviewed: olmv0, by an OperatorGroup, a Subscription and the approval of its InstallPlan")
}

// Check returns an error for a wrong value, and for flags that OLM cannot follow. It
// sets in render that no certificates are issued, as OLM itself makes those of webhooks.
func (v *Via) Check(given func(flag string) bool, render *planning.RenderOptions) error {
	if *v == "" && !given("via") {
		return nil
	}
	if render.Certs == "" {
		render.Certs = preview.CertsNone
	}
	if *v != V0 {
		return planning.Usagef("--via %s: want olmv0; OLM v1 has no InstallPlan to approve: install without --via, or write a ClusterExtension", *v)
	}
	for _, flag := range []string{"plan", "out", "filename", "values", "set", "pin-images", "adopt", "on-failure", "receipt", "no-wait", "health-check", "stage-timeout", "history-max"} {
		if given(flag) {
			return planning.Usagef("--%s is about what this program applies itself; leave it out, or --via", flag)
		}
	}
	if given("output") && given("yes") {
		return planning.Usagef("-o is for --preview where OLM installs; leave it out, or --via")
	}
	return nil
}

// packageOf returns the package that a plan was asked for.
func packageOf(p *preview.Plan) string {
	name, _, _ := strings.Cut(p.Request.Reference, "@")
	return name
}

// Objects returns what is to be created: the namespace and the OperatorGroup where these
// are missing, and the Subscription. What stands in the way is an error.
func (in *Install) Objects(ctx context.Context, cluster Reader) ([]map[string]any, error) {
	at := in.subscription()
	all, err := cluster.List(ctx, at.APIVersion, at.Kind, at.Namespace, "")
	if err != nil {
		return nil, notServed(err, at, V0)
	}
	for _, s := range all {
		if name := preview.String(s, "metadata", "name"); name == at.Name || preview.String(s, "spec", "name") == in.Package {
			return nil, planning.Refuse(fmt.Sprintf("namespace %s has the Subscription %s already, to package %s", at.Namespace, name, preview.String(s, "spec", "name")),
				"delete it, or choose another namespace with -n")
		}
	}
	var out []map[string]any
	if in.Namespace != nil {
		out = append(out, in.Namespace)
	}
	group, err := in.operatorGroup(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if group != nil {
		out = append(out, group)
	}
	namespace, name, _ := strings.Cut(in.Catalog, "/")
	return append(out, map[string]any{
		"apiVersion": at.APIVersion, "kind": at.Kind,
		"metadata": map[string]any{"name": at.Name, "namespace": at.Namespace, "annotations": map[string]any{Approved: in.Digest}},
		"spec": map[string]any{
			"name": in.Package, "channel": in.Channel, "source": name, "sourceNamespace": namespace,
			"startingCSV": in.Bundles[0].Name, "installPlanApproval": "Manual",
		},
	}), nil
}

// operatorGroup returns the OperatorGroup to create, nil where the namespace has the one
// that fits. OLM installs nothing in a namespace with none or with several.
func (in *Install) operatorGroup(ctx context.Context, cluster Reader) (map[string]any, error) {
	groups, err := cluster.List(ctx, groupAPI, groupKind, in.Release.Namespace, "")
	if err != nil {
		return nil, notServed(err, preview.Ref{APIVersion: groupAPI, Kind: groupKind, Namespace: in.Release.Namespace, Name: in.Release.Name}, V0)
	}
	switch len(groups) {
	case 0:
		spec := map[string]any{}
		if len(in.Targets) > 0 {
			targets := make([]any, len(in.Targets))
			for i, namespace := range in.Targets {
				targets[i] = namespace
			}
			spec["targetNamespaces"] = targets
		}
		return map[string]any{
			"apiVersion": groupAPI, "kind": groupKind,
			"metadata": map[string]any{"name": in.Release.Name, "namespace": in.Release.Namespace}, "spec": spec,
		}, nil
	case 1:
		return nil, in.fits(groups[0])
	}
	var names []string
	for _, g := range groups {
		names = append(names, preview.String(g, "metadata", "name"))
	}
	return nil, planning.Refuse(fmt.Sprintf("namespace %s has several OperatorGroups, %s, so that OLM installs nothing there", in.Release.Namespace, strings.Join(names, ", ")),
		"delete all but one, or choose another namespace with -n")
}

// fits returns an error unless an OperatorGroup leads to the namespaces of the plan.
func (in *Install) fits(group map[string]any) error {
	var targets []string
	for _, namespace := range preview.List(group, "spec", "targetNamespaces") {
		targets = append(targets, fmt.Sprint(namespace))
	}
	slices.Sort(targets)
	if preview.Value(group, "spec", "selector") == nil && slices.Equal(targets, in.Targets) {
		return nil
	}
	has, how := "all namespaces", "--install-mode AllNamespaces"
	switch {
	case preview.Value(group, "spec", "selector") != nil:
		has, how = "the namespaces of a selector", "another namespace with -n"
	case slices.Equal(targets, []string{in.Release.Namespace}):
		has, how = "its own namespace", "--install-mode OwnNamespace"
	case len(targets) > 0:
		has, how = "namespace "+strings.Join(targets, ", "), "--watch-namespace "+strings.Join(targets, " --watch-namespace ")
	}
	want := "all namespaces"
	if len(in.Targets) > 0 {
		want = "namespace " + strings.Join(in.Targets, ", ")
	}
	return planning.Refuse(fmt.Sprintf("OperatorGroup %s of namespace %s leads to %s, and what was reviewed watches %s", preview.String(group, "metadata", "name"), in.Release.Namespace, has, want),
		"review what fits it: "+how)
}

// interval is the time between two reads of an object that OLM changes.
const interval = time.Second

// maxUnpacked is the most bytes of one object in a ConfigMap of OLM.
const maxUnpacked = 16 << 20

// Run creates the objects, waits for the InstallPlan that OLM makes of them, approves it
// if it holds exactly the reviewed bundles, and waits until the operator is installed.
// With say it reports each step.
func (in *Install) Run(ctx context.Context, cluster Writer, objects []map[string]any, say func(string)) error {
	for _, object := range objects {
		if _, err := cluster.Apply(ctx, preview.DryRun{Body: object}); err != nil {
			return fmt.Errorf("creating %s: %w", preview.RefOf(object).ID(), err)
		}
		say("created " + preview.RefOf(object).ID())
	}
	ctx, stop := context.WithTimeout(ctx, in.Timeout)
	defer stop()
	plan, err := in.pending(ctx, cluster)
	if err != nil {
		return err
	}
	if err := in.approve(ctx, cluster, plan, say); err != nil {
		return err
	}
	return in.installed(ctx, cluster, say)
}

func (in *Install) subscription() preview.Ref {
	return preview.Ref{APIVersion: owners.OLMAPI, Kind: owners.SubscriptionKind, Namespace: in.Release.Namespace, Name: in.Release.Name}
}

// until reads an object until done says so, or the time is over: then it returns the
// object as it was last, and the error of ctx.
func until(ctx context.Context, cluster Reader, at preview.Ref, done func(map[string]any) bool) (map[string]any, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last map[string]any
	for {
		object, err := cluster.Get(ctx, at)
		switch {
		case err != nil && ctx.Err() != nil:
			return last, ctx.Err()
		case err != nil:
			return last, fmt.Errorf("reading %s: %w", at.ID(), err)
		case object != nil && done(object):
			return object, nil
		}
		last = object
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-ticker.C:
		}
	}
}

// pending waits for the InstallPlan of the Subscription.
func (in *Install) pending(ctx context.Context, cluster Reader) (map[string]any, error) {
	at := in.subscription()
	subscription, err := until(ctx, cluster, at, func(s map[string]any) bool { return preview.String(s, "status", "installPlanRef", "name") != "" })
	if errors.Is(err, context.DeadlineExceeded) {
		command := commandline.Join("kubectl", "delete", "subscriptions.operators.coreos.com", at.Name, "-n", at.Namespace)
		return nil, &commandline.Advised{Err: fmt.Errorf("OLM made no InstallPlan for %s within %s: %s; nothing is approved, and \"%s\" takes the request back",
			at.ID(), in.Timeout, conditions(subscription), command), Commands: []string{command}, Scope: commandline.Connection}
	}
	if err != nil {
		return nil, err
	}
	ref := preview.Ref{APIVersion: owners.OLMAPI, Kind: installPlanKind, Namespace: at.Namespace, Name: preview.String(subscription, "status", "installPlanRef", "name")}
	return until(ctx, cluster, ref, func(plan map[string]any) bool { return len(preview.List(plan, "status", "plan")) > 0 })
}

// conditions returns what the conditions of an object say.
func conditions(object map[string]any) string {
	var out []string
	for _, c := range preview.List(object, "status", "conditions") {
		condition, _ := c.(map[string]any)
		if preview.String(condition, "status") == "True" {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s (%s): %s", preview.String(condition, "type"), preview.String(condition, "reason"), preview.String(condition, "message")), ": "))
		}
	}
	if len(out) == 0 {
		return "its status has no condition; is OLM running?"
	}
	return strings.Join(out, "; ")
}

// approve approves an InstallPlan at the version that was compared with the review.
func (in *Install) approve(ctx context.Context, cluster Writer, plan map[string]any, say func(string)) error {
	at := preview.RefOf(plan)
	approved, _ := preview.Value(plan, "spec", "approved").(bool)
	if err := in.equal(ctx, cluster, plan); err != nil {
		if approved {
			return fmt.Errorf("%s was approved by another user, and is not what was reviewed: %w", at.ID(), err)
		}
		return planning.Refuse(fmt.Sprintf("%s is not what was reviewed: %s", at.ID(), err), "nothing is approved; review again, or delete the Subscription")
	}
	if approved {
		say(at.ID() + " is what was reviewed, and was approved by another user meanwhile")
		return nil
	}
	uid, version := identity(plan)
	ops := []preview.PatchOp{
		{Op: "test", Path: "/metadata/uid", Value: uid}, {Op: "test", Path: "/metadata/resourceVersion", Value: version},
		{Op: "replace", Path: "/spec/approved", Value: true},
	}
	if preview.Map(plan, "metadata", "annotations") == nil {
		ops = append(ops, preview.PatchOp{Op: "add", Path: "/metadata/annotations", Value: map[string]any{Approved: in.Digest}})
	} else {
		ops = append(ops, preview.PatchOp{Op: "add", Path: "/metadata/annotations/" + strings.ReplaceAll(Approved, "/", "~1"), Value: in.Digest})
	}
	if _, err := cluster.Patch(ctx, at, ops); err != nil {
		changed, readErr := cluster.Get(ctx, at)
		if _, now := identity(changed); readErr == nil && changed != nil && now != version {
			return in.approve(ctx, cluster, changed, say) // OLM or another user changed it: it is compared again
		}
		return fmt.Errorf("approving %s: %w", at.ID(), err)
	}
	say("approved " + at.ID() + ", which holds " + in.names())
	return nil
}

func (in *Install) names() string {
	var names []string
	for _, b := range in.Bundles {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}

// equal returns an error unless an InstallPlan holds the reviewed bundles and nothing
// else: by the names of their ClusterServiceVersions, the digests of their images, and
// every object that OLM unpacked from them.
func (in *Install) equal(ctx context.Context, cluster Reader, plan map[string]any) error {
	var names []string
	for _, name := range preview.List(plan, "spec", "clusterServiceVersionNames") {
		names = append(names, fmt.Sprint(name))
	}
	want := map[string]*Bundle{}
	for i := range in.Bundles {
		want[in.Bundles[i].Name] = &in.Bundles[i]
	}
	for _, name := range names {
		if want[name] == nil {
			return fmt.Errorf("it installs %s too", name)
		}
	}
	for _, b := range in.Bundles {
		if !slices.Contains(names, b.Name) {
			return fmt.Errorf("it installs %s, and not %s", strings.Join(names, ", "), b.Name)
		}
	}
	for _, l := range preview.List(plan, "status", "bundleLookups") {
		lookup, _ := l.(map[string]any)
		b, path := want[preview.String(lookup, "identifier")], preview.String(lookup, "path")
		if b == nil {
			return fmt.Errorf("it reads the bundle %s too", path)
		}
		if _, digest, pinned := strings.Cut(path, "@"); pinned && digest != b.Digest {
			return fmt.Errorf("it reads %s from %s, and reviewed was %s", b.Name, path, b.Digest)
		}
	}
	return in.equalSteps(ctx, cluster, plan, want)
}

// unpacked is the reference in a step of an InstallPlan to where OLM unpacked a bundle.
type unpacked struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// equalSteps compares the objects of the steps with those that were reviewed. Each bundle
// is unpacked into a ConfigMap beside the catalog; further steps are the accounts and
// roles that OLM makes of the ClusterServiceVersion in it, and of it alone.
func (in *Install) equalSteps(ctx context.Context, cluster Reader, plan map[string]any, want map[string]*Bundle) error {
	seen := map[string]unpacked{}
	for _, s := range preview.List(plan, "status", "plan") {
		step, _ := s.(map[string]any)
		resolving, kind, name := preview.String(step, "resolving"), preview.String(step, "resource", "kind"), preview.String(step, "resource", "name")
		if kind == owners.SubscriptionKind && len(in.Bundles) > 1 {
			continue // to a package that it depends on, whose bundle is compared
		}
		var from unpacked
		if err := json.Unmarshal([]byte(preview.String(step, "resource", "manifest")), &from); err != nil || from.Kind != "ConfigMap" || from.Name == "" || kind == owners.SubscriptionKind {
			return fmt.Errorf("%s %s is written in it, and not in the image of %s", kind, name, resolving)
		}
		if want[resolving] == nil {
			return fmt.Errorf("%s %s is of %q, which was not reviewed", kind, name, resolving)
		}
		if before, ok := seen[resolving]; ok && before != from {
			return fmt.Errorf("%s is unpacked into several ConfigMaps", resolving)
		}
		seen[resolving] = from
	}
	for name, b := range want {
		from, ok := seen[name]
		if !ok {
			return fmt.Errorf("it has no object of %s", name)
		}
		body, err := cluster.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: from.Namespace, Name: from.Name})
		if err != nil || body == nil {
			return fmt.Errorf("what OLM unpacked of %s cannot be read, ConfigMap %s in namespace %s: %w", name, from.Name, from.Namespace, cmp.Or(err, errGone))
		}
		objects, err := contents(body)
		if err != nil {
			return fmt.Errorf("ConfigMap %s in namespace %s, of %s: %w", from.Name, from.Namespace, name, err)
		}
		if difference := compare(objects, b.Manifests); difference != "" {
			return fmt.Errorf("of %s %s", name, difference)
		}
	}
	return nil
}

var errGone = errors.New("it is gone")

// contents returns the objects of a bundle in a ConfigMap of OLM.
func contents(body map[string]any) ([]map[string]any, error) {
	var out []map[string]any
	texts := map[string]string{}
	for key, value := range preview.Map(body, "data") {
		texts[key], _ = value.(string)
	}
	for key, value := range preview.Map(body, "binaryData") { // base64 of what OLM wrote, which is base64 of gzip
		text, _ := value.(string)
		outer, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(outer)))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(reader, maxUnpacked))
		if err != nil {
			return nil, err
		}
		texts[key] = string(data)
	}
	for _, text := range texts {
		objects, err := preview.Decode([]byte(text))
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if body, ok := object.(map[string]any); ok && preview.String(body, "kind") != "" {
				out = append(out, body)
			}
		}
	}
	return out, nil
}

// compare returns how two sets of objects differ, empty if they are the same.
func compare(have, want []map[string]any) string {
	all := map[string]map[string]any{}
	for _, object := range want {
		all[key(object)] = object
	}
	for _, object := range have {
		reviewed, ok := all[key(object)]
		switch {
		case !ok:
			return key(object) + " is added"
		case !equalObjects(object, reviewed):
			return key(object) + " is another"
		}
		delete(all, key(object))
	}
	for name := range all {
		return name + " is missing"
	}
	return ""
}

func key(object map[string]any) string { return preview.RefOf(object).ID() }

// equalObjects reports whether the canonical JSON of two objects is the same; what has
// none is equal to nothing.
func equalObjects(a, b map[string]any) bool {
	first, err := preview.Canonical(a)
	if err != nil {
		return false
	}
	second, err := preview.Canonical(b)
	return err == nil && bytes.Equal(first, second)
}

// installed waits until the ClusterServiceVersion of the package has succeeded.
func (in *Install) installed(ctx context.Context, cluster Reader, say func(string)) error {
	at := preview.Ref{APIVersion: owners.OLMAPI, Kind: owners.CSVKind, Namespace: in.Release.Namespace, Name: in.Bundles[0].Name}
	phase := ""
	csv, err := until(ctx, cluster, at, func(csv map[string]any) bool {
		if now := preview.String(csv, "status", "phase"); now != phase {
			phase = now
			say(fmt.Sprintf("%s: %s %s", at.ID(), phase, preview.String(csv, "status", "message")))
		}
		return phase == "Succeeded" || phase == "Failed"
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s is not installed within %s: %s; OLM goes on with it", at.ID(), in.Timeout, phaseText(csv))
	case err != nil:
		return err
	case phase == "Failed":
		return fmt.Errorf("OLM could not install %s: %s", at.ID(), phaseText(csv))
	}
	return nil
}

func phaseText(csv map[string]any) string {
	if csv == nil {
		return "it does not exist yet"
	}
	return strings.TrimSuffix(preview.String(csv, "status", "phase")+": "+preview.String(csv, "status", "message"), ": ")
}
