package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// planBuilder writes plans by hand for the screens' tests.
type planBuilder struct {
	t testing.TB
	p *preview.Plan
}

func newPlan(t testing.TB, action string) *planBuilder {
	p := &preview.Plan{
		Tool:     preview.Tool{Version: "v0.1.0"},
		Request:  preview.Request{Reference: "mongodb", Version: ">=1.8", Channel: "stable", Action: action},
		Release:  preview.Release{Name: "mongodb", Namespace: "mongodb"},
		ReadMode: preview.ReadDryRun, Options: preview.DefaultOptions(),
		Packages: []preview.Package{{
			Name: "mongodb", Version: "1.10.0", Bundle: "mongodb-kubernetes.v1.10.0", Format: "registry+v1",
			ContentDigest: digestOf("content"),
			Parameters:    preview.Parameters{InstallMode: "AllNamespaces", Certs: "cert-manager"},
			Sources:       []preview.Source{{Kind: "image", Reference: "quay.io/mongodb/mongodb-kubernetes-bundle:1.10.0", Digest: digestOf("bundle")}},
			Via:           []preview.Via{{Kind: "catalog", Reference: "quay.io/operatorhubio/catalog:latest", Digest: digestOf("catalog"), Channel: "stable"}},
			Verification:  preview.Verification{Status: "unverified"},
		}},
		Target: preview.Target{
			Identity: "3f6f1c52-0b7e-4c0a-9d0e-8a1f7c3f2a11", Server: "https://10.20.0.1:6443",
			Version: "v1.37.1", User: "jane@example.com", Context: "prod-eu-1",
			Groups: []string{"platform", "system:authenticated"},
		},
		Images: []preview.Image{
			{Reference: "quay.io/mongodb/mongodb-kubernetes:1.10.0", Digest: digestOf("image"), UsedBy: []string{"apps/Deployment/mongodb/operator"}},
			{Reference: "quay.io/mongodb/agent@" + digestOf("agent"), Digest: digestOf("agent"), Pinned: true},
		},
	}
	return &planBuilder{t, p}
}

// object adds an object; live and result, when not nil, are what the cluster
// has and what the dry run answered.
func (b *planBuilder) object(action preview.Action, sealed, live, result map[string]any) *preview.Object {
	body := sealed
	if body == nil {
		body = live
	}
	ref := preview.RefOf(body)
	o := preview.Object{
		ID: ref.ID(), Package: "mongodb", APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
		Action: action, Digest: digestOf(ref.ID() + fmt.Sprint(body)), Origin: preview.Origin{File: "manifests/" + strings.ToLower(ref.Kind) + ".yaml", Document: 3, Line: 22},
		Sealed: sealed, LiveBody: live, ResultBody: result, SecretKeys: preview.SecretKeys(live, sealed),
	}
	if live != nil {
		o.Live = preview.Live{UID: "uid-" + ref.Name, Fingerprint: digestOf("live" + fmt.Sprint(live))}
		if result != nil {
			o.Changes = diff.Changes(live, result)
		}
	}
	if sealed == nil {
		o.Origin = preview.Origin{}
	}
	b.p.Objects = append(b.p.Objects, o)
	return &b.p.Objects[len(b.p.Objects)-1]
}

func (b *planBuilder) finding(s preview.Severity, rule, ref, object, title, why, evidence string) {
	b.p.Findings = append(b.p.Findings, preview.Finding{
		ID: rule + "/" + object, Rule: rule, Severity: s, Ref: ref, Title: title, Why: why,
		Object: object, Evidence: evidence, Fingerprint: preview.FindingFingerprint(rule, evidence),
	})
}

func (b *planBuilder) grant(change, scope, namespace string, verbs, groups, resources, via, rules []string) {
	b.p.Access.Grants = append(b.p.Access.Grants, preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "mongodb", Name: "operator"},
		Scope:   scope, Namespace: namespace, APIGroups: groups, Resources: resources, Verbs: verbs, Via: via, Change: change, Rules: rules,
	})
}

func (b *planBuilder) seal() *preview.Plan {
	b.t.Helper()
	b.p.Stages = preview.BuildStages(b.p.Objects, "")
	if err := b.p.Seal(); err != nil {
		b.t.Fatal(err)
	}
	// Frames show digests: they must not move with the definition of Facts.
	b.p.Digest = digestOf("plan to " + b.p.Request.Action)
	return b.p
}

