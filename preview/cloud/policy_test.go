package cloud

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

func policies(t testing.TB, text string) []Document {
	t.Helper()
	return Policies(Scan(Input{Objects: objects(t, text)}))
}

// bodies writes documents as JSON, one per line, for tables.
func bodies(t testing.TB, documents []Document) []string {
	t.Helper()
	out := []string{}
	for _, d := range documents {
		if d.Body == nil {
			continue
		}
		data, err := json.Marshal(d.Body)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out
}

func notes(documents []Document) string {
	var out []string
	for _, d := range documents {
		out = append(out, d.Notes...)
	}
	return strings.Join(out, "\n")
}

func TestPolicies(t *testing.T) {
	statements := func(list string) string { return request("kind: AWSProviderSpec, statementEntries: [" + list + "]") }
	const head = `{"Version":"2012-10-17","Statement":[`
	tests := []struct {
		name, objects string
		want          []string
		note          string
	}{
		{"nothing", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", []string{}, ""},
		{
			"an AWS policy with a denial and a condition",
			statements("{effect: Allow, action: ['s3:PutObject', 's3:GetObject'], resource: 'arn:aws:s3:::b/*', policyCondition: {StringEquals: {'aws:ResourceTag/a': b}}}, {effect: Deny, action: ['s3:*'], resource: '*'}"),
			[]string{head + `{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":["arn:aws:s3:::b/*"],"Condition":{"StringEquals":{"aws:ResourceTag/a":"b"}}},{"Effect":"Deny","Action":["s3:*"],"Resource":["*"]}]}`},
			"aws iam create-policy --policy-name credentialsrequest-occo-op ",
		},
		{
			"what IAM would not accept is left out and told",
			statements("{effect: Allow, action: ['s3:GetObject', 'read everything'], resource: '*'}"),
			[]string{head + `{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["*"]}]}`},
			"left out, as IAM would not accept it: read everything",
		},
		{
			"a resource that is a placeholder as a whole is none",
			statements("{effect: Allow, action: ['s3:GetObject'], resource: '${BUCKET}'}"), []string{}, "fill in before use: ${BUCKET}",
		},
		{
			"a placeholder in a resource is told",
			statements("{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::${BUCKET}/*'}"),
			[]string{head + `{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::${BUCKET}/*"]}]}`}, "fill in before use: ${BUCKET}",
		},
		{
			"a statement without a resource is none",
			statements("{effect: Allow, action: ['s3:GetObject']}"), []string{}, "left out: s3:GetObject without a resource",
		},
		{
			"a condition that IAM would not accept takes its statement with it",
			statements("{effect: Allow, action: ['s3:GetObject'], resource: '*', policyCondition: {Sometimes: {a: b}}}"), []string{}, "under a condition that IAM would not accept",
		},
		{
			"a denial that cannot be written takes the policy with it",
			statements("{effect: Allow, action: ['s3:*'], resource: '*'}, {effect: Deny, action: ['no such'], resource: '*'}"), []string{}, "without it the policy would permit more",
		},
		{
			"an unknown effect as well",
			statements("{effect: Allow, action: ['s3:*'], resource: '*'}, {effect: deny, action: ['s3:PutObject'], resource: '*'}"), []string{}, "a statement with the effect deny",
		},
		{
			"NotAction stays one",
			"apiVersion: iam.services.k8s.aws/v1alpha1\nkind: Role\nmetadata: {name: r, namespace: app}\nspec: {inlinePolicies: {p: '{\"Statement\":{\"Effect\":\"Allow\",\"NotAction\":\"iam:*\",\"Resource\":\"*\"}}'}}\n",
			[]string{head + `{"Effect":"Allow","NotAction":["iam:*"],"Resource":["*"]}]}`}, "a controller makes this in the cloud",
		},
		{
			"Google Cloud permissions are a role of their own, roles a list",
			request("kind: GCPProviderSpec, predefinedRoles: [roles/dns.admin], permissions: [dns.changes.create, 'dns.*']"),
			[]string{
				`{"description":"What credentialsrequest-occo-op asks for.","includedPermissions":["dns.changes.create"],"stage":"GA","title":"credentialsrequest-occo-op"}`,
				`{"predefinedRoles":["roles/dns.admin"]}`,
			},
			"permissions dns.*",
		},
		{
			"Azure actions and data actions are one definition, roles a list",
			request("kind: AzureProviderSpec, roleBindings: [{role: Contributor}], permissions: [Microsoft.Network/dnsZones/read], dataPermissions: [Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read]"),
			[]string{
				`{"Name":"credentialsrequest-occo-op","IsCustom":true,"Description":"What credentialsrequest-occo-op asks for.","Actions":["Microsoft.Network/dnsZones/read"],"NotActions":[],"DataActions":["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"],"NotDataActions":[],"AssignableScopes":["/subscriptions/00000000-0000-0000-0000-000000000000"]}`,
				`{"builtInRoles":["Contributor"]}`,
			},
			"the scope is not derived",
		},
		{"IBM policies are told", request("kind: IBMCloudProviderSpec, policies: [{attributes: [{name: serviceName, value: cos}], roles: ['crn:v1::Viewer']}]"), []string{}, "Allow roles crn:v1::Viewer where serviceName=cos"},
		{"a request without limits is told", request("kind: OpenStackProviderSpec"), []string{}, "create a dedicated credential"},
		{
			"an identity is told",
			"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: app, annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::1:role/x'}}\n",
			[]string{}, "acts as arn:aws:iam::1:role/x",
		},
		{"so is what only shows", workload("{spec: {containers: [{name: c, env: [{name: ROLEARN}]}]}}"), []string{}, "variable ROLEARN of Deployment/app/op"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			documents := policies(t, test.objects)
			if got := bodies(t, documents); !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
			if got := notes(documents); !strings.Contains(got, test.note) {
				t.Errorf("the notes do not say %q:\n%s", test.note, got)
			}
		})
	}
}

func TestLongPoliciesAreDivided(t *testing.T) {
	var actions []string
	for i := range 400 {
		actions = append(actions, "service:Action"+strings.Repeat("X", 20)+string(rune('A'+i/26))+string(rune('A'+i%26)))
	}
	documents := policies(t, request("kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ["+strings.Join(actions, ", ")+"], resource: '*'}]"))
	if len(documents) < 2 {
		t.Fatalf("%d documents", len(documents))
	}
	var got []string
	for i, d := range documents {
		body := d.Body.(awsDocument)
		if documentSize(body.Statement) > maxDocument {
			t.Errorf("part %d has %d characters", i, documentSize(body.Statement))
		}
		for _, s := range body.Statement {
			got = append(got, s.Action...)
		}
	}
	if slices.Sort(got); !slices.Equal(got, sortedSet(actions)) {
		t.Errorf("%d of %d actions are written", len(got), len(actions))
	}
}

func TestOriginsThatLookAlikeHaveNamesOfTheirOwn(t *testing.T) {
	taken := map[string]bool{}
	for _, origin := range []string{"CredentialsRequest/a-b/c", "CredentialsRequest/a/b-c", "", "\u202e", strings.Repeat("x", 500)} {
		name := uniqueName(origin, taken)
		if len(name) > maxName || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(name) {
			t.Errorf("%q is named %q", origin, name)
		}
	}
	if len(taken) != 5 {
		t.Errorf("names: %v", taken)
	}
}

// Every real request leads to documents of the form its provider takes, or to
// words where it takes none.
func TestPoliciesOfRealRequests(t *testing.T) {
	dir := corpustest.Dir(t, "credentialsrequests")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	nested, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*.yaml"))
	files = append(files, nested...)
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	count := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range policies(t, string(data)) {
			if d.Body != nil {
				count[d.Provider]++
				checkShape(t, d)
			}
			for _, note := range d.Notes {
				if strings.HasPrefix(note, "left out") {
					t.Errorf("%s: %s", file, note)
				}
			}
		}
	}
	want := map[string]int{AWS: 9, Azure: 4, GCP: 5}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("documents by provider: %v, want %v", count, want)
	}
}

