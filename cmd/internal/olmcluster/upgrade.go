package olmcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// Pending is an InstallPlan that waits for an approval, of a Subscription that has a
// version installed.
type Pending struct {
	Release  preview.Release // the names of the Subscription and of its namespace
	Targets  []string        // namespaces that the operator watches; none for all
	Upgrades []planning.BundleUpgrade
	plan     map[string]any
}

// subscriptionResource names the kind for kubectl, where others are called the same.
const subscriptionResource = "subscriptions.operators.coreos.com"

// FindPending returns the InstallPlan that waits for the Subscription of that name, or to
// the package of that name, in a namespace. A missing InstallPlan is an error. channel is
// the one that was asked for; empty for any.
func FindPending(ctx context.Context, cluster Reader, namespace, name, channel string) (*Pending, error) {
	if namespace == "" {
		return nil, planning.Usagef("a Subscription has a namespace; choose it with -n")
	}
	at := preview.Ref{APIVersion: owners.OLMAPI, Kind: owners.SubscriptionKind, Namespace: namespace, Name: name}
	all, err := cluster.List(ctx, at.APIVersion, at.Kind, namespace, "")
	if err != nil {
		return nil, notServed(err, at, V0)
	}
	subscription := subscriptionOf(all, name)
	if subscription == nil {
		command := commandline.Operator("install", name, "--via", V0, "-n", namespace)
		return nil, advise(command, planning.Refuse(fmt.Sprintf("namespace %s has no Subscription to package %s", namespace, name), "choose another namespace with -n, or install it: "+command))
	}
	plan, err := waiting(ctx, cluster, subscription, channel)
	if err != nil {
		return nil, err
	}
	out := &Pending{Release: preview.Release{Name: preview.String(subscription, "metadata", "name"), Namespace: namespace}, plan: plan}
	for _, bundle := range planNames(plan) {
		for _, s := range all {
			if preview.String(s, "status", "currentCSV") == bundle {
				out.Upgrades = append(out.Upgrades, upgradeOf(s))
			}
		}
	}
	first := upgradeOf(subscription)
	slices.SortStableFunc(out.Upgrades, func(a, b planning.BundleUpgrade) int { return preview.FalseFirst(a != first, b != first) })
	out.Targets, err = targets(ctx, cluster, out.Release)
	return out, err
}

func advise(command string, err error) error {
	return &commandline.Advised{Err: err, Commands: []string{command}, Scope: commandline.Connection}
}

// subscriptionOf returns the Subscription of that name, else the one to the package of
// that name, nil for none. OLM resolves nothing where two are to one package.
func subscriptionOf(all []map[string]any, name string) map[string]any {
	for _, path := range [][]string{{"metadata", "name"}, {"spec", "name"}} {
		for _, s := range all {
			if preview.String(s, path...) == name {
				return s
			}
		}
	}
	return nil
}

func upgradeOf(subscription map[string]any) planning.BundleUpgrade {
	return planning.BundleUpgrade{
		Package: preview.String(subscription, "spec", "name"),
		Catalog: "catalogsource:" + preview.String(subscription, "spec", "sourceNamespace") + "/" + preview.String(subscription, "spec", "source"),
		Channel: preview.String(subscription, "spec", "channel"),
		Bundle:  preview.String(subscription, "status", "currentCSV"), Installed: preview.String(subscription, "status", "installedCSV"),
	}
}

