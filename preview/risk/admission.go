package risk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	apiadmission "github.com/kubectl-operator/kubectl-operator/preview/admission"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/intercept"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// admissionRules returns the rules about the requests that webhooks and admission
// policies see, change or refuse: to intercept a request is as dangerous as the right
// that gives the same.
func admissionRules() []entry {
	return []entry{
		{Rule: rules.WebhookSeesSecrets, object: interceptMatch(seesOthers)},
		{Rule: rules.WebhookMutatesPods, object: interceptMatch(changesPods)},
		{Rule: rules.WebhookChangesObjects, object: interceptMatch(changesOthers)},
		{Rule: rules.AdmissionPolicy, object: facts(admissionPolicy)},
		{Rule: rules.AdmissionBinding, object: facts(admissionBinding)},
		{Rule: rules.AdmissionOutage, object: facts(admissionOutage)},
	}
}

const kindMutatingBinding preview.GroupKind = "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding"

// reach is how many namespaces and objects the selectors of a webhook or admission
// policy cover, in three steps.
type reach int

// reachOwn covers the release's own namespaces only; reachChosen only namespaces or
// objects whose owners set a label for it; reachWide namespaces and objects whose
// owners did nothing.
const (
	reachOwn reach = iota
	reachChosen
	reachWide
)

// lower returns the level for a selector of this reach: one less for reachChosen, Low
// at most for reachOwn.
func (r reach) lower(level Level) Level {
	switch {
	case r == reachChosen && level > Low:
		return level.Lower()
	case r == reachOwn:
		return min(level, Low)
	}
	return level
}

// hook is the selectors of a webhook, an admission policy or a policy binding, with the
// reach of each.
type hook struct {
	body                map[string]any // with namespaceSelector and objectSelector
	namespaces, objects reach
}

func (n *namespaces) hook(body map[string]any) hook {
	return hook{body: body, namespaces: n.reach(preview.Map(body, "namespaceSelector")), objects: objectReach(preview.Map(body, "objectSelector"))}
}

// reach returns how far the hook reaches among the objects of a resource. Of
// cluster-scoped resources the namespaceSelector selects only Namespaces.
func (h hook) reach(row intercept.Resource) reach {
	if row.Cluster && row.Name != "namespaces" {
		return h.objects
	}
	return min(h.namespaces, h.objects)
}

// reach returns the reach of a namespaceSelector. It is evaluated on
// namespaces that every cluster has, such as kube-system, and on one that has no labels
// but its name and the pod security labels.
func (n *namespaces) reach(selector map[string]any) reach {
	for _, level := range []string{"", "privileged", "baseline", "restricted"} {
		have := map[string]string{wording.NameLabel: "any-other"}
		if level != "" {
			for _, mode := range []string{"enforce", "audit", "warn"} {
				have["pod-security.kubernetes.io/"+mode], have["pod-security.kubernetes.io/"+mode+"-version"] = level, "latest"
			}
		}
		if selects(selector, have) {
			return reachWide
		}
	}
	for _, namespace := range sharedNamespaces {
		have := n.labels(namespace)
		have[wording.NameLabel] = namespace
		if selects(selector, have) {
			return reachWide
		}
	}
	if n.namesOwn(selector) {
		return reachOwn
	}
	return reachChosen
}

// namesOwn reports whether a selector requires the name label
// (kubernetes.io/metadata.name) to name one of the release's own namespaces.
func (n *namespaces) namesOwn(selector map[string]any) bool {
	names := []string{}
	if name := preview.String(selector, "matchLabels", wording.NameLabel); name != "" {
		names = append(names, name)
	}
	for _, e := range preview.Maps(selector, "matchExpressions") {
		if preview.String(e, "key") == wording.NameLabel && preview.String(e, "operator") == "In" {
			names = append(names, wording.Strings(e["values"])...)
		}
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !n.owned(name) })
}

// usualLabels are label keys that most objects have, such as app: their owners do not
// set them to be selected by a webhook.
var usualLabels = []string{
	"app", "name", "k8s-app", "component", "tier", "pod-template-hash", "controller-revision-hash", "job-name", "batch.kubernetes.io/job-name",
	"owner", "release", "chart", "heritage", "helm.sh/chart", "kubernetes.io/bootstrapping", "kubernetes.io/cluster-service",
	"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/part-of",
	"app.kubernetes.io/managed-by", "app.kubernetes.io/version", "statefulset.kubernetes.io/pod-name",
}

