package risk

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/conversion"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// wellKnownRules returns the rules about objects that are dangerous by their name or
// type alone, such as bootstrap tokens.
func wellKnownRules() []entry {
	return []entry{
		{Rule: rules.WellKnownObject, object: facts(wellKnownObject)},
		{Rule: rules.SecretBootstrapToken, object: secretMatch(bootstrapToken)},
		{Rule: rules.SecretOfTool, object: facts(secretOfTool)},
		{Rule: rules.SecretInPackage, object: secretMatch(credentialInPackage)},
		{Rule: rules.CRDInBuiltInGroup, object: facts(definedInBuiltInGroup)},
		{Rule: rules.CRDConvertedElsewhere, object: facts(convertedElsewhere)},
		{Rule: rules.CRDOfOthersConverted, object: facts(convertsOthers)},
	}
}

// wellKnownObject matches objects that control part of the cluster by their kind, name
// and namespace. Those in the release's own namespace do not match, unless the control
// plane reads them in any namespace.
func wellKnownObject(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil {
		return None, nil
	}
	found, known := wellknown.Find(o.Ref())
	own := o.Namespace != "" && c.namespaces.owned(o.Namespace) && !slices.Contains(sharedNamespaces, o.Namespace)
	if !known || own && found.Namespace != all {
		return None, nil
	}
	level := found.Level
	if own {
		level = Medium // its own pods alone read it
	}
	return level, []preview.Seen{words.ItDecides.Of(found.Controls)}
}

// secretMatch returns a matcher that calls judge with the Secrets of the plan, and with
// no other object.
func secretMatch(judge func(o *preview.Object) (Level, []preview.Seen)) objectMatch {
	return facts(func(_ *scan, o *preview.Object) (Level, []preview.Seen) {
		if o.Planned == nil || !o.Is(preview.KindSecret) {
			return None, nil
		}
		return judge(o)
	})
}

// bootstrapToken matches bootstrap tokens in kube-system: any holder can join a node with
// one. They are Critical if they are for authentication or signing, else High.
func bootstrapToken(o *preview.Object) (Level, []preview.Seen) {
	if preview.String(o.Planned, "type") != "bootstrap.kubernetes.io/token" || o.Namespace != kubeSystem {
		return None, nil
	}
	token := words.Token.Of()
	if groups := secretValue(o.Planned, "auth-extra-groups"); groups != "" {
		token = words.With(token, words.OfGroups.Of(groups))
	}
	var uses []string
	for _, use := range []string{"authentication", "signing"} {
		if secretValue(o.Planned, "usage-bootstrap-"+use) == "true" {
			uses = append(uses, use)
		}
	}
	if len(uses) == 0 {
		return High, []preview.Seen{words.With(token, words.TokenForNothing.Of())}
	}
	return Critical, []preview.Seen{words.With(token, words.TokenFor.Of(words.Series(uses, "and")))}
}

// secretValue returns the value of a key of a Secret, from stringData or decoded from
// data; empty if there is none.
func secretValue(secret map[string]any, key string) string {
	if text := preview.String(secret, "stringData", key); text != "" {
		return text
	}
	data, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", key))
	if err != nil {
		return ""
	}
	return string(data)
}

// toolMark identifies Secrets and ConfigMaps that a tool such as Helm reads, by one of
// type, name prefix and label.
type toolMark struct {
	typ, prefix, label string // one of them is set
	level              Level
	what               string
}

var toolMarks = []toolMark{
	{typ: "helm.sh/release.v1", level: Critical, what: "a record of a Helm release: helm upgrade, rollback and uninstall do what it says with the rights of the user"},
	{prefix: "sh.helm.release.v1.", level: Critical, what: "a record of a Helm release: helm upgrade, rollback and uninstall do what it says with the rights of the user"},
	{typ: preview.TypeRecord, level: Critical, what: "a record of a release of kubectl operator"},
	{label: "sealedsecrets.bitnami.com/sealed-secrets-key", level: Critical, what: "a key by which the Sealed Secrets controller opens and seals"},
	{label: "argocd.argoproj.io/secret-type", level: Critical, what: "a cluster, repository or credential of Argo CD, which applies what it finds there"},
	{typ: "cluster.x-k8s.io/secret", level: High, what: "credentials of a cluster that Cluster API manages"},
	{typ: "istio.io/ca-root", level: Critical, what: "a certificate authority of Istio"},
	{label: "istio/multiCluster", level: Critical, what: "a cluster that Istio reads from"},
	{label: "fluxcd.io/secret-type", level: High, what: "credentials of Flux"},
	{typ: "rke.cattle.io/machine-plan", level: Critical, what: "commands that Rancher runs as root on a node"},
	{typ: "fleet.cattle.io/cluster-registration-values", level: Critical, what: "a cluster that Fleet registers"},
	{typ: "connection.crossplane.io/v1alpha1", level: Medium, what: "credentials of a Crossplane resource"},
}