// checkShape holds a document to what the provider's reference says of it.
func checkShape(t testing.TB, d Document) {
	t.Helper()
	switch body := d.Body.(type) {
	case awsDocument:
		if body.Version != "2012-10-17" || len(body.Statement) == 0 {
			t.Errorf("%s: %+v", d.Origin, body)
		}
		for _, s := range body.Statement {
			if s.Effect != "Allow" && s.Effect != "Deny" || (len(s.Action) == 0) == (len(s.NotAction) == 0) || (len(s.Resource) == 0) == (len(s.NotResource) == 0) {
				t.Errorf("%s: statement %+v", d.Origin, s)
			}
			for _, r := range slices.Concat(s.Resource, s.NotResource) {
				if r != "*" && strings.Count(r, ":") < 5 {
					t.Errorf("%s: resource %q", d.Origin, r)
				}
			}
		}
	case azureRole:
		if body.Name == "" || !body.IsCustom || len(body.AssignableScopes) == 0 || len(body.Actions)+len(body.DataActions) == 0 ||
			body.NotActions == nil || body.NotDataActions == nil || body.Actions == nil || body.DataActions == nil {
			t.Errorf("%s: %+v", d.Origin, body)
		}
	case gcpRole:
		if !d.YAML {
			t.Errorf("%s: %v is not YAML", d.Origin, body)
		}
		if permissions, ok := body["includedPermissions"].([]any); ok {
			title, _ := body["title"].(string)
			if len(permissions) == 0 || len(permissions) > maxPermissions || title == "" || len(title) > 100 || body["stage"] != "GA" {
				t.Errorf("%s: %v", d.Origin, body)
			}
		}
	default:
		t.Errorf("%s: a body of type %T", d.Origin, d.Body)
	}
}

func FuzzPolicies(f *testing.F) {
	f.Add("s3:GetObject", "arn:aws:s3:::b/*", "StringEquals", "a:b", "roles/owner", "dns.zones.get")
	f.Add("*", "*", "x\n---\n", "\u202e", "Owner", "*/read")
	f.Fuzz(func(t *testing.T, action, resource, operator, key, role, permission string) {
		c := preview.Cloud{}
		for _, provider := range []string{AWS, GCP, Azure, IBM, action} {
			c.Permissions = append(c.Permissions,
				preview.CloudPermission{
					Provider: provider, Origin: key, Effect: "Allow", Actions: []string{action, permission}, Resources: []string{resource},
					Roles: []string{role}, Conditions: map[string]any{operator: map[string]any{key: action}},
				},
				preview.CloudPermission{Provider: provider, Origin: "CredentialsRequest/" + key, Effect: role, Actions: []string{action}, Resources: []string{resource}},
			)
		}
		documents := Policies(c)
		if !reflect.DeepEqual(documents, Policies(c)) {
			t.Fatal("not the same twice")
		}
		for _, d := range documents {
			if d.Body != nil {
				checkShape(t, d)
			}
		}
	})
}
