// Package reviewtest has plans of every kind for tests of what is shown of a plan.
package reviewtest

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/findingtest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// Digest returns a digest of one repeated character.
func Digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func body(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v in %s", len(docs), err, text)
	}
	return docs[0].(map[string]any)
}

// Object makes one object of a plan from its two bodies.
func Object(t testing.TB, action preview.Action, live, sealed string) preview.Object {
	t.Helper()
	o := preview.Object{Package: "mongodb", Action: action, Origin: preview.Origin{File: "manifests/all.yaml", Document: 3, Line: 22}}
	if live != "" {
		o.LiveBody = body(t, live)
		o.Live = preview.Live{UID: "0d1f", Fingerprint: Digest("f")}
	}
	of := o.LiveBody
	if sealed != "" {
		o.Planned = body(t, sealed)
		o.Digest, of = Digest("d"), o.Planned
	}
	ref := preview.RefOf(of)
	o.ID, o.APIVersion, o.Kind, o.Namespace, o.Name = ref.ID(), ref.APIVersion, ref.Kind, ref.Namespace, ref.Name
	o.SecretKeys = preview.SecretKeys(o.LiveBody, o.Planned)
	if live != "" && sealed != "" {
		o.Changes = diff.Changes(o.Compared(o.Planned))
	}
	return o
}

// Finding returns a finding with its claim and pieces.
func Finding(severity preview.Severity, rule, object, title, why, evidence string) preview.Finding {
	return findingtest.Worded(preview.Finding{
		ID: rule + "/" + object, Rule: rule, Severity: severity, Ref: "RBAC-10", Title: title, Why: why,
		Object: object, Evidence: evidence, Fingerprint: preview.TextFingerprint(rule, evidence),
	})
}

// Base returns a plan without objects for a request.
func Base(action string) *preview.Plan {
	return &preview.Plan{
		Tool:     preview.Tool{Version: "v0.1.0"},
		Request:  preview.Request{Reference: "mongodb", Version: ">=1.8", Channel: "stable", Action: action},
		Release:  preview.Release{Name: "mongodb", Namespace: "databases"},
		ReadMode: preview.ReadDryRun, Options: preview.DefaultOptions(),
		Target: preview.Target{
			Authenticated: "jane@example.com",
			Identity:      "3f6f1c52-0b7e-4c0a-9d0e-8a1f7c3f2a11", Server: "https://10.20.0.1:6443", Version: "v1.37.1",
			User: "jane@example.com", Context: "prod-eu-1",
		},
		Packages: []preview.Package{{
			Name: "mongodb", Version: "1.10.0", Bundle: "mongodb-kubernetes.v1.10.0", Format: "registry+v1", ContentDigest: Digest("c"),
			Parameters:   preview.Parameters{InstallMode: "AllNamespaces", Certs: "cert-manager"},
			Sources:      []preview.Source{{Kind: "image", Reference: "registry.example.com/bundles/mongodb", Digest: Digest("a")}},
			Via:          []preview.ResolutionStep{{Kind: "catalog", Reference: "registry.example.com/catalog:latest", Digest: Digest("b"), Channel: "stable"}},
			Verification: preview.Verification{Status: "unverified"},
		}},
		Objects: []preview.Object{},
	}
}

const (
	roleText = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: mongodb-operator}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}`
	saText   = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: operator, namespace: databases}}`
	deployV1 = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, namespace: databases}, spec: {replicas: 1, template: {spec: {containers: [{name: operator, image: "registry.example.com/mongodb:1.9", args: [--v=2, --leader-elect], env: [{name: DB_PASSWORD, value: pw-before}]}]}}}}`
	deployV2 = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, namespace: databases}, spec: {replicas: 2, template: {spec: {containers: [{name: operator, image: "registry.example.com/mongodb:1.10", args: [--v=3, --leader-elect], env: [{name: DB_PASSWORD, value: pw-after}]}]}}}}`
	configV1 = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: databases}, data: {app.conf: "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n", note: "two  spaces"}}`
	configV2 = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: databases}, data: {app.conf: "a = 1\nb = 2\nc = 30\nd = 4\ne = 5\nf = 6\n", note: "two spaces"}}`
	secretV1 = `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: databases}, data: {password: czNjcjN0, same: YQ==, old: YQ==}}`
	secretV2 = `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: databases}, data: {password: bjN3, same: YQ==, fresh: YQ==}}`
)

