package neighbors

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func clusterRows() []Row {
	return []Row{
		{rules.NamespaceSettings, kinds(preview.KindNamespace), namespaceSettings},
		{rules.RuntimeClass, kinds("node.k8s.io/RuntimeClass"), runtimeClass},
		{rules.FlowControl, kinds("flowcontrol.apiserver.k8s.io/FlowSchema"), flowSchema},
		{rules.FlowControl, kinds("flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration"), priorityLevel},
		{rules.LimitsOfOthers, kinds(preview.KindResourceQuota, preview.KindLimitRange, "autoscaling/HorizontalPodAutoscaler", "policy/PodDisruptionBudget"), limitsOfOthers},
		{rules.ControlPlaneObject, kinds(
			"Node", "Binding", "Event", "events.k8s.io/Event", "ComponentStatus", "policy/Eviction", "lifecycle.k8s.io/Eviction", "lifecycle.k8s.io/EvictionRequest", "apps/ControllerRevision", "storagemigration.k8s.io/StorageVersionMigration",
			"internal.apiserver.k8s.io/StorageVersion", "coordination.k8s.io/Lease", "coordination.k8s.io/LeaseCandidate", "authentication.k8s.io/TokenRequest",
			"authentication.k8s.io/TokenReview", "authentication.k8s.io/SelfSubjectReview", "authorization.k8s.io/SubjectAccessReview",
			"authorization.k8s.io/LocalSubjectAccessReview", "authorization.k8s.io/SelfSubjectAccessReview", "authorization.k8s.io/SelfSubjectRulesReview",
		), controlPlaneObject},
	}
}

// setting is a label or an annotation of a Namespace by which an admission plugin or a
// controller treats the namespace's pods differently.
type setting struct {
	key         string
	value       string      // empty for any
	own, others rules.Level // in the release's own namespaces, and in others
	does        string
}

var settings = []setting{
	{"openshift.io/run-level", "", rules.High, rules.Critical, "pods are admitted without SecurityContextConstraints"},
	{"openshift.io/sa.scc.uid-range", "", rules.Medium, rules.High, "the range of users that pods run as"},
	{"openshift.io/sa.scc.mcs", "", rules.Medium, rules.High, "the SELinux categories of pods"},
	{"openshift.io/sa.scc.supplemental-groups", "", rules.Medium, rules.High, "the range of groups of pods"},
	{"scheduler.alpha.kubernetes.io/node-selector", "", rules.Medium, rules.High, "the nodes of all pods"},
	{"openshift.io/node-selector", "", rules.Low, rules.High, "the nodes of all pods"},
	{"scheduler.alpha.kubernetes.io/defaultTolerations", "", rules.Medium, rules.High, "the taints that all pods tolerate"},
	{"scheduler.alpha.kubernetes.io/tolerationsWhitelist", "", rules.Medium, rules.High, "the taints that pods may tolerate"},
	{"resource.kubernetes.io/admin-access", "true", rules.High, rules.High, "claims may have admin access to devices that others use"},
	{"admission.gatekeeper.sh/ignore", "", rules.High, rules.High, "Gatekeeper enforces nothing"},
	{"admissions.enforcer/disabled", "true", rules.High, rules.High, "policies of AKS are not enforced"},
	{"istio-injection", "", rules.Low, rules.High, "sidecars of Istio in all pods"},
	{"istio.io/rev", "", rules.Low, rules.High, "sidecars of Istio in all pods"},
	{"linkerd.io/inject", "", rules.Low, rules.High, "sidecars of Linkerd in all pods"},
	{"kuma.io/sidecar-injection", "", rules.Low, rules.High, "sidecars of Kuma in all pods"},
	{"consul.hashicorp.com/connect-inject", "", rules.Low, rules.High, "sidecars of Consul in all pods"},
	{"cnrm.cloud.google.com/project-id", "", rules.Medium, rules.High, "the Google Cloud project of all resources"},
	{"services.k8s.aws/owner-account-id", "", rules.Medium, rules.High, "the AWS account of all resources"},
	{"iam.amazonaws.com/permitted", "", rules.Medium, rules.High, "the IAM roles that pods may assume"},
	{"iam.amazonaws.com/allowed-roles", "", rules.Medium, rules.High, "the IAM roles that pods may assume"},
}

// shared reports whether a Namespace object is that of other users or the control
// plane: not the release's own, and not created by the plan.
func (o Object) shared() bool { return o.Control(o.Name) || !o.Own(o.Name) }