// waiting returns the InstallPlan of a Subscription that is not approved yet. Where there
// is none, the error says why, and what to do.
func waiting(ctx context.Context, cluster Reader, subscription map[string]any, channel string) (map[string]any, error) {
	at, of := preview.RefOf(subscription), upgradeOf(subscription)
	patch := func(spec string) string {
		return commandline.Join("kubectl", "patch", subscriptionResource, at.Name, "-n", at.Namespace, "--type=merge", "-p", `{"spec":{`+spec+`}}`)
	}
	if has := preview.String(subscription, "spec", "channel"); channel != "" && channel != has {
		command := patch(fmt.Sprintf("%q:%q", "channel", channel))
		return nil, advise(command, planning.Refuse(fmt.Sprintf("%s follows channel %s, and not %s", at.ID(), cmp.Or(has, "by default"), channel),
			"leave out --channel, or change it, which makes OLM look for an upgrade there: "+command))
	}
	if preview.String(subscription, "spec", "installPlanApproval") != "Manual" {
		command := patch(`"installPlanApproval":"Manual"`)
		return nil, advise(command, planning.Refuse(at.ID()+" upgrades without being asked: OLM itself approves its InstallPlans (installPlanApproval: Automatic)",
			"so that the next one waits for a review: "+command))
	}
	if of.Installed == "" {
		command := commandline.Join("kubectl", "delete", subscriptionResource, at.Name, "-n", at.Namespace)
		return nil, advise(command, planning.Refuse(at.ID()+" has nothing installed yet, so that there is nothing to upgrade",
			"take it back, and install with a review by --via "+V0+": "+command))
	}
	ref := preview.Ref{APIVersion: owners.OLMAPI, Kind: installPlanKind, Namespace: at.Namespace, Name: preview.String(subscription, "status", "installPlanRef", "name")}
	var plan map[string]any
	var err error
	if ref.Name != "" {
		if plan, err = cluster.Get(ctx, ref); err != nil {
			return nil, fmt.Errorf("reading %s: %w", ref.ID(), err)
		}
	}
	if approved, _ := preview.Value(plan, "spec", "approved").(bool); plan == nil || approved || of.Installed == of.Bundle {
		command := commandline.Operator("describe", of.Package, "--catalog", of.Catalog)
		return nil, advise(command, planning.Refuse(fmt.Sprintf("%s has %s installed, and no InstallPlan of it waits for an approval", at.ID(), of.Installed),
			"which versions its catalog has: "+command))
	}
	return plan, nil
}

