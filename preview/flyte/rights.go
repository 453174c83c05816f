package flyte

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// engineVerbs returns the verbs that the engine needs on a plugin's custom resource: to
// create and watch one for a task, remove its finalizers, and delete it to abort the
// task.
func engineVerbs() []string {
	return []string{"create", "get", "list", "watch", "patch", "update", "delete"}
}

// everywhere is the key, in maps by namespace, of rights that hold in all namespaces;
// no namespace has this name.
const everywhere = "*"

func (r *review) rights(plugin taskPlugin) part {
	part := part{name: "engine RBAC", called: "rights"}
	accounts := r.engineAccounts()
	known := len(accounts) > 0
	if !known {
		accounts = r.likelyAccounts()
	}
	var closest *accountRights
	for _, account := range accounts {
		held := r.rightsOf(account, plugin)
		if part.has = held.complete(); part.has != "" {
			return part
		}
		if closest == nil || len(held.lacks) < len(closest.lacks) {
			closest = held
		}
	}
	switch {
	case known:
		part.describeMissing("the engine's "+closest.missingText(), r.hiddenRights())
	case closest != nil:
		part.describeMissing("no workload mounts this ConfigMap, and "+closest.missingText(), r.hidden("workloads"))
	default:
		part.describeMissing(fmt.Sprintf("no workload mounts this ConfigMap, and no account of namespace %s that could be the engine's may %s %s",
			r.engine.config.Namespace, strings.Join(engineVerbs(), ", "), plugin.definition()), r.hidden("workloads"))
	}
	return part
}

// hiddenRights returns, as text, which bindings and roles the user may not list that
// could grant rights to the engine's accounts; empty if there are none.
func (r *review) hiddenRights() string {
	hidden := r.hidden("rights")
	if hidden == "" && r.heldUnknown {
		return "not all bindings of the cluster may be listed"
	}
	return hidden
}

// accountRights describes what an account may do with a plugin's custom resource, and
// where.
type accountRights struct {
	account   string
	source    string // of what the plan gives it
	plugin    taskPlugin
	lacks     []string // verbs that it may not everywhere
	live      bool     // whether the cluster gives it all without the plan
	wide      string   // what the cluster lets it do with every resource of every group
	misnamed  bool
	projects  []string // the namespaces of projects
	within    []string // the ones where it lacks nothing
	elsewhere []string // other namespaces where it lacks nothing
}

func (r *review) rightsOf(account string, plugin taskPlugin) *accountRights {
	subject := preview.Subject{Kind: "ServiceAccount", Namespace: r.engine.config.Namespace, Name: account}
	live, grants := r.seen.Rights[account][plugin.id], r.grantsOf(subject)
	lacked := func(namespace string) []string {
		held := strings.Fields(live[everywhere] + " " + live[namespace])
		return slices.DeleteFunc(engineVerbs(), func(verb string) bool {
			return slices.Contains(held, verb) || allows(grants, subject, plugin, plugin.resource, namespace, verb)
		})
	}
	out := &accountRights{
		account: account, source: plannedText(r.plan, grantingPackages(r.index, subject, plugin)), plugin: plugin, lacks: lacked(""), projects: r.projectNamespaces(),
		live: len(strings.Fields(live[everywhere])) == len(engineVerbs()), wide: r.seen.Wide[account],
	}
	for _, namespace := range r.scopes(out.projects, live, grants) {
		switch {
		case len(lacked(namespace)) > 0:
		case slices.Contains(out.projects, namespace):
			out.within = append(out.within, namespace)
		default:
			out.elsewhere = append(out.elsewhere, namespace)
		}
	}
	singular := strings.Fields(r.seen.Misnamed[account][plugin.id])
	out.misnamed = slices.ContainsFunc(out.lacks, func(verb string) bool {
		return slices.Contains(singular, verb) || allows(grants, subject, plugin, plugin.singular(), "", verb)
	})
	return out
}

// allows reports whether an account has a verb on a plugin's resource, in a
// namespace or, if that is empty, in all.
func allows(grants []preview.Grant, subject preview.Subject, plugin taskPlugin, resource, namespace, verb string) bool {
	return access.Allows(grants, subject, access.Request{Namespace: namespace, Verb: verb, Group: plugin.group, Resource: resource})
}

