package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// planOf makes a plan that creates the objects of a YAML stream in namespace
// app, with grants and cloud access as the engine computes them.
func planOf(t testing.TB, text string) *preview.Plan {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}
	var bodies []map[string]any
	for _, doc := range docs {
		list, err := preview.Flatten(doc)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, list...)
	}
	for _, body := range bodies {
		p.Objects = append(p.Objects, object(body))
	}
	p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	p.Cloud = cloud.Delta(preview.Cloud{}, cloud.Scan(cloud.Input{Objects: bodies}))
	return p
}

func object(body map[string]any) preview.Object {
	ref := preview.RefOf(body)
	return preview.Object{
		ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
		Action: preview.ActionCreate, Planned: body,
	}
}

func evaluate(t testing.TB, in Input) []preview.Finding {
	t.Helper()
	findings, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// find returns the first finding of a rule, nil when there is none.
func find(findings []preview.Finding, rule string) *preview.Finding {
	for i := range findings {
		if findings[i].Rule == rule {
			return &findings[i]
		}
	}
	return nil
}

// grantOf reads "GROUPS|RESOURCES|VERBS" or "GROUPS|RESOURCES|VERBS|NAMES";
// lists are separated by commas, URLs stand where resources do.
func grantOf(text string) preview.Grant {
	parts := strings.Split(text, "|")
	g := preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}, Scope: preview.ScopeCluster,
		APIGroups: strings.Split(parts[0], ","), Resources: strings.Split(parts[1], ","), Verbs: strings.Split(parts[2], ","),
		Via: []string{"ClusterRole/r", "ClusterRoleBinding/b"}, Change: preview.GrantNew,
	}
	if strings.HasPrefix(parts[1], "/") {
		g.NonResourceURLs, g.Resources, g.APIGroups = []string{strings.TrimPrefix(parts[1], "/")}, nil, nil
	}
	if len(parts) > 3 {
		g.ResourceNames = strings.Split(parts[3], ",")
	}
	return g
}

func grantsPlan(texts ...string) *preview.Plan {
	p := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}
	for _, text := range texts {
		p.Access.Grants = append(p.Access.Grants, grantOf(text))
	}
	return p
}

const (
	bindingHead = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n"
	roleHead    = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r"
)

func toRole(role, subject string) string {
	return bindingHead + "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role + "}\nsubjects: [" + subject + "]\n"
}

// pod makes a Deployment with one container, restricted unless settings say
// otherwise.
func pod(podFields, containerFields string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op, namespace: app}\nspec: {template: {spec: {" + podFields +
		"containers: [{name: c, " + containerFields + "}]}}}\n"
}

func request(spec string) string {
	return "apiVersion: cloudcredential.openshift.io/v1\nkind: CredentialsRequest\nmetadata: {name: op, namespace: occo}\nspec: {providerSpec: {" + spec + "}}\n"
}

func awsRequest(entries string) string {
	return request("kind: AWSProviderSpec, statementEntries: [" + entries + "]")
}
