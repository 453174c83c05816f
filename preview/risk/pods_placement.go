package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// placementRules returns the rules about the nodes that pods run on, the number of
// pods, and annotations of pods.
func placementRules() []entry {
	return []entry{
		{Rule: rules.PodNodeName, object: podMatch(placedByName)},
		{Rule: rules.PodScheduler, object: podMatch(otherScheduler)},
		{Rule: rules.PodRuntimeClass, object: podMatch(runtimeClass)},
		{Rule: rules.PodRepels, object: podMatch(repels)},
		{Rule: rules.PodFlood, object: facts(flood)},
		{Rule: rules.PodAnnotations, object: facts(runtimeAnnotations)},
	}
}

func placedByName(pod map[string]any) (Level, []preview.Seen) {
	if name := preview.String(pod, "nodeName"); name != "" {
		return None, []preview.Seen{words.NodeName.Of(preview.EvidenceName(name))}
	}
	return None, nil
}

func otherScheduler(pod map[string]any) (Level, []preview.Seen) {
	if name := preview.String(pod, "schedulerName"); name != "" && name != "default-scheduler" {
		return None, []preview.Seen{words.SchedulerName.Of(preview.EvidenceName(name))}
	}
	return None, nil
}

func runtimeClass(pod map[string]any) (Level, []preview.Seen) {
	if name := preview.String(pod, "runtimeClassName"); name != "" {
		return None, []preview.Seen{words.RuntimeClassName.Of(preview.EvidenceName(name))}
	}
	return None, nil
}

// controlPlane matches pods that run on control plane nodes: they tolerate every taint,
// tolerate and select those nodes, or are of a DaemonSet that tolerates them.
func controlPlane(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	pod, _ := preview.PodTemplate(o.Planned)
	if pod == nil {
		return None, nil
	}
	var lines []preview.Seen
	for _, t := range preview.Maps(pod, "tolerations") {
		key := preview.String(t, "key")
		switch {
		case key == "":
			if operator := preview.String(t, "operator"); operator == "Exists" {
				lines = append(lines, words.ToleratesEveryTaint.Of())
			}
		case isControlPlane(key) && (slices.ContainsFunc(wording.Keys(preview.Map(pod, "nodeSelector")), isControlPlane) || asksForControlPlane(pod)):
			lines = append(lines, words.SelectsAndTolerates.Of(key))
		case isControlPlane(key) && o.Is(preview.KindDaemonSet):
			lines = append(lines, words.RunsOnEachNodeAndTolerates.Of(key))
		}
	}
	return None, lines
}

