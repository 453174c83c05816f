package risk

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// allBut is a statement of AWS that allows every action except some.
func allBut(actions ...any) preview.CloudPermission {
	return preview.CloudPermission{Provider: cloud.AWS, Actions: []string{"*"}, Resources: []string{"*"}, Conditions: map[string]any{"NotAction": actions}}
}

func TestCloudPermissions(t *testing.T) {
	tests := []struct {
		name       string
		permission preview.CloudPermission
		rule       string
		want       preview.Severity // empty: the rule does not hold
	}{
		{"the administrator's policy by its ARN", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:iam::aws:policy/AdministratorAccess"}}, "cloud-wildcard-action", preview.Critical},
		{"nearly all of it", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws-cn:iam::aws:policy/PowerUserAccess"}}, "cloud-wildcard-action", preview.Critical},
		{"all but IAM leaves the roles of others", allBut("iam:*"), "cloud-wildcard-action", preview.Critical},
		{"all but a list that leaves no danger of the table", allBut("*:*"), "cloud-wildcard-action", preview.Warning},
		{"a policy of another name", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:iam::1:policy/NotAdministratorAccess"}}, "cloud-wildcard-action", ""},
		{"all of IAM", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:iam::aws:policy/IAMFullAccess"}}, "cloud-iam-write", preview.Critical},
		{"cluster administrator by an access policy", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"}}, "cloud-cluster-admin", preview.Critical},
		{"every Secret by an access policy", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:eks::aws:cluster-access-policy/AmazonEKSAdminViewPolicy"}}, "cloud-cluster-admin", preview.Critical},
		{"pods in every namespace by an access policy", preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"}}, "cloud-cluster-admin", preview.Critical},
		{"stars are one star", preview.CloudPermission{Provider: cloud.AWS, Actions: []string{"**"}, Resources: []string{"**"}}, "cloud-wildcard-action", preview.Critical},
		{"no resource is every resource", preview.CloudPermission{Provider: cloud.AWS, Actions: []string{"sts:AssumeRole"}}, "cloud-assume-role", preview.Critical},
		{"Owner by its id", preview.CloudPermission{Provider: cloud.Azure, Roles: []string{"/subscriptions/1/providers/Microsoft.Authorization/roleDefinitions/8E3AF657-a8ff-443c-a75c-2fe8c4bcb635"}}, "cloud-azure-owner", preview.Critical},
		{"the id at another provider", preview.CloudPermission{Provider: cloud.GCP, Roles: []string{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635"}}, "cloud-azure-owner", ""},
		{"keys of a database", preview.CloudPermission{Provider: cloud.Azure, Actions: []string{"Microsoft.DocumentDB/databaseAccounts/listKeys/action"}}, "cloud-azure-keys", preview.Warning},
		{"any configuration of a host", preview.CloudPermission{Provider: cloud.VSphere, Actions: []string{"Host.Config.Image"}}, "cloud-vsphere-control", preview.Warning},
		{"a host is not its configuration", preview.CloudPermission{Provider: cloud.VSphere, Actions: []string{"Host.Local.CreateVM"}}, "cloud-vsphere-control", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.permission.Effect, test.permission.Origin, test.permission.Change = "Allow", "CredentialsRequest/occo/op", preview.GrantNew
			p := &preview.Plan{Cloud: preview.Cloud{Permissions: []preview.CloudPermission{test.permission}}}
			got := preview.Severity("")
			if f := find(evaluate(t, Input{Plan: p}), test.rule); f != nil {
				got = f.Severity
			}
			if got != test.want {
				t.Errorf("severity %q, want %q", got, test.want)
			}
		})
	}
}

// A policy that a package only brings along is that of the role which its account takes,
// or of none.
func TestPoliciesInConfigMaps(t *testing.T) {
	for origin, want := range map[string]preview.Severity{"ServiceAccount/app/op": preview.Critical, "ConfigMap/app/other": preview.Warning} {
		p := &preview.Plan{Cloud: preview.Cloud{
			Permissions: []preview.CloudPermission{
				{Provider: cloud.AWS, Origin: origin, Effect: "Allow", Roles: []string{"arn:aws:iam::1:role/op"}, Change: preview.GrantNew},
				{Provider: cloud.AWS, Origin: "ConfigMap/app/policy", Effect: "Allow", Actions: []string{"iam:AttachRolePolicy"}, Resources: []string{"*"}, Change: preview.GrantNew},
			},
		}}
		if f := find(evaluate(t, Input{Plan: p}), "cloud-iam-write"); f == nil || f.Severity != want {
			t.Errorf("%s: %+v, want %s", origin, f, want)
		}
	}
}

func TestADenialThatGoesIsMoreAccess(t *testing.T) {
	for change, want := range map[string]bool{
		preview.GrantRemoved: true, preview.GrantNarrowed: true, preview.GrantSame: false, preview.GrantNew: false, preview.GrantWidened: false,
	} {
		p := &preview.Plan{Base: preview.Base{Revision: 1}, Cloud: preview.Cloud{Permissions: []preview.CloudPermission{{
			Provider: cloud.AWS, Origin: "CredentialsRequest/occo/op", Effect: "Deny", Actions: []string{"s3:*"}, Resources: []string{"*"}, Change: change,
		}}}}
		if got := find(evaluate(t, Input{Plan: p}), rules.CloudAccessWidened.Name) != nil; got != want {
			t.Errorf("%s: found %v, want %v", change, got, want)
		}
	}
}

// All signs of a package are one finding; what others tell already is not told
// again, and what cannot be read is, beside actions that can.
func TestUndeclaredCloudAccessIsOneFinding(t *testing.T) {
	declared := func(list ...preview.CloudDeclaration) *preview.Plan {
		return &preview.Plan{Cloud: preview.Cloud{Declared: list}}
	}
	p := declared(
		preview.CloudDeclaration{Provider: cloud.AWS, Origin: "variable ROLEARN of Deployment/app/op"},
		preview.CloudDeclaration{Provider: cloud.GCP, Origin: "annotation x"},
		preview.CloudDeclaration{Provider: cloud.Openshift, Origin: cloud.RunTime + ": ClusterRole/r writes x"},
		preview.CloudDeclaration{Provider: "external", Origin: "token for audience vault in Deployment/app/op"},
	)
	f := find(evaluate(t, Input{Plan: p}), "cloud-access-undeclared")
	if f == nil || f.Evidence != "aws: variable ROLEARN of Deployment/app/op; gcp: annotation x" || f.Severity != preview.Warning {
		t.Errorf("finding %+v", f)
	}
	p = declared(preview.CloudDeclaration{Provider: cloud.AWS, Origin: "CredentialsRequest/occo/op: part of its request " + cloud.Unread})
	p.Cloud.Permissions = []preview.CloudPermission{{Provider: cloud.AWS, Origin: "x", Effect: "Allow", Actions: []string{"ec2:DescribeVpcs"}, Change: preview.GrantNew}}
	if find(evaluate(t, Input{Plan: p}), "cloud-access-undeclared") == nil {
		t.Error("a request that cannot be read is not told")
	}
}
