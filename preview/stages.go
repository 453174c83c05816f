package preview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// The stages that do not depend on an object's kind. Pre hooks come right after
// namespaces and CRDs, post hooks at the end; each weight is its own stage
// ("hooks-pre-2"), so that a Job of one weight is complete before the next begins.
// Objects that the content no longer has are deleted last, once everything that replaces
// them works.
const (
	// StageHandOver deletes the former owners of adopted objects. It is the first stage.
	StageHandOver  = "hand-over"
	StageHooksPre  = "hooks-pre"
	StageHooksPost = "hooks-post"
	StagePrune     = "prune"
	// StagePruneDefinitions deletes CRDs and their custom resources while the operator
	// still runs, which may have to remove finalizers from them.
	StagePruneDefinitions = "prune-crds"
	// StagePruneNamespaces deletes Namespaces, after all other objects.
	StagePruneNamespaces = "prune-namespaces"
)

type stageRow struct {
	id      string
	timeout string
	kinds   []string // KIND.GROUP, core without group
}

// stageOrder has the stages in the order of OLM v1's phases (operator-controller,
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

// The stages that code refers to by name.
const (
	StageDeploy      = "deploy"
	StageAdmission   = "admission"
	stageDefinitions = "crds"
)

// StageOf returns the id of the stage that writes objects of a kind.
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

// BuildStages divides the objects into stages, in order, without empty ones. Deletions
// come last, in the reverse order of creation, except that objects which can block
// requests (webhook configurations, APIServices) are deleted first. A timeout that is
// not empty replaces the stages' timeouts.
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

// deletedGroups are the API groups of the CRDs that the plan deletes.
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

// stage returns the stage that deletes an object. Custom resources of deleted CRDs, and
// webhooks and APIServices, which can block their deletion, are deleted in the same
// stage as the CRDs.
func (g deletedGroups) stage(o *Object) string {
	if o.Is(KindNamespace) {
		return StagePruneNamespaces
	}
	if len(g) > 0 && (blocks(o) || o.Is(KindCustomResourceDefinition) || g[o.Ref().Group()]) {
		return StagePruneDefinitions
	}
	return StagePrune
}

// order returns the ids of the stages in order. If there are pre hooks, CRDs come
// before these, as hooks may need them.
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

// byWeight groups objects by hook weight, ascending. Objects that are no hooks are one
// group.
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

// hookTimeout is the default time limit of a stage of hooks.
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
			// Objects that would install the others again go first.
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

// deleteRank returns the position of an object among deletions. Webhooks and
// APIServices are first: a namespace stays in Terminating while one of them has no
// backend. A host whose patch is removed is last, so that it restarts without
// everything that was deleted.
func deleteRank(o *Object) int {
	switch {
	case blocks(o):
		return 0
	case o.Patches():
		return len(stageOrder) + 1
	}
	return len(stageOrder) - stageIndex(o)
}

// stageIndex returns the index in stageOrder of the stage for an object's kind.
func stageIndex(o *Object) int {
	id := StageOf(o.Ref().Group(), o.Kind)
	return slices.IndexFunc(stageOrder[:], func(row stageRow) bool { return row.id == id })
}

// blocks reports whether an object can make other requests fail: it is a webhook
// configuration, admission policy or APIService.
func blocks(o *Object) bool {
	group := o.Ref().Group()
	return group == "admissionregistration.k8s.io" || group == "apiregistration.k8s.io"
}
