package registryv1

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

const (
	webhookNameLabel = "olm.webhook-description-generate-name"
	webhookHashLabel = "olm.webhook-description-hash"
	caAnnotation     = "olmcahash"
	caKey            = "olmCAKey"
	ownerLabel       = "olm.owner"
)

// serving is what is live of the webhooks of a bundle. OLM makes a certificate for each
// Deployment with webhooks, and gives their configurations random names: the existing ones
// stand for the ones that it will make.
type serving struct {
	authorities map[string]string           // by Deployment, in base64; empty for none
	live        map[string][]map[string]any // configurations by generateName
	selector    any                         // of the namespaces of the OperatorGroup; nil for all
}

// readServing reads what is live, as far as it may be read.
func readServing(ctx context.Context, b *bundle, p params, cluster format.Cluster, group string) (*serving, error) {
	s := &serving{authorities: map[string]string{}, live: map[string][]map[string]any{}}
	if len(b.csv.webhooks) == 0 || cluster == nil {
		return s, nil
	}
	for _, d := range b.servingDeployments() {
		ref := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: p.namespace, Name: stepServiceName(d.name) + "-cert"}
		secret, err := cluster.Get(ctx, ref)
		if err != nil && !preview.Answered(err) {
			return nil, err
		}
		s.authorities[d.name] = preview.String(secret, "data", caKey)
	}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		all, err := cluster.List(ctx, "admissionregistration.k8s.io/v1", kind, "")
		if err != nil && !preview.Answered(err) {
			return nil, err
		}
		for _, body := range all {
			labels := preview.Map(body, "metadata", "labels")
			if preview.String(labels, "olm.owner.namespace") == p.namespace {
				name := preview.String(labels, webhookNameLabel)
				s.live[name] = append(s.live[name], body)
			}
		}
	}
	if p.allNamespaces() {
		return s, nil
	}
	ref := preview.Ref{APIVersion: "operators.coreos.com/v1", Kind: "OperatorGroup", Namespace: p.namespace, Name: group}
	body, err := cluster.Get(ctx, ref)
	if uid := preview.UID(body); uid != "" {
		s.selector = map[string]any{"matchLabels": map[string]any{"olm.operatorgroup.uid/" + uid: ""}}
	}
	if preview.Answered(err) {
		err = nil
	}
	return s, err
}

// stepServiceName is the name of the Service of a Deployment with webhooks.
func stepServiceName(deployment string) string { return deployment + "-service" }

// definitions returns the CRDs, with the webhooks that convert their objects.
func (s *serving) definitions(b *bundle, p params) ([]format.RenderedObject, error) {
	converted := b.csv.conversions()
	var out []format.RenderedObject
	for _, o := range b.crds {
		if w, ok := converted[o.name()]; ok {
			client := s.client(w, p)
			if service := preview.Map(client, "service"); service["path"] == nil {
				service["path"] = "/"
			}
			child(o.body, "spec")["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"clientConfig": client, "conversionReviewVersions": preview.Clone(w.body["admissionReviewVersions"]),
			}}
		}
		delete(o.body, "status")
		out = append(out, format.RenderedObject{Body: o.body, Origin: o.origin})
	}
	return out, nil
}

func (s *serving) client(w webhook, p params) map[string]any {
	client := w.client(p.namespace)
	preview.Map(client, "service")["name"] = strings.ReplaceAll(w.deploymentName, ".", "-") + "-service"
	if ca := s.authorities[w.deploymentName]; ca != "" {
		client["caBundle"] = ca
	}
	return client
}

// objects returns the Service of each Deployment with webhooks, and the rights of its account
// to the certificate and to ask the API server who calls.
func (s *serving) objects(b *bundle, p params) ([]format.RenderedObject, error) {
	services, err := webhookServices(b, p)
	if err != nil {
		return nil, err
	}
	out := services
	for i, d := range b.servingDeployments() {
		service := stepServiceName(d.name)
		preview.Map(services[i].Body, "metadata")["name"] = service
		account := preview.String(d.spec, "template", "spec", "serviceAccountName")
		if account == "" {
			account = "default"
		}
		role := newObject(rbacGroup+"/v1", "Role", p.namespace, service+"-cert")
		role["rules"] = []any{map[string]any{
			"apiGroups": []any{""}, "resources": []any{"secrets"}, "resourceNames": []any{service + "-cert"}, "verbs": []any{"get"},
		}}
		out = append(out, b.generated(role, d.lines))
		for _, binding := range []struct{ kind, namespace, name, roleKind, role string }{
			{"RoleBinding", p.namespace, service + "-cert", "Role", service + "-cert"},
			{"ClusterRoleBinding", "", service + "-system:auth-delegator", "ClusterRole", "system:auth-delegator"},
			{"RoleBinding", "kube-system", service + "-auth-reader", "Role", "extension-apiserver-authentication-reader"},
		} {
			body := newObject(rbacGroup+"/v1", binding.kind, binding.namespace, binding.name)
			body["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": binding.roleKind, "name": binding.role}
			body["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": account, "namespace": p.namespace}}
			out = append(out, b.generated(body, d.lines))
		}
	}
	return out, nil
}

// secrets returns the Secret with the certificate of each Deployment with webhooks. Its
// content is not known.
func (s *serving) secrets(b *bundle, p params) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	for _, d := range b.servingDeployments() {
		body := newObject("v1", "Secret", p.namespace, stepServiceName(d.name)+"-cert")
		body["type"], body["data"] = "kubernetes.io/tls", map[string]any{"tls.crt": "", "tls.key": "", caKey: s.authorities[d.name]}
		out = append(out, b.generated(body, d.lines))
	}
	return out, nil
}