// Grant returns a grant of the account databases/operator.
func Grant(change string, scope string, verbs, groups, resources, rules []string) preview.Grant {
	g := preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "databases", Name: "operator"}, Scope: scope,
		APIGroups: groups, Resources: resources, Verbs: verbs, Change: change, Rules: rules,
		Via: []string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"},
	}
	if scope == preview.ScopeNamespace {
		g.Namespace, g.Via = "databases", []string{"Role/databases/leases", "RoleBinding/databases/leases"}
	}
	return g
}

// FreshInstall returns the plan of a first install.
func FreshInstall(t testing.TB) *preview.Plan {
	p := Base(preview.RequestInstall)
	p.Objects = []preview.Object{
		Object(t, preview.ActionCreate, "", roleText), Object(t, preview.ActionCreate, "", saText),
		Object(t, preview.ActionCreate, "", deployV2), Object(t, preview.ActionCreate, "", secretV2),
	}
	p.Stages = preview.BuildStages(p.Objects, "")
	p.Access.Grants = []preview.Grant{
		Grant("new", "cluster", []string{"get", "list", "watch"}, []string{""}, []string{"secrets"}, []string{rules.RBACSecretsRead.Name}),
		Grant("new", "cluster", []string{"create", "delete", "get", "list", "patch", "update", "watch"}, []string{"mongodb.com"}, []string{"mongodb", "mongodb/finalizers", "mongodb/status", "mongodbusers"}, nil),
		Grant("new", "namespace", []string{"get", "update"}, []string{"coordination.k8s.io"}, []string{"leases"}, nil),
	}
	p.Access.Grants[2].ResourceNames = []string{"mongodb-leader"}
	p.Access.Installer.Missing = []preview.MissingRight{{Verb: "create", Resource: "clusterroles.rbac.authorization.k8s.io", Why: "stage roles would be refused"}}
	p.Cloud.Permissions = []preview.CloudPermission{{
		Provider: "aws", Origin: "CredentialsRequest/databases/backup", Effect: "Allow", Actions: []string{"s3:GetObject", "s3:PutObject"},
		Resources: []string{"*"}, Conditions: map[string]any{"Bool": map[string]any{"aws:SecureTransport": "true"}}, Change: "new", Rules: []string{"cloud-wildcard-resource"},
	}}
	p.Cloud.Declared = []preview.CloudDeclaration{{Provider: "aws", Origin: "annotation features.operators.openshift.io/token-auth-aws"}}
	p.Images = []preview.Image{
		{Reference: "registry.example.com/mongodb:1.10", Digest: Digest("1"), UsedBy: []string{"apps/Deployment/databases/operator"}},
		{Reference: "registry.example.com/agent@" + Digest("2"), Digest: Digest("2"), Pinned: true},
	}
	p.Findings = []preview.Finding{
		Finding(preview.Critical, rules.RBACSecretsRead.Name, "rbac.authorization.k8s.io/ClusterRole/-/mongodb-operator",
			"ServiceAccount databases/operator can read every Secret", "Secrets hold the credentials of everything in the cluster. A process that runs as this account has all of them.",
			"get list watch secrets in every namespace"),
		Finding(preview.Warning, rules.ImageByTag.Name, "apps/Deployment/databases/operator", "1 image by tag, not by digest", "The tag can move after this review.", "registry.example.com/mongodb:1.10"),
		Finding(preview.Info, "crd-new", "apiextensions.k8s.io/CustomResourceDefinition/-/mongodb.mongodb.com", "1 new API: mongodb.mongodb.com", "", ""),
	}
	return p
}

