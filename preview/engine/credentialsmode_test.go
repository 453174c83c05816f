package engine_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// The two kinds of OpenShift, with schemas that keep everything.
const openshiftKinds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: cloudcredentials.operator.openshift.io
  annotations: {api-approved.kubernetes.io: unapproved}
spec:
  group: operator.openshift.io
  scope: Cluster
  names: {kind: CloudCredential, plural: cloudcredentials}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: credentialsrequests.cloudcredential.openshift.io}
spec:
  group: cloudcredential.openshift.io
  scope: Namespaced
  names: {kind: CredentialsRequest, plural: credentialsrequests}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

const bucketRequest = `
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: op, namespace: modes}
spec:
  secretRef: {name: cloud, namespace: modes}
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries: [{effect: Allow, action: ["s3:GetObject"], resource: "arn:aws:s3:::backup/*"}]
`

const requestsOnly = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: requests-only}
rules:
- {apiGroups: [cloudcredential.openshift.io], resources: [credentialsrequests], verbs: [get, list, create, patch]}
- {apiGroups: [""], resources: [namespaces], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: requests-only}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: requests-only}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: requests-only}]
`

// The cluster's mode decides the effect of a request. It is a Fact: a cluster that
// changes it between review and apply is told apart.
func TestClusterModeOfCloudCredentialsIsReadFromTheCluster(t *testing.T) {
	box := sandboxtest.Borrow(t)
	client := connected(t, box)
	content, release := prepared(t, "modes", bucketRequest)
	build := func(client *k8s.Client) *preview.Plan {
		t.Helper()
		p, err := engine.Build(t.Context(), []planned.Content{content}, client, engine.Options{
			Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const mode = "cloud-credentials-mode/operator.openshift.io/CloudCredential/-/cluster"
	if f := findingOf(build(client), mode); f != nil {
		t.Errorf("of a cluster without the kind it says %+v", f)
	}
	kinds, _ := prepared(t, "modes", openshiftKinds)
	applyDefinitions(t, box, kinds)
	if f := findingOf(build(client), mode); f != nil {
		t.Errorf("of a cluster without the object it says %+v", f)
	}
	var digests []string
	for _, test := range []struct {
		value    string
		severity preview.Severity
		evidence string
	}{
		{"Mint", preview.Info, "mode mint: CredentialsRequest/modes/op (aws) gets an identity of its own"},
		{"Passthrough", preview.Warning, "mode passthrough: CredentialsRequest/modes/op (aws) gets a copy of the credential of the cluster"},
	} {
		body := parseAll(t, "apiVersion: operator.openshift.io/v1\nkind: CloudCredential\nmetadata: {name: cluster}\nspec: {credentialsMode: "+test.value+", logLevel: Normal}\n")[0]
		live := client.Read(t.Context(), []preview.Ref{preview.RefOf(body)})[0].Body
		if _, err := client.Apply(t.Context(), preview.DryRun{
			Body: body, UID: preview.String(live, "metadata", "uid"), ResourceVersion: preview.String(live, "metadata", "resourceVersion"),
		}); err != nil {
			t.Fatal(err)
		}
		p := build(client)
		if f := findingOf(p, mode); f == nil || f.Severity != test.severity || f.Evidence != test.evidence {
			t.Errorf("%s: %+v", test.value, f)
		}
		digests = append(digests, p.Digest)
		again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
		if err != nil || again.Digest != p.Digest {
			t.Errorf("%s: checked again it has another digest: %v", test.value, err)
		}
		tamperEveryLeaf(t, p)
	}
	if digests[0] == digests[1] {
		t.Error("plans for two modes have one digest")
	}
	for _, body := range parseAll(t, requestsOnly) {
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	limited, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sandboxtest.User(t, box, "requests-only")})
	if err != nil {
		t.Fatal(err)
	}
	if f := findingOf(build(limited), mode); f == nil || f.Severity != preview.Info || !strings.Contains(f.Evidence, "may not be read") {
		t.Errorf("forbidden: %+v", f)
	}
}

// prepared makes content of a YAML stream.
func prepared(t *testing.T, name, text string) (planned.Content, preview.Release) {
	t.Helper()
	var rendered []format.RenderedObject
	for _, body := range parseAll(t, text) {
		rendered = append(rendered, format.RenderedObject{Body: body})
	}
	release := preview.Release{Name: name, Namespace: name}
	content, err := planned.Prepare(release, planned.Material{
		Info: format.Info{Package: name}, Output: &format.Output{Objects: rendered},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(text))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content, release
}