// deployments returns the Deployments, those with webhooks with their certificates.
func (s *serving) deployments(b *bundle, p params) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	serves := b.servingDeployments()
	for _, d := range b.csv.deployments {
		if slices.ContainsFunc(serves, func(other deployment) bool { return other.name == d.name }) {
			mountStepCertificate(d.spec, stepServiceName(d.name)+"-cert")
			if ca, err := base64.StdEncoding.DecodeString(s.authorities[d.name]); err == nil && len(ca) > 0 {
				sum := sha256.Sum256(ca)
				child(child(child(d.spec, "template"), "metadata"), "annotations")[caAnnotation] = hex.EncodeToString(sum[:])
			}
		}
		o, err := b.stepDeployment(d, p)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// mountStepCertificate adds the volumes and mounts of a certificate: a volume of the same name
// is replaced, a mount of the same name stays and one of the same path is replaced.
func mountStepCertificate(spec map[string]any, secret string) {
	pod := child(child(spec, "template"), "spec")
	if preview.String(pod, "serviceAccountName") == "" {
		pod["serviceAccountName"] = "default"
	}
	mounts := certMounts()
	slices.Reverse(mounts[:])
	for _, m := range mounts {
		putNamed(pod, "volumes", []any{certVolume(m, secret)})
		for _, c := range mappings(pod["containers"]) {
			mount := map[string]any{"name": m.volume, "mountPath": m.path}
			list := preview.List(c, "volumeMounts")
			at := slices.IndexFunc(list, func(v any) bool {
				have, _ := v.(map[string]any)
				return have["name"] == m.volume || have["mountPath"] == m.path
			})
			switch {
			case at < 0:
				c["volumeMounts"] = append(list, mount)
			case preview.String(list[at].(map[string]any), "name") != m.volume:
				list[at] = mount
			}
		}
	}
}

// configurations returns the configurations of the admission webhooks. That of a
// ClusterServiceVersion that is installed has a name; for another, generateName stands for it.
func (s *serving) configurations(b *bundle, p params) ([]format.RenderedObject, error) {
	var out []format.RenderedObject
	for _, w := range b.csv.webhooks {
		kind, extra := "ValidatingWebhookConfiguration", []string{}
		switch w.kind {
		case mutatingWebhook:
			kind, extra = "MutatingWebhookConfiguration", []string{"reinvocationPolicy"}
		case conversionWebhook:
			continue
		}
		hook := map[string]any{"name": w.generateName, "clientConfig": s.client(w, p)}
		for _, field := range append(extra,
			"rules", "failurePolicy", "matchPolicy", "objectSelector", "sideEffects", "timeoutSeconds", "admissionReviewVersions") {
			if v := w.body[field]; v != nil {
				hook[field] = v
			}
		}
		if s.selector != nil {
			hook["namespaceSelector"] = s.selector
		}
		body := newObject("admissionregistration.k8s.io/v1", kind, "", strings.Trim(w.generateName, "-"))
		for _, live := range s.live[w.generateName] {
			if preview.String(live, "kind") == kind && preview.String(live, "metadata", "labels", ownerLabel) == b.csv.name {
				preview.Map(body, "metadata")["name"] = preview.String(live, "metadata", "name")
			}
		}
		hash, err := webhookHash(w)
		if err != nil {
			return nil, err
		}
		preview.SetMetadata(body, "labels", webhookNameLabel, w.generateName)
		preview.SetMetadata(body, "labels", webhookHashLabel, hash)
		body["webhooks"] = []any{hook}
		out = append(out, b.generated(body, w.lines))
	}
	return out, nil
}

// webhookHash is the hash of OLM's label: of the description as its Go type writes it.
func webhookHash(w webhook) (string, error) {
	var hook admissionv1.MutatingWebhook // which has the fields of a description that have their own types
	data, err := json.Marshal(w.body)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(data, &hook); err != nil {
		return "", err
	}
	return hashOf62(struct {
		GenerateName            string                              `json:"generateName"`
		Type                    string                              `json:"type"`
		DeploymentName          string                              `json:"deploymentName,omitempty"`
		ContainerPort           int64                               `json:"containerPort,omitempty"`
		TargetPort              any                                 `json:"targetPort,omitempty"`
		Rules                   []admissionv1.RuleWithOperations    `json:"rules,omitempty"`
		FailurePolicy           *admissionv1.FailurePolicyType      `json:"failurePolicy,omitempty"`
		MatchPolicy             *admissionv1.MatchPolicyType        `json:"matchPolicy,omitempty"`
		ObjectSelector          any                                 `json:"objectSelector,omitempty"`
		SideEffects             *admissionv1.SideEffectClass        `json:"sideEffects"`
		TimeoutSeconds          *int32                              `json:"timeoutSeconds,omitempty"`
		AdmissionReviewVersions []string                            `json:"admissionReviewVersions"`
		ReinvocationPolicy      *admissionv1.ReinvocationPolicyType `json:"reinvocationPolicy,omitempty"`
		WebhookPath             any                                 `json:"webhookPath,omitempty"`
		ConversionCRDs          []string                            `json:"conversionCRDs,omitempty"`
	}{
		w.generateName, w.kind, w.deploymentName, w.containerPort, w.targetPort,
		hook.Rules, hook.FailurePolicy, hook.MatchPolicy, w.body["objectSelector"],
		hook.SideEffects, hook.TimeoutSeconds, hook.AdmissionReviewVersions, hook.ReinvocationPolicy, w.path, w.conversionCRDs,
	})
}
