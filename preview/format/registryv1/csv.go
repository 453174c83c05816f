package registryv1

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// csv holds the parts of a ClusterServiceVersion (operators.coreos.com/v1alpha1)
// that rendering uses.
type csv struct {
	origin      preview.Origin
	name        string
	version     string
	description string
	annotations map[string]string
	body        map[string]any // as decoded, with the deployments as they are rendered

	modes              map[string]bool
	deployments        []deployment
	permissions        []permission
	clusterPermissions []permission
	webhooks           []webhook
	ownedCRDs          []string
	ownedAPIServices   int
	required           []preview.Ref
	relatedImages      []string
}

type deployment struct {
	lines  preview.LineIndex
	name   string
	labels map[string]any
	spec   map[string]any
}

// permission is one entry of a CSV's permissions or clusterPermissions. Its JSON is
// hashed into the names of roles, so that the order and tags of its fields, and of
// rule's fields, must not change. Its lines in the file are not hashed.
type permission struct {
	lines              preview.LineIndex
	ServiceAccountName string `json:"serviceAccountName"`
	Rules              []rule `json:"rules"`
}

type rule struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

// account returns the service account of a permission.
func (p permission) account() string {
	if p.ServiceAccountName == "" {
		return "default"
	}
	return p.ServiceAccountName
}

// The types of a webhook definition.
const (
	validatingWebhook = "ValidatingAdmissionWebhook"
	mutatingWebhook   = "MutatingAdmissionWebhook"
	conversionWebhook = "ConversionWebhook"
)

type webhook struct {
	lines          preview.LineIndex
	kind           string // one of the types
	generateName   string
	deploymentName string
	containerPort  int64 // 443 when the CSV has none
	targetPort     any   // int64 or string, nil when the CSV has none
	path           any   // string, nil when the CSV has none
	conversionCRDs []string
	body           map[string]any
}

// name returns the name of the webhook and of its configuration object.
func (w webhook) name() string { return strings.TrimSuffix(w.generateName, "-") }

func readCSV(o object) (csv, error) {
	c := csv{origin: o.origin, name: o.name(), modes: map[string]bool{}, body: o.body}
	r := &reader{at: "ClusterServiceVersion in " + o.origin.File}
	meta, spec := preview.Map(o.body, "metadata"), r.mapping(o.body, "spec", "spec")
	c.annotations = r.stringMap(meta, "metadata.annotations", "annotations")
	size := 0
	for key, value := range c.annotations {
		size += len(key) + len(value)
	}
	if size > maxAnnotationBytes {
		r.add("%s: metadata.annotations hold %d bytes, more than %d", r.at, size, maxAnnotationBytes)
	}
	c.version, c.description = r.str(spec, "spec.version", "version"), preview.String(spec, "description")
	r.each(spec, "spec.installModes", "installModes", func(m map[string]any, path string) {
		c.modes[r.str(m, path+".type", "type")] = r.boolean(m, path+".supported", "supported")
	})
	c.readStrategy(r, spec, o.lines)
	c.readAPIs(r, spec)
	r.each(spec, "spec.webhookdefinitions", "webhookdefinitions", func(m map[string]any, path string) {
		w := readWebhook(r, m, path)
		w.lines = o.lines.Below("spec", "webhookdefinitions", len(c.webhooks))
		c.webhooks = append(c.webhooks, w)
	})
	r.each(spec, "spec.relatedImages", "relatedImages", func(m map[string]any, path string) {
		if image := r.str(m, path+".image", "image"); image != "" {
			c.relatedImages = append(c.relatedImages, image)
		}
	})
	slices.Sort(c.relatedImages)
	c.relatedImages = slices.Compact(c.relatedImages)
	return c, r.err()
}

func (c *csv) readStrategy(r *reader, spec map[string]any, lines preview.LineIndex) {
	install := r.mapping(spec, "spec.install", "install")
	const at = "spec.install.spec"
	strategy := r.mapping(install, at, "spec")
	r.each(strategy, at+".deployments", "deployments", func(m map[string]any, path string) {
		d := deployment{lines: lines.Below("spec", "install", "spec", "deployments", len(c.deployments)), name: r.str(m, path+".name", "name"), spec: r.mapping(m, path+".spec", "spec")}
		d.labels = r.mapping(m, path+".label", "label")
		checkTemplate(r, d.spec, path+".spec")
		c.deployments = append(c.deployments, d)
	})
	if n := len(c.deployments); n > maxDeployments {
		r.add("%s: %s.deployments has %d entries, more than %d", r.at, at, n, maxDeployments)
	}
	c.permissions = readPermissions(r, strategy, at+".permissions", "permissions")
	c.clusterPermissions = readPermissions(r, strategy, at+".clusterPermissions", "clusterPermissions")
	for key, list := range map[string][]permission{"permissions": c.permissions, "clusterPermissions": c.clusterPermissions} {
		for i := range list {
			list[i].lines = lines.Below("spec", "install", "spec", key, i)
		}
	}
}

