package cloud

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const zonesPolicy = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["route53:ListHostedZones"], "Resource": "*"}]}`

// A publisher's text about a package is read where it states a policy, and nothing is
// invented where it does not.
func TestPoliciesInDocuments(t *testing.T) {
	block := func(text string) string {
		return "# IAM\n\nAttach this:\n\n```json\n" + text + "\n```\n\nand no more.\n"
	}
	for _, tt := range []struct{ name, file, text, want string }{
		{"a policy of AWS in a block of code", "README.md", block(zonesPolicy), "aws allow route53:ListHostedZones"},
		{"in a block of tildes within a list", "README.md", "1. do\n   ~~~\n   " + zonesPolicy + "\n   ~~~\n", "aws allow route53:ListHostedZones"},
		{"written to a file by a shell", "docs/aws.md", "```sh\ncat <<EOF > policy.json\n" + zonesPolicy + "\nEOF\naws iam create-policy --policy-document file://policy.json\n```\n", "aws allow route53:ListHostedZones"},
		{"a listing of AsciiDoc", "aws.adoc", "[source,json]\n----\n" + zonesPolicy + "\n----\n", "aws allow route53:ListHostedZones"},
		{"a file of its own", "iam/policy.json", zonesPolicy, "aws allow route53:ListHostedZones"},
		{"a CredentialsRequest", "docs/openshift.yaml", "apiVersion: cloudcredential.openshift.io/v1\nkind: CredentialsRequest\nmetadata: {name: dns}\nspec:\n  providerSpec:\n    apiVersion: cloudcredential.openshift.io/v1\n    kind: AWSProviderSpec\n    statementEntries:\n    - {effect: Allow, action: ['route53:GetChange'], resource: '*'}\n", "aws allow route53:GetChange"},
		{"a role of Google Cloud", "gcp.md", "```yaml\ntitle: dns\nincludedPermissions: [dns.changes.create, dns.managedZones.list]\n```\n", "gcp allow dns.changes.create dns.managedZones.list"},
		{"a role definition of Azure", "azure.md", block(`{"Name": "dns", "Actions": ["Microsoft.Network/dnsZones/read"], "AssignableScopes": ["/subscriptions/x"]}`), "azure allow Microsoft.Network/dnsZones/read"},
		{"the same policy twice", "README.md", block(zonesPolicy) + block(zonesPolicy), "aws allow route53:ListHostedZones"},
		{"prose with a policy outside of code", "README.md", zonesPolicy, ""},
		{"a block that is not closed", "README.md", "```json\n" + zonesPolicy + "\n", ""},
		{"a trust policy", "README.md", block(`{"Statement": [{"Effect": "Allow", "Principal": {"Federated": "x"}, "Action": "sts:AssumeRoleWithWebIdentity"}]}`), ""},
		{"a policy of a bucket", "README.md", block(`{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}]}`), ""},
		{"a statement of something else", "README.md", block(`{"Statement": [{"Effect": "Allow", "Action": ["read the manual"]}]}`), ""},
		{"a role of Kubernetes", "README.md", block(`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [{"verbs": ["get"]}]}`), ""},
		{"bindings of something else", "README.md", "```yaml\nbindings:\n- {role: admin, members: [me]}\n```\n", ""},
		{"actions of a workflow", "ci.yaml", "name: ci\nactions: [build, test]\n", ""},
		{"permissions of a workflow", "ci.yaml", "permissions:\n- {actions: [read]}\n", ""},
		{"code that is no data", "README.md", "```go\nfunc main() {}\n```\n", ""},
	} {
		got := ""
		if d := ReadDocument("dns", tt.file, tt.text); d != nil {
			for _, p := range Scan(Input{Documents: []preview.CloudDocument{*d}}).Permissions {
				got += fmt.Sprintf("%s %s %s", p.Provider, strings.ToLower(p.Effect), strings.Join(p.Actions, " "))
				if p.Certainty != preview.CloudExample || !strings.Contains(p.Origin, "the document "+tt.file+" of package dns") {
					t.Errorf("%s: %s, %s", tt.name, p.Certainty, p.Origin)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A new version of a text is compared with the installed version's.
func TestDocumentsWiden(t *testing.T) {
	at := func(text string) preview.Cloud {
		return Scan(Input{Documents: []preview.CloudDocument{*ReadDescription("dns", "```\n"+text+"\n```\n")}})
	}
	wider := strings.Replace(zonesPolicy, `"route53:ListHostedZones"`, `"route53:*"`, 1)
	for _, tt := range []struct{ name, before, after, want string }{
		{"widened", zonesPolicy, wider, preview.GrantWidened},
		{"narrowed", wider, zonesPolicy, preview.GrantNarrowed},
		{"the same", zonesPolicy, zonesPolicy, preview.GrantSame},
	} {
		out := Delta(at(tt.before), at(tt.after)).Permissions
		if len(out) == 0 || out[len(out)-1].Change != tt.want || out[0].Origin != "the description of package dns" {
			t.Errorf("%s: %+v", tt.name, out)
		}
	}
}
