package registryv1

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Policies are read from the description of the ClusterServiceVersion and from documents
// next to the objects, and not from other files of a bundle.
func TestPoliciesThatABundleDocuments(t *testing.T) {
	const policy = `{"Statement": [{"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}]}`
	described := func(spec map[string]any) { spec["description"] = "Needs a role:\n\n```json\n" + policy + "\n```\n" }
	content := makeBundle(t, described, map[string]string{
		"docs/backup.md":      "```json\n" + policy + "\n```\n",
		"iam.json":            policy,
		"docs/readme.md":      "nothing about clouds",
		"docs/broken.json":    "{",
		"docs/program.go":     policy,
		"metadata/extra.json": policy,
		"tests/case.json":     policy,
		".github/policy.json": policy,
	})
	var got []string
	for _, d := range mustRender(t, content, format.Params{}).CloudDocuments {
		got = append(got, d.Place)
	}
	if want := "the description of package demo, the document docs/backup.md of package demo, the document iam.json of package demo"; strings.Join(got, ", ") != want {
		t.Errorf("policies are in %s; want %s", strings.Join(got, ", "), want)
	}
	if got := mustRender(t, makeBundle(t, nil, nil), format.Params{}).CloudDocuments; got != nil {
		t.Errorf("a bundle without documents has %v", got)
	}
}