func namespaceSettings(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	for _, field := range []string{"labels", "annotations"} {
		have := preview.Map(o.Body, "metadata", field)
		for _, s := range settings {
			value, ok := have[s.key].(string)
			if !ok || s.value != "" && value != s.value {
				continue
			}
			level := s.own
			if o.shared() {
				level = s.others
			}
			if strings.Contains(value, "control-plane") || strings.Contains(value, "node-role.kubernetes.io/master") || hasPrefix(s.key, "iam.") && openPattern(value) {
				level = max(level, rules.High)
			}
			v.add(level, words.LabelMeans.Of(s.key, value, s.does))
		}
	}
	labels := preview.Map(o.Body, "metadata", "labels")
	for _, key := range sortedKeys(labels) {
		if !hasPrefix(key, "pod-security.kubernetes.io/enforce") || !o.shared() {
			continue
		}
		level := rules.High
		if labels[key] == "privileged" || labels[key] == "baseline" || strings.HasSuffix(key, "-version") {
			level = rules.Critical
		}
		v.add(level, words.InANamespaceThatIsNot.Of(key, labels[key]))
	}
	name := preview.String(labels, "kubernetes.io/metadata.name")
	v.addIf(name != "" && name != o.Name, rules.Medium, words.ItIsLabelledAsNamespace.Of(name))
	for _, finalizer := range append(texts(preview.Value(o.Body, "spec", "finalizers")), texts(preview.Value(o.Body, "metadata", "finalizers"))...) {
		v.addIf(finalizer != "kubernetes", rules.Medium, words.FinalizerKeepsItFromBeingDeleted.Of(finalizer))
	}
	return v.result()
}

// openPattern reports whether a pattern of role names matches every name.
func openPattern(pattern string) bool {
	return strings.Contains(pattern, ".*") || strings.Contains(pattern, `"*"`) || strings.Trim(pattern, "*^$ ") == ""
}

// sandboxes are parts of names of RuntimeClasses that promise more isolation than a
// handler such as runc gives.
var sandboxes = []string{"gvisor", "runsc", "kata", "sandbox", "firecracker", "confidential"}

func runtimeClass(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	handler := preview.String(o.Body, "handler")
	promises := slices.ContainsFunc(sandboxes, func(s string) bool { return strings.Contains(o.Name, s) })
	kept := slices.ContainsFunc(sandboxes, func(s string) bool { return strings.Contains(handler, s) })
	if promises && !kept {
		v.add(rules.High, words.HandlerBehindTheNameOfA.Of(handler))
	} else {
		v.add(rules.Low, words.Handler.Of(handler))
	}
	for _, toleration := range preview.Maps(preview.Map(o.Body, "scheduling"), "tolerations") {
		key := preview.String(toleration, "key")
		v.addIf(key == "" || strings.Contains(key, "control-plane") || strings.Contains(key, "master"), rules.Medium, words.ItsPodsTolerate.Of(orEvery(key, "every taint")))
	}
	for _, key := range sortedKeys(preview.Map(o.Body, "scheduling", "nodeSelector")) {
		v.addIf(strings.Contains(key, "control-plane") || strings.Contains(key, "master"), rules.Medium, words.ItsPodsRunOnNodesWith.Of(key))
	}
	return v.result()
}

func orEvery(text, every string) string {
	if text == "" {
		return every
	}
	return text
}

// builtInLevels are the PriorityLevelConfigurations that every cluster has.
var builtInLevels = []string{"exempt", "system", "node-high", "leader-election", "workload-high", "workload-low", "global-default", "catch-all"}

// The matchingPrecedence of the FlowSchemas for accounts of kube-system and for all
// other accounts. The API server tries lower values first.
const (
	systemPrecedence   = 900
	accountsPrecedence = 9000
)

func flowSchema(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	level := preview.String(spec, "priorityLevelConfiguration", "name")
	precedence, given := number(spec["matchingPrecedence"])
	if !given {
		precedence = 1000
	}
	wide := false
	for _, rule := range preview.Maps(spec, "rules") {
		for _, subject := range preview.Maps(rule, "subjects") {
			account := preview.Map(subject, "serviceAccount")
			wide = wide || account == nil || preview.String(account, "name") == "*" || o.foreign(preview.String(account, "namespace"))
		}
	}
	first := "before accounts of kube-system"
	if precedence >= systemPrecedence {
		first = "before other accounts"
	}
	v.addIf(level == "exempt", rules.High, words.RequestsAreNeverLimitedExempt.Of())
	v.addIf(wide && precedence < accountsPrecedence, rules.High, words.RequestsOfOthersAtLevel.Of(first, precedence, level))
	v.addIf(!wide && precedence < systemPrecedence, rules.Medium, words.RequestsOfItsAccountsAtLevel.Of(first, precedence, level))
	v.addIf(hasPrefix(o.Name, "system-", "kube-") || slices.Contains([]string{"exempt", "probes", "catch-all", "global-default", "service-accounts", "endpoint-controller", "workload-leader-election"}, o.Name),
		rules.High, words.ItTakesThePlaceOfThe.Of(o.Name))
	v.addIf(len(v.lines) == 0, rules.Low, words.RequestsAtLevel.Of(level, precedence))
	return v.result()
}

