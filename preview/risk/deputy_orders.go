package risk

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudtable"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// orderRules returns the rules about custom resources in the plan that controllers of
// others carry out.
func orderRules() []entry {
	effects := map[string][]deputy.Effect{}
	var out []entry
	for _, row := range effectRules {
		if row.order.Name == "" {
			continue
		}
		if effects[row.order.Name] == nil {
			out = append(out, entry{Rule: row.order})
		}
		effects[row.order.Name] = append(effects[row.order.Name], row.effect)
	}
	for i := range out {
		out[i].object = orderMatch(effects[out[i].Name])
	}
	return out
}

var orderLevels = map[string]Level{"critical": Critical, "high": High, "medium": Medium, "low": Low, "none": None}

// orderMatch returns a matcher for objects whose kind, annotations or labels make a
// controller do something with one of the effects.
func orderMatch(effects []deputy.Effect) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []string) {
		if o.Planned == nil {
			return None, nil
		}
		if c.order.of != o {
			c.order = c.ordersOf(o)
		}
		worst, lines := None, []string(nil)
		for _, order := range c.order.list {
			if slices.Contains(effects, order.effect) {
				worst, lines = max(worst, order.level), append(lines, order.lines...)
			}
		}
		return worst, lines
	}
}

// objectOrders are the orders of one object, which the rules of all effects ask for.
type objectOrders struct {
	of   *preview.Object
	list []order
}

// order is what a controller does because of an object: by its kind, or by an annotation
// or label.
type order struct {
	effect deputy.Effect
	level  Level
	lines  []string
}

func (c *scan) ordersOf(o *preview.Object) objectOrders {
	out := objectOrders{of: o}
	if k, level, more := c.orderOf(o); level != None {
		out.list = append(out.list, order{k.Effect, level, append([]string{k.Says()}, more...)})
	}
	for _, field := range []string{"annotations", "labels"} {
		for key, v := range preview.Map(o.Planned, "metadata", field) {
			if mark, known := deputy.MarkOf(key); known && v != "false" {
				out.list = append(out.list, order{mark.Effect, orderLevels[mark.Order], []string{fmt.Sprintf("%s %v: %s", key, v, mark.Says())}})
			}
		}
	}
	return out
}

// orderOf returns the row for the kind of an object that a controller acts on, its
// level, and further evidence. A kind that the plan itself brings has level None, as
// the permissions of its controller are judged; except where the controller applies
// objects or changes nodes, which its permissions do not show.
func (c *scan) orderOf(o *preview.Object) (deputy.Kind, Level, []string) {
	ref := o.Ref()
	k, known := deputy.Of(ref.Group(), ref.Kind)
	if !known || content.BuiltIn(o.Planned) {
		return k, None, nil
	}
	if c.kinds.defines(ref.Group(), ref.Kind) && !slices.Contains([]deputy.Effect{deputy.Installs, deputy.RBAC, deputy.Node, deputy.Mutates}, k.Effect) {
		return k, None, nil
	}
	level, lines := orderLevels[k.Order], []string(nil)
	switch {
	case o.Is("cert-manager.io/Certificate", "cert-manager.io/CertificateRequest"):
		level, lines = certificateLevel(o.Planned, level)
	case k.Effect == deputy.Scales && slices.Contains(sharedNamespaces, o.Namespace):
		level = max(level, Medium) // what runs there serves the cluster
	case (k.Effect == deputy.Cloud || k.Effect == deputy.IAM) && level < Critical && !c.clouds[o.Kind+"/"+o.Namespace+"/"+o.Name] && !c.clouds[o.Kind+"/"+o.Name]:
		if found := administrators(o.Planned["spec"]); len(found) > 0 {
			level, lines = Critical, []string{"its content names " + wording.Series(found, "and")}
		}
	case k.Effect == deputy.Scrapes && level == Low && !sendsToken(o.Planned):
		level = None
	case o.Is("kyverno.io/ClusterPolicy", "kyverno.io/Policy") && !changesObjects(o.Planned):
		k.Effect, k.Does, level = deputy.Refuses, "refuses objects that do not meet the policy", High
	}
	if level >= High {
		lines = append(lines, sources(o.Planned)...)
		if hash, err := preview.Hash(o.Planned["spec"]); err == nil {
			lines = append(lines, "spec "+hash)
		}
	}
	return k, level, lines
}