func upgrade(t testing.TB) *preview.Plan {
	p := Base(preview.RequestUpgrade)
	p.Base = preview.Base{Revision: 3, Digest: Digest("9")}
	p.Packages[0].Verification = preview.Verification{Status: "verified", Identity: "release@example.com, as https://accounts.example.com vouches"}
	p.Packages[0].Via[0].Verification = &preview.Verification{Status: "verified", Identity: "key " + Digest("c")}
	p.Packages[0].Referrers = []preview.Referrer{{Digest: Digest("d")}, {ArtifactType: "application/spdx+json", Digest: Digest("7")}}
	p.Options.Conflicts = "take"
	p.Objects = []preview.Object{
		Object(t, preview.ActionUnchanged, saText, saText), Object(t, preview.ActionUpdate, deployV1, deployV2),
		Object(t, preview.ActionUpdate, configV1, configV2), Object(t, preview.ActionUpdate, secretV1, secretV2),
		Object(t, preview.ActionDelete, roleText, ""),
	}
	p.Objects[1].Conflicts = []preview.Conflict{{Manager: "helm", Path: ".spec.replicas"}}
	p.SetContested()
	p.Stages = preview.BuildStages(p.Objects, "")
	p.Packages[0].Parameters.Values = Digest("e")
	p.Access.Grants = []preview.Grant{
		Grant("same", "cluster", []string{"get", "list", "watch"}, []string{""}, []string{"secrets"}, []string{rules.RBACSecretsRead.Name}),
		Grant("widened", "cluster", []string{"create", "get", "patch"}, []string{"", "events.k8s.io"}, []string{"events"}, nil),
		Grant("removed", "namespace", []string{"*"}, []string{"apps"}, []string{"*"}, nil),
		Grant("widened", "cluster", []string{"*"}, []string{""}, []string{"*"}, []string{rules.RBACGroupWildcard.Name}),
		Grant("same", "cluster", []string{"get"}, []string{""}, []string{"nodes"}, nil),
	}
	p.Access.Gained = []preview.Grant{
		Grant("new", "cluster", []string{"patch"}, []string{"", "events.k8s.io"}, []string{"events"}, nil),
		Grant("new", "cluster", []string{"*"}, []string{""}, []string{"*"}, nil),
	}
	p.Access.Lost = []preview.Grant{Grant("removed", "namespace", []string{"*"}, []string{"apps"}, []string{"*"}, nil)}
	p.Access.Grants[4].Held, p.Access.Grants[4].Via = true, []string{"ClusterRole/theirs", "ClusterRoleBinding/theirs"}
	p.Access.Wildcards = access.Expand(p.Access.Grants, access.BuiltInServed(), nil)
	p.Access.Wildcards.Against, p.Access.Wildcards.Unanswered = preview.AgainstCluster, []string{"metrics.k8s.io/v1beta1"}
	p.Findings = []preview.Finding{
		Finding(preview.Warning, rules.RBACSecretsRead.Name, "rbac.authorization.k8s.io/ClusterRole/-/mongodb-operator", "ServiceAccount databases/operator can read every Secret", "Accepted before.", "get list watch secrets"),
	}
	p.Findings[0].AcceptedIn = 3
	return p
}

func unknowns(t testing.TB) *preview.Plan {
	p := Base(preview.RequestInstall)
	p.Release.Name = "second"
	webhook := `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: mongodb}}`
	foreign := `{apiVersion: v1, kind: ConfigMap, metadata: {name: taken, namespace: databases}}`
	p.Objects = []preview.Object{Object(t, preview.ActionUnknown, "", webhook), Object(t, preview.ActionCreate, "", foreign)}
	id := p.Objects[0].ID
	p.Unknowns = []preview.Unknown{{Object: id, Why: "forbidden"}}
	p.Findings = []preview.Finding{Finding(preview.NotKnown, "unknown", id, "live state of ValidatingWebhookConfiguration mongodb", "It could exist already; then this is not what would happen.", "forbidden")}
	return p
}

// Evil is text that no part of a report may pass on as it is.
const Evil = "x\x1b[31m\x1b]8;;http://evil\a\r\u202Egpj\u200b\x9b <script>alert(1)</script> **b** [l](http://evil) ![i](http://evil) @everyone `` ` | $(reboot) '; reboot; ' # \n\n</details>\n```\n# heading"

func hostile(_ testing.TB) *preview.Plan { return HostilePlan(Evil) }