// checkTemplate checks the types of those fields of a Deployment that rendering
// changes.
func checkTemplate(r *reader, spec map[string]any, path string) {
	path += ".template"
	template := r.mapping(spec, path, "template")
	meta := r.mapping(template, path+".metadata", "metadata")
	r.stringMap(meta, path+".metadata.annotations", "annotations")
	path += ".spec"
	pod := r.mapping(template, path, "spec")
	r.each(pod, path+".volumes", "volumes", func(map[string]any, string) {})
	r.each(pod, path+".containers", "containers", func(c map[string]any, path string) {
		r.each(c, path+".volumeMounts", "volumeMounts", func(map[string]any, string) {})
		r.each(c, path+".env", "env", func(map[string]any, string) {})
	})
}

func readPermissions(r *reader, strategy map[string]any, path, key string) []permission {
	var out []permission
	r.each(strategy, path, key, func(m map[string]any, path string) {
		p := permission{ServiceAccountName: r.str(m, path+".serviceAccountName", "serviceAccountName")}
		if rules := r.list(m, path+".rules", "rules"); rules != nil {
			p.Rules = make([]rule, 0, len(rules))
		}
		r.each(m, path+".rules", "rules", func(m map[string]any, path string) {
			p.Rules = append(p.Rules, rule{
				Verbs:           r.strings(m, path+".verbs", "verbs"),
				APIGroups:       r.strings(m, path+".apiGroups", "apiGroups"),
				Resources:       r.strings(m, path+".resources", "resources"),
				ResourceNames:   r.strings(m, path+".resourceNames", "resourceNames"),
				NonResourceURLs: r.strings(m, path+".nonResourceURLs", "nonResourceURLs"),
			})
		})
		out = append(out, p)
	})
	return out
}

func (c *csv) readAPIs(r *reader, spec map[string]any) {
	const crds = "spec.customresourcedefinitions"
	defs := r.mapping(spec, crds, "customresourcedefinitions")
	r.each(defs, crds+".owned", "owned", func(m map[string]any, path string) {
		c.ownedCRDs = append(c.ownedCRDs, r.str(m, path+".name", "name"))
	})
	r.each(defs, crds+".required", "required", func(m map[string]any, path string) {
		name := r.str(m, path+".name", "name")
		_, group, _ := strings.Cut(name, ".")
		c.require(group, r.str(m, path+".version", "version"), r.str(m, path+".kind", "kind"), name)
	})
	r.each(spec, "spec.nativeAPIs", "nativeAPIs", func(m map[string]any, path string) {
		c.require(r.str(m, path+".group", "group"), r.str(m, path+".version", "version"), r.str(m, path+".kind", "kind"), "")
	})
	const services = "spec.apiservicedefinitions"
	c.ownedAPIServices = len(r.list(r.mapping(spec, services, "apiservicedefinitions"), services+".owned", "owned"))
}

func (c *csv) require(group, version, kind, name string) {
	apiVersion := version
	if group != "" {
		apiVersion = group + "/" + version
	}
	c.required = append(c.required, preview.Ref{APIVersion: apiVersion, Kind: kind, Name: name})
}

func readWebhook(r *reader, m map[string]any, path string) webhook {
	w := webhook{
		kind:           r.str(m, path+".type", "type"),
		generateName:   r.str(m, path+".generateName", "generateName"),
		deploymentName: r.str(m, path+".deploymentName", "deploymentName"),
		containerPort:  r.integer(m, path+".containerPort", "containerPort"),
		targetPort:     m["targetPort"],
		conversionCRDs: r.strings(m, path+".conversionCRDs", "conversionCRDs"),
		body:           m,
	}
	if w.containerPort == 0 {
		// The CSV's own CRD defaults it; a file passes no API server.
		w.containerPort = 443
	}
	if m["webhookPath"] != nil {
		w.path = r.str(m, path+".webhookPath", "webhookPath")
	}
	switch w.targetPort.(type) {
	case nil, int64, string:
	default:
		r.wrong(path+".targetPort", "an integer or a string", w.targetPort)
	}
	r.each(m, path+".rules", "rules", func(m map[string]any, path string) {
		r.strings(m, path+".apiGroups", "apiGroups")
		r.strings(m, path+".resources", "resources")
	})
	return w
}

// missingAPIs returns the APIs that the bundle requires and does not contain.
func (b *bundle) missingAPIs() []preview.Ref {
	brought := map[string]bool{}
	for _, o := range b.crds {
		brought[preview.String(o.body, "spec", "group")+"/"+preview.String(o.body, "spec", "names", "kind")] = true
	}
	var out []preview.Ref
	for _, ref := range b.csv.required {
		if !brought[ref.Group()+"/"+ref.Kind] {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(x, y preview.Ref) int {
		return cmp.Or(cmp.Compare(x.APIVersion, y.APIVersion), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name))
	})
	return slices.Compact(out)
}