// manifest is a body of one kind with a spec.
func manifest(apiVersion, kind, namespace, name string, spec map[string]any) map[string]any {
	meta := map[string]any{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	body := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
	for k, v := range spec {
		body[k] = v
	}
	return body
}

func deployment(image string, replicas int64) map[string]any {
	return manifest("apps/v1", "Deployment", "mongodb", "operator", map[string]any{"spec": map[string]any{
		"replicas": replicas,
		"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "operator", "image": image}}}},
	}})
}

func clusterRole(name string, resources ...any) map[string]any {
	return manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "", name, map[string]any{"rules": []any{map[string]any{
		"apiGroups": []any{""}, "resources": resources, "verbs": []any{"get", "list", "watch"},
	}}})
}

// managed is an entry of metadata.managedFields.
func managed(manager, at string, fields map[string]any) map[string]any {
	return map[string]any{"manager": manager, "operation": "Apply", "time": at, "fieldsType": "FieldsV1", "fieldsV1": fields}
}

const (
	roleObject    = "rbac.authorization.k8s.io/ClusterRole/-/mongodb-operator"
	webhookObject = "admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/mongodb-webhook"
	deployObject  = "apps/Deployment/mongodb/operator"
)

// freshPlan installs something with three critical findings.
func freshPlan(t *testing.T) *preview.Plan {
	b := newPlan(t, preview.RequestInstall)
	b.object(preview.ActionCreate, manifest("v1", "Namespace", "", "mongodb", nil), nil, nil)
	b.object(preview.ActionCreate, manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	b.object(preview.ActionCreate, clusterRole("mongodb-operator", "secrets"), nil, nil)
	b.object(preview.ActionCreate, manifest("v1", "Secret", "mongodb", "ops-manager", map[string]any{"data": map[string]any{"password": "aHVudGVyMg=="}}), nil, nil)
	b.object(preview.ActionCreate, manifest("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "mongodb-webhook", map[string]any{
		"webhooks": []any{map[string]any{"name": "mdb.mongodb.com", "failurePolicy": "Fail"}}}), nil, nil)
	b.object(preview.ActionCreate, deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), nil, nil)
	for i := range 14 {
		b.object(preview.ActionCreate, manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", fmt.Sprintf("kind%02d.mongodb.com", i), nil), nil, nil)
	}
	b.finding(preview.Critical, "rbac-secrets-read", "RBAC-10", roleObject, "reads every Secret",
		"can read the content of every Secret in every namespace, tokens and TLS keys included",
		"ServiceAccount mongodb/operator\nscope cluster\nget, list, watch\nsecrets in \"\"")
	b.finding(preview.Critical, "webhook-fail-closed", "WH-01", webhookObject, "webhook fails closed, all namespaces",
		"if the webhook has no ready pod, every create or update of the resources it intercepts is refused",
		"webhooks[0].failurePolicy: Fail\nwebhooks[0].namespaceSelector: (none)")
	b.finding(preview.Critical, "pod-privileged", "POD-01", deployObject, "runs a privileged container",
		"a privileged container can take over its node", "container operator: securityContext.privileged: true")
	b.finding(preview.Warning, "image-by-tag", "POD-12", deployObject, "image by tag, not by digest",
		"the tag can move after this review", "quay.io/mongodb/mongodb-kubernetes:1.10.0")
	b.finding(preview.Warning, "rbac-leases", "RBAC-77", roleObject, "writes leases in every namespace",
		"can disturb the leader election of others", "leases update cluster")
	b.finding(preview.Info, "rbac-events", "RBAC-75", roleObject, "writes events", "normal for controllers", "events create")
	via := []string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"}
	b.grant(preview.GrantNew, preview.ScopeCluster, "", []string{"get", "list", "watch"}, []string{""}, []string{"secrets"}, via, []string{"rbac-secrets-read"})
	b.grant(preview.GrantNew, preview.ScopeCluster, "", []string{"create", "patch"}, []string{""}, []string{"events"}, via, []string{"rbac-events"})
	b.grant(preview.GrantNew, preview.ScopeNamespace, "mongodb", []string{"create", "get", "update"}, []string{"coordination.k8s.io"}, []string{"leases"},
		[]string{"Role/mongodb/leader", "RoleBinding/mongodb/leader"}, nil)
	b.p.Cloud.Permissions = []preview.CloudPermission{{Provider: "aws", Origin: "CredentialsRequest/mongodb/backup", Effect: "Allow",
		Actions: []string{"s3:GetObject", "s3:PutObject"}, Resources: []string{"arn:aws:s3:::backups/*"}, Change: preview.GrantNew}}
	return b.seal()
}