// HostilePlan holds a text wherever a plan holds text from outside.
func HostilePlan(evil string) *preview.Plan {
	p := Base(preview.RequestInstall)
	p.Request = preview.Request{Reference: evil, Version: evil, Channel: evil, Action: "install"}
	p.Release = preview.Release{Name: evil, Namespace: evil}
	p.Target = preview.Target{Identity: evil, Server: evil, Version: evil, User: evil, Context: evil}
	pkg := &p.Packages[0]
	pkg.Name, pkg.Version, pkg.Bundle, pkg.Format = evil, evil, evil, evil
	pkg.Parameters = preview.Parameters{InstallMode: evil, WatchNamespaces: []string{evil}, Values: evil, Certs: evil, KubeVersion: evil}
	pkg.Sources = []preview.Source{{Kind: evil, Reference: evil, Digest: evil}}
	pkg.Via = []preview.ResolutionStep{{
		Kind: "catalog", Reference: evil, Digest: evil, Channel: evil,
		Verification: &preview.Verification{Status: evil, Identity: evil},
	}}
	for range 20 + 2 {
		pkg.Referrers = append(pkg.Referrers, preview.Referrer{ArtifactType: evil, Digest: evil})
	}
	pkg.Verification = preview.Verification{Status: evil, Identity: evil}
	o := preview.Object{
		ID: evil, Kind: evil, Namespace: evil, Name: evil, Action: preview.ActionUpdate, Origin: preview.Origin{File: evil},
		Conflicts: []preview.Conflict{{Manager: evil, Path: evil}}, Contested: []preview.ContestedField{{Manager: evil, Path: evil, Since: evil, Live: evil, Planned: evil}}, SecretKeys: map[string]string{evil: evil},
		Changes: []preview.Change{
			{Path: evil, Op: "change", From: evil, To: evil + "\nmore"}, {Path: evil, Op: "add", To: map[string]any{evil: evil}},
			{Path: evil, Op: "remove", From: []any{evil}}, {Path: evil, Op: "change", From: int64(1), To: evil},
		},
		Planned: map[string]any{"apiVersion": evil, "kind": evil, "metadata": map[string]any{"name": evil, evil: evil}},
	}
	created := o
	created.Action, created.ID = preview.ActionCreate, "other"
	p.Objects = []preview.Object{o, created}
	p.Stages = []preview.Stage{{ID: evil, Objects: []string{evil}}, {ID: evil}}
	p.Files = []preview.File{{Path: evil, Mode: evil, SHA256: evil, Origin: evil, Contents: evil, Action: preview.ActionCreate, Changes: []preview.Change{
		{Path: evil, Op: "change", From: evil, To: evil + "\nmore\n"}, {Path: evil, Op: "add", To: evil + "\n"}, {Path: evil, Op: "remove", From: evil},
		{Path: evil, Op: "change", From: map[string]any{evil: evil}, To: evil},
	}}, {Path: evil, Action: preview.ActionDelete, Live: preview.LiveFile{SHA256: evil, Mode: evil}}}
	p.ConfigChanges = []preview.Change{{Path: evil, Op: "change", From: evil, To: evil + "\nmore"}}
	p.Platforms = []preview.PlatformContent{{Platform: evil, ContentDigest: evil, Files: []preview.PlatformFile{{Path: evil, Mode: evil, SHA256: evil, Origin: evil, Contents: evil}}}}
	pkg.Executors = []preview.Executor{{Image: evil, By: evil}}
	pkg.Sources = append(pkg.Sources, preview.Source{Kind: evil, Reference: evil, Digest: evil, Verification: &preview.Verification{Status: evil, Identity: evil}})
	p.Access.Grants = []preview.Grant{{
		Subject: preview.Subject{Kind: evil, Namespace: evil, Name: evil}, Scope: "namespace", Namespace: evil, APIGroups: []string{evil},
		Resources: []string{evil}, ResourceNames: []string{evil}, Verbs: []string{evil}, Via: []string{evil}, Change: evil, Rules: []string{evil},
	}}
	p.Access.Wildcards = &preview.Wildcards{Against: evil, Version: evil, Why: evil, Unanswered: []string{evil}, Meanings: []preview.WildcardExpansion{{
		Scope: "namespace", APIGroups: []string{evil}, Resources: []string{evil}, Verbs: []string{evil}, Count: 2,
		Dangerous: []preview.ResourceAccess{{Resource: evil, Verbs: []string{evil}}}, Others: []preview.ResourceAccess{{Resource: evil, Verbs: []string{evil}}},
		NotServed: []string{evil},
	}}}
	p.Access.Installer.Missing = []preview.MissingRight{{Verb: evil, Resource: evil, Why: evil}}
	p.Cloud.Permissions = []preview.CloudPermission{{
		Provider: evil, Origin: evil, Effect: evil, Actions: []string{evil}, Resources: []string{evil}, Roles: []string{evil},
		Conditions: map[string]any{evil: evil}, Change: evil, Rules: []string{evil},
	}, {
		Provider: "aws", Origin: "CredentialsRequest/" + evil + "/" + evil + " in ConfigMap/" + evil, Effect: "Deny", Actions: []string{evil, "s3:" + evil},
		Resources: []string{evil, "arn:aws:s3:::" + evil}, Conditions: map[string]any{"StringEquals": map[string]any{evil: []any{evil, int64(1)}}}, Change: "widened", Rules: []string{"cloud-wildcard"},
	}}
	p.Cloud.Declared = []preview.CloudDeclaration{{Provider: evil, Origin: evil}}
	p.Images = []preview.Image{{Reference: evil, Digest: evil}, {Reference: evil, Pinned: true}}
	for _, s := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown, preview.Info} {
		p.Findings = append(p.Findings, findingtest.Worded(preview.Finding{ID: evil, Rule: evil, Severity: s, Ref: evil, Title: evil, Why: evil, Object: evil, Evidence: evil, Fingerprint: evil}))
	}
	p.Findings = append(p.Findings, HostileFindings(evil)...)
	p.Unknowns = []preview.Unknown{{Object: evil, Why: evil}}
	return p
}

