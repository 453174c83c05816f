package cloud

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Publishers who write no policy write the command that gives a role.
func TestCommandsInDocuments(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a principal of Azure, over two lines", "az ad sp create-for-rbac -n \"op\" --role contributor \\\n    --scopes /subscriptions/$ID", "azure Allow  on /subscriptions/$ID as contributor"},
		{"a role with spaces, on what another command prints", `az role assignment create --role "DNS Zone Contributor" --assignee $ID --scope $(az network dns zone show --name "$DOMAIN" -o tsv --query id)`, `azure Allow  on $(az network dns zone show --name "$DOMAIN" -o tsv --query id) as DNS Zone Contributor`},
		{"on several scopes", "az ad sp create-for-rbac --role Reader --scopes /subscriptions/a /subscriptions/b", "azure Allow  on /subscriptions/a,/subscriptions/b as Reader"},
		{"whose output is kept", `SP="$(az ad sp create-for-rbac --role Owner -o json)"; echo $SP`, "azure Allow  as Owner"},
		{"a service policy of IBM Cloud", "ibmcloud iam service-policy-create id --roles Viewer,Editor --resource-group-name default --region us-south", "ibmcloud Allow  on region=us-south,resource-group-name=default as Editor,Viewer"},
		{"a binding of Google Cloud, after a prompt", "$ gcloud projects add-iam-policy-binding $PROJECT \\\n --member serviceAccount:x@y --role roles/dns.admin", "gcp Allow  on $PROJECT as roles/dns.admin"},
		{"a binding of a bucket", "gcloud storage buckets add-iam-policy-binding gs://b --member=x --role=roles/storage.objectAdmin", "gcp Allow  on gs://b as roles/storage.objectAdmin"},
		{"a binding whose project comes last", "gcloud projects add-iam-policy-binding --member x --role roles/dns.admin $PROJECT", "gcp Allow  on $PROJECT as roles/dns.admin"},
		{"a managed policy of AWS", "aws iam attach-role-policy --role-name op --policy-arn arn:aws:iam::aws:policy/AmazonS3FullAccess", "aws Allow  as arn:aws:iam::aws:policy/AmazonS3FullAccess"},
		{"an inline policy of AWS", "aws iam put-role-policy --role-name op --policy-name p --policy-document '" + zonesPolicy + "'", "aws Allow route53:ListHostedZones on *"},
		{"a service account of EKS", "eksctl create iamserviceaccount --name op --attach-policy-arn=arn:aws:iam::1:policy/a,arn:aws:iam::1:policy/b --approve", "aws Allow  as arn:aws:iam::1:policy/a,arn:aws:iam::1:policy/b"},
		{"who may act as an account", "gcloud iam service-accounts add-iam-policy-binding a@p.iam.gserviceaccount.com --role roles/iam.workloadIdentityUser --member x", ""},
		{"a policy in a file", "aws iam put-role-policy --role-name op --policy-document file://policy.json", ""},
		{"a trust policy", `aws iam create-policy --policy-document '{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}]}'`, ""},
		{"a command that gives nothing", "az account show", ""},
		{"a flag without its value", "az role assignment create --assignee x --role", ""},
		{"a command that ends early", "gcloud projects", ""},
		{"in a comment", "# az role assignment create --role Owner", ""},
		{"in what another program prints", "echo az role assignment create --role Owner", ""},
		{"after what ends the command", "az account show; az role assignment create --role Owner", ""},
	} {
		got := ""
		if d := ReadDescription("p", "Do this:\n\n   ```sh\n   "+tt.text+"\n   ```\n"); d != nil {
			found := Scan(Input{Documents: []preview.CloudDocument{*d}})
			got = strings.TrimSuffix(strings.Join(lines(found), "; "), " < the description of package p")
			for _, p := range found.Permissions {
				if p.Certainty != preview.CloudExample {
					t.Errorf("%s is %s", tt.name, p.Certainty)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if d := ReadDescription("p", tt.text); d != nil {
			t.Errorf("%s, in prose, states %v", tt.name, d.Documents)
		}
	}
}

// A field named like the key of a command hides nothing of a policy.
func TestAPolicyWithACommandIsAPolicy(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"of AWS", `{"command": ["az", "account", "show"], "Statement": [{"Effect": "Allow", "Action": "iam:*", "Resource": "*"}]}`, "aws Allow iam:* on *"},
		{"of Google Cloud", `{"command": "x", "includedPermissions": ["iam.roles.update"]}`, "gcp Allow iam.roles.update"},
		{"bindings", `{"command": "x", "bindings": [{"role": "roles/owner", "members": ["user:a"]}]}`, `gcp Allow  as roles/owner if {"members":["user:a"]}`},
		{"of Azure", `{"command": "x", "Name": "a", "Actions": ["*/read"]}`, "azure Allow */read"},
	} {
		d := ReadDescription("p", "```json\n"+tt.text+"\n```\n")
		if d == nil {
			t.Errorf("%s: no policy is read", tt.name)
			continue
		}
		if got := strings.TrimSuffix(strings.Join(lines(Scan(Input{Documents: []preview.CloudDocument{*d}})), "; "), " < the description of package p"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A role that a new version's text asks for is wider than the installed version's.
func TestCommandsWiden(t *testing.T) {
	at := func(roles string) preview.Cloud {
		return Scan(Input{Documents: []preview.CloudDocument{*ReadDescription("p", "```\nibmcloud iam service-policy-create id --roles "+roles+"\n```\n")}})
	}
	for _, tt := range []struct{ before, after, want string }{
		{"Viewer", "Viewer,Editor", preview.GrantWidened},
		{"Viewer,Editor", "Viewer", preview.GrantNarrowed},
		{"Viewer", "Viewer", preview.GrantSame},
	} {
		if out := Delta(at(tt.before), at(tt.after)).Permissions; len(out) != 1 || out[0].Change != tt.want {
			t.Errorf("from %s to %s: %+v", tt.before, tt.after, out)
		}
	}
}