// upgradePlan changes, deletes and cannot read something.
func upgradePlan(t *testing.T) *preview.Plan {
	b := newPlan(t, preview.RequestUpgrade)
	b.p.Base = preview.Base{Revision: 3, Digest: digestOf("base")}
	pkg := &b.p.Packages[0]
	pkg.Verification = preview.Verification{Status: "verified", Identity: "key " + digestOf("signer")}
	pkg.Via[0].Verification = &preview.Verification{Status: "unverified"}
	pkg.Referrers = []preview.Referrer{{ArtifactType: "application/spdx+json", Digest: digestOf("sbom")}}
	live, result := deployment("quay.io/mongodb/mongodb-kubernetes:1.8.1", 1), deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 2)
	preview.Map(live, "spec")["paused"] = true
	preview.Map(live, "metadata")["managedFields"] = []any{
		managed("kubectl-operator", "2026-03-02T08:00:00Z", map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}, "f:template": map[string]any{}}}),
		managed("kubectl-edit", "2026-11-02T08:00:00Z", map[string]any{"f:spec": map[string]any{"f:paused": map[string]any{}}}),
	}
	preview.Map(result, "spec")["paused"] = true
	b.object(preview.ActionUpdate, deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 2), live, result)
	secret := func(v string) map[string]any {
		return manifest("v1", "Secret", "mongodb", "ops-manager", map[string]any{"data": map[string]any{"password": v, "user": "YWRtaW4="}})
	}
	b.object(preview.ActionUpdate, secret("bmV3"), secret("b2xk"), secret("bmV3"))
	b.object(preview.ActionDelete, nil, manifest("v1", "ConfigMap", "mongodb", "legacy", map[string]any{"data": map[string]any{"a": "b"}}), nil)
	b.object(preview.ActionUnknown, clusterRole("mongodb-operator", "configmaps"), nil, nil)
	for i := range 5 {
		crd := manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", fmt.Sprintf("kind%02d.mongodb.com", i), nil)
		b.object(preview.ActionUnchanged, crd, crd, nil)
	}
	b.p.Unknowns = []preview.Unknown{{Object: roleObject, Why: "forbidden"}}
	b.finding(preview.NotKnown, "unknown", "", roleObject, "live state could not be read", "shown as unknown, not as unchanged", "forbidden")
	b.finding(preview.Warning, "rbac-secrets-read", "RBAC-10", roleObject, "ServiceAccount operator: reads Secrets in namespace mongodb",
		"Secrets hold tokens, passwords and private keys; list and watch return their content too.", "ServiceAccount mongodb/operator in namespace mongodb: get secrets of core")
	b.p.Findings[len(b.p.Findings)-1].AcceptedIn = 2
	b.finding(preview.Warning, "image-by-tag", "POD-12", deployObject, "Deployment operator: has an image by tag", "The tag can move after this review.", "container operator: quay.io/mongodb/mongodb-kubernetes:1.10.0")
	b.finding(preview.Warning, "object-deleted", "", "core/ConfigMap/mongodb/legacy", "deletes an object of the installed revision", "it is not in the new bundle", "core/ConfigMap/mongodb/legacy")
	via := []string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"}
	b.grant(preview.GrantSame, preview.ScopeCluster, "", []string{"get", "list", "watch"}, []string{""}, []string{"configmaps"}, via, nil)
	b.grant(preview.GrantWidened, preview.ScopeCluster, "", []string{"get", "list", "watch", "patch"}, []string{"apps"}, []string{"deployments", "statefulsets"}, via, nil)
	b.grant(preview.GrantSame, preview.ScopeNamespace, "mongodb", []string{"get"}, []string{""}, []string{"secrets"},
		[]string{"Role/mongodb/backup", "RoleBinding/mongodb/backup"}, nil)
	b.p.Access.Grants[len(b.p.Access.Grants)-1].Held = true
	b.grant(preview.GrantNew, preview.ScopeCluster, "", []string{"*"}, []string{"apps"}, []string{"*"}, via, []string{"rbac-group-wildcard"})
	b.p.Access.Wildcards = access.Expand(b.p.Access.Grants, access.BuiltInServed(), nil)
	b.p.Access.Wildcards.Against = preview.AgainstCluster
	return b.seal()
}

// cleanPlan has nothing that must be looked at.
func cleanPlan(t *testing.T) *preview.Plan {
	b := newPlan(t, preview.RequestInstall)
	b.object(preview.ActionCreate, manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	b.object(preview.ActionCreate, deployment("quay.io/mongodb/agent@"+digestOf("agent"), 1), nil, nil)
	return b.seal()
}