// HostileFindings returns findings of every severity made of a text.
func HostileFindings(evil string) []preview.Finding {
	judged := &preview.PolicyDecision{By: preview.JudgedBySeverity, Was: preview.Critical, Owner: evil, Reason: evil, Expires: evil}
	issue := schema.Issue{Version: evil, Path: "spec." + evil, What: "enum", Before: evil, After: evil}
	var dropped schema.Group
	dropped.Add(map[string]any{"metadata": map[string]any{"namespace": evil, "name": evil}}, []string{evil, evil})
	var out []preview.Finding
	for _, rule := range []struct{ name, object, evidence string }{
		{rules.CRDEnumNarrowed.Name, "apiextensions.k8s.io/CustomResourceDefinition/-/" + evil, issue.String() + "; " + issue.String()},
		{rules.CRDStoredObjectsLoseFields.Name, "apiextensions.k8s.io/CustomResourceDefinition/-/" + evil, strings.Join(dropped.Evidence(&schema.Outcome{Checked: 1, Total: 2}), "; ")},
		{rules.CRDKept.Name, "apiextensions.k8s.io/CustomResourceDefinition/-/" + evil, "serves " + evil},
		{rules.WebhookWithoutCA.Name, "admissionregistration.k8s.io/MutatingWebhookConfiguration/-/" + evil, "webhook " + evil + ": calls https://" + evil},
		{"cloud-wildcard", "cloudcredential.openshift.io/CredentialsRequest/" + evil + "/" + evil, "aws Allow " + evil + " on " + evil + " if " + evil},
	} {
		for _, severity := range []preview.Severity{preview.Critical, preview.Info} {
			f := Finding(severity, rule.name, rule.object, "CustomResourceDefinition "+evil+" changes", evil, rule.evidence)
			f.Counted, f.AlsoIn, f.Judged = evil, evil, judged
			out = append(out, f)
		}
	}
	return out
}

