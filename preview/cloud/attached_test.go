package cloud

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

func attached(t *testing.T, text string) []preview.CloudPolicy {
	t.Helper()
	documents, err := ReadPolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return []preview.CloudPolicy{{SHA256: preview.HashBytes([]byte(text)), Documents: documents}}
}

func TestAttachedPolicies(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"a policy of AWS": {
			`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::b/*"}]}`,
			[]string{"aws Allow s3:GetObject on arn:aws:s3:::b/* by the attached policy"},
		},
		"a role of Google Cloud": {
			"title: op\nincludedPermissions: [dns.zones.get]\n",
			[]string{"gcp Allow dns.zones.get by the attached policy"},
		},
		"a role definition of Azure as its tools write it": {
			`{"Name": "op", "Actions": ["Microsoft.Network/dnsZones/read"], "DataActions": []}`,
			[]string{"azure Allow Microsoft.Network/dnsZones/read by the attached policy"},
		},
		"the same as its API has it": {
			`{"properties": {"permissions": [{"actions": ["Microsoft.Network/dnsZones/read"]}]}}`,
			[]string{"azure Allow Microsoft.Network/dnsZones/read by the attached policy"},
		},
		"a CredentialsRequest in a list": {
			`{apiVersion: v1, kind: List, items: [{apiVersion: cloudcredential.openshift.io/v1, kind: CredentialsRequest, metadata: {name: op, namespace: ccm},
			  spec: {providerSpec: {kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ["ec2:DescribeVpcs"], resource: "*"}]}}}]}`,
			[]string{"aws Allow ec2:DescribeVpcs on * by CredentialsRequest/ccm/op in the attached policy"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, p := range Scan(Input{Attached: attached(t, tc.text)}).Permissions {
				line := p.Provider + " " + p.Effect + " " + strings.Join(p.Actions, ",")
				if len(p.Resources) > 0 {
					line += " on " + strings.Join(p.Resources, ",")
				}
				got = append(got, line+" by "+p.Origin)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestWhatIsNoPolicyIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a ConfigMap":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"a text":        "see the documentation",
		"nothing":       "",
		"no YAML":       "{",
		"many policies": strings.Repeat("Statement: []\n---\n", maxAttached+1),
	} {
		if got, err := ReadPolicy([]byte(text)); err == nil {
			t.Errorf("%s: read as %q", name, got)
		}
	}
}

// A plan file's claims about documents are shown as unreadable.
func TestForgedDocumentsAreDeclared(t *testing.T) {
	for _, text := range []string{"", "[]", "{", `{"kind": "Pod", "apiVersion": "v1"}`} {
		got := Scan(Input{Attached: []preview.CloudPolicy{{Documents: []string{text}}}})
		if len(got.Permissions) != 0 || len(got.Declared) != 1 || !strings.Contains(got.Declared[0].Origin, Unread) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The policy of the next version is compared with the installed version's, in both
// directions.
func TestAttachedPoliciesAreCompared(t *testing.T) {
	policy := func(actions string) Input {
		return Input{Attached: attached(t, `{"Statement": [{"Effect": "Allow", "Action": [`+actions+`], "Resource": "*"}]}`)}
	}
	for _, tc := range []struct{ before, after, want string }{
		{`"s3:GetObject"`, `"s3:*"`, preview.GrantWidened},
		{`"s3:*"`, `"s3:GetObject"`, preview.GrantNarrowed},
		{`"s3:GetObject"`, `"s3:GetObject"`, preview.GrantSame},
		{`"s3:GetObject"`, `"ec2:DescribeVpcs"`, preview.GrantNew},
	} {
		got := Delta(Scan(policy(tc.before)), Scan(policy(tc.after))).Permissions
		if !slices.ContainsFunc(got, func(p preview.CloudPermission) bool { return p.Change == tc.want }) {
			t.Errorf("%s -> %s: %v", tc.before, tc.after, got)
		}
	}
	if got := NotAttached(policy(`"s3:*"`).Attached); len(got) != 1 || got[0].Provider != AWS {
		t.Errorf("a policy that is not given again is %v", got)
	}
}

// The requests that publishers keep in their repositories, next to the bundle.
func TestPublishedRequestsCanBeAttached(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "credentialsrequests"), "*", "*.yaml"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if strings.Contains(file, "crd") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents, err := ReadPolicy(data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got := Scan(Input{Attached: []preview.CloudPolicy{{Documents: documents}}}); len(got.Permissions) == 0 {
			t.Errorf("%s: no permissions", file)
		}
	}
}
