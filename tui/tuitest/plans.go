package tuitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/findingtest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// PlanBuilder builds plans for the tests of screens.
type PlanBuilder struct {
	t    testing.TB
	Plan *preview.Plan
}

// NewPlan returns a builder with a plan of one package, without objects.
func NewPlan(t testing.TB, action string) *PlanBuilder {
	p := &preview.Plan{
		Tool:     preview.Tool{Version: "v0.1.0"},
		Request:  preview.Request{Reference: "mongodb", Version: ">=1.8", Channel: "stable", Action: action},
		Release:  preview.Release{Name: "mongodb", Namespace: "mongodb"},
		ReadMode: preview.ReadDryRun, Options: preview.DefaultOptions(),
		Packages: []preview.Package{{
			Name: "mongodb", Version: "1.10.0", Bundle: "mongodb-kubernetes.v1.10.0", Format: "registry+v1",
			ContentDigest: DigestOf("content"),
			Parameters:    preview.Parameters{InstallMode: "AllNamespaces", Certs: "cert-manager"},
			Sources:       []preview.Source{{Kind: "image", Reference: "quay.io/mongodb/mongodb-kubernetes-bundle:1.10.0", Digest: DigestOf("bundle")}},
			Via:           []preview.ResolutionStep{{Kind: "catalog", Reference: "quay.io/operatorhubio/catalog:latest", Digest: DigestOf("catalog"), Channel: "stable"}},
			Verification:  preview.Verification{Status: "unverified"},
		}},
		Target: preview.Target{
			Identity: "3f6f1c52-0b7e-4c0a-9d0e-8a1f7c3f2a11", Server: "https://10.20.0.1:6443",
			Version: "v1.37.1", User: "jane@example.com", Context: "prod-eu-1",
			Authenticated: "jane@example.com", Groups: []string{"platform", "system:authenticated"},
		},
		Images: []preview.Image{
			{Reference: "quay.io/mongodb/mongodb-kubernetes:1.10.0", Digest: DigestOf("image"), UsedBy: []string{"apps/Deployment/mongodb/operator"}},
			{Reference: "quay.io/mongodb/agent@" + DigestOf("agent"), Digest: DigestOf("agent"), Pinned: true},
		},
	}
	return &PlanBuilder{t, p}
}

// Object adds an object to the plan. sealed is the planned object, live the object in
// the cluster and result the dry run's, each nil for none.
func (b *PlanBuilder) Object(action preview.Action, sealed, live, result map[string]any) *preview.Object {
	body := sealed
	if body == nil {
		body = live
	}
	ref := preview.RefOf(body)
	o := preview.Object{
		ID: ref.ID(), Package: "mongodb", APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
		Action: action, Digest: DigestOf(ref.ID() + fmt.Sprint(body)), Origin: preview.Origin{File: "manifests/" + strings.ToLower(ref.Kind) + ".yaml", Document: 3, Line: 22},
		Planned: sealed, LiveBody: live, ResultBody: result, SecretKeys: preview.SecretKeys(live, sealed),
	}
	if live != nil {
		o.Live = preview.Live{UID: "uid-" + ref.Name, Fingerprint: DigestOf("live" + fmt.Sprint(live))}
		if result != nil {
			o.Changes = diff.Changes(o.Compared(result))
		}
	}
	if sealed == nil {
		o.Origin = preview.Origin{}
	}
	b.Plan.Objects = append(b.Plan.Objects, o)
	return &b.Plan.Objects[len(b.Plan.Objects)-1]
}

// Finding adds a finding to the plan; ref is the number of its rule, such as "RBAC-10".
func (b *PlanBuilder) Finding(s preview.Severity, rule, ref, object, title, why, evidence string) {
	b.Plan.Findings = append(b.Plan.Findings, findingtest.Worded(preview.Finding{
		ID: rule + "/" + object, Rule: rule, Severity: s, Ref: ref, Title: title, Why: why,
		Object: object, Evidence: evidence, Fingerprint: preview.TextFingerprint(rule, evidence),
	}))
}

// Grant adds a permission.
func (b *PlanBuilder) Grant(change, scope, namespace string, verbs, groups, resources, via, named []string) {
	b.Plan.Access.Grants = append(b.Plan.Access.Grants, preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "mongodb", Name: "operator"},
		Scope:   scope, Namespace: namespace, APIGroups: groups, Resources: resources, Verbs: verbs, Via: via, Change: change, Rules: named,
	})
}

// Gain adds a cluster-wide grant that the installed revision did not have.
func (b *PlanBuilder) Gain(verbs, groups, resources []string) {
	b.Plan.Access.Gained = append(b.Plan.Access.Gained, preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "mongodb", Name: "operator"},
		Scope:   preview.ScopeCluster, APIGroups: groups, Resources: resources, Verbs: verbs,
	})
}

