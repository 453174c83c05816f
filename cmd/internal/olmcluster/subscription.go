package olmcluster

import (
	"context"
	"errors"
	"fmt"
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
	groupAPI  = "operators.coreos.com/v1"
	groupKind = "OperatorGroup"
)

// Install is what OLM v0 is asked for, as it was reviewed.
type Install struct {
	Release          preview.Release // the names of the Subscription and of its namespace
	Package, Channel string
	Catalog          string   // NAMESPACE/NAME of a CatalogSource
	Targets          []string // namespaces that the operator watches; none for all
	// Namespace is the object of the release's namespace where that does not exist, or nil.
	Namespace map[string]any
	reviewedBundles
}

// NewInstall returns what OLM is asked for so that it installs a plan of this program.
// Manifests reads the manifests of a package's bundle.
func NewInstall(p *preview.Plan, timeout time.Duration, manifests func(*preview.Package) ([]map[string]any, error)) (*Install, error) {
	bundles, err := reviewed(p, timeout, manifests)
	if err != nil {
		return nil, err
	}
	out := &Install{Release: p.Release, reviewedBundles: bundles}
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

// reviewed returns the bundles of a plan as what OLM is asked for.
func reviewed(p *preview.Plan, timeout time.Duration, manifests func(*preview.Package) ([]map[string]any, error)) (reviewedBundles, error) {
	out := reviewedBundles{Digest: p.Digest, Timeout: timeout}
	for i := range p.Packages {
		pkg := &p.Packages[i]
		if pkg.Bundle == "" || len(pkg.Sources) != 1 || len(pkg.Via) == 0 {
			return out, planning.Usagef("OLM v0 installs packages of catalogs, and %s is not of one; name a package, or leave out --via", pkg.Name)
		}
		objects, err := manifests(pkg)
		if err != nil {
			return out, err
		}
		bundle := bundle{Name: pkg.Bundle, Digest: pkg.Sources[0].Digest, Manifests: objects, Package: pkg.Name, Channel: pkg.Via[0].Channel}
		if served, ok, err := catalog.ParseServed(pkg.Via[0].Reference); err == nil && ok {
			bundle.Catalog = served.Namespace + "/" + served.Name
		}
		out.Bundles = append(out.Bundles, bundle)
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
	yes, err := consent.allowed(ctx, s, "For OLM, which installs "+in.Names()+" then, these would be created, and its InstallPlan approved if it is what was reviewed:", list, "Create them?")
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

// AddToUpgrade adds the flag to upgrade.
func (v *Via) AddToUpgrade(flags *pflag.FlagSet) {
	flags.StringVar((*string)(v), "via", "", "NAME is a Subscription or its package: review what its pending InstallPlan holds, and have the cluster's OLM install that: olmv0")
}

// unheeded are flags that mean nothing where OLM installs, for one reason.
type unheeded struct {
	reason string
	flags  []string
}

var (
	own = unheeded{"about what this program applies itself", []string{
		"plan", "out", "filename", "values", "set", "set-string", "set-json", "set-file", "pin-images", "adopt", "on-failure", "receipt", "no-wait", "health-check", "stage-timeout", "history-max",
	}}
	ownOfUpgrade = unheeded{own.reason, []string{"conflicts", "strict", "reset-options", "values-from-defaults"}}
	subscribed   = unheeded{"what the Subscription or its OperatorGroup says", []string{
		"catalog", "install-mode", "watch-namespace", "certs", "format", "path", "kube-version", "api-versions", "cloud-policy", "platform",
	}}
)

// Check returns an error for a wrong value, and for flags that OLM cannot follow. It
// sets in render that no certificates are issued, as OLM itself makes webhook
// certificates.
func (v *Via) Check(given func(flag string) bool, render *planning.RenderOptions) error {
	return v.check(given, render, own)
}

// CheckUpgrade is Check for upgrade.
func (v *Via) CheckUpgrade(given func(flag string) bool, render *planning.RenderOptions) error {
	return v.check(given, render, subscribed, ownOfUpgrade, own)
}

func (v *Via) check(given func(flag string) bool, render *planning.RenderOptions, refused ...unheeded) error {
	if *v == "" && !given("via") {
		return nil
	}
	if *v != V0 {
		return planning.Usagef("--via %s: want olmv0; OLM v1 has no InstallPlan to approve: install without --via, or write a ClusterExtension", *v)
	}
	for _, u := range refused {
		for _, flag := range u.flags {
			if given(flag) {
				return planning.Usagef("--%s is %s; leave it out, or --via", flag, u.reason)
			}
		}
	}
	if given("output") && given("yes") {
		return planning.Usagef("-o is for --preview where OLM installs; leave it out, or --via")
	}
	if render.Certs == "" {
		render.Certs = preview.CertsNone
	}
	return nil
}

// packageOf returns the package that a plan was asked for.
func packageOf(p *preview.Plan) string {
	name, _, _ := strings.Cut(p.Request.Reference, "@")
	return name
}

// Objects returns the objects to create: the namespace and the OperatorGroup where these
// are missing, and the Subscription. An obstacle is an error.
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
		"metadata": map[string]any{"name": at.Name, "namespace": at.Namespace, "annotations": map[string]any{approvedPlan: in.Digest}},
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
	if err := in.Approve(ctx, cluster, plan, say); err != nil {
		return err
	}
	return in.Installed(ctx, cluster, in.Release.Namespace, say)
}

func (in *Install) subscription() preview.Ref {
	return preview.Ref{APIVersion: owners.OLMAPI, Kind: owners.SubscriptionKind, Namespace: in.Release.Namespace, Name: in.Release.Name}
}

// pending waits for the InstallPlan of the Subscription.
func (in *Install) pending(ctx context.Context, cluster Reader) (map[string]any, error) {
	at := in.subscription()
	subscription, err := awaitPlan(ctx, cluster, at, func(s map[string]any) bool { return preview.String(s, "status", "installPlanRef", "name") != "" })
	if errors.Is(err, context.DeadlineExceeded) {
		command := commandline.Join("kubectl", "delete", "subscriptions.operators.coreos.com", at.Name, "-n", at.Namespace)
		return nil, &commandline.Advised{Err: fmt.Errorf("OLM made no InstallPlan for %s within %s: %s; nothing is approved, and \"%s\" takes the request back",
			at.ID(), in.Timeout, conditions(subscription), command), Commands: []string{command}, Scope: commandline.Connection}
	}
	if err != nil {
		return nil, err
	}
	ref := preview.Ref{APIVersion: owners.OLMAPI, Kind: installPlanKind, Namespace: at.Namespace, Name: preview.String(subscription, "status", "installPlanRef", "name")}
	return awaitPlan(ctx, cluster, ref, func(plan map[string]any) bool { return len(preview.List(plan, "status", "plan")) > 0 })
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
