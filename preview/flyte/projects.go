package flyte

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// projectNames recognises the namespaces of Flyte projects by their names, because
// Flyte's templates give them no label. The engine makes the name from
// namespace_mapping.template, by default PROJECT-DOMAIN; the domains are
// configured, by default development, staging and production.
type projectNames struct {
	template string
	domains  []string
}

// add adds the settings of ConfigMaps: the last namespace template counts, and the
// domains of all.
func (n *projectNames) add(configs []map[string]any) {
	for _, body := range configs {
		if !preview.IsKind(body, preview.KindConfigMap) {
			continue
		}
		for _, file := range yamlFiles(body, "namespace_mapping") {
			if template := preview.String(file, "namespace_mapping", "template"); template != "" {
				n.template = template
			}
		}
		for _, file := range yamlFiles(body, "domains") {
			for _, domain := range preview.Maps(file, "domains") {
				if id := preview.String(domain, "id"); id != "" {
					n.domains = append(n.domains, id)
				}
			}
		}
	}
}

// withDefaults returns the names with Flyte's own template and domains where no
// ConfigMap sets them.
func (n projectNames) withDefaults() projectNames {
	n.template = cmp.Or(n.template, "{{ project }}-{{ domain }}")
	if len(n.domains) == 0 {
		n.domains = []string{"development", "staging", "production"}
	}
	n.domains = slices.Compact(slices.Sorted(slices.Values(n.domains)))
	return n
}

// pattern returns a regular expression for the names of project namespaces.
func (n projectNames) pattern() *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	rest := n.template
	for {
		at := templateVariable.FindStringIndex(rest)
		if at == nil {
			break
		}
		b.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		if strings.Trim(rest[at[0]:at[1]], "{ }") == "domain" {
			var domains []string
			for _, domain := range n.domains {
				domains = append(domains, regexp.QuoteMeta(domain))
			}
			b.WriteString("(?:" + strings.Join(domains, "|") + ")")
		} else {
			b.WriteString("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
		}
		rest = rest[at[1]:]
	}
	b.WriteString(regexp.QuoteMeta(rest) + "$")
	out, err := regexp.Compile(b.String())
	if err != nil { // too long: no name matches
		return regexp.MustCompile("$^")
	}
	return out
}

// projectParts returns the kinds that a plugin with a ServiceAccount needs in the
// namespace of every project.
func projectParts() []string { return []string{"ServiceAccount", "Role", "RoleBinding"} }

// projectNamespaces returns the project namespaces in the cluster, and the project
// namespaces of the plan's objects, sorted.
func (r *review) projectNamespaces() []string {
	names := r.naming.withDefaults()
	if r.seen.Naming != nil {
		names = projectNames{template: r.seen.Naming.Template, domains: strings.Fields(r.seen.Naming.Domains)}
	}
	out := append(slices.Collect(maps.Keys(r.seen.Projects)), r.projectsCalled(names)...)
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *review) projects(plugin taskPlugin) part {
	part := part{name: "per project", called: "objects of the projects"}
	if plugin.account == "" {
		part.has = "nothing needed"
		return part
	}
	made := r.templatePartsFor(plugin.account)
	there := strings.Fields(r.seen.Templates[plugin.id])
	var has, seen, rest []string
	for _, kind := range projectParts() {
		switch {
		case slices.Contains(made, kind):
			has = append(has, kind)
		case slices.Contains(there, kind):
			seen = append(seen, kind)
		default:
			rest = append(rest, kind)
		}
	}
	var words []string
	if len(has) > 0 {
		words = append(words, plannedText(r.plan, r.packagesFor(plugin.account))+strings.Join(has, " and "))
	}
	if len(seen) > 0 {
		words = append(words, inCluster+", "+strings.Join(seen, " and "))
	}
	projects := r.projectNamespaces()
	full, planned := r.projectsHolding(plugin, projects, rest)
	switch all := len(full) == len(projects) && len(projects) > 0; {
	case len(rest) == 0:
		if existing, _ := r.projectsHolding(plugin, projects, projectParts()); len(projects) > 0 {
			words = append(words, fmt.Sprintf("%d of %s there are have them", len(existing), preview.Plural(len(projects), "project namespace")))
		}
	case all:
		source := inCluster
		if planned {
			source = "in the plan"
		}
		words = append(words, fmt.Sprintf("%s, %s in the namespaces of projects that there are, %s, and in no project to come", source, strings.Join(rest, " and "), someOf(full)))
	default:
		lacks := "nothing in the plan makes " + projectWords(rest, plugin.account)
		if len(projects) > 0 {
			without := slices.DeleteFunc(slices.Clone(projects), func(name string) bool { return slices.Contains(full, name) })
			lacks += fmt.Sprintf(", and %d of %s there are have no such: %s", len(without), preview.Plural(len(projects), "project namespace"), someOf(without))
		}
		part.describeMissing(lacks, r.hidden("configs", "projects"))
	}
	part.has = strings.Join(words, ", ")
	return part
}