// objectReach returns reachWide where an objectSelector covers objects without labels,
// or with usualLabels only, and reachChosen otherwise.
func objectReach(selector map[string]any) reach {
	usual := map[string]string{}
	for _, key := range usualLabels {
		usual[key] = "any"
	}
	for _, e := range preview.Maps(selector, "matchExpressions") {
		if key := preview.String(e, "key"); slices.Contains([]string{"k8s-app", "component", "tier"}, key) && len(wording.Strings(e["values"])) > 0 {
			usual[key] = wording.Strings(e["values"])[0] // what the control plane's own are labelled with
		}
	}
	for key, value := range preview.Map(selector, "matchLabels") {
		if slices.Contains([]string{"k8s-app", "component", "tier"}, key) {
			usual[key] = fmt.Sprint(value)
		}
	}
	if selects(selector, map[string]string{}) || selects(selector, usual) {
		return reachWide
	}
	return reachChosen
}

// judged is what a rule of a webhook intercepts, in words for the evidence, and how
// severe that is.
type judged struct {
	level Level
	what  preview.Seen
}

// interceptMatch returns a matcher that calls judge with every rule of every webhook of
// a Validating- or MutatingWebhookConfiguration.
func interceptMatch(judge func(c *scan, h hook, r intercept.Rule, mutating bool) []judged) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		if !isWebhook(o) {
			return None, nil
		}
		worst, evidence := None, []preview.Piece{}
		for _, webhook := range preview.Maps(o.Planned, "webhooks") {
			h, elsewhere := c.namespaces.hook(webhook), c.answeredElsewhere(webhook)
			for _, rule := range preview.Maps(webhook, "rules") {
				r := intercept.RuleOf(rule)
				for _, j := range judge(c, h, r, o.Is(preview.KindMutatingWebhookConfiguration)) {
					if elsewhere != nil && j.level > Low {
						j.level = j.level.Raise()
					}
					worst = max(worst, j.level)
					evidence = append(evidence, ofWebhook(webhook, words.With(words.With(j.what, h.within(rule)...), elsewhere...)))
				}
			}
		}
		return worst, evidence
	}
}

// answeredElsewhere returns the server that a webhook's requests go to, outside the
// cluster or a Service of others; nil for a Service that the plan brings
// or that is in one of the release's own namespaces.
func (c *scan) answeredElsewhere(webhook map[string]any) []preview.Seen {
	client := preview.Map(webhook, "clientConfig")
	if text := preview.String(client, "url"); text != "" && !inCluster(text) {
		return []preview.Seen{words.AnsweredOutside.Of()}
	}
	service := preview.Map(client, "service")
	namespace, name := preview.String(service, "namespace"), preview.String(service, "name")
	if namespace == "" || c.namespaces.owned(namespace) || c.objects[preview.Ref{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: name}.ID()] != nil {
		return nil
	}
	return []preview.Seen{words.AnsweredByService.Of(namespace, name)}
}

// within returns the namespaces and objects that a webhook's selectors
// restrict a rule to.
func (h hook) within(rule map[string]any) []preview.Seen {
	var facts []preview.Seen
	if selector := preview.Map(h.body, "objectSelector"); len(selector) > 0 {
		facts = append(facts, words.OfObjects.Of(wording.Selector("objects", selector)))
	}
	if inWholeCluster(rule) {
		return facts
	}
	if selector := preview.Map(h.body, "namespaceSelector"); len(selector) > 0 {
		return append(facts, words.InNamespaces.Of(wording.Selector("namespaces", selector)))
	}
	return append(facts, words.InEveryNamespace.Of())
}

// seesOthers finds resources whose content a webhook is sent: the objects that are
// written, and the whole object on a deletion. Of mutating webhooks that may change
// objects nothing is found: those have the finding of changesPods or changesOthers.
func seesOthers(_ *scan, h hook, r intercept.Rule, mutating bool) []judged {
	if mutating && r.Changes() {
		return nil
	}
	worst := judged{}
	for _, row := range r.Covered() {
		if level := h.reach(row).lower(row.See); row.See > Low && level > worst.level {
			worst = judged{level, words.IsSent.Of(namedResource(row))}
		}
	}
	return ifAny(worst)
}

// changesPods finds mutating webhooks on pods, on workloads that make pods and on
// Secrets; see runsOrHolds.
func changesPods(_ *scan, h hook, r intercept.Rule, mutating bool) []judged {
	return changes(h, r, mutating, runsOrHolds)
}

