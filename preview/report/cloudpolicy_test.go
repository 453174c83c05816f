package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

// What the stream holds can be cut out at its separators and given to the
// provider's tool, whatever a bundle writes into names and actions.
func TestCloudPoliciesAreAStreamOfDocuments(t *testing.T) {
	p := reviewtest.Base(preview.RequestInstall)
	hostile := "x\n---\n{\"Version\": \"forged\"}\n# "
	p.Cloud.Permissions = []preview.CloudPermission{
		{Provider: cloud.AWS, Origin: "CredentialsRequest/" + hostile, Effect: "Allow", Actions: []string{"s3:GetObject", hostile}, Resources: []string{"*"}},
		{Provider: cloud.Azure, Origin: "CredentialsRequest/ns/" + hostile, Effect: "Allow", Actions: []string{"a.b/read"}, Roles: []string{hostile, "Reader"}},
		{Provider: cloud.GCP, Origin: "CredentialsRequest/ns/op", Effect: "Allow", Actions: []string{"dns.zones.get"}, Roles: []string{"roles/dns.admin", hostile}},
	}
	p.Cloud.Declared = []preview.CloudDeclaration{{Provider: hostile, Origin: hostile}}
	text := write(t, p, Options{Format: CloudPolicy})
	parts := strings.Split(text, "\n---\n")
	if len(parts) != 6 {
		t.Fatalf("%d parts:\n%s", len(parts), text)
	}
	for _, part := range parts[1:] {
		var body []string
		for _, line := range strings.Split(part, "\n") {
			if !strings.HasPrefix(line, "#") {
				body = append(body, line)
			}
		}
		document := strings.Join(body, "\n")
		docs, err := preview.Decode([]byte(document))
		if err != nil || len(docs) != 1 {
			t.Errorf("%d documents, %v:\n%s", len(docs), err, document)
		}
		if strings.HasPrefix(document, "{") && !json.Valid([]byte(document)) {
			t.Errorf("not JSON:\n%s", document)
		}
		if strings.Contains(document, `: "forged"`) {
			t.Errorf("text of the bundle is in\n%s", document)
		}
	}
}

// The forms that show no access to clouds.
var withoutClouds = []string{Manifests, Request, InstallerRole, ReviewerRole, PodTemplate}

// How sure access to a cloud is stands in every form that shows it, and that none was
// found, with what was looked at, in every one for people.
func TestEveryFormSaysHowSureCloudAccessIs(t *testing.T) {
	sure := reviewtest.Plans(t)["fresh-install"]
	sure.Cloud.Permissions = []preview.CloudPermission{
		{Provider: "aws", Origin: "CredentialsRequest/a/b", Effect: "Allow", Actions: []string{"s3:GetObject"}, Change: "new", Certainty: preview.CloudDeclared},
		{Provider: "azure", Origin: "the description of package p", Effect: "Allow", Roles: []string{"Reader"}, Change: "new", Certainty: preview.CloudExample},
	}
	sure.Cloud.Declared = []preview.CloudDeclaration{{Provider: "gcp", Origin: "variable GOOGLE_APPLICATION_CREDENTIALS of Deployment/a/b", Certainty: preview.CloudInferred}}
	none := reviewtest.Plans(t)["fresh-install"]
	none.Cloud = preview.Cloud{}
	for _, form := range Forms() {
		if slices.Contains(withoutClouds, form.Name) {
			continue
		}
		text := strings.Join(strings.Fields(write(t, sure, Options{Format: form.Name})), " ")
		for _, want := range []string{preview.CloudDeclared, preview.CloudExample, preview.CloudInferred} {
			if !strings.Contains(text, want) {
				t.Errorf("-o %s does not say %s", form.Name, want)
			}
		}
		if form.Name == JSON || form.Name == YAML { // which have an empty list
			continue
		}
		text = strings.ReplaceAll(strings.Join(strings.Fields(write(t, none, Options{Format: form.Name})), " "), "&#39;", "'")
		if !strings.Contains(text, "Looked at "+preview.Plural(len(none.Objects), "object")+" for credential requests, IAM custom resources") || !strings.Contains(text, "none found") && form.Name != CloudPolicy {
			t.Errorf("-o %s does not say that none was found, and what was looked at", form.Name)
		}
	}
}

func TestAPackageWithoutCloudAccessSaysSo(t *testing.T) {
	text := write(t, reviewtest.Base(preview.RequestInstall), Options{Format: CloudPolicy})
	if !strings.Contains(text, "# The package shows no access to a cloud.\n") || strings.Contains(text, "---") {
		t.Error(text)
	}
}
