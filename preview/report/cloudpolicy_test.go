package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// What the stream holds can be cut out at its separators and given to the
// provider's tool, whatever a bundle writes into names and actions.
func TestCloudPoliciesAreAStreamOfDocuments(t *testing.T) {
	p := base(preview.RequestInstall)
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

func TestAPackageWithoutCloudAccessSaysSo(t *testing.T) {
	text := write(t, base(preview.RequestInstall), Options{Format: CloudPolicy})
	if !strings.Contains(text, "# The package shows no access to a cloud.\n") || strings.Contains(text, "---") {
		t.Error(text)
	}
}
