package preview

import (
	"slices"
	"strings"
)

// StagePrune is the last stage: objects that left the set are deleted after
// everything that replaces them works.
const StagePrune = "prune"

// stageOrder is the phase order of OLM v1 (operator-controller,
// applier/phase.go). Kinds that no stage names belong to "deploy".
var stageOrder = [...]struct {
	id      string
	timeout string
	kinds   []string // KIND.GROUP, core without group
}{
	{"namespaces", "1m", []string{"Namespace"}},
	{"policies", "1m", []string{"NetworkPolicy.networking.k8s.io", "PodDisruptionBudget.policy", "PriorityClass.scheduling.k8s.io"}},
	{"identity", "1m", []string{"ServiceAccount"}},
	{"configuration", "1m", []string{"Secret", "ConfigMap"}},
	{"storage", "1m", []string{"PersistentVolume", "PersistentVolumeClaim", "StorageClass.storage.k8s.io"}},
	{"crds", "2m", []string{"CustomResourceDefinition.apiextensions.k8s.io"}},
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
	{StagePrune, "5m", nil},
}

// The stages that others wait for by name.
const (
	StageDeploy    = "deploy"
	StageAdmission = "admission"
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
	for i := range objects {
		o := &objects[i]
		id := StageOf(o.Ref().Group(), o.Kind)
		if o.Action == ActionDelete {
			id = StagePrune
		}
		members[id] = append(members[id], o)
	}
	var stages []Stage
	for _, row := range stageOrder {
		list := members[row.id]
		if len(list) == 0 {
			continue
		}
		stage := Stage{ID: row.id, Timeout: row.timeout, Requires: []string{}}
		if timeout != "" {
			stage.Timeout = timeout
		}
		if n := len(stages); n > 0 {
			stage.Requires = []string{stages[n-1].ID}
		}
		slices.SortFunc(list, compareInStage(row.id))
		for _, o := range list {
			stage.Objects = append(stage.Objects, o.ID)
		}
		stages = append(stages, stage)
	}
	return stages
}

func compareInStage(id string) func(a, b *Object) int {
	if id != StagePrune {
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
// hangs in Terminating while an APIService or webhook without backend stands.
func deleteRank(o *Object) int {
	group := o.Ref().Group()
	if group == "admissionregistration.k8s.io" || group == "apiregistration.k8s.io" {
		return 0
	}
	id := StageOf(group, o.Kind)
	for i, row := range stageOrder {
		if row.id == id {
			return len(stageOrder) - i
		}
	}
	return len(stageOrder)
}