// Seal completes the plan with stages, verdict and digest, and returns it.
func (b *PlanBuilder) Seal() *preview.Plan {
	b.t.Helper()
	b.Plan.Stages = preview.BuildStages(b.Plan.Objects, "")
	b.Plan.Verdict = verdict.Of(b.Plan, nil)
	if err := b.Plan.Seal(); err != nil {
		b.t.Fatal(err)
	}
	// Frames show digests: they must not move with the definition of Facts.
	b.Plan.Digest = DigestOf("plan to " + b.Plan.Request.Action)
	return b.Plan
}

// Manifest returns an object; spec are its top-level fields except metadata.
func Manifest(apiVersion, kind, namespace, name string, spec map[string]any) map[string]any {
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

// Deployment returns the Deployment that the test plans have.
func Deployment(image string, replicas int64) map[string]any {
	return Manifest("apps/v1", "Deployment", "mongodb", "operator", map[string]any{"spec": map[string]any{
		"replicas": replicas,
		"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "operator", "image": image}}}},
	}})
}

// ClusterRole returns a role that permits to read these resources of the core group.
func ClusterRole(name string, resources ...any) map[string]any {
	return Manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "", name, map[string]any{"rules": []any{map[string]any{
		"apiGroups": []any{""}, "resources": resources, "verbs": []any{"get", "list", "watch"},
	}}})
}

// managed returns an entry of metadata.managedFields.
func managed(manager, at string, fields map[string]any) map[string]any {
	return map[string]any{"manager": manager, "operation": "Apply", "time": at, "fieldsType": "FieldsV1", "fieldsV1": fields}
}

// The ids of objects of the plans.
const (
	RoleObject    = "rbac.authorization.k8s.io/ClusterRole/-/mongodb-operator"
	WebhookObject = "admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/mongodb-webhook"
	DeployObject  = "apps/Deployment/mongodb/operator"
)

// FreshPlan returns a plan that installs a package, with three critical findings.
func FreshPlan(t *testing.T) *preview.Plan {
	b := NewPlan(t, preview.RequestInstall)
	b.Object(preview.ActionCreate, Manifest("v1", "Namespace", "", "mongodb", nil), nil, nil)
	b.Object(preview.ActionCreate, Manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	b.Object(preview.ActionCreate, ClusterRole("mongodb-operator", "secrets"), nil, nil)
	b.Object(preview.ActionCreate, Manifest("v1", "Secret", "mongodb", "ops-manager", map[string]any{"data": map[string]any{"password": "aHVudGVyMg=="}}), nil, nil)
	b.Object(preview.ActionCreate, Manifest("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "mongodb-webhook", map[string]any{
		"webhooks": []any{map[string]any{"name": "mdb.mongodb.com", "failurePolicy": "Fail"}}}), nil, nil)
	b.Object(preview.ActionCreate, Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), nil, nil)
	for i := range 14 {
		b.Object(preview.ActionCreate, Manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", fmt.Sprintf("kind%02d.mongodb.com", i), nil), nil, nil)
	}
	b.Finding(preview.Critical, rules.RBACSecretsRead.Name, "RBAC-10", RoleObject, "reads every Secret",
		"can read the content of every Secret in every namespace, tokens and TLS keys included",
		"ServiceAccount mongodb/operator\nscope cluster\nget, list, watch\nsecrets in \"\"")
	b.Finding(preview.Critical, "webhook-fail-closed", "WH-01", WebhookObject, "webhook fails closed, all namespaces",
		"if the webhook has no ready pod, every create or update of the resources it intercepts is refused",
		"webhooks[0].failurePolicy: Fail\nwebhooks[0].namespaceSelector: (none)")
	b.Finding(preview.Critical, rules.PodPrivileged.Name, "POD-01", DeployObject, rules.PodPrivileged.Title,
		"a privileged container can take over its node", "container operator: securityContext.privileged: true")
	b.Finding(preview.Warning, rules.ImageByTag.Name, "POD-12", DeployObject, "image by tag, not by digest",
		"the tag can move after this review", "quay.io/mongodb/mongodb-kubernetes:1.10.0")
	b.Finding(preview.Warning, "rbac-leases", "RBAC-77", RoleObject, "can write Leases in every namespace",
		"can disturb the leader election of others", "leases update cluster")
	b.Finding(preview.Info, "rbac-events", "RBAC-75", RoleObject, "can write Events", "normal for controllers", "events create")
	via := []string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"}
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"get", "list", "watch"}, []string{""}, []string{"secrets"}, via, []string{rules.RBACSecretsRead.Name})
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"create", "patch"}, []string{""}, []string{"events"}, via, []string{"rbac-events"})
	b.Grant(preview.GrantNew, preview.ScopeNamespace, "mongodb", []string{"create", "get", "update"}, []string{"coordination.k8s.io"}, []string{"leases"},
		[]string{"Role/mongodb/leader", "RoleBinding/mongodb/leader"}, nil)
	b.Plan.Cloud.Permissions = []preview.CloudPermission{{Provider: "aws", Origin: "CredentialsRequest/mongodb/backup", Effect: "Allow",
		Actions: []string{"s3:GetObject", "s3:PutObject"}, Resources: []string{"arn:aws:s3:::backups/*"}, Change: preview.GrantNew}}
	return b.Seal()
}

