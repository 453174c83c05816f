package cloudtable

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

var update = flag.Bool("update", false, "rewrite the table of roles")

// TestTheRolesAreThoseOfUpstream compares the table of roles with a checkout of
// github.com/iann0036/iam-dataset, which collects what the providers publish, in the
// directory that ROLES names; -update writes it anew:
//
//	ROLES=../iam-dataset go test ./preview/risk/cloudtable -run Upstream -update
func TestTheRolesAreThoseOfUpstream(t *testing.T) {
	dir := os.Getenv("ROLES")
	if dir == "" {
		t.Skip("skipped: ROLES names no checkout of github.com/iann0036/iam-dataset")
	}
	lines := slices.Concat(azureRoles(t, dir), gcpRoles(t, dir), awsPolicies(t, dir))
	slices.Sort(lines)
	var got bytes.Buffer
	for line := range strings.Lines(roleData) {
		if strings.HasPrefix(line, "#") {
			got.WriteString(line)
		}
	}
	for _, line := range slices.Compact(lines) {
		got.WriteString(line)
	}
	if *update {
		if err := os.WriteFile("roles.tsv", got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != roleData {
		t.Errorf("the roles of %s are others: read the difference that -update makes", dir)
	}
}

// roleLine writes a role with what its permissions, each on every resource, give.
func roleLine(provider, name string, permissions []preview.CloudPermission) string {
	given, others := map[string]bool{}, map[string]bool{}
	for _, p := range permissions {
		for _, rows := range Grants() {
			for _, row := range rows {
				starts := row.Kind == "starter" && row.Provider == provider && cloud.Permits(p, row.Name)
				if (starts || row.Provider == provider && row.Wide > 0 && row.includedIn(p)) && row.Kind != "role" && row.Name != deployment {
					given[row.Name] = true
				}
			}
		}
		for _, action := range p.Actions {
			switch ending := endingOf(provider, action); {
			case ending != "":
				given[ending] = true
			case !isPlain(provider, "action", action) && !tabled(provider, strings.ToLower(action)) && !Describes(provider, action, cloud.OnData(p)):
				others[action] = true
			}
		}
	}
	actions := make([]string, 0, len(given))
	for action := range given {
		actions = append(actions, action)
	}
	slices.Sort(actions)
	return fmt.Sprintf("%s\t%s\t%d\t%s\n", provider, name, len(others), strings.Join(actions, " "))
}

// deployment is an action that most of Azure's roles have. A deployment can do what the
// identity that makes it may, so it adds nothing to the other actions of a role.
const deployment = "Microsoft.Resources/deployments/write"

// endingOf returns the pattern of a rule that judges actions by their ending, empty for
// other actions.
func endingOf(provider, action string) string {
	for _, row := range plains() {
		if row.provider == provider && strings.HasPrefix(row.pattern, "*") && cloud.Glob(row.pattern, strings.ToLower(action)) {
			for line := range strings.Lines(plainData) { // as it is written
				if f := strings.Split(line, "\t"); len(f) == 5 && strings.ToLower(f[2]) == row.pattern {
					return f[2]
				}
			}
		}
	}
	return ""
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func azureRoles(t *testing.T, dir string) []string {
	var roles []struct {
		ID          string `json:"name"`
		Name        string `json:"roleName"`
		Permissions []struct {
			Actions, NotActions, DataActions, NotDataActions []string
			Condition                                        *string
		}
	}
	decode(t, filepath.Join(dir, "azure", "built-in-roles-raw.json"), &roles)
	var out []string
	for _, role := range roles {
		var permissions []preview.CloudPermission
		for _, set := range role.Permissions {
			if set.Condition != nil { // it names the few roles that may be assigned
				set.Actions = withoutRows(cloud.Azure, set.Actions)
			}
			except := func(list []string) []any {
				var out []any
				for _, action := range list {
					out = append(out, action)
				}
				return out
			}
			permissions = append(permissions,
				preview.CloudPermission{Provider: cloud.Azure, Actions: set.Actions, Conditions: map[string]any{"notActions": except(set.NotActions)}},
				preview.CloudPermission{Provider: cloud.Azure, Actions: set.DataActions, Conditions: map[string]any{"notDataActions": except(set.NotDataActions), "plane": "data"}})
		}
		out = append(out, roleLine(cloud.Azure, role.Name+"="+role.ID, permissions))
	}
	return out
}

func gcpRoles(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "gcp", "roles", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no roles: %v", err)
	}
	var out []string
	for _, file := range files {
		var role struct {
			Name                string
			IncludedPermissions []string
		}
		decode(t, file, &role)
		out = append(out, roleLine(cloud.GCP, role.Name, []preview.CloudPermission{{Provider: cloud.GCP, Actions: role.IncludedPermissions}}))
	}
	return out
}

func awsPolicies(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "aws", "managedpolicies", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no policies: %v", err)
	}
	var out []string
	for _, file := range files {
		var policy struct {
			Name     string
			Document map[string]any
		}
		decode(t, file, &policy)
		found := cloud.Scan(cloud.Input{Attached: []preview.CloudPolicy{{Documents: []string{canonical(t, policy.Document)}}}})
		var permissions []preview.CloudPermission
		for _, p := range found.Permissions {
			if p.Effect != "Allow" {
				continue
			}
			if !cloud.Wide(p) || len(p.Conditions) > 0 && !cloud.Vacuous(p.Conditions) && p.Conditions["NotAction"] == nil {
				p.Actions = withoutRows(cloud.AWS, p.Actions) // of named resources, which are its service's own
			}
			permissions = append(permissions, p)
		}
		out = append(out, roleLine(cloud.AWS, policy.Name, permissions))
	}
	return out
}

// withoutRows returns the actions that are of no row.
func withoutRows(provider string, actions []string) []string {
	return slices.DeleteFunc(actions, func(action string) bool { return tabled(provider, strings.ToLower(action)) })
}

func canonical(t *testing.T, v map[string]any) string {
	t.Helper()
	text, err := preview.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
