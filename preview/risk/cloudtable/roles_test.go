package cloudtable

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// TestTables holds every line of the tables beside grants.tsv to its form.
func TestTables(t *testing.T) {
	known := map[string]bool{}
	for _, rows := range Grants() {
		for _, row := range rows {
			known[row.Provider+" "+row.Name] = row.Kind != "role"
		}
	}
	for _, row := range plains() {
		known[row.provider+" "+row.pattern] = true
	}
	count := map[string]int{}
	for line := range strings.Lines(roleData) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 {
			t.Fatalf("%q has %d fields", line, len(f))
		}
		if n, err := strconv.Atoi(f[2]); err != nil || n < 0 {
			t.Errorf("%s: others %q", f[1], f[2])
		}
		for _, action := range strings.Fields(f[3]) {
			if !known[f[0]+" "+action] && !known[f[0]+" "+strings.ToLower(action)] {
				t.Errorf("%s: no row of %s", f[1], action)
			}
		}
		count[f[0]]++
	}
	if count[cloud.AWS] < 1500 || count[cloud.Azure] < 900 || count[cloud.GCP] < 2400 {
		t.Errorf("roles: %v", count)
	}
	says := regexp.MustCompile(`^(harmless|changes|rule [a-z-]+)$`)
	for line := range strings.Lines(plainData) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 5 || !says.MatchString(f[3]) || !strings.HasPrefix(f[4], "https://") {
			t.Errorf("%q", line)
			continue
		}
		if rule, judged := strings.CutPrefix(f[3], "rule "); judged {
			if _, ok := rules.Named(rule); !ok {
				t.Errorf("%s: no rule %s", f[2], rule)
			}
		}
	}
	for line := range strings.Lines(sensitiveData) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if !strings.HasPrefix(line, "#") && (len(f) != 3 || !strings.Contains(sensitiveData, f[2]+": https://") || !namedAsRead(f[0], strings.ToLower(f[1]))) {
			t.Errorf("%q", line)
		}
	}
}

// TestNoReadHidesADanger holds the rule about reads to the actions that are dangerous:
// neither they nor a pattern that includes one are taken for harmless.
func TestNoReadHidesADanger(t *testing.T) {
	dangers := map[string][]string{
		cloud.AWS: {"secretsmanager:GetSecretValue", "secretsmanager:BatchGetSecretValue", "ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath", "s3:GetObject", "kms:Decrypt", "sts:AssumeRole", "sts:GetFederationToken", "sts:GetSessionToken", "dynamodb:GetItem", "lambda:GetFunction", "ec2:GetPasswordData"},
		cloud.GCP: {"storage.objects.get", "secretmanager.versions.access", "container.secrets.get", "container.secrets.list", "bigquery.tables.getData"},
	}
	for provider, list := range sensitive() {
		dangers[provider] = append(dangers[provider], list...)
	}
	for _, rows := range Grants() {
		for _, row := range rows {
			if row.Kind != "role" {
				dangers[row.Provider] = append(dangers[row.Provider], row.Name)
			}
		}
	}
	tried := 0
	for provider, list := range dangers {
		for _, action := range list {
			patterns := []string{action, strings.ToUpper(action)}
			if provider == cloud.AWS {
				for i := range action {
					patterns = append(patterns, action[:i]+"*", action[:i]+"?"+action[i+1:])
				}
			}
			for _, pattern := range patterns {
				tried++
				if Describes(provider, pattern, false) {
					t.Errorf("%s %s is harmless, which includes %s", provider, pattern, action)
				}
			}
		}
	}
	if tried < 5000 {
		t.Errorf("%d patterns", tried)
	}
	for action, provider := range map[string]string{
		"ec2:DescribeInstances": cloud.AWS, "elasticloadbalancing:Describe*": cloud.AWS, "iam:ListRoles": cloud.AWS, "tag:GetResources": cloud.AWS, "s3:ListBucket": cloud.AWS,
		"compute.instances.list": cloud.GCP, "dns.changes.get": cloud.GCP, "Microsoft.Network/virtualNetworks/read": cloud.Azure, "*/read": cloud.Azure,
	} {
		if !Describes(provider, action, false) {
			t.Errorf("%s is not harmless", action)
		}
	}
	if Describes(cloud.Azure, "Microsoft.Storage/storageAccounts/queueServices/queues/messages/read", true) {
		t.Error("reading data of Azure is harmless")
	}
}

