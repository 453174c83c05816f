package preview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// The stages that no kind belongs to. Hooks before the others come right after
// namespaces and definitions, hooks after them at the end; a weight is a stage
// of its own ("hooks-pre-2"), so that a Job of one is complete before the next
// begins. Objects that left the set are deleted last, after everything that
// replaces them works.
const (
	// StageHandOver ends the ownership of former owners of adopted objects: it is first.
	StageHandOver  = "hand-over"
	StageHooksPre  = "hooks-pre"
	StageHooksPost = "hooks-post"
	StagePrune     = "prune"
	// StagePruneDefinitions deletes CustomResourceDefinitions while the operator
	// still runs, which may have to let go of their objects.
	StagePruneDefinitions = "prune-crds"
	// StagePruneNamespaces deletes Namespaces once all the rest is gone.
	StagePruneNamespaces = "prune-namespaces"
)

type stageRow struct {
	id      string
	timeout string
	kinds   []string // KIND.GROUP, core without group
}

// stageOrder is the phase order of OLM v1 (operator-controller,
// applier/phase.go). Kinds that no stage names belong to "deploy".
var stageOrder = [...]stageRow{
	{StageHandOver, "5m", nil},
	{"namespaces", "1m", []string{"Namespace"}},
	{"policies", "1m", []string{"NetworkPolicy.networking.k8s.io", "PodDisruptionBudget.policy", "PriorityClass.scheduling.k8s.io"}},
	{"identity", "1m", []string{"ServiceAccount"}},
	{"configuration", "1m", []string{"Secret", "ConfigMap"}},
	{"storage", "1m", []string{"PersistentVolume", "PersistentVolumeClaim", "StorageClass.storage.k8s.io"}},
	{stageDefinitions, "2m", []string{"CustomResourceDefinition.apiextensions.k8s.io"}},
	{"roles", "1m", []string{"ClusterRole.rbac.authorization.k8s.io", "Role.rbac.authorization.k8s.io"}},
	{"bindings", "1m", []string{"ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io"}},
	{"infrastructure", "2m", []string{"Service", "Issuer.cert-manager.io", "Certificate.cert-manager.io"}},
	{StageDeploy, "5m", nil},
	{"scaling", "1m", []string{"VerticalPodAutoscaler.autoscaling.k8s.io"}},
	{"publish", "1m", []string{
		"PrometheusRule.monitoring.coreos.com", "ServiceMonitor.monitoring.coreos.com", "PodMonitor.monitoring.coreos.com",
		"Ingress.networking.k8s.io", "Route.route.openshift.io", "ConsoleYAMLSample.console.openshift.io",
		"ConsoleQuickStart.console.openshift.io", "ConsoleCLIDownload.console.openshift.io",
		"ConsoleLink.console.openshift.io", "ConsolePlugin.console.openshift.io", "APIService.apiregistration.k8s.io",
	}},
	{StageAdmission, "5m", []string{
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"MutatingWebhookConfiguration.admissionregistration.k8s.io",
	}},
	{StagePruneDefinitions, "5m", nil},
	{StagePrune, "5m", nil},
	{StagePruneNamespaces, "5m", nil},
}

// The stages that others wait for by name.
const (
	StageDeploy      = "deploy"
	StageAdmission   = "admission"
	stageDefinitions = "crds"
)

// StageOf returns the stage that writes an object of a group and kind.
func StageOf(group, kind string) string {
	gk := kind
	if group != "" {
		gk += "." + group
	}
	for _, stage := range stageOrder {
		if slices.Contains(stage.kinds, gk) {
			return stage.id
		}
	}
	return StageDeploy
}

// BuildStages distributes objects over the stages, in order, empty stages
// dropped. Deletions come last, in the reverse order of creation, except that
// what can block other requests (webhook configurations, APIServices) goes
// first. timeout overrides the stages' own when not empty.
func BuildStages(objects []Object, timeout string) []Stage {
	members := map[string][]*Object{}
	leaving := findDeletedGroups(objects)
	for i := range objects {
		o := &objects[i]
		id := StageOf(o.Ref().Group(), o.Kind)
		switch {
		case o.FormerOwner():
			id = StageHandOver
		case o.Action == ActionDelete:
			id = leaving.stage(o)
		case o.Action == ActionPatch && o.ReleasesOwnership():
			id = StagePrune
		case o.Hook != nil && o.Hook.Phase == HookPre:
			id = StageHooksPre
		case o.Hook != nil:
			id = StageHooksPost
		}
		members[id] = append(members[id], o)
	}
	var stages []Stage
	for _, id := range order(len(members[StageHooksPre]) > 0) {
		for n, list := range byWeight(members[id]) {
			stage := Stage{ID: id, Timeout: defaultTimeout(id), Requires: []string{}}
			if n > 0 {
				stage.ID = id + "-" + strconv.Itoa(n+1)
			}
			if timeout != "" {
				stage.Timeout = timeout
			}
			if n := len(stages); n > 0 {
				stage.Requires = []string{stages[n-1].ID}
			}
			slices.SortFunc(list, compareInStage(id))
			for _, o := range list {
				stage.Objects = append(stage.Objects, o.ID)
			}
			stages = append(stages, stage)
		}
	}
	return stages
}