// changesOthers finds mutating webhooks on all resources that changesPods does not cover.
// For Kubernetes' own, a table has the level; for custom resources of others, it is the
// level of the right to write them.
func changesOthers(c *scan, h hook, r intercept.Rule, mutating bool) []judged {
	if !mutating || !r.Changes() || slices.Contains(r.Groups, all) && slices.ContainsFunc(r.Covered(), runsOrHolds) {
		return nil
	}
	out := changes(h, r, mutating, func(row intercept.Resource) bool { return !runsOrHolds(row) })
	for _, group := range r.Groups {
		foreign := preview.Grant{
			Subject: preview.Subject{Kind: preview.SubjectServiceAccount, Name: "webhook"}, Scope: preview.ScopeCluster,
			APIGroups: []string{group}, Resources: r.Resources, Verbs: []string{"create", "patch", "update"},
		}
		if group == all || intercept.Known(group) || c.kinds.onlyOurs(foreign) {
			continue
		}
		level := Medium
		for _, m := range c.matchGrant(foreign) {
			level = max(level, m.level)
		}
		level = min(h.namespaces, h.objects).lower(level)
		out = append(out, judged{level, words.Changes.Of(words.Resources(r.Resources, []string{group}))})
	}
	return out
}

// runsOrHolds reports whether a resource is pods, a workload that makes pods, or
// Secrets.
func runsOrHolds(row intercept.Resource) bool {
	name, _, _ := strings.Cut(row.Name, "/")
	return slices.Contains([]string{"pods", "secrets", "replicationcontrollers", "podtemplates"}, name) && row.Group == "" ||
		row.Group == "apps" || row.Group == "batch"
}

func changes(h hook, r intercept.Rule, mutating bool, of func(intercept.Resource) bool) []judged {
	if !mutating || !r.Changes() {
		return nil
	}
	worst := judged{}
	for _, row := range r.Covered() {
		if level := h.reach(row).lower(row.Change); of(row) && level > worst.level && row.Change > Low {
			worst = judged{level, words.Changes.Of(words.Resources(r.Resources, r.Groups))}
		}
	}
	return ifAny(worst)
}

func ifAny(j judged) []judged {
	if j.level == None {
		return nil
	}
	return []judged{j}
}

func namedResource(row intercept.Resource) string {
	return words.Resources([]string{row.Name}, []string{row.Group})
}

// admissionPolicy judges admission policies that match more than the plan's own kinds.
// The level is lower where the plan's bindings narrow what is matched, and Notice where
// none of them has the action Deny, as nothing is refused then.
func admissionPolicy(c *scan, o *preview.Object) (Level, []preview.Seen) {
	mutating := o.Is(preview.KindMutatingAdmissionPolicy)
	if o.Planned == nil || !mutating && !o.Is(preview.KindValidatingAdmissionPolicy) {
		return None, nil
	}
	level, lines := c.policyLevel(preview.Map(o.Planned, "spec", "matchConstraints"), mutating, c.around.bound[string(o.GroupKind())+"Binding/"+o.Name])
	if !mutating && len(lines) > 0 && !c.around.denies(o.Name) {
		level = Notice
	}
	if copied := intercept.CopiesSecrets(o.Planned); !mutating && copied != nil {
		level, lines = max(level, High), append(lines, *copied)
	}
	return level, lines
}

// policyLevel returns the level of a policy's matchConstraints, lowered by the reach of
// its bindings, and one line of evidence for each rule.
func (c *scan) policyLevel(constraints map[string]any, mutating bool, bindings []*preview.Object) (Level, []preview.Seen) {
	judges, worst := words.PolicyRefuses, None
	if mutating {
		judges = words.PolicyChanges
	}
	h := c.namespaces.hook(constraints)
	narrow := c.namespaces.widestBinding(bindings)
	var lines []preview.Seen
	for _, rule := range preview.Maps(constraints, "resourceRules") {
		r := intercept.RuleOf(rule)
		if c.kinds.onlyOurs(preview.Grant{APIGroups: r.Groups, Resources: r.Resources}) {
			continue
		}
		level := Medium
		if slices.ContainsFunc(r.Groups, func(g string) bool { return g == "" || g == all }) || mutating {
			level = High
		}
		if mutating {
			for _, row := range r.Covered() {
				level = max(level, narrow.lower(h.reach(row).lower(row.Change)))
			}
		}
		worst = max(worst, level)
		lines = append(lines, judges.Of(operations(rule), words.Resources(r.Resources, r.Groups)))
	}
	return worst, lines
}

// widestBinding returns the largest reach of a policy's bindings. It is reachWide where
// the plan has no binding, as one can be created outside the plan.
func (n *namespaces) widestBinding(bindings []*preview.Object) reach {
	if len(bindings) == 0 {
		return reachWide
	}
	widest := reachOwn
	for _, b := range bindings {
		h := n.hook(preview.Map(b.Planned, "spec", "matchResources"))
		widest = max(widest, min(h.namespaces, h.objects))
	}
	return widest
}

