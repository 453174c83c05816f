package registryv1

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

var (
	dnsLabel     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dnsSubdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func isLabel(s string) bool { return len(s) <= maxName && dnsLabel.MatchString(s) }

func isSubdomain(s string) bool { return len(s) <= 253 && dnsSubdomain.MatchString(s) }

// validate runs every rule and joins what they say. The first thirteen are
// those of OLM v1 (render/registryv1/validators); the rest keep out what the
// API server could only answer with a riddle.
func validate(b *bundle) error {
	var errs []error
	for _, rule := range []func(*bundle) []error{
		deploymentNamesUnique, deploymentNamesValid, crdNamesUnique, ownedCRDsExist, packageNamed,
		conversionNeedsAllNamespaces, webhookDeploymentsExist, webhookNamesUnique, webhookNamesValid,
		conversionCRDsUnshared, conversionCRDsOwned, webhookRulesAllowed, additionalKindsSupported,
		webhooksComplete, crdsServed, noAPIServices, deploymentsComplete, namesPresent,
	} {
		errs = append(errs, rule(b)...)
	}
	return errors.Join(errs...)
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

func deploymentNamesUnique(b *bundle) (errs []error) {
	var names []string
	for _, d := range b.csv.deployments {
		names = append(names, d.name)
	}
	for _, name := range duplicates(names) {
		errs = append(errs, fmt.Errorf("the CSV has two deployments named %q", name))
	}
	return errs
}

func deploymentNamesValid(b *bundle) (errs []error) {
	for _, d := range b.csv.deployments {
		if !isSubdomain(d.name) {
			errs = append(errs, fmt.Errorf("the deployment name %q is not a DNS-1123 subdomain", d.name))
		}
	}
	return errs
}

func crdNamesUnique(b *bundle) (errs []error) {
	var names []string
	for _, o := range b.crds {
		names = append(names, o.name())
	}
	for _, name := range duplicates(names) {
		errs = append(errs, fmt.Errorf("the bundle has two custom resource definitions named %q", name))
	}
	return errs
}

func ownedCRDsExist(b *bundle) (errs []error) {
	have := map[string]bool{}
	for _, o := range b.crds {
		have[o.name()] = true
	}
	for _, name := range b.csv.ownedCRDs {
		if !have[name] {
			errs = append(errs, fmt.Errorf("the CSV owns the custom resource definition %q, which the bundle does not bring", name))
		}
	}
	return errs
}

func packageNamed(b *bundle) []error {
	if b.packageName == "" {
		return []error{errNoPackage}
	}
	return nil
}

func additionalKindsSupported(b *bundle) (errs []error) {
	for _, o := range b.others {
		kind := preview.String(o.body, "kind")
		if ok, _ := additionalKind(kind); !ok {
			errs = append(errs, fmt.Errorf("%s: objects of kind %s cannot be part of a registry+v1 bundle", o.origin.File, kind))
		}
	}
	return errs
}

// crdsServed answers old bundles in one sentence however many CRDs they have.
func crdsServed(b *bundle) (errs []error) {
	var old []string
	for _, o := range b.crds {
		switch version := preview.String(o.body, "apiVersion"); version {
		case "apiextensions.k8s.io/v1":
		case "apiextensions.k8s.io/v1beta1":
			old = append(old, o.name())
		default:
			errs = append(errs, fmt.Errorf("%s: the custom resource definition %q has apiVersion %q, not apiextensions.k8s.io/v1", o.origin.File, o.name(), version))
		}
	}
	if len(old) > 0 {
		slices.Sort(old)
		errs = append(errs, fmt.Errorf("custom resource definitions of apiextensions.k8s.io/v1beta1 are not served since Kubernetes 1.22: %s; use a newer version of the bundle", strings.Join(old, ", ")))
	}
	return errs
}

func noAPIServices(b *bundle) []error {
	if n := b.csv.ownedAPIServices; n > 0 {
		return []error{fmt.Errorf("the CSV owns %d API services (spec.apiservicedefinitions.owned), which are not supported", n)}
	}
	return nil
}

func deploymentsComplete(b *bundle) (errs []error) {
	for _, d := range b.csv.deployments {
		if d.spec == nil {
			errs = append(errs, fmt.Errorf("the deployment %q has no spec", d.name))
		}
	}
	return errs
}

func namesPresent(b *bundle) (errs []error) {
	if !isSubdomain(b.csv.name) {
		errs = append(errs, fmt.Errorf("the CSV's metadata.name %q is not a DNS-1123 subdomain", b.csv.name))
	}
	for _, o := range slices.Concat(b.crds, b.others) {
		kind := preview.String(o.body, "kind")
		if supported, _ := additionalKind(kind); supported && o.name() == "" {
			errs = append(errs, fmt.Errorf("%s: document %d: %s without metadata.name", o.origin.File, o.origin.Document, kind))
		}
	}
	for _, p := range slices.Concat(b.csv.permissions, b.csv.clusterPermissions) {
		if name := p.account(); !isSubdomain(name) {
			errs = append(errs, fmt.Errorf("the service account name %q is not a DNS-1123 subdomain", name))
		}
	}
	return errs
}
