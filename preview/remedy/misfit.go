package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Misfits returns an obstacle for each object that does not fit the schema of its kind.
func Misfits(p *preview.Plan) []preview.Obstacle {
	var out []preview.Obstacle
	var objects map[string]*preview.Object
	var definitions map[preview.GroupKind]string
	for _, f := range p.Findings {
		if f.Rule != rules.NotAppliable.Name {
			continue
		}
		if objects == nil {
			objects, definitions = p.ObjectsByID(), definitionsOf(p)
		}
		c := Case{Plan: p, Object: objects[f.Object], ID: f.Object}
		if c.Object != nil {
			c.Definition = definitions[c.Object.GroupKind()]
		}
		problems := make([]string, len(f.Pieces))
		for i, piece := range f.Pieces {
			problems[i] = piece.What
		}
		out = append(out, Obstacle(Misfit, "does not fit the schema of its kind: "+strings.Join(problems, preview.EvidenceMark), c))
	}
	return out
}

// definitionsOf returns the names of the CRDs of a plan by the kind that they define.
func definitionsOf(p *preview.Plan) map[preview.GroupKind]string {
	out := map[preview.GroupKind]string{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Is(preview.KindCustomResourceDefinition) && o.Planned != nil {
			out[definedBy(o)] = o.Name
		}
	}
	return out
}

// misfit returns how to correct an object that no API server takes, and where the schema
// of its kind is: in a CRD of the plan, or else in the cluster.
func misfit(c Case) (string, []string) {
	const correct = "correct it in the content, or by --set where a parameter writes it, or plan another version; "
	switch {
	case c.Object == nil:
		return correct + "the cause names the field", nil
	case c.Definition != "":
		return correct + "the schema is in CustomResourceDefinition " + c.Definition + " of the plan", nil
	}
	ref := c.Object.Ref()
	return correct + "what its fields take: " + c.kubectl("kubectl explain "+commandline.ShellWord(strings.ToLower(ref.Kind))+" --api-version="+commandline.ShellWord(ref.APIVersion)+" --recursive"), nil
}

// invalid returns what settles that the API server refuses an object's values: a Service
// whose port another client gave another number or protocol keeps that one next to the
// planned port of the same name, because ports are merged by number and protocol
// (kubernetes/kubernetes#118725).
func invalid(c Case) (string, []string) {
	if c.Object == nil || !c.Object.Is(preview.KindService) {
		return misfit(c)
	}
	planned := preview.Maps(c.Object.Planned, "spec", "ports")
	for i, live := range preview.Maps(c.Object.LiveBody, "spec", "ports") {
		at := slices.IndexFunc(planned, func(p map[string]any) bool { return p["name"] == live["name"] })
		if at < 0 || slices.ContainsFunc(planned, func(p map[string]any) bool { return portKey(p) == portKey(live) }) {
			continue
		}
		want := portKey(planned[at])
		patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/ports/%d/port","value":%d},{"op":"add","path":"/spec/ports/%d/protocol","value":%q}]`, i, want.number, i, want.protocol)
		ref := c.Object.Ref()
		return "another client changed its port, and both ports would have the same name; set it back, then preview again: " +
			c.kubectl(commandline.Join("kubectl", "patch", "service", ref.Name, "-n", ref.Namespace, "--type", "json", "-p", patch)), nil
	}
	return misfit(c)
}

// servicePort is what ports of a Service are merged by.
type servicePort struct {
	number   int64
	protocol string
}

func portKey(port map[string]any) servicePort {
	number, _ := port["port"].(int64)
	return servicePort{number, cmp.Or(preview.String(port, "protocol"), "TCP")}
}
