package registryv1

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

var (
	dnsLabel     = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dnsSubdomain = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func isLabel(s string) bool { return len(s) <= maxName && dnsLabel.MatchString(s) }

func isSubdomain(s string) bool { return len(s) <= 253 && dnsSubdomain.MatchString(s) }

// validate returns the errors of all rules for bundles. The first thirteen rules come
// from OLM v1 (render/registryv1/validators); the others find what the API server would
// report less clearly.
func validate(b *bundle) error {
	p := &problems{}
	for _, rule := range []func(*bundle, *problems){
		deploymentNamesUnique, deploymentNamesValid, crdNamesUnique, ownedCRDsExist, packageNamed,
		conversionNeedsAllNamespaces, webhookDeploymentsExist, webhookNamesUnique, webhookNamesValid,
		conversionCRDsUnshared, conversionCRDsOwned, webhookRulesAllowed, additionalKindsSupported,
		webhooksComplete, conversionPreservesNothing, crdsServed, noAPIServices, deploymentsComplete, namesPresent,
		versionReadable,
	} {
		rule(b, p)
	}
	return p.err()
}

// duplicates returns the values that occur more than once, sorted.
func duplicates(values []string) []string {
	count := map[string]int{}
	for _, v := range values {
		count[v]++
	}
	var out []string
	for v, n := range count {
		if n > 1 {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func deploymentNamesUnique(b *bundle, p *problems) {
	var names []string
	for _, d := range b.csv.deployments {
		names = append(names, d.name)
	}
	for _, name := range duplicates(names) {
		p.add("the CSV has two deployments named %q", name)
	}
}

func deploymentNamesValid(b *bundle, p *problems) {
	for _, d := range b.csv.deployments {
		if !isSubdomain(d.name) {
			p.add("the deployment name %q is not a DNS-1123 subdomain", d.name)
		}
	}
}

func crdNamesUnique(b *bundle, p *problems) {
	var names []string
	for _, o := range b.crds {
		names = append(names, o.name())
	}
	for _, name := range duplicates(names) {
		p.add("the bundle has two custom resource definitions named %q", name)
	}
}

func ownedCRDsExist(b *bundle, p *problems) {
	have := map[string]bool{}
	for _, o := range b.crds {
		have[o.name()] = true
	}
	for _, name := range b.csv.ownedCRDs {
		if !have[name] {
			p.add("the CSV owns the custom resource definition %q, which the bundle does not bring", name)
		}
	}
}

func packageNamed(b *bundle, p *problems) {
	if b.packageName == "" {
		p.add("%v", errNoPackage)
	}
}

func additionalKindsSupported(b *bundle, p *problems) {
	for _, o := range b.others {
		kind := preview.String(o.body, "kind")
		if ok, _ := additionalKind(kind); !ok {
			p.add("%s: objects of kind %s cannot be part of a registry+v1 bundle", o.origin.File, kind)
		}
	}
}

// crdsServed adds one problem for all CRDs of v1beta1, which no API server serves any
// more, and one for each CRD of another unknown version.
func crdsServed(b *bundle, p *problems) {
	var old []string
	for _, o := range b.crds {
		switch version := preview.String(o.body, "apiVersion"); version {
		case "apiextensions.k8s.io/v1":
		case "apiextensions.k8s.io/v1beta1":
			old = append(old, o.name())
		default:
			p.add("%s: the custom resource definition %q has apiVersion %q, not apiextensions.k8s.io/v1", o.origin.File, o.name(), version)
		}
	}
	if len(old) > 0 {
		slices.Sort(old)
		p.add("custom resource definitions of apiextensions.k8s.io/v1beta1 are not served since Kubernetes 1.22: %s; use a newer version of the bundle", strings.Join(old, ", "))
	}
}

func noAPIServices(b *bundle, p *problems) {
	if n := b.csv.ownedAPIServices; n > 0 {
		p.add("the CSV owns %d API services (spec.apiservicedefinitions.owned), which are not supported", n)
	}
}

func deploymentsComplete(b *bundle, p *problems) {
	for _, d := range b.csv.deployments {
		if d.spec == nil {
			p.add("the deployment %q has no spec", d.name)
		}
	}
}

// versionReadable checks that the CSV's version is a semantic version, and that the
// package name is a DNS name, as OLM v1 requires.
func versionReadable(b *bundle, p *problems) {
	if _, err := semver.NewVersion(b.csv.version); b.csv.version != "" && err != nil {
		p.add("the CSV's spec.version %q is not a semantic version", b.csv.version)
	}
	if name := b.packageName; name != "" && !isSubdomain(name) {
		p.add("the package name %q is not a DNS-1123 subdomain", name)
	}
}

func namesPresent(b *bundle, p *problems) {
	if !isSubdomain(b.csv.name) {
		p.add("the CSV's metadata.name %q is not a DNS-1123 subdomain", b.csv.name)
	}
	for _, o := range slices.Concat(b.crds, b.others) {
		kind := preview.String(o.body, "kind")
		if supported, _ := additionalKind(kind); supported && o.name() == "" {
			p.add("%s: document %d: %s without metadata.name", o.origin.File, o.origin.Document, kind)
		}
	}
	for _, perm := range slices.Concat(b.csv.permissions, b.csv.clusterPermissions) {
		if name := perm.account(); !isSubdomain(name) {
			p.add("the service account name %q is not a DNS-1123 subdomain", name)
		}
	}
}
