package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/orders"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// joined returns the level of an order together with where it points, and why: what
// others hold, sent to a place that the package chooses, is Critical, as is a route to
// what only the cluster itself should reach. It is None for orders that say nothing more
// together.
func (c *scan) joined(o *preview.Object, k deputy.Kind) (Level, []preview.Seen) {
	level, lines := None, []preview.Seen(nil)
	add := func(at Level, fact preview.Seen) {
		if at != None {
			level, lines = max(level, at), append(lines, fact)
		}
	}
	var files, places []string
	chose := "the package"
	for _, t := range orders.Targets(o.GroupKind(), o.Planned) {
		switch t.Means {
		case orders.File:
			files = append(files, preview.EvidenceName(t.Value))
		case orders.Address:
			if host := orders.OutsideHost(t.Value); host != "" {
				places = append(places, preview.EvidenceName(host))
			}
		case orders.Store:
			store, owner := c.storeOf(o, t)
			if owner != "" {
				store, chose = store+" of "+owner, "a package"
			}
			if store != "" {
				places = append(places, store)
			}
		case orders.Service:
			add(c.passesTo(t.Value))
		case orders.Route:
			add(routesTo(o, t))
		}
	}
	if len(files) > 0 {
		places = append(places, c.leadingOutside(o.Namespace)...)
	}
	switch to := strings.Join(places, ", "); {
	case to == "":
	case len(files) > 0:
		add(Critical, words.SentTo.Of(strings.Join(files, ", "), to))
	case k.Effect == deputy.Exports && k.Namespaced && c.namespaces.foreign(o.Namespace):
		add(Critical, words.GoesTo.Of(o.Namespace, to, chose))
	}
	return level, lines
}

// packaged are the tools that bring packages. Objects of others, such as what Argo CD
// applies from a repository, are as the users of the cluster have them.
var packaged = []string{preview.ToolRelease, preview.ToolHelm, preview.ToolHelmRelease, preview.ToolOLMv0, preview.ToolOLMv1}

// storeOf returns which store an order names as the place of its copies, where a package
// brings it: the plan, or the owner, which then is one of the cluster. It is empty for a
// store of the cluster's users. A store of the whole cluster may have a namespace in the
// plan, as the scope of kinds without a CRD is not known.
func (c *scan) storeOf(o *preview.Object, t orders.Target) (store, owner string) {
	ref := orders.StoreRef(o, t)
	store = ref.Kind + " " + preview.EvidenceName(ref.Name)
	for _, of := range c.objects {
		if of.Kind == ref.Kind && of.Name == ref.Name && of.Ref().Group() == ref.Group() && (of.Namespace == ref.Namespace || ref.Namespace == "") {
			return store, ""
		}
	}
	for _, body := range c.around.reads[ref.ID()] {
		for _, owner := range preview.ForeignOwners(body, preview.Release{}) { // the release itself may have kept it
			if slices.Contains(packaged, owner.Tool) {
				return store, owner.Tool + " " + preview.EvidenceName(owner.Name)
			}
		}
	}
	return "", ""
}

// leadingOutside returns the addresses outside the cluster that the endpoints and names
// of Services in a namespace lead to: of the plan, and those that a package brought.
func (c *scan) leadingOutside(namespace string) []string {
	var out []string
	for i := range c.plan.Objects {
		if o := &c.plan.Objects[i]; o.Planned != nil && o.Namespace == namespace {
			out = append(out, orders.LeadsOutside(o.Planned)...)
		}
	}
	for _, body := range c.around.leading[namespace] {
		if slices.ContainsFunc(preview.ForeignOwners(body, preview.Release{}), func(o preview.Owner) bool { return slices.Contains(packaged, o.Tool) }) {
			out = append(out, preview.Texts(preview.Value(body, "spec", LeadsTo))...)
		}
	}
	for i, host := range out {
		out[i] = preview.EvidenceName(host)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// passesTo returns the level of passing requests to a Service, as NAME, NAME.NAMESPACE...
// or NAMESPACE/NAME, and why.
func (c *scan) passesTo(service string) (Level, preview.Seen) {
	if namespace, name, slashed := strings.Cut(service, "/"); slashed && !strings.Contains(service, "://") {
		service = name + "." + namespace
	}
	host := code.Host(service)
	name, rest, dotted := strings.Cut(host, ".")
	namespace, _, _ := strings.Cut(rest, ".")
	if code.Metadata(host) || dotted && !c.namespaces.owned(namespace) && (namespace == kubeSystem || name == "kubernetes" && namespace == "default") {
		return Critical, words.PassesTo.Of(preview.EvidenceName(host))
	}
	return None, preview.Seen{}
}

// routesTo returns the level of a route of Traefik to an API of Traefik itself, and why:
// on a port for others, without a condition on the host or a middleware before it,
// everyone who reaches the proxy reaches the API.
func routesTo(o *preview.Object, t orders.Target) (Level, preview.Seen) {
	if _, provider, _ := strings.Cut(t.Value, "@"); provider != "internal" {
		return None, preview.Seen{}
	}
	fact := words.PassesToProxyAPI.Of(preview.EvidenceName(t.Value))
	ports := preview.Texts(preview.Value(o.Planned, "spec", "entryPoints"))
	if len(ports) == 1 && ports[0] == "traefik" || strings.Contains(preview.String(t.Above, "match"), "Host") || len(preview.Maps(t.Above, "middlewares")) > 0 {
		return High, fact
	}
	return Critical, fact
}