// UpgradePlan returns a plan that changes and deletes objects, and that has an object
// that could not be read.
func UpgradePlan(t *testing.T) *preview.Plan {
	b := NewPlan(t, preview.RequestUpgrade)
	b.Plan.Base = preview.Base{Revision: 3, Digest: DigestOf("base")}
	pkg := &b.Plan.Packages[0]
	pkg.Verification = preview.Verification{Status: "verified", Identity: "key " + DigestOf("signer")}
	pkg.Via[0].Verification = &preview.Verification{Status: "unverified"}
	pkg.Referrers = []preview.Referrer{{ArtifactType: "application/spdx+json", Digest: DigestOf("sbom")}}
	live, result := Deployment("quay.io/mongodb/mongodb-kubernetes:1.8.1", 1), Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 2)
	preview.Map(live, "spec")["paused"] = true
	preview.Map(live, "metadata")["managedFields"] = []any{
		managed("kubectl-operator", "2026-03-02T08:00:00Z", map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}, "f:template": map[string]any{}}}),
		managed("kubectl-edit", "2026-11-02T08:00:00Z", map[string]any{"f:spec": map[string]any{"f:paused": map[string]any{}}}),
	}
	preview.Map(result, "spec")["paused"] = true
	b.Object(preview.ActionUpdate, Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 2), live, result)
	secret := func(v string) map[string]any {
		return Manifest("v1", "Secret", "mongodb", "ops-manager", map[string]any{"data": map[string]any{"password": v, "user": "YWRtaW4="}})
	}
	b.Object(preview.ActionUpdate, secret("bmV3"), secret("b2xk"), secret("bmV3"))
	b.Object(preview.ActionDelete, nil, Manifest("v1", "ConfigMap", "mongodb", "legacy", map[string]any{"data": map[string]any{"a": "b"}}), nil)
	b.Object(preview.ActionUnknown, ClusterRole("mongodb-operator", "configmaps"), nil, nil)
	for i := range 5 {
		crd := Manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", fmt.Sprintf("kind%02d.mongodb.com", i), nil)
		b.Object(preview.ActionUnchanged, crd, crd, nil)
	}
	b.Plan.Unknowns = []preview.Unknown{{Object: RoleObject, Why: "forbidden"}}
	b.Finding(preview.NotKnown, rules.Unknown.Name, "", RoleObject, "live state could not be read", "shown as unknown, not as unchanged", "forbidden")
	b.Finding(preview.Warning, rules.RBACSecretsRead.Name, "RBAC-10", RoleObject, "ServiceAccount operator: can read Secrets in namespace mongodb",
		rules.RBACSecretsRead.Why, "ServiceAccount mongodb/operator in namespace mongodb: get secrets of core")
	b.Plan.Findings[len(b.Plan.Findings)-1].AcceptedIn = 2
	b.Finding(preview.Warning, rules.ImageByTag.Name, "POD-12", DeployObject, "Deployment operator: has an image by tag", "The tag can move after this review.", "container operator: quay.io/mongodb/mongodb-kubernetes:1.10.0")
	b.Finding(preview.Warning, rules.ObjectDeleted.Name, "", "core/ConfigMap/mongodb/legacy", "deletes an object of the installed revision", "it is not in the new bundle", "core/ConfigMap/mongodb/legacy")
	via := []string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"}
	b.Grant(preview.GrantSame, preview.ScopeCluster, "", []string{"get", "list", "watch"}, []string{""}, []string{"configmaps"}, via, nil)
	b.Grant(preview.GrantWidened, preview.ScopeCluster, "", []string{"get", "list", "watch", "patch"}, []string{"apps"}, []string{"deployments", "statefulsets"}, via, nil)
	b.Grant(preview.GrantSame, preview.ScopeNamespace, "mongodb", []string{"get"}, []string{""}, []string{"secrets"},
		[]string{"Role/mongodb/backup", "RoleBinding/mongodb/backup"}, nil)
	b.Plan.Access.Grants[len(b.Plan.Access.Grants)-1].Held = true
	b.Grant(preview.GrantNew, preview.ScopeCluster, "", []string{"*"}, []string{"apps"}, []string{"*"}, via, []string{rules.RBACGroupWildcard.Name})
	b.Gain([]string{"patch"}, []string{"apps"}, []string{"deployments", "statefulsets"})
	b.Gain([]string{"*"}, []string{"apps"}, []string{"*"})
	b.Plan.Access.Wildcards = access.Expand(b.Plan.Access.Grants, access.BuiltInServed(), nil)
	b.Plan.Access.Wildcards.Against = preview.AgainstCluster
	return b.Seal()
}

// CleanPlan returns a plan without findings.
func CleanPlan(t *testing.T) *preview.Plan {
	b := NewPlan(t, preview.RequestInstall)
	b.Object(preview.ActionCreate, Manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	b.Object(preview.ActionCreate, Deployment("quay.io/mongodb/agent@"+DigestOf("agent"), 1), nil, nil)
	return b.Seal()
}
