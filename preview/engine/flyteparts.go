package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// inCluster is said of what is not in the plan and was seen in the cluster.
const inCluster = "in the cluster already"

// flytePart is one of the four parts of a plugin: what there is of it, or what
// lacks and how that is called.
type flytePart struct {
	name, has     string
	called, lacks string
}

// flyteReview says of each plugin what there is of its four parts, and which
// parts are neither in the plan nor, where one was read, in the cluster.
func flyteReview(p *preview.Plan, e flyteEngine) (sections, missing []string) {
	seen := ownBody(p, flyteKind, e.config.ID)
	for _, plugin := range flytePlugins() {
		if e.forgets(p, plugin) && !slices.Contains(preview.Texts(seen["configured"]), plugin.id) {
			missing = append(missing, "plugin "+plugin.id+": no configuration: the plan brings "+plugin.definition()+", and enabled-plugins does not have it")
		}
		if e.gone || !e.after.uses(plugin.id) {
			continue
		}
		parts := []flytePart{
			operatorPart(p, seen, plugin),
			{name: "engine configuration", has: "in the plan, ConfigMap " + e.config.Name},
			rightsPart(p, e, seen, plugin),
			projectsPart(p, seen, plugin),
		}
		for _, part := range parts {
			if part.lacks != "" {
				missing = append(missing, "plugin "+plugin.id+": no "+part.called+": "+part.lacks)
				part.has = "missing"
			}
			sections = append(sections, "plugin "+plugin.id+", "+part.name+": "+part.has)
		}
	}
	return sections, missing
}

// How the definition of a plugin's custom resource was found in the cluster.
const (
	flyteEstablished = "established"
	flyteUnready     = "not established"
	flyteAbsent      = "absent"
	flyteHidden      = "may not be read"
)

func operatorPart(p *preview.Plan, seen map[string]any, plugin flytePlugin) flytePart {
	part := flytePart{name: "operator", called: "operator"}
	what := plugin.definition()
	if definesResource(p, plugin) {
		part.has = "in the plan, " + what
		return part
	}
	switch preview.String(seen, "operators", plugin.id) {
	case flyteEstablished:
		part.has = inCluster + ", " + what
	case flyteUnready:
		part.lacks = "nothing in the plan defines " + what + ", and the cluster's own definition is not established"
	case flyteAbsent:
		part.lacks = "nothing in the plan defines " + what + ", and nothing in the cluster does"
	case flyteHidden:
		part.lacks = "nothing in the plan defines " + what + ", and whether the cluster does may not be read"
	default:
		part.lacks = "nothing in the plan defines " + what + ", so it has to be in the cluster"
	}
	return part
}

// definesResource reports whether the plan leaves the definition of a plugin's
// custom resource.
func definesResource(p *preview.Plan, plugin flytePlugin) bool {
	o := p.Object(flyteDefinition(plugin).ID())
	return o != nil && (o.Sealed != nil || o.Action == preview.ActionKeep)
}

func flyteDefinition(plugin flytePlugin) preview.Ref {
	return preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: plugin.definition()}
}

// flyteVerbs is what the engine does with a custom resource: it makes and watches
// one for a task, takes its finalizers off, and deletes it to abort the task.
func flyteVerbs() []string {
	return []string{"create", "get", "list", "watch", "patch", "update", "delete"}
}

