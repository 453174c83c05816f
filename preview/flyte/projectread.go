package flyte

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// maxProjects is the most project namespaces that are looked at (500); beyond it the
// finding is that not all were read.
const maxProjects = 500

// maxNamespaces is in how many namespaces RoleBindings are listed one by one (50), if
// the user may not list them in all at once.
const maxNamespaces = 50

// readProjects records the namespaces of projects, which of [projectParts] each has for
// the plugins that the engine uses, and which of them templates in ConfigMaps outside
// the plan create.
func (r *reader) readProjects(ctx context.Context) error {
	names := projectNames{template: r.plan.naming.template, domains: slices.Clone(r.plan.naming.domains)}
	names.add(r.configs)
	names = names.withDefaults()
	namespaces, err := r.list(ctx, "projects", "v1", "Namespace", "")
	if err != nil {
		return err
	}
	var found []string
	pattern := names.pattern()
	for _, body := range namespaces {
		if name := preview.RefOf(body).Name; pattern.MatchString(name) && preview.String(body, "metadata", "deletionTimestamp") == "" {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if len(found) > maxProjects {
		r.hide("projects", fmt.Sprintf("of %d project namespaces only %d were looked at", len(found), maxProjects))
		found = found[:maxProjects]
	}
	r.found.Projects, r.found.Templates = map[string]map[string]string{}, map[string]string{}
	for _, name := range found {
		r.found.Projects[name] = map[string]string{}
	}
	for _, plugin := range r.used {
		if plugin.account == "" {
			continue
		}
		if parts := templateParts(r.configs, nil, plugin.account); len(parts) > 0 {
			r.found.Templates[plugin.id] = strings.Join(parts, " ")
		}
		if err := r.readProjectParts(ctx, plugin, found); err != nil {
			return err
		}
	}
	r.found.Naming = &namingRecord{Template: names.template, Domains: strings.Join(names.domains, " ")}
	return nil
}

// readProjectParts records which of [projectParts] each project's namespace has for a
// plugin.
func (r *reader) readProjectParts(ctx context.Context, plugin taskPlugin, namespaces []string) error {
	var refs []preview.Ref
	for _, namespace := range namespaces {
		refs = append(refs, access.AccountRef(preview.Subject{Namespace: namespace, Name: plugin.account}))
	}
	accounts, err := r.bodies(ctx, refs, func(preview.Ref) {
		r.hide("projects", "the ServiceAccounts of project namespaces may not be read")
	})
	if err != nil {
		return err
	}
	bindings, err := r.roleBindings(ctx)
	if err != nil {
		return err
	}
	bindings = slices.DeleteFunc(slices.Clone(bindings), func(body map[string]any) bool { return !bindsAccount(body, plugin.account) })
	roles, err := r.readRoles(ctx, "projects", bindings)
	if err != nil {
		return err
	}
	all := r.ExcludePlanned(slices.Concat(accounts, bindings, roles))
	for _, namespace := range namespaces {
		if parts := boundParts(namespaceObjects(all, namespace), plugin.account); len(parts) > 0 {
			r.found.Projects[namespace][plugin.id] = strings.Join(parts, " ")
		}
	}
	return nil
}

// roleBindings returns the RoleBindings in the namespaces of the engine and the
// projects. The first call lists them, further ones reuse the list.
func (r *reader) roleBindings(ctx context.Context) ([]map[string]any, error) {
	if r.listed {
		return r.local, nil
	}
	r.listed = true
	wanted := append(slices.Sorted(maps.Keys(r.found.Projects)), r.e.config.Namespace)
	list, allowed, err := r.listRBAC(ctx, "RoleBinding")
	switch {
	case err != nil:
		return nil, err
	case allowed:
		r.local = slices.DeleteFunc(r.ExcludePlanned(list), func(body map[string]any) bool { return !slices.Contains(wanted, preview.RefOf(body).Namespace) })
		return r.local, nil
	}
	slices.Sort(wanted)
	for i, namespace := range slices.Compact(wanted) {
		if i == maxNamespaces {
			for _, topic := range []string{"rights", "projects"} {
				r.hide(topic, fmt.Sprintf("the RoleBindings of %d namespaces alone were listed", maxNamespaces))
			}
			break
		}
		list, err := r.list(ctx, "rights", access.APIVersion, "RoleBinding", namespace)
		if err != nil {
			return nil, err
		}
		r.local = append(r.local, list...)
	}
	if hidden := r.found.Hidden["rights"]; hidden != "" {
		r.hide("projects", hidden)
	}
	return r.local, nil
}

// readRoles reads the roles that bindings refer to, except roles that the plan writes or
// deletes. A role that the user may not read is recorded for the topic.
func (r *reader) readRoles(ctx context.Context, topic string, bindings []map[string]any) ([]map[string]any, error) {
	out, err := r.bodies(ctx, access.RoleRefs(bindings), func(ref preview.Ref) { r.hide(topic, ref.ID()+" may not be read") })
	return r.ExcludePlanned(out), err
}

// bodies reads objects and returns the existing ones. hidden is called for each
// that the user may not read.
func (r *reader) bodies(ctx context.Context, refs []preview.Ref, hidden func(preview.Ref)) ([]map[string]any, error) {
	var out []map[string]any
	for i, result := range r.Read(ctx, refs) {
		switch {
		case result.Err != nil && !preview.Answered(result.Err):
			return nil, fmt.Errorf("reading %s: %w", refs[i].ID(), result.Err)
		case result.Err != nil:
			hidden(refs[i])
		case result.Body != nil:
			out = append(out, result.Body)
		}
	}
	return out, nil
}