// administrators returns the names of cloud roles equal to an administrator that occur
// in the texts of a spec, such as templates and programs that a controller runs.
func administrators(spec any) []string {
	var found []string
	eachText(spec, func(text string) {
		for _, name := range cloudtable.Administrators() {
			if at := strings.Index(text, name); at >= 0 && !wordAt(text, at+len(name)) {
				found = append(found, name)
			}
		}
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// wordAt reports whether the byte of a text at an index is part of a name. It serves to
// find whole names.
func wordAt(text string, at int) bool {
	return at < len(text) && (text[at] == '.' || text[at] == '_' || text[at] >= 'a' && text[at] <= 'z' || text[at] >= 'A' && text[at] <= 'Z' || text[at] >= '0' && text[at] <= '9')
}

// changesObjects reports whether a Kyverno policy has rules that mutate or generate
// objects, or no rules that can be read.
func changesObjects(body map[string]any) bool {
	list := preview.Maps(body, "spec", "rules")
	return len(list) == 0 || slices.ContainsFunc(list, func(rule map[string]any) bool {
		return rule["mutate"] != nil || rule["generate"] != nil
	})
}

// sendsToken reports whether a ServiceMonitor, PodMonitor or Probe makes Prometheus
// send the token in a file to its endpoints (bearerTokenFile).
func sendsToken(body map[string]any) bool {
	for _, field := range []string{"endpoints", "podMetricsEndpoints", "prober"} {
		for _, endpoint := range append(preview.Maps(body, "spec", field), preview.Map(body, "spec", field)) {
			if endpoint["bearerTokenFile"] != nil {
				return true
			}
		}
	}
	return false
}

// certificateLevel returns the level of a cert-manager Certificate or
// CertificateRequest, and as evidence the system users and groups that it is for: where
// the cluster trusts the issuer, the holder of such a client certificate is that user.
func certificateLevel(body map[string]any, level Level) (Level, []string) {
	spec := preview.Map(body, "spec")
	names := append(preview.Texts(preview.Value(spec, "subject", "organizations")), preview.String(spec, "commonName"))
	names = append(names, subjectNames(preview.String(spec, "literalSubject"))...)
	names = append(names, requested(preview.String(spec, "request"))...)
	var lines []string
	for _, name := range names {
		if strings.HasPrefix(name, "system:") || name == "kubernetes-admin" || name == "kubeadm:cluster-admins" {
			lines = append(lines, "for "+preview.EvidenceName(name))
		}
	}
	usages := preview.Texts(spec["usages"])
	switch client := slices.Contains(usages, "client auth") || slices.Contains(usages, "any"); {
	case len(lines) > 0 && client:
		return Critical, append(lines, "usages "+strings.Join(usages, ", "))
	case len(lines) > 0:
		return High, lines
	case spec["isCA"] == true:
		return max(level, Medium), []string{"isCA: it signs certificates itself"}
	}
	return level, nil
}

// subjectNames returns the values in a certificate's subject: a and b of "CN=a,O=b".
func subjectNames(subject string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(subject, func(r rune) bool { return r == ',' || r == '+' }) {
		_, value, _ := strings.Cut(part, "=")
		out = append(out, strings.TrimSpace(value))
	}
	return out
}

// requested returns the organizations and the common name in a certificate signing
// request, which is PEM in base64; nil if it cannot be parsed.
func requested(text string) []string {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil
	}
	return append(slices.Clone(request.Subject.Organization), request.Subject.CommonName)
}

// sources returns the URLs and images that the spec of an object names, at most
// maxSources, as lines of evidence: its controller may read content from there.
func sources(body map[string]any) []string {
	var out []string
	eachText(body["spec"], func(v string) {
		if len(out) < maxSources && len(v) < 300 && (strings.Contains(v, "://") || strings.HasPrefix(v, "git@") || strings.Contains(v, "@sha256:")) {
			out = append(out, "names "+preview.EvidenceName(v))
		}
	})
	return out
}

// eachText calls f with every string in a value, ordered by field names.
func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range wording.Keys(v) {
			eachText(v[key], f)
		}
	case []any:
		for _, item := range v {
			eachText(item, f)
		}
	case string:
		f(v)
	}
}

const maxSources = 5

// judgeUnknownKinds makes findings of custom resources of which no table says which
// controller acts on them: one for each kind of object in the plan, and one for each
// API group that the plan's accounts can write.
func (c *scan) judgeUnknownKinds() {
	first, acting := map[string]string{}, map[string]bool{}
	for _, read := range c.plan.Reads {
		if a, ok := deputy.ActingOf(read); ok {
			acting[a.Group+"/"+a.Kind], acting[a.Group+"/"+a.Resource] = true, true
		}
	}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		ref := o.Ref()
		if o.Planned == nil || content.BuiltIn(o.Planned) || c.kinds.defines(ref.Group(), ref.Kind) {
			continue
		}
		kind := ref.Group() + "/" + ref.Kind
		if _, known := deputy.Of(ref.Group(), ref.Kind); known || acting[kind] {
			continue
		}
		if first[kind] == "" {
			first[kind] = o.ID
		}
		hit := carriedHit(o, []string{o.ID})
		hit.object, hit.severity = first[kind], preview.NotKnown
		c.hit(rules.UnknownKind, hit)
	}
	for _, g := range c.plan.Access.Grants {
		if g.Change != preview.GrantRemoved && !c.held.admin(g) && !c.judgedByBinding(g) {
			c.unknownGroups(g, acting)
		}
	}
}

// unknownGroups adds to the findings the API groups of a grant that may be written and
// of which no table says which controllers act on their resources. acting holds the
// GROUP/RESOURCE that the plan found a controller for.
func (c *scan) unknownGroups(g preview.Grant, acting map[string]bool) {
	verbs := shape{verbs: strings.Fields(write)}.usable(g, g.Resources)
	if len(verbs) == 0 {
		return
	}
	for _, group := range g.APIGroups {
		if group == all || content.BuiltInGroup(group) || deputy.KnownGroup(group) {
			continue
		}
		part := shape{groups: []string{group}, verbs: verbs}
		for _, resource := range g.Resources {
			if !strings.Contains(resource, "/") && !c.kinds.ours(group, resource) && !acting[group+"/"+resource] {
				part.resources = append(part.resources, resource)
			}
		}
		if len(part.resources) == 0 {
			continue
		}
		c.hit(rules.RBACUnknownKind, ruleHit{
			object: group + "/*/-/*", about: "API group " + group, evidence: []string{line(g, part)}, severity: preview.NotKnown,
			narrow: g.Scope != preview.ScopeCluster, known: isUnchanged(g), held: g.Change == preview.GrantSame,
		})
	}
}
