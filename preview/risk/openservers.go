package risk

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// openServer matches workloads with a server that asks for no login, where a Service of
// the plan or of the cluster leads to it: Critical for a server that runs code where the Service, or a
// route to it, is reached from outside of the cluster.
func openServer(c *scan, o *preview.Object) (Level, []preview.Piece) {
	pod, meta := preview.PodTemplate(o.Planned)
	if pod == nil {
		return None, nil
	}
	servers := pods.OpenServers(pod)
	if len(servers) == 0 {
		return None, nil
	}
	by, outside := c.servedBy(o, preview.Map(meta, "labels"))
	if pod["hostNetwork"] == true || slices.ContainsFunc(preview.Maps(pod, "containers"), hasHostPort) {
		by, outside = "the address of its node", true
	}
	if by == "" {
		return None, nil
	}
	level, evidence := None, []preview.Piece(nil)
	for _, s := range servers {
		at := Medium
		switch {
		case s.RunsCode && outside:
			at = Critical
		case s.RunsCode || outside:
			at = High
		}
		level, evidence = max(level, at), append(evidence, preview.Piece{
			Item: &preview.Item{Kind: "container", Name: preview.EvidenceName(s.Container)}, Seen: seenAs(words.ServesOpenly.Of(preview.EvidenceName(s.By), s.Does, by)),
		})
	}
	return level, evidence
}

func hasHostPort(container map[string]any) bool {
	return slices.ContainsFunc(preview.Maps(container, "ports"), func(port map[string]any) bool { n, ok := port["hostPort"].(int64); return ok && n != 0 })
}

// servedBy returns which Service of the plan or the cluster leads to the pods of a workload, one that is
// reached from outside of the cluster if there is one; empty for none.
func (c *scan) servedBy(o *preview.Object, have map[string]any) (service string, outside bool) {
	set := labels.Set{}
	for key, v := range have {
		set[key], _ = v.(string)
	}
	for _, s := range c.around.services[o.Namespace] {
		picks := preview.Map(s.Planned, "spec", "selector")
		if c.around.left--; len(picks) == 0 {
			continue
		}
		picked, err := selectorOf(map[string]any{"matchLabels": picks})
		if c.around.left > 0 && (err != nil || !picked.Matches(set)) {
			continue
		}
		typ := preview.String(s.Planned, "spec", "type")
		open := typ == "LoadBalancer" || typ == "NodePort" || len(preview.List(s.Planned, "spec", "externalIPs")) > 0 || c.routed(s)
		if service == "" || open {
			service, outside = "Service "+preview.EvidenceName(s.Name), outside || open
		}
	}
	return service, outside
}

// routed reports whether an Ingress, Route or the like of the plan, or an Ingress of the
// cluster, in the namespace of a Service names it. It is true once the comparisons are used up.
func (c *scan) routed(service *preview.Object) bool {
	if c.around.left -= len(c.plan.Objects); c.around.left < 0 {
		return true
	}
	if slices.ContainsFunc(c.around.ingresses[service.Namespace], func(spec any) bool { return namesText(spec, service.Name) }) {
		return true
	}
	return slices.ContainsFunc(c.plan.Objects, func(o preview.Object) bool {
		if o.Planned == nil || o.Namespace != service.Namespace || !o.Is(preview.KindIngress, preview.KindRoute, "gateway.networking.k8s.io/HTTPRoute", "gateway.networking.k8s.io/TCPRoute",
			"traefik.io/IngressRoute", "projectcontour.io/HTTPProxy", "networking.istio.io/VirtualService") {
			return false
		}
		return namesText(o.Planned["spec"], service.Name)
	})
}

// namesText reports whether one of the texts in a value is a name.
func namesText(v any, name string) bool {
	switch v := v.(type) {
	case string:
		return v == name
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return namesText(item, name) })
	case map[string]any:
		for _, of := range v {
			if namesText(of, name) {
				return true
			}
		}
	}
	return false
}