// admissionBinding judges a binding of an admission policy, which puts the policy into
// effect: a policy in the plan, or one that was read from the cluster, by its
// matchConstraints.
func admissionBinding(c *scan, o *preview.Object) (Level, []preview.Seen) {
	mutating := o.Is(kindMutatingBinding)
	if o.Planned == nil || !mutating && !o.Is(preview.KindValidatingAdmissionPolicyBinding) {
		return None, nil
	}
	ref := boundPolicy(o)
	switches := words.Binds.Of(ref.Kind, ref.Name)
	if text := cmp.Or(preview.String(o.Planned, "spec", "paramRef", "name"), selectorIn(o)); text != "" {
		switches = words.With(switches, words.WithParameters.Of(text))
	}
	refuses := mutating || slices.Contains(wording.Strings(preview.Value(o.Planned, "spec", "validationActions")), "Deny")
	body, ours := c.policyBody(ref)
	if body == nil {
		level := Medium
		if mutating {
			level = High
		}
		return level, []preview.Seen{words.With(switches, words.NotInPlan.Of())}
	}
	level, lines := c.policyLevel(preview.Map(body, "spec", "matchConstraints"), mutating, []*preview.Object{o})
	if len(lines) == 0 {
		return None, nil
	}
	if !refuses {
		level = Notice
	}
	if !ours {
		switches = words.With(switches, words.OfTheCluster.Of())
	}
	for i, line := range lines {
		if mark := words.Comma; i > 0 {
			switches = words.With(switches, mark.Of(), line)
			continue
		}
		switches = words.With(switches, words.Colon.Of(), line)
	}
	return level, []preview.Seen{switches}
}

// admissionOutage matches admission policies and webhooks that refuse, or while they do not
// answer have refused, the requests of nodes and of the control plane.
func admissionOutage(c *scan, o *preview.Object) (Level, []preview.Seen) {
	var lines []preview.Seen
	switch {
	case o.Planned == nil:
	case isWebhook(o):
		for _, webhook := range preview.Maps(o.Planned, "webhooks") {
			if stopped := apiadmission.StoppedByWebhook(context.Background(), webhook); len(stopped) > 0 {
				lines = append(lines, words.WebhookOutage.Of(preview.String(webhook, "name"), words.Series(stopped, "and")))
			}
		}
	case o.Is(preview.KindValidatingAdmissionPolicy):
		var bindings []map[string]any
		for _, b := range c.around.bound[string(o.GroupKind())+"Binding/"+o.Name] {
			bindings = append(bindings, b.Planned)
		}
		lines = c.refusedLine(o.Planned, bindings)
	case o.Is(preview.KindValidatingAdmissionPolicyBinding):
		if body, ours := c.policyBody(boundPolicy(o)); body != nil && !ours {
			lines = c.refusedLine(body, []map[string]any{o.Planned})
		}
	}
	return None, lines
}

func (c *scan) refusedLine(policy map[string]any, bindings []map[string]any) []preview.Seen {
	refused := apiadmission.RefusedByPolicy(context.Background(), policy, bindings, preview.PlannedBodies(c.plan.Objects))
	switch fact := words.Refuses.Of(words.Series(refused.Requests, "and")); {
	case len(refused.Requests) == 0:
		return nil
	case refused.Lacking:
		return []preview.Seen{words.With(fact, words.ParametersMissing.Of())}
	default:
		return []preview.Seen{fact}
	}
}

// boundPolicy returns the policy that a binding of one names.
func boundPolicy(binding *preview.Object) preview.Ref {
	return preview.Ref{
		APIVersion: "admissionregistration.k8s.io/v1", Kind: strings.TrimSuffix(binding.Kind, "Binding"),
		Name: preview.String(binding.Planned, "spec", "policyName"),
	}
}

func selectorIn(o *preview.Object) string {
	if selector := preview.Map(o.Planned, "spec", "paramRef", "selector"); selector != nil {
		return "of " + wording.Selector("objects", selector)
	}
	return ""
}

// policyBody returns an admission policy: the plan's (ours is true), else the one
// read from the cluster, else nil.
func (c *scan) policyBody(ref preview.Ref) (body map[string]any, ours bool) {
	if o := c.objects[ref.ID()]; o != nil {
		return o.Planned, true
	}
	for _, read := range c.around.reads[ref.ID()] {
		if read != nil {
			return read, false
		}
	}
	return nil, false
}