func rightsPart(p *preview.Plan, e flyteEngine, seen map[string]any, plugin flytePlugin) flytePart {
	part := flytePart{name: "engine RBAC", called: "rights"}
	accounts := flyteAccounts(p, e, seen)
	known := len(accounts) > 0
	if !known {
		accounts = likelyAccounts(p, e)
	}
	var least []string
	var closest string
	for _, account := range accounts {
		held := preview.Texts(preview.Value(seen, "rights", account, plugin.id))
		lacks := lackedVerbs(p, preview.Subject{Kind: "ServiceAccount", Namespace: e.config.Namespace, Name: account}, plugin, held)
		if len(lacks) == 0 {
			part.has = "in the plan, for ServiceAccount " + account
			if len(held) == len(flyteVerbs()) {
				part.has = inCluster + ", for ServiceAccount " + account
			}
			return part
		}
		if closest == "" || len(lacks) < len(least) {
			closest, least = account, lacks
		}
	}
	switch {
	case known:
		part.lacks = fmt.Sprintf("the engine's ServiceAccount %s may not %s %s", closest, strings.Join(least, ", "), plugin.definition())
		if seen["rightsHidden"] == true {
			part.lacks += ", as far as the cluster's bindings may be read"
		}
	case closest != "":
		part.lacks = fmt.Sprintf("no workload mounts this ConfigMap, and ServiceAccount %s may not %s %s", closest, strings.Join(least, ", "), plugin.definition())
	default:
		part.lacks = fmt.Sprintf("no workload mounts this ConfigMap, and no account of namespace %s that could be the engine's may %s %s",
			e.config.Namespace, strings.Join(flyteVerbs(), ", "), plugin.definition())
	}
	return part
}

// lackedVerbs are those that neither the plan gives an account nor the cluster
// gives it already. The engine works in every project: what it may do in one
// namespace is not added to what it may do in another.
func lackedVerbs(p *preview.Plan, account preview.Subject, plugin flytePlugin, held []string) []string {
	scopes := map[string]bool{"": true}
	for _, g := range p.Access.Grants {
		if g.Subject == account && g.Scope == preview.ScopeNamespace {
			scopes[g.Namespace] = true
		}
	}
	least := flyteVerbs()
	for _, namespace := range slices.Sorted(maps.Keys(scopes)) {
		lacks := slices.DeleteFunc(flyteVerbs(), func(verb string) bool {
			return slices.Contains(held, verb) ||
				access.Allows(p.Access.Grants, account, access.Request{Namespace: namespace, Verb: verb, Group: plugin.group, Resource: plugin.resource})
		})
		if len(lacks) < len(least) {
			least = lacks
		}
	}
	return least
}

// flyteAccounts are the accounts of the workloads that mount a configuration:
// those of the plan, else those that were seen in the cluster.
func flyteAccounts(p *preview.Plan, e flyteEngine, seen map[string]any) []string {
	if accounts := mountingAccounts(flyteWorkloads(p), e.config); len(accounts) > 0 {
		return accounts
	}
	return preview.Texts(seen["accounts"])
}

// flyteWorkloads are the workloads that the plan leaves.
func flyteWorkloads(p *preview.Plan) []map[string]any {
	out := sealedBodies(p.Objects)
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Sealed == nil && o.Action == preview.ActionKeep && o.LiveBody != nil {
			out = append(out, o.LiveBody)
		}
	}
	return out
}