// severalPackages is a plan of two packages, of which one requires the other.
func severalPackages(t testing.TB) *preview.Plan {
	p := FreshInstall(t)
	p.Packages[0].Dependencies = []preview.Dependency{
		{Constraint: "package cert-manager >=1.18", By: "cert-manager 1.18.2", Detail: "in this plan"},
		{Constraint: "api monitoring.coreos.com/v1/ServiceMonitor", By: "the cluster"},
	}
	p.Packages[0].Isolation = "child process; no network"
	p.Packages[0].Via[0].Why = "the highest version of channel stable"
	p.Packages[0].Via[0].Rejected = []preview.RejectedCandidate{{Catalog: "registry.example.com/old:latest", Version: "1.9.0", Why: "its catalog has a lower priority"}}
	p.Packages = append(p.Packages, preview.Package{
		Name: "cert-manager", Version: "1.18.2", Bundle: "cert-manager.v1.18.2", Format: "registry+v1", ContentDigest: Digest("e"),
		Sources: []preview.Source{{Kind: "image", Reference: "registry.example.com/bundles/cert-manager", Digest: Digest("f")}},
	})
	p.Objects[1].Package = "cert-manager"
	return p
}

func offline(t testing.TB) *preview.Plan {
	p := Base(preview.RequestInstall)
	p.Request = preview.Request{Reference: "./bundle dir", Action: "install"}
	p.Packages[0].Via = nil
	p.Packages[0].Sources = []preview.Source{{Kind: "directory", Reference: "./bundle dir", Digest: Digest("a")}}
	p.ReadMode, p.Target = preview.ReadOffline, preview.Target{}
	p.Objects = []preview.Object{Object(t, preview.ActionCreate, "", saText)}
	return p
}

func blocked(t testing.TB) *preview.Plan {
	p := Base(preview.RequestUpgrade)
	p.Base.Revision = 1
	p.Objects = []preview.Object{Object(t, preview.ActionBlocked, saText, saText)}
	return p
}

// adoption takes an object over from OLM v0.
func adoption(t testing.TB) *preview.Plan {
	p := Base(preview.RequestInstall)
	adopted := Object(t, preview.ActionAdopt, saText, saText)
	adopted.Adoption = &preview.Adoption{
		OwnerReferences: []string{"ClusterServiceVersion/op.v1"}, Marks: []string{"olm.owner", "olm.owner.namespace"}, Managers: []string{"olm"},
	}
	former := Object(t, preview.ActionDelete, "{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: op.v1, namespace: mongodb}}", "")
	former.Adoption = &preview.Adoption{Releases: []string{adopted.ID}}
	p.Objects = []preview.Object{adopted, former}
	return p
}

func nothing(t testing.TB) *preview.Plan {
	p := Base(preview.RequestUpgrade)
	p.Base.Revision = 1
	p.Objects = []preview.Object{Object(t, preview.ActionUnchanged, saText, saText)}
	return p
}

