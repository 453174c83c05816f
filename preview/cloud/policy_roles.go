package cloud

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

func joinComma(list []string) string { return strings.Join(list, ", ") }

// gcpRole is the content of a file for "gcloud iam roles create" (IAM API,
// projects.roles).
type gcpRole = map[string]any

var (
	gcpPermission = lazyregexp.New(`^[a-z][A-Za-z0-9-]*(\.[A-Za-z0-9-]+){2,}$`)
	gcpRoleName   = lazyregexp.New(`^((projects|organizations)/[A-Za-z0-9.:_-]+/)?roles/[A-Za-z0-9._]+$`)
)

// maxPermissions is the most permissions of a custom role (IAM quotas).
const maxPermissions = 3000

func (r *permissionRequest) gcp(list []preview.CloudPermission) []Document {
	var permissions, roles []string
	for _, p := range list {
		permissions, roles = append(permissions, p.Actions...), append(roles, p.Roles...)
		if text := conditionText(p.Conditions); text != "" {
			r.notes = append(r.notes, joinComma(p.Roles)+" is bound with "+text)
		}
		if len(p.Resources) > 0 {
			r.notes = append(r.notes, joinComma(slices.Concat(p.Roles, p.Actions))+" is granted on "+joinComma(p.Resources))
		}
	}
	permissions, bad := partition(sortedSet(permissions), gcpPermission)
	r.notes = append(r.notes, omittedNote("permissions", bad)...)
	roles, bad = partition(sortedSet(roles), gcpRoleName)
	r.notes = append(r.notes, omittedNote("roles", bad)...)
	if len(permissions)+len(roles) == 0 {
		return []Document{r.document("no role", nil)}
	}
	var out []Document
	for part := range slices.Chunk(permissions, maxPermissions) {
		name := numbered(r.name, len(out))
		d := r.document("a Google Cloud custom role", gcpRole{
			"title": name, "description": "What " + r.name + " asks for.", "stage": "GA", "includedPermissions": anys(part),
		})
		d.YAML = true
		id := strings.ReplaceAll(name, "-", "_")
		d.Notes = append(d.Notes, "gcloud iam roles create "+id+" --project PROJECT --file FILE", "the project is not derived")
		out = append(out, d)
	}
	if len(roles) > 0 {
		d := r.document("Google Cloud roles to bind as they are", map[string]any{"predefinedRoles": anys(roles)})
		d.YAML = true
		d.Notes = append(d.Notes, "gcloud projects add-iam-policy-binding PROJECT --member MEMBER --role ROLE",
			"the project and the member are not derived; roles of a project reach all of its resources")
		out = append(out, d)
	}
	return out
}

func sortedSet(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// azureRole is the content of a file for "az role definition create" (Azure RBAC,
// "Azure custom roles").
type azureRole struct {
	Name             string
	IsCustom         bool
	Description      string
	Actions          []string
	NotActions       []string
	DataActions      []string
	NotDataActions   []string
	AssignableScopes []string
}

var (
	azureAction   = lazyregexp.New(`^(\*|[A-Za-z0-9.*-]+(/[A-Za-z0-9.*$_-]+)+)$`)
	azureRoleName = lazyregexp.New(`^[ -~]{1,512}$`)
)

// azureScope is a placeholder for the subscription, which no request names.
const azureScope = "/subscriptions/00000000-0000-0000-0000-000000000000"

func (r *permissionRequest) azure(list []preview.CloudPermission) []Document {
	var roles []string
	for _, p := range list {
		roles = append(roles, p.Roles...)
	}
	roles, bad := partition(sortedSet(roles), azureRoleName)
	r.notes = append(r.notes, omittedNote("roles", bad)...)
	var out []Document
	merged := azureRole{}
	for _, p := range list {
		if len(p.Resources) > 0 {
			r.notes = append(r.notes, joinComma(slices.Concat(p.Roles, p.Actions))+" is granted on "+joinComma(p.Resources))
		}
		except := slices.Concat(texts(p.Conditions[notActions]), texts(p.Conditions[notDataActions]))
		actions, bad := partition(p.Actions, azureAction)
		_, badExcept := partition(except, azureAction)
		if len(badExcept) > 0 {
			r.notes = append(r.notes, "left out, as without an exception that Azure would not accept it would permit more: "+joinComma(p.Actions))
			continue
		}
		r.notes = append(r.notes, omittedNote("actions", bad)...)
		if len(actions) == 0 {
			continue
		}
		role := &merged
		if len(except) > 0 { // exceptions of one set must not narrow another
			role = &azureRole{}
		}
		if p.Conditions[planeKey] == planeData {
			role.DataActions, role.NotDataActions = append(role.DataActions, actions...), except
		} else {
			role.Actions, role.NotActions = append(role.Actions, actions...), except
		}
		if role != &merged {
			out = append(out, r.azureDefinition(*role, len(out)))
		}
	}
	if len(merged.Actions)+len(merged.DataActions) > 0 {
		out = append(out, r.azureDefinition(merged, len(out)))
	}
	if len(roles) > 0 {
		d := r.document("Azure roles to assign as they are", map[string]any{"builtInRoles": anys(roles)})
		d.YAML = true
		d.Notes = append(d.Notes, "az role assignment create --assignee IDENTITY --role ROLE --scope SCOPE",
			"the identity and the scope are not derived; a resource group is less than a subscription")
		out = append(out, d)
	}
	if len(out) == 0 {
		return []Document{r.document("no role", nil)}
	}
	return out
}

func (r *permissionRequest) azureDefinition(role azureRole, n int) Document {
	role.Name, role.IsCustom = numbered(r.name, n), true
	role.Description = "What " + r.name + " asks for."
	for _, list := range []*[]string{&role.Actions, &role.NotActions, &role.DataActions, &role.NotDataActions} {
		if *list = sortedSet(*list); *list == nil {
			*list = []string{}
		}
	}
	role.AssignableScopes = []string{azureScope}
	d := r.document("an Azure role definition", role)
	d.Notes = append(d.Notes, "az role definition create --role-definition @FILE",
		"the scope is not derived: put your subscription, or better a resource group, in AssignableScopes")
	return d
}