func secretOfTool(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindSecret, preview.KindConfigMap) {
		return None, nil
	}
	labels := preview.Map(o.Planned, "metadata", "labels")
	for _, mark := range toolMarks {
		_, labelled := labels[mark.label]
		switch {
		case mark.typ != "" && preview.String(o.Planned, "type") == mark.typ, mark.label != "" && labelled,
			mark.prefix != "" && strings.HasPrefix(o.Name, mark.prefix):
			return mark.level, []preview.Seen{words.ItIs.Of(mark.what)}
		}
	}
	if labels["owner"] == "helm" && labels["name"] != nil && labels["version"] != nil {
		return Critical, []preview.Seen{words.ItIs.Of(toolMarks[0].what)}
	}
	return None, nil
}

// credentialInPackage matches Secrets of a credential type, such as dockerconfigjson,
// with data: every reader of the package has the credential.
func credentialInPackage(o *preview.Object) (Level, []preview.Seen) {
	switch typ := preview.String(o.Planned, "type"); typ {
	case "kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg", "kubernetes.io/basic-auth", "kubernetes.io/ssh-auth":
		if len(preview.Map(o.Planned, "data"))+len(preview.Map(o.Planned, "stringData")) > 0 {
			return None, []preview.Seen{words.OfType.Of(typ)}
		}
	}
	return None, nil
}

// builtInGroup reports whether Kubernetes serves an API group or reserves its name
// (*.k8s.io, *.kubernetes.io).
func builtInGroup(group string) bool {
	return group == "" || strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, ".kubernetes.io") || group == "k8s.io" || group == "kubernetes.io" ||
		slices.ContainsFunc(access.BuiltInServed(), func(s preview.ServedResource) bool { return s.Group == group })
}

// projectGroups are API groups below k8s.io and kubernetes.io that packages of
// Kubernetes projects bring, such as metrics.k8s.io.
var projectGroups = []string{
	"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io", "gateway.networking.k8s.io", "snapshot.storage.k8s.io",
	"groupsnapshot.storage.k8s.io", "multicluster.x-k8s.io", "node.k8s.io", "app.k8s.io", "apps.kubernetes.io",
}

// definedInBuiltInGroup matches CustomResourceDefinitions in an API group that
// Kubernetes serves or reserves. In a reserved group, the annotation
// api-approved.kubernetes.io with a URL permits one.
func definedInBuiltInGroup(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	group := preview.String(o.Planned, "spec", "group")
	if o.Planned == nil || !o.Is(preview.KindCustomResourceDefinition) || !builtInGroup(group) || strings.HasSuffix(group, ".x-k8s.io") {
		return None, nil
	}
	served := slices.ContainsFunc(access.BuiltInServed(), func(s preview.ServedResource) bool { return s.Group == group })
	approval := preview.String(o.Planned, "metadata", "annotations", "api-approved.kubernetes.io")
	switch {
	case served:
		return High, []preview.Seen{words.GroupIsServedByKubernetesItself.Of(group)}
	case strings.HasPrefix(approval, "https://"):
		return None, nil
	case approval != "":
		return Medium, []preview.Seen{words.GroupIsKeptForKubernetesThe.Of(group, approval)}
	}
	return Medium, []preview.Seen{words.GroupIsKeptForKubernetesAnd.Of(group)}
}

// convertedElsewhere matches CustomResourceDefinitions with several versions whose
// objects are all sent to a conversion webhook that is outside the plan and the
// release's namespaces. For kinds that a controller of others acts on, the release's
// namespaces are no excuse.
func convertedElsewhere(c *scan, o *preview.Object) (Level, []preview.Seen) {
	w, ok := conversion.Of(o)
	if !ok {
		return None, nil
	}
	if where := c.answeredElsewhere(w.Body); where != nil {
		if len(where[0].Args) == 0 {
			return None, []preview.Seen{words.ConvertedOutside.Of()}
		}
		return None, []preview.Seen{words.ConvertedBy.Of(w.Service.Namespace, w.Service.Name)}
	}
	if w.Known && w.Service.Name != "" && rankOf(effectOf(w.Kind)) < len(effectRules) && c.objects[w.Service.ID()] == nil {
		return None, []preview.Seen{words.ObjectsThatActsOnAreConverted.Of(w.Kind.Operator, w.Service.Namespace, w.Service.Name)}
	}
	return None, nil
}

// convertsOthers matches CustomResourceDefinitions of a kind that an operator of others
// acts on, whose objects a Service of the plan converts although no account of the plan
// controls the kind. It is a step above the right to write such objects, as objects
// of everyone are rewritten.
func convertsOthers(c *scan, o *preview.Object) (Level, []preview.Seen) {
	w, ok := conversion.Of(o)
	rank := rankOf(effectOf(w.Kind))
	if !ok || !w.Known || rank == len(effectRules) || c.objects[w.Service.ID()] == nil || w.Controls(c.plan.Access.Grants) {
		return None, nil
	}
	level := levelOfKind(w.Kind, baseLevel(w.Kind.Effect, effectRules[rank].grant))
	return level.Raise(), []preview.Seen{words.EverySuchObjectIsConvertedBy.Of(w.Kind.Says(), w.Service.Namespace, w.Service.Name)}
}