func priorityLevel(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	v.addIf(slices.Contains(builtInLevels, o.Name), rules.High, words.ItChangesTheBuiltInLevel.Of(o.Name))
	v.addIf(preview.String(spec, "type") == "Exempt", rules.High, words.ItsRequestsAreNeverLimitedType.Of())
	shares, given := number(preview.Value(spec, "limited", "nominalConcurrencyShares"))
	if !given {
		shares, given = number(preview.Value(spec, "limited", "assuredConcurrencyShares"))
	}
	v.addIf(given && shares >= 100, rules.High, words.SharesOfWhatTheAPIServer.Of(shares))
	v.addIf(given && shares == 0, rules.Medium, words.NoShareItsRequestsWaitUntil.Of())
	v.addIf(len(v.lines) == 0, rules.Low, words.OfType.Of(preview.String(spec, "type")))
	return v.result()
}

func limitsOfOthers(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	v.addIf(o.foreign(o.Namespace), rules.High, words.ItIsInNamespace.Of(o.Namespace))
	switch o.Kind {
	case "PodDisruptionBudget":
		v.addIf(never(spec["maxUnavailable"], 0, "0%"), rules.Medium, words.MaxUnavailableNodesWithItsPodsCannot.Of(spec["maxUnavailable"]))
		v.addIf(never(spec["minAvailable"], -1, "100%"), rules.Medium, words.MinAvailableNodesWithItsPodsCannot.Of(spec["minAvailable"]))
		selector := preview.Map(spec, "selector")
		v.addIf(selector != nil && len(preview.Map(selector, "matchLabels"))+len(preview.List(selector, "matchExpressions")) == 0, rules.Medium, words.ItIsAboutEveryPodOf.Of())
	case "HorizontalPodAutoscaler":
		least, _ := number(spec["minReplicas"])
		most, _ := number(spec["maxReplicas"])
		v.addIf(least >= 100 || most >= 1000, rules.Medium, words.FromToPods.Of(max(least, 1), most))
	}
	return v.result()
}

// never reports whether a field of a PodDisruptionBudget has the value that allows no
// disruption: whole as a number, or percent.
func never(v any, whole int64, percent string) bool {
	n, ok := number(v)
	return ok && n == whole || v == percent
}

// done are kinds whose objects are answers or notes, such as Event: to create one
// changes nothing.
var done = []string{"Event", "ComponentStatus", "TokenReview", "SelfSubjectReview", "SubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview"}

func controlPlaneObject(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	switch {
	case slices.Contains(done, o.Kind):
		v.add(rules.Low, words.ItIsMadeOnceAndChanges.Of())
	case o.Kind == "Lease" || o.Kind == "LeaseCandidate":
		v.addIf(o.Control(o.Namespace), rules.High, words.ALockOfNamespace.Of(o.Namespace))
		v.addIf(o.foreign(o.Namespace) && !o.Control(o.Namespace), rules.Medium, words.ALockOfNamespace.Of(o.Namespace))
	case o.Kind == "Node":
		v.add(rules.High, words.NodeItsLabelsAndTaintsDecide.Of(o.Name))
		for _, taint := range preview.Maps(spec, "taints") {
			v.add(rules.High, words.Taint.Of(preview.String(taint, "key"), preview.String(taint, "effect")))
		}
	case o.Kind == "Binding":
		v.add(rules.High, words.PutsPodOnNode.Of(o.Name, preview.String(o.Body, "target", "name")))
	case o.Kind == "Eviction" || o.Kind == "EvictionRequest":
		v.add(rules.High, words.EvictsPod.Of(orEvery(preview.String(spec, "target", "pod", "name"), o.Name)))
	case o.Kind == "ControllerRevision":
		v.add(rules.High, words.AStateThatTheControllerOf.Of())
	case o.Kind == "TokenRequest":
		v.add(rules.High, words.AsksForATokenFor.Of(strings.Join(texts(spec["audiences"]), ", ")))
	default:
		v.add(rules.Medium, words.EveryObjectOfIsWrittenAgain.Of(orEvery(preview.String(spec, "resource", "resource"), "a resource")))
	}
	return v.result()
}