// TestRowsOfRolesAreAsSevereAsTheirActions compares the level of each role that has a
// row of its own with what the actions behind its name come to.
func TestRowsOfRolesAreAsSevereAsTheirActions(t *testing.T) {
	compared := 0
	for _, rows := range Grants() {
		for _, row := range rows {
			name := row.Name
			if row.Provider == cloud.AWS {
				name = "arn:aws:iam::aws:policy/" + name
			}
			role, ok := RoleOf(row.Provider, name)
			if row.Kind != "role" || !ok {
				continue
			}
			compared++
			worst := rules.None
			for rule := range Grants() {
				worst = max(worst, levelBehind(rule, []Role{role}))
			}
			if worst > row.Wide && !strings.HasPrefix(row.Name, "roles/compute.") { // GCP-04 of the catalogue: high
				t.Errorf("%s is of level %d, and gives actions of level %d: %v", row.Name, row.Wide, worst, role.Actions)
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d rows have a role", compared)
	}
}

func TestARoleIsKnownByItsNames(t *testing.T) {
	for named, want := range map[[2]string]string{
		{cloud.GCP, "roles/dns.admin"}: "roles/dns.admin", {cloud.GCP, "projects/p/roles/dns.admin"}: "",
		{cloud.Azure, "DNS Zone Contributor"}: "DNS Zone Contributor", {cloud.Azure, "befefa01-2a29-4197-83a8-272ff33ce314"}: "DNS Zone Contributor",
		{cloud.Azure, "/subscriptions/1/providers/Microsoft.Authorization/roleDefinitions/BEFEFA01-2a29-4197-83a8-272ff33ce314"}: "DNS Zone Contributor",
		{cloud.Azure, "ours/Reader"}:                                                    "",
		{cloud.AWS, "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"}:                "AmazonEKSWorkerNodePolicy",
		{cloud.AWS, "arn:aws-cn:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"}: "AmazonEBSCSIDriverPolicy",
		{cloud.AWS, "arn:aws:iam::123456789012:policy/AmazonEKSWorkerNodePolicy"}:       "",
	} {
		if got, _ := RoleOf(named[0], named[1]); got.Name != want {
			t.Errorf("%v is %q, want %q", named, got.Name, want)
		}
	}
}

func TestWhatNothingIsSaidOf(t *testing.T) {
	defined := func(role string) bool { return strings.HasSuffix(role, "/ours") }
	for name, test := range map[string]struct {
		p    preview.CloudPermission
		want string
	}{
		"reads, rows and harmless ones":           {preview.CloudPermission{Provider: cloud.AWS, Actions: []string{"elasticloadbalancing:Describe*", "iam:PassRole", "sts:GetCallerIdentity", "s3:GetObject"}}, "[] [] "},
		"a change, and a read of data":            {preview.CloudPermission{Provider: cloud.AWS, Actions: []string{"s3:PutLifecycleConfiguration", "dynamodb:Get*"}}, "[s3:PutLifecycleConfiguration dynamodb:Get*] [] "},
		"any of STS that begins as a read":        {preview.CloudPermission{Provider: cloud.AWS, Actions: []string{"sts:GetSessionToken"}}, "[sts:GetSessionToken] [] "},
		"a policy of the account":                 {preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:iam::1:policy/x"}}, "[] [arn:aws:iam::1:policy/x] "},
		"a role that the plan defines":            {preview.CloudPermission{Provider: cloud.GCP, Roles: []string{"projects/p/roles/ours"}}, "[] [] "},
		"an identity":                             {preview.CloudPermission{Provider: cloud.AWS, Roles: []string{"arn:aws:iam::1:role/x"}, Origin: "CredentialsRequest/a/b"}, "[] [] "},
		"a role of reads":                         {preview.CloudPermission{Provider: cloud.Azure, Roles: []string{"Reader"}}, "[] [] "},
		"a role of changes":                       {preview.CloudPermission{Provider: cloud.GCP, Roles: []string{"roles/dns.admin"}}, "[] [] roles/dns.admin"},
		"a role with a row":                       {preview.CloudPermission{Provider: cloud.GCP, Roles: []string{"roles/editor"}}, "[] [] "},
		"reads of Azure's data":                   {preview.CloudPermission{Provider: cloud.Azure, Actions: []string{"Microsoft.X/y/read"}, Conditions: map[string]any{"plane": "data"}}, "[Microsoft.X/y/read] [] "},
		"reads of Azure's resources, and changes": {preview.CloudPermission{Provider: cloud.Azure, Actions: []string{"Microsoft.X/y/read", "Microsoft.X/y/write"}}, "[Microsoft.X/y/write] [] "},
		"a role of IBM that is not known":         {preview.CloudPermission{Provider: cloud.IBM, Roles: []string{"crn:v1:bluemix:public:iam::::role:Mine"}}, "[] [crn:v1:bluemix:public:iam::::role:Mine] "},
		"who may look, and who may operate":       {preview.CloudPermission{Provider: cloud.IBM, Roles: []string{"crn:v1:bluemix:public:iam::::role:Viewer", "crn:v1:bluemix:public:iam::::role:Operator"}}, "[] [] crn:v1:bluemix:public:iam::::role:Operator"},
	} {
		t.Run(name, func(t *testing.T) {
			u := UnjudgedOf(test.p, defined)
			got := strings.ReplaceAll(strings.Join([]string{"[" + strings.Join(u.Actions, " ") + "]", "[" + strings.Join(u.Unknown, " ") + "]", names(u.Partly)}, " "), "  ", " ")
			if got != test.want || u.Some() != (test.want != "[] [] ") {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func names(roles []Role) string {
	var out []string
	for _, role := range roles {
		out = append(out, role.Name)
	}
	return strings.Join(out, " ")
}