// deletedGroups holds the API groups of which the plan deletes
// CustomResourceDefinitions.
type deletedGroups map[string]bool

func findDeletedGroups(objects []Object) deletedGroups {
	out := deletedGroups{}
	for i := range objects {
		if o := &objects[i]; o.Action == ActionDelete && o.Is(KindCustomResourceDefinition) {
			_, group, _ := strings.Cut(o.Name, ".") // a definition is named PLURAL.GROUP
			out[group] = true
		}
	}
	return out
}

// stage returns the stage that deletes an object. What can block the removal of
// a definition's objects goes with the definition, and so do such objects.
func (g deletedGroups) stage(o *Object) string {
	if o.Is(KindNamespace) {
		return StagePruneNamespaces
	}
	if len(g) > 0 && (blocks(o) || o.Is(KindCustomResourceDefinition) || g[o.Ref().Group()]) {
		return StagePruneDefinitions
	}
	return StagePrune
}

// order lists the stages. With hooks before everything else the definitions,
// which they may need, come before those.
func order(preHooks bool) []string {
	var ids []string
	for _, row := range stageOrder {
		switch {
		case row.id == StagePruneDefinitions:
			ids = append(ids, StageHooksPost)
		case preHooks && row.id == stageDefinitions:
			continue
		}
		if ids = append(ids, row.id); preHooks && row.id == "namespaces" {
			ids = append(ids, stageDefinitions, StageHooksPre)
		}
	}
	return ids
}

// byWeight divides hooks by their weight, ascending. Other objects have none,
// and stay together.
func byWeight(list []*Object) [][]*Object {
	weight := func(o *Object) int {
		if o.Hook == nil || o.Action == ActionDelete {
			return 0
		}
		return o.Hook.Weight
	}
	slices.SortStableFunc(list, func(a, b *Object) int { return cmp.Compare(weight(a), weight(b)) })
	var out [][]*Object
	for i, o := range list {
		if i == 0 || weight(o) != weight(list[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], o)
	}
	return out
}

// hookTimeout is the time limit of a stage of hook Jobs.
const hookTimeout = "5m"

func defaultTimeout(id string) string {
	for _, row := range stageOrder {
		if row.id == id {
			return row.timeout
		}
	}
	return hookTimeout
}

func compareInStage(id string) func(a, b *Object) int {
	switch id {
	case StageHooksPre, StageHooksPost:
		return func(a, b *Object) int {
			return cmp.Or(cmp.Compare(stageIndex(a), stageIndex(b)), strings.Compare(a.ID, b.ID))
		}
	case StageHandOver:
		return func(a, b *Object) int {
			// What would install the others again goes first.
			return cmp.Or(cmp.Compare(b.Kind, a.Kind), strings.Compare(a.ID, b.ID))
		}
	case StagePrune, StagePruneDefinitions:
	default:
		return func(a, b *Object) int { return strings.Compare(a.ID, b.ID) }
	}
	return func(a, b *Object) int {
		if ra, rb := deleteRank(a), deleteRank(b); ra != rb {
			return ra - rb
		}
		return strings.Compare(a.ID, b.ID)
	}
}

// deleteRank orders deletions. Blocking API extensions first: a namespace
// hangs in Terminating while an APIService or webhook without backend stands. A
// host that is let go of is last: it restarts without what is deleted before.
func deleteRank(o *Object) int {
	switch {
	case blocks(o):
		return 0
	case o.Patches():
		return len(stageOrder) + 1
	}
	return len(stageOrder) - stageIndex(o)
}

// stageIndex returns the position of the stage that a kind belongs to.
func stageIndex(o *Object) int {
	id := StageOf(o.Ref().Group(), o.Kind)
	return slices.IndexFunc(stageOrder[:], func(row stageRow) bool { return row.id == id })
}

// blocks reports whether an object can stand in the way of other requests.
func blocks(o *Object) bool {
	group := o.Ref().Group()
	return group == "admissionregistration.k8s.io" || group == "apiregistration.k8s.io"
}