// mountingAccounts are the accounts, sorted, of workloads that mount a ConfigMap.
// The webhook of an engine may mount it too.
func mountingAccounts(bodies []map[string]any, config *preview.Object) []string {
	var out []string
	want := config.Ref().ID()
	for _, body := range bodies {
		pod, _ := preview.PodTemplate(body)
		if pod == nil || preview.RefOf(body).Namespace != config.Namespace {
			continue
		}
		if slices.ContainsFunc(podReferences(pod, config.Namespace), func(ref preview.Ref) bool { return ref.ID() == want }) {
			out = append(out, accountOf(pod))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func accountOf(pod map[string]any) string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name := preview.String(pod, field); name != "" {
			return name
		}
	}
	return "default"
}

// likelyAccounts are, where no workload is known to mount the configuration, the
// accounts of its namespace that the plan gives rights and no pod of the plan
// runs as: an operator's own rights are not the engine's.
func likelyAccounts(p *preview.Plan, e flyteEngine) []string {
	taken := map[string]bool{}
	for _, body := range flyteWorkloads(p) {
		if pod, _ := preview.PodTemplate(body); pod != nil && preview.RefOf(body).Namespace == e.config.Namespace {
			taken[accountOf(pod)] = true
		}
	}
	var out []string
	for _, g := range p.Access.Grants {
		if g.Subject.Kind == "ServiceAccount" && g.Subject.Namespace == e.config.Namespace && !taken[g.Subject.Name] {
			out = append(out, g.Subject.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// projectParts are what every project's namespace needs of a plugin with an
// account.
func projectParts() []string { return []string{"ServiceAccount", "Role", "RoleBinding"} }

func projectsPart(p *preview.Plan, seen map[string]any, plugin flytePlugin) flytePart {
	part := flytePart{name: "per project", called: "objects of the projects"}
	if plugin.account == "" {
		part.has = "nothing needed"
		return part
	}
	planned := projectObjects(sealedBodies(p.Objects), plugin.account)
	live := preview.Texts(preview.Value(seen, "projects", plugin.id))
	var has, there, lacks []string
	for _, kind := range projectParts() {
		switch {
		case slices.Contains(planned, kind):
			has = append(has, kind)
		case slices.Contains(live, kind):
			there = append(there, kind)
		default:
			lacks = append(lacks, kind)
		}
	}
	var words []string
	if len(has) > 0 {
		words = append(words, "in the plan, "+strings.Join(has, " and "))
	}
	if len(there) > 0 {
		words = append(words, inCluster+", "+strings.Join(there, " and "))
	}
	part.has = strings.Join(words, ", ")
	if len(lacks) > 0 {
		part.lacks = "nothing in the plan makes " + projectWords(lacks, plugin.account)
	}
	return part
}

func projectWords(kinds []string, account string) string {
	var words []string
	for _, kind := range kinds {
		switch kind {
		case "ServiceAccount":
			words = append(words, "the ServiceAccount "+account)
		case "Role":
			words = append(words, "the Role that is bound to it")
		default:
			words = append(words, "the "+kind+" for it")
		}
	}
	return strings.Join(words, " and ")
}

// flyteVariable is a variable of the templates that the engine renders into each
// project's namespace; they are replaced as text, and know nothing else.
var flyteVariable = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// projectObjects lists which of [projectParts] there are for an account: as
// objects, or in templates that the engine renders into every project.
func projectObjects(bodies []map[string]any, account string) []string {
	all := slices.Clone(bodies)
	for _, body := range bodies {
		if preview.String(body, "kind") != "ConfigMap" {
			continue
		}
		for _, v := range preview.Map(body, "data") {
			text, _ := v.(string)
			if !strings.Contains(text, "kind:") {
				continue
			}
			docs, err := preview.Decode([]byte(flyteVariable.ReplaceAllString(text, "variable")))
			if err != nil { // no template, or one that the engine cannot render either
				continue
			}
			for _, doc := range docs {
				if object, ok := doc.(map[string]any); ok {
					all = append(all, object)
				}
			}
		}
	}
	return boundParts(all, account)
}

func boundParts(objects []map[string]any, account string) []string {
	found, roles, bound := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, body := range objects {
		name := preview.String(body, "metadata", "name")
		switch preview.String(body, "kind") {
		case "ServiceAccount":
			found["ServiceAccount"] = found["ServiceAccount"] || name == account
		case "Role", "ClusterRole":
			roles[preview.String(body, "kind")+"/"+name] = true
		case "RoleBinding":
			if slices.ContainsFunc(access.Subjects(body), func(s preview.Subject) bool { return s.Kind == "ServiceAccount" && s.Name == account }) {
				found["RoleBinding"] = true
				bound[preview.String(body, "roleRef", "kind")+"/"+preview.String(body, "roleRef", "name")] = true
			}
		}
	}
	for _, body := range access.BuiltIn() {
		roles["ClusterRole/"+preview.String(body, "metadata", "name")] = true
	}
	for role := range bound {
		found["Role"] = found["Role"] || roles[role]
	}
	return slices.DeleteFunc(projectParts(), func(kind string) bool { return !found[kind] })
}