// projectsHolding returns the project namespaces that have all of parts, kinds of
// [projectParts], in the cluster or the plan; planned is set if the plan alone provides
// them in every project.
func (r *review) projectsHolding(plugin taskPlugin, projects, parts []string) (full []string, planned bool) {
	planned = true
	for _, namespace := range projects {
		made := r.partsIn(plugin.account, namespace)
		live := strings.Fields(r.seen.Projects[namespace][plugin.id])
		lacks := func(kinds []string) bool {
			return slices.ContainsFunc(parts, func(kind string) bool { return !slices.Contains(kinds, kind) })
		}
		planned = planned && !lacks(made)
		if !lacks(slices.Concat(made, live)) {
			full = append(full, namespace)
		}
	}
	return full, planned
}

// namespaceObjects returns the objects of a namespace, and the ClusterRoles.
func namespaceObjects(bodies []map[string]any, namespace string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(bodies), func(body map[string]any) bool {
		ref := preview.RefOf(body)
		return ref.Namespace != namespace && !ref.Is(preview.KindClusterRole)
	})
}

func projectWords(kinds []string, account string) string {
	var words []string
	for _, kind := range kinds {
		switch kind {
		case "ServiceAccount":
			words = append(words, "the ServiceAccount "+account)
		case "Role":
			words = append(words, "the Role that is bound to it")
		default:
			words = append(words, "the "+kind+" for it")
		}
	}
	return strings.Join(words, " and ")
}

func boundParts(objects []map[string]any, account string) []string {
	found, roles, bound := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, body := range objects {
		name := preview.String(body, "metadata", "name")
		switch preview.RefOf(body).GroupKind() {
		case preview.KindServiceAccount:
			found["ServiceAccount"] = found["ServiceAccount"] || name == account
		case preview.KindRole, preview.KindClusterRole:
			roles[preview.String(body, "kind")+"/"+name] = true
		case preview.KindRoleBinding:
			if bindsAccount(body, account) {
				found["RoleBinding"] = true
				bound[preview.String(body, "roleRef", "kind")+"/"+preview.String(body, "roleRef", "name")] = true
			}
		}
	}
	for _, body := range access.BuiltIn() {
		roles["ClusterRole/"+preview.String(body, "metadata", "name")] = true
	}
	for role := range bound {
		found["Role"] = found["Role"] || roles[role]
	}
	return slices.DeleteFunc(projectParts(), func(kind string) bool { return !found[kind] })
}

// bindsAccount reports whether a RoleBinding has as subject the ServiceAccount with a
// name in the binding's own namespace.
func bindsAccount(binding map[string]any, account string) bool {
	return slices.ContainsFunc(access.Subjects(binding), func(s preview.Subject) bool {
		return s.Kind == preview.SubjectServiceAccount && s.Name == account && s.Namespace == preview.String(binding, "metadata", "namespace")
	})
}