// pluginSet changes every kind of file of a set, and the settings of its host.
func pluginSet(t testing.TB) *preview.Plan {
	t.Helper()
	sum := func(c string) string { return strings.TrimPrefix(Digest(c), "sha256:") }
	p := &preview.Plan{
		Request: preview.Request{Action: preview.RequestInstall, File: "plugins.yaml"}, Release: preview.Release{Name: "optimus"},
		ReadMode: preview.ReadOffline, Options: preview.DefaultOptions(), Platform: "linux/amd64",
		Generation: &preview.Generation{From: 3, To: 4}, Location: &preview.Location{Path: "/srv/optimus/.plugins", Host: "0123456789abcdef"},
		Packages: []preview.Package{{
			Name: "optimus", Version: "1.2.0", Bundle: "optimus", Format: "plugins/optimus", ContentDigest: Digest("1"),
			Executors: []preview.Executor{{Image: "docker.io/org/neo:2", By: "file/optimus-plugin-neo.yaml"}},
			Sources: []preview.Source{
				{Kind: "image", Reference: "oci://registry.example.com/neo:2", Digest: Digest("2"), Verification: &preview.Verification{Status: "verified", Identity: "release@example.com"}},
				{Kind: "archive", Reference: "https://example.com/trinity.tgz", Digest: Digest("3"), Verification: &preview.Verification{Status: "unverified"}},
			},
			Verification: preview.Verification{Status: "unverified"},
		}},
		Images: []preview.Image{{Reference: "docker.io/org/neo:2", Digest: Digest("4"), UsedBy: []string{"file/optimus-plugin-neo.yaml"}}},
		ConfigChanges: []preview.Change{
			{Path: ".plugins.neo.executorImage", Op: "change", From: "docker.io/org/neo:1", To: "docker.io/org/neo:2"},
			{Path: ".plugins.neo.password", Op: "add", To: preview.Masked},
		},
		Platforms: []preview.PlatformContent{
			{Platform: "linux/amd64", ContentDigest: Digest("5")},
			{Platform: "linux/arm64", ContentDigest: Digest("6"), Files: []preview.PlatformFile{{Path: "trinity", Mode: "0755", Size: 4096, SHA256: sum("7"), Origin: "https://example.com/trinity-arm64.tgz trinity", Contents: "ELF linux/arm64; go1.26.0"}}},
		},
	}
	p.Files = []preview.File{
		{Path: "gone.sh", Action: preview.ActionDelete, Live: preview.LiveFile{SHA256: sum("8"), Mode: "0755"}},
		{Path: "new.sh", Action: preview.ActionCreate, Mode: "0755", Size: 20, SHA256: sum("9"), Origin: "https://example.com/new.sh", Contents: "script for /bin/sh",
			Changes: []preview.Change{{Path: "lines 1-2", Op: "add", To: "#!/bin/sh\nexec neo\n"}}},
		{Path: "optimus-plugin-neo.yaml", Action: preview.ActionUpdate, Mode: "0644", Size: 200, SHA256: sum("a"), Origin: "oci://registry.example.com/neo:2 optimus-plugin-neo.yaml",
			Contents: "Optimus task neo 2.0.0, image docker.io/org/neo:2, 1 question, 0 defaults", Live: preview.LiveFile{SHA256: sum("b"), Mode: "0644"},
			Changes: []preview.Change{{Path: ".image", Op: "change", From: "docker.io/org/neo:1", To: "docker.io/org/neo:2"}, {Path: ".questions[name=MODE].prompt", Op: "add", To: "Which mode?"}}},
		{Path: "run.sh", Action: preview.ActionUpdate, Mode: "0755", Size: 30, SHA256: sum("c"), Origin: "https://example.com/run.sh", Contents: "script for /bin/sh", Live: preview.LiveFile{SHA256: sum("d"), Mode: "0644"},
			Changes: []preview.Change{{Path: "lines 1-3", Op: "change", From: "#!/bin/sh\nset -e\nold | sh\n", To: "#!/bin/sh\nset -e\nnew | sh\n"}}},
		{Path: "same", Action: preview.ActionUnchanged, Mode: "0644", Size: 1, SHA256: sum("e"), Contents: "text", Live: preview.LiveFile{SHA256: sum("e"), Mode: "0644"}},
		{Path: "trinity", Action: preview.ActionUpdate, Mode: "0755", Size: 4096, SHA256: sum("f"), Origin: "https://example.com/trinity.tgz trinity",
			Contents: "ELF linux/amd64; go1.26.0, example.com/trinity v1.1.0, 2 modules", Live: preview.LiveFile{SHA256: sum("0"), Mode: "0755"},
			Changes: []preview.Change{{Path: ".build.dependencies['example.com/x']", Op: "change", From: "v1.0.0", To: "v1.0.1"}, {Path: ".build.version", Op: "change", From: "v1.0.0", To: "v1.1.0"}}},
	}
	return p
}

// Plans returns plans of every kind, by name.
func Plans(t testing.TB) map[string]*preview.Plan {
	t.Helper()
	all := map[string]*preview.Plan{
		"fresh-install": FreshInstall(t), "upgrade": upgrade(t), "unknowns": unknowns(t), "hostile": hostile(t),
		"offline": offline(t), "blocked": blocked(t), "several-packages": severalPackages(t), "nothing-to-do": nothing(t), "adoption": adoption(t), "empty": {},
		"plugin-set": pluginSet(t),
	}
	for name, p := range all {
		if err := p.Seal(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}