// scopes returns the namespaces where the account's rights are looked at, sorted:
// project namespaces, and namespaces where cluster or plan grant it something.
func (r *review) scopes(projects []string, live map[string]string, grants []preview.Grant) []string {
	out := slices.Clone(projects)
	for namespace := range live {
		if namespace != everywhere {
			out = append(out, namespace)
		}
	}
	for _, g := range grants {
		if g.Scope == preview.ScopeNamespace {
			out = append(out, g.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// complete returns as text where an account's permissions come from if it has all that
// the engine needs, else empty. Having them in each project's present namespace
// suffices, although a new project would lack them.
func (f *accountRights) complete() string {
	source := f.source + "for ServiceAccount " + f.account
	if f.live {
		source = inCluster + ", for ServiceAccount " + f.account
	}
	switch {
	case len(f.lacks) == 0 && f.wide != "":
		return source + ", which may " + f.wide + " every resource of every API group: near cluster-admin"
	case len(f.lacks) == 0:
		return source
	case len(f.projects) > 0 && len(f.within) == len(f.projects):
		return fmt.Sprintf("for ServiceAccount %s in the namespaces of projects that there are, %s, and in no project to come", f.account, someOf(f.within))
	}
	return ""
}

func (f *accountRights) missingText() string {
	text := fmt.Sprintf("ServiceAccount %s may not %s %s", f.account, strings.Join(f.lacks, ", "), f.plugin.definition())
	if len(f.within) > 0 {
		left := slices.DeleteFunc(slices.Clone(f.projects), func(namespace string) bool { return slices.Contains(f.within, namespace) })
		text += fmt.Sprintf(", but in %d of %s: in %s, and not in %s", len(f.within), preview.Plural(len(f.projects), "project namespace"), someOf(f.within), someOf(left))
	}
	if len(f.elsewhere) > 0 {
		text += ", but in namespace " + someOf(f.elsewhere) + ", which is none of a project"
	}
	if f.misnamed {
		text += fmt.Sprintf("; a rule names %s, and the resource is %s", f.plugin.singular(), f.plugin.resource)
	}
	return text
}

// engineAccounts returns the ServiceAccounts of the workloads that mount a
// configuration: those in the plan, else those in the cluster.
func (r *review) engineAccounts() []string {
	if accounts := accountsOf(r.workloads(r.engine.config)); len(accounts) > 0 {
		return accounts
	}
	return strings.Fields(r.seen.Accounts)
}

// likelyAccounts returns the probable accounts of an engine if no workload mounts
// the configuration: those in its namespace that the plan grants permissions and
// that no pod of the plan uses, which excludes operators.
func (r *review) likelyAccounts() []string {
	namespace := r.engine.config.Namespace
	out := slices.DeleteFunc(slices.Clone(r.granted[namespace]), func(name string) bool { return r.accounts[namespace][name] })
	slices.Sort(out)
	return out
}

// readRights records which verbs on the plugins' custom resources the cluster grants an
// engine's accounts and their groups, cluster-wide and per namespace, apart from the
// plan's own grants.
func (r *reader) readRights(ctx context.Context, accounts []string) error {
	if len(accounts) == 0 || len(r.used) == 0 {
		return nil
	}
	roles, err := r.list(ctx, "rights", access.APIVersion, "ClusterRole", "")
	if err != nil {
		return err
	}
	bindings, err := r.list(ctx, "rights", access.APIVersion, "ClusterRoleBinding", "")
	if err != nil {
		return err
	}
	local, err := r.roleBindings(ctx)
	if err != nil {
		return err
	}
	in := access.Input{}
	for _, account := range accounts {
		in.Accounts = append(in.Accounts, map[string]any{
			"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": account, "namespace": r.e.config.Namespace},
		})
	}
	held, far := access.RelevantBindings(in.Accounts, slices.Concat(bindings, local), roles)
	held = append(held, far...)
	named, err := r.readRoles(ctx, "rights", held)
	if err != nil {
		return err
	}
	in.Existing = slices.Concat(roles, named, held)
	grants := access.Compute(in)
	rights, wide, misnamed := map[string]map[string]map[string]string{}, map[string]string{}, map[string]map[string]string{}
	for _, account := range accounts {
		subject := preview.Subject{Kind: "ServiceAccount", Namespace: r.e.config.Namespace, Name: account}
		byPlugin, wrong := map[string]map[string]string{}, map[string]string{}
		for _, plugin := range r.used {
			byPlugin[plugin.id] = r.heldBy(grants, subject, plugin)
			if verbs := heldVerbs(grants, subject, plugin, plugin.singular(), ""); verbs != "" {
				wrong[plugin.id] = verbs
			}
		}
		rights[account], misnamed[account] = byPlugin, wrong
		anything := taskPlugin{group: everywhere}
		if verbs := heldVerbs(grants, subject, anything, everywhere, ""); strings.Contains(verbs, "create") || strings.Contains(verbs, "patch") || strings.Contains(verbs, "update") {
			wide[account] = strings.Join(strings.Fields(verbs), ", ")
		}
	}
	r.found.Rights, r.found.Wide, r.found.Misnamed = rights, wide, misnamed
	return nil
}

// heldBy returns the verbs that an account has on a plugin's resource, separated by
// spaces: by namespace, where they differ from the cluster-wide ones under
// [everywhere].
func (r *reader) heldBy(grants []preview.Grant, subject preview.Subject, plugin taskPlugin) map[string]string {
	all := heldVerbs(grants, subject, plugin, plugin.resource, "")
	out := map[string]string{}
	if all != "" {
		out[everywhere] = all
	}
	for _, namespace := range append(slices.Sorted(maps.Keys(r.found.Projects)), r.e.config.Namespace) {
		if verbs := heldVerbs(grants, subject, plugin, plugin.resource, namespace); verbs != all {
			out[namespace] = verbs
		}
	}
	return out
}

func heldVerbs(grants []preview.Grant, subject preview.Subject, plugin taskPlugin, resource, namespace string) string {
	return strings.Join(slices.DeleteFunc(engineVerbs(), func(verb string) bool {
		return !allows(grants, subject, plugin, resource, namespace, verb)
	}), " ")
}