// targets returns the target namespaces of the OperatorGroup of a namespace.
func targets(ctx context.Context, cluster Reader, of preview.Release) ([]string, error) {
	groups, err := cluster.List(ctx, groupAPI, groupKind, of.Namespace, "")
	if err != nil {
		return nil, notServed(err, preview.Ref{APIVersion: groupAPI, Kind: groupKind, Namespace: of.Namespace, Name: of.Name}, V0)
	}
	if len(groups) != 1 {
		return nil, planning.Refuse(fmt.Sprintf("namespace %s has %s, so that OLM installs nothing there", of.Namespace, preview.Plural(len(groups), "OperatorGroup")), "it needs one")
	}
	var out []string
	for _, namespace := range preview.List(groups[0], "status", "namespaces") {
		if text := fmt.Sprint(namespace); text != "" { // which stands for all
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Mode returns the flags --install-mode and --watch-namespace that stand for what the
// OperatorGroup has OLM do.
func (w *Pending) Mode() (mode string, watch []string) {
	switch {
	case len(w.Targets) == 0:
		return "AllNamespaces", nil
	case len(w.Targets) > 1:
		return "MultiNamespace", w.Targets
	case w.Targets[0] == w.Release.Namespace:
		return "OwnNamespace", nil
	}
	return "SingleNamespace", w.Targets
}

// Check returns an error unless a plan is of the bundles that the InstallPlan holds, and
// of the version that was asked for; empty for any.
func (w *Pending) Check(p *preview.Plan, version string) error {
	at, names := preview.RefOf(w.plan), planNames(w.plan)
	for _, pkg := range p.Packages {
		names = slices.DeleteFunc(names, func(name string) bool { return name == pkg.Bundle })
	}
	if len(names) > 0 {
		command := commandline.Join("kubectl", "get", "installplans.operators.coreos.com", at.Name, "-n", at.Namespace, "-o", "yaml")
		return advise(command, planning.Refuse(fmt.Sprintf("%s installs %s too, which no Subscription of the namespace and no dependency leads to", at.ID(), strings.Join(names, ", ")), "look at it: "+command))
	}
	if version == "" {
		return nil
	}
	want, err := semver.NewConstraint(version)
	if err != nil {
		return planning.Usagef("--version %s: %s", version, err)
	}
	for _, pkg := range p.Packages {
		if pkg.Name != w.Upgrades[0].Package {
			continue
		}
		if has, err := semver.NewVersion(pkg.Version); err != nil || !want.Check(has) {
			command := commandline.Operator("upgrade", w.Release.Name, "--via", V0, "-n", w.Release.Namespace)
			return advise(command, planning.Refuse(fmt.Sprintf("%s holds %s, and version %s was asked for: OLM goes along the channel, one InstallPlan after the other", at.ID(), pkg.Bundle, version),
				"review this one first: "+command))
		}
	}
	return nil
}

// Approve approves the InstallPlan if it holds exactly what the plan is of, and waits
// until the operator is installed. With look it only says whether it would be approved.
func (w *Pending) Approve(ctx context.Context, s Session, p *preview.Plan, timeout time.Duration, look bool, manifests func(*preview.Package) ([]map[string]any, error), say func(string)) error {
	reader, err := s.Reader(ctx)
	if err != nil {
		return err
	}
	in, err := reviewed(p, timeout, manifests)
	if err != nil {
		return err
	}
	asked := slices.IndexFunc(in.Bundles, func(b bundle) bool { return b.Name == w.Upgrades[0].Bundle })
	if asked < 0 {
		return planning.Refuse("the plan is not of "+w.Upgrades[0].Bundle, "review the upgrade again")
	}
	in.Bundles[0], in.Bundles[asked] = in.Bundles[asked], in.Bundles[0]
	at := preview.RefOf(w.plan)
	if look {
		return w.look(ctx, reader, in, say)
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	plan, err := awaitPlan(ctx, reader, at, func(plan map[string]any) bool { return len(preview.List(plan, "status", "plan")) > 0 })
	switch {
	case errors.Is(err, context.DeadlineExceeded) && plan == nil:
		return planning.Refuse(at.ID()+" is gone: OLM or another user deleted it", "review the upgrade again, with the InstallPlan that there is now")
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("OLM did not unpack what %s holds within %s: %s; nothing is approved", at.ID(), timeout, conditions(plan))
	case err != nil:
		return err
	}
	writer, err := s.Writer(ctx)
	if err != nil {
		return err
	}
	if err := in.Approve(ctx, writer, plan, say); err != nil {
		return err
	}
	return in.Installed(ctx, reader, w.Release.Namespace, say)
}

// look says whether the InstallPlan is what was reviewed, as far as OLM has unpacked it.
func (w *Pending) look(ctx context.Context, cluster Reader, in reviewedBundles, say func(string)) error {
	at := preview.RefOf(w.plan)
	if len(preview.List(w.plan, "status", "plan")) == 0 {
		say(at.ID() + " would be approved if it is what was reviewed, which shows when OLM has unpacked it")
		return nil
	}
	if err := comparePlan(ctx, cluster, in.Bundles, w.plan); err != nil {
		return planning.Refuse(fmt.Sprintf("%s is not what was reviewed: %s", at.ID(), err), "it would not be approved")
	}
	say(at.ID() + " holds exactly what was reviewed, and would be approved")
	return nil
}

// OfOLM adds to an error that a Subscription, and no release, has the name or is to the
// package of that name, if the namespace has one, with the commands for it.
func OfOLM(ctx context.Context, cluster Reader, namespace, name string, none error, commands func(subscription map[string]any) []string) error {
	if namespace == "" {
		return none
	}
	all, err := cluster.List(ctx, owners.OLMAPI, owners.SubscriptionKind, namespace, "")
	if err != nil { // a cluster without OLM, or Subscriptions that the user may not list
		return none
	}
	subscription := subscriptionOf(all, name)
	if subscription == nil {
		return none
	}
	list := commands(subscription)
	return &commandline.Advised{
		Err:      fmt.Errorf("%w\n%s is there, which OLM looks after: %s", none, preview.RefOf(subscription).ID(), strings.Join(list, " && ")),
		Commands: list, Scope: commandline.Connection,
	}
}

// Upgrading is the command that upgrades a Subscription.
func Upgrading(subscription map[string]any) []string {
	at := preview.RefOf(subscription)
	return []string{commandline.Operator("upgrade", at.Name, "--via", V0, "-n", at.Namespace)}
}

// Uninstalling are the commands that remove a Subscription and the operator that it has
// installed. CRDs and custom resources stay.
func Uninstalling(subscription map[string]any) []string {
	at, csv := preview.RefOf(subscription), preview.String(subscription, "status", "installedCSV")
	out := []string{commandline.Join("kubectl", "delete", subscriptionResource, at.Name, "-n", at.Namespace)}
	if csv != "" {
		out = append(out, commandline.Join("kubectl", "delete", "clusterserviceversions.operators.coreos.com", csv, "-n", at.Namespace))
	}
	return out
}