// asksForControlPlane reports whether required or preferred node affinity selects
// control plane nodes.
func asksForControlPlane(pod map[string]any) bool {
	affinity := preview.Map(pod, "affinity", "nodeAffinity")
	terms := preview.Maps(affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	for _, preferred := range preview.Maps(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
		terms = append(terms, preview.Map(preferred, "preference"))
	}
	return slices.ContainsFunc(terms, func(term map[string]any) bool {
		return slices.ContainsFunc(preview.Maps(term, "matchExpressions"), func(e map[string]any) bool {
			operator := preview.String(e, "operator")
			return isControlPlane(preview.String(e, "key")) && operator != "DoesNotExist" && operator != "NotIn"
		})
	})
}

// repels matches pods with required anti-affinity to every pod of every namespace: the
// scheduler then keeps the pods of others off the same nodes too.
func repels(pod map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, term := range preview.Maps(pod, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution") {
		selector, stated := term["labelSelector"].(map[string]any)
		namespaces, everywhere := term["namespaceSelector"].(map[string]any)
		if stated && len(selector) == 0 && (everywhere && len(namespaces) == 0 || len(wording.Strings(term["namespaces"])) > 0) {
			lines = append(lines, words.PodAntiAffinityToEveryPodBy.Of(preview.EvidenceName(preview.String(term, "topologyKey"))))
		}
	}
	return None, lines
}

// manyPods is the most pods of one object that are not reported; more could fill up a
// cluster.
const manyPods = 500

func flood(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	pod, _ := preview.PodTemplate(o.Planned)
	if pod == nil {
		return None, nil
	}
	var lines []preview.Seen
	for _, path := range [][]string{{"spec", "replicas"}, {"spec", "parallelism"}, {"spec", "jobTemplate", "spec", "parallelism"}} {
		if n, _ := preview.Value(o.Planned, path...).(int64); n > manyPods {
			lines = append(lines, words.Setting.Of(path[len(path)-1], n))
		}
	}
	return None, lines
}

// annotation is an annotation of a pod that acts like a field of the pod, because a
// container runtime, an admission plugin or a controller reads it.
type annotation struct {
	key    string // the whole key, or a prefix if it ends in "/" or "."
	values []string
	level  Level
}

// annotationTable returns the annotations of pods that are reported. values nil matches
// any value.
func annotationTable() []annotation {
	return []annotation{
		{"kubernetes.io/config.mirror", nil, High},
		{"kubernetes.io/config.source", nil, High},
		{"io.kubernetes.cri-o.", nil, High},
		{"io.katacontainers.", nil, High},
		{"io.containers.", nil, Medium},
		{"run.oci.", nil, High},
		{"cdi.k8s.io/", nil, High},
		{"devices.nri.io/", nil, High},
		{"mounts.nri.io/", nil, High},
		{"nri.containerd.io/", nil, High},
		{"hook-injector.nri.io/", nil, High},
		{"security.alpha.kubernetes.io/", nil, Medium},
		{"openshift.io/required-scc", []string{"privileged", "anyuid", "hostaccess", "hostmount-anyuid", "hostmount-anyuid-v2", "hostnetwork", "node-exporter", "hostnetwork-v2"}, High},
		{"k8s.v1.cni.cncf.io/networks", nil, Medium},
		{"v1.multus-cni.io/default-network", nil, Medium},
		{"cni.projectcalico.org/", nil, Medium},
		{"vault.hashicorp.com/agent-inject-command", nil, Medium},
		{"vault.hashicorp.com/agent-inject-secret", nil, Low},
		{"vault.hashicorp.com/role", nil, Low},
		{"traffic.sidecar.istio.io/exclude", nil, Low},
		// What injectors put into the pod is chosen here, and not in the review.
		{"sidecar.istio.io/proxyImage", nil, Medium},
		{"sidecar.istio.io/bootstrapOverride", nil, Medium},
		{"sidecar.istio.io/userVolume", nil, Medium},
		{"inject.istio.io/templates", nil, Medium},
		{"config.linkerd.io/proxy-image", nil, Medium},
		{"config.linkerd.io/init-image", nil, Medium},
		{"vault.hashicorp.com/agent-image", nil, Medium},
		{"vault.hashicorp.com/agent-configmap", nil, Medium},
		{"consul.hashicorp.com/consul-sidecar-user-volume", nil, Medium},
		{"sidecar.istio.io/inject", []string{"false"}, Low},
	}
}

// unconfinedBy are prefixes of annotations that set the AppArmor or seccomp profile of
// containers, which may be "unconfined".
var unconfinedBy = []string{"container.apparmor.security.beta.kubernetes.io/", "container.seccomp.security.alpha.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/pod"}

func runtimeAnnotations(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	level, lines := None, []preview.Seen(nil)
	for _, all := range podAnnotations(o) {
		for _, key := range wording.Keys(all) {
			value, _ := all[key].(string)
			for _, row := range annotationTable() {
				if row.matches(key, value) {
					level, lines = max(level, row.level), append(lines, words.Named.Of(preview.EvidenceName(key), code.Excerpt(value)))
				}
			}
		}
	}
	return level, lines
}

func (a annotation) matches(key, value string) bool {
	whole := key == a.key
	if last := a.key[len(a.key)-1]; last == '/' || last == '.' || strings.HasPrefix(a.key, "vault.") || strings.HasPrefix(a.key, "traffic.") {
		whole = strings.HasPrefix(key, a.key)
	}
	return whole && (a.values == nil || slices.Contains(a.values, strings.ToLower(strings.TrimSpace(value))))
}

// podAnnotations returns the annotations of an object's pod template, as a list of one;
// nil without a pod template.
func podAnnotations(o *preview.Object) []map[string]any {
	pod, meta := preview.PodTemplate(o.Planned)
	if pod == nil {
		return nil
	}
	return []map[string]any{preview.Map(meta, "annotations")}
}

// unconfinedAnnotations returns a line for each annotation that switches off an
// AppArmor or seccomp profile.
func unconfinedAnnotations(o *preview.Object) []preview.Seen {
	var lines []preview.Seen
	for _, all := range podAnnotations(o) {
		for _, key := range wording.Keys(all) {
			value, _ := all[key].(string)
			if strings.EqualFold(value, "unconfined") && slices.ContainsFunc(unconfinedBy, func(p string) bool { return strings.HasPrefix(key, p) }) {
				lines = append(lines, words.AnnotationUnconfined.Of(preview.EvidenceName(key)))
			}
		}
	}
	return lines
}

// unconfinedPod matches pods whose AppArmor, seccomp or SELinux profile is switched off
// or changed, by fields of containers or by annotations.
func unconfinedPod(c *scan, o *preview.Object) (Level, []preview.Piece) {
	level, evidence := containerMatch(unconfined)(c, o)
	return level, append(evidence, words.Saw(unconfinedAnnotations(o)...)...)
}
