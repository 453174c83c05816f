package flyte

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// templateVariable matches a variable such as {{ project }} in the templates that the
// engine renders into each project's namespace; the engine replaces text and evaluates
// no expressions.
var templateVariable = lazyregexp.New(`\{\{[^{}]*\}\}`)

// anyProject stands for the namespace of a project in objects rendered from templates.
const anyProject = "PROJECT-DOMAIN"

// templateObjects returns the objects that the engine creates in each project from the
// templates in a ConfigMap. The namespace becomes [anyProject], another variable
// <NAME>.
func templateObjects(config map[string]any) []map[string]any {
	var out []map[string]any
	data := preview.Map(config, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text, _ := data[key].(string)
		if !strings.Contains(text, "kind:") {
			continue
		}
		docs, err := preview.Decode([]byte(templateVariable.ReplaceAllStringFunc(text, func(variable string) string {
			if name := strings.Trim(variable, "{ }"); name != "namespace" {
				return "<" + name + ">"
			}
			return anyProject
		})))
		if err != nil { // no template, or one that the engine cannot render either
			continue
		}
		for _, doc := range docs {
			if object, ok := doc.(map[string]any); ok {
				out = append(out, object)
			}
		}
	}
	return out
}

// templateParts returns which of [projectParts] the templates in configs create for an
// account in every project. Their bindings may refer to a ClusterRole in bodies.
func templateParts(configs, bodies []map[string]any, account string) []string {
	all := namespaceObjects(bodies, "")
	for _, body := range configs {
		if preview.IsKind(body, preview.KindConfigMap) {
			all = append(all, templateObjects(body)...)
		}
	}
	return boundParts(all, account)
}

// templateFindings returns findings about what the templates in the plan's
// ConfigMaps grant in the namespace of each project, because those objects are not
// reviewed when the engine creates them. They are judged as objects of the plan.
func templateFindings(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	var around *projectRBAC // made for the first template: most plans have none
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Is(preview.KindConfigMap) || o.Planned == nil {
			continue
		}
		objects := slices.DeleteFunc(templateObjects(o.Planned), func(body map[string]any) bool { return preview.String(body, "metadata", "namespace") != anyProject })
		if len(objects) == 0 {
			continue
		}
		if around == nil {
			around = newProjectRBAC(p)
		}
		lines, severity := around.gives(objects)
		if len(lines) == 0 {
			continue
		}
		out = append(out, rules.FlyteProjectRights.FindingOf(severity, o.ID, rules.FlyteProjectRights.Of("ConfigMap "+o.Name), evidenceOf(lines)...))
	}
	return out
}

// projectRBAC computes what the objects of project templates grant, with the
// ClusterRoles of plan and cluster that they refer to.
type projectRBAC struct {
	release preview.Release
	rbac    *access.RBACIndex
}

func newProjectRBAC(p *preview.Plan) *projectRBAC {
	roles := slices.DeleteFunc(preview.PlannedBodies(p.Objects), func(body map[string]any) bool { return !preview.IsKind(body, preview.KindClusterRole) })
	return &projectRBAC{release: p.Release, rbac: access.NewRBACIndex(slices.Concat(roles, p.ReadBodies()), p.AbsentReads())}
}

// gives lists the permissions that the objects of a project grant, one text for each grant. It
// also returns the highest severity of the findings about them.
func (s *projectRBAC) gives(objects []map[string]any) ([]string, preview.Severity) {
	project := &preview.Plan{Release: preview.Release{Name: s.release.Name, Namespace: anyProject}}
	for _, body := range objects {
		ref := preview.RefOf(body)
		project.Objects = append(project.Objects, preview.Object{
			ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Action: preview.ActionCreate, Planned: body,
		})
	}
	project.Access.Grants = access.Delta(nil, s.rbac.Compute(objects))
	project.Cloud = cloud.Delta(preview.Cloud{}, cloud.Scan(cloud.Input{Objects: objects}))
	var lines []string
	for _, g := range project.Access.Grants {
		lines = append(lines, g.Subject.Kind+" "+g.Subject.Name+" "+words.Explain(g))
	}
	for _, c := range project.Cloud.Permissions {
		lines = append(lines, strings.Join(slices.Concat([]string{c.Origin + ": " + c.Provider}, c.Roles, c.Actions), " "))
	}
	for _, c := range project.Cloud.Declared {
		lines = append(lines, c.Origin+": access to "+c.Provider)
	}
	severity := preview.Info
	found, err := risk.Evaluate(risk.Input{Plan: project})
	for _, f := range found {
		if f.Severity.Rank() < severity.Rank() {
			severity = f.Severity
		}
	}
	if err != nil { // only without a plan
		severity = preview.NotKnown
	}
	return lines, severity
}
