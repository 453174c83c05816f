package registryv1

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The risk rules this format finds by itself.
const (
	// ruleWithoutCA: a webhook rendered with --certs none.
	ruleWithoutCA = "webhook-without-ca"
	// ruleReplaced: of a manifest and an object made from the CSV, both with
	// one name, only one can be applied.
	ruleReplaced = "manifest-replaced"
)

// withoutCA names every webhook and conversion that was rendered without a
// certificate authority.
func withoutCA(b *bundle, p params, objects []format.Rendered) []preview.Finding {
	if p.certs != certsNone {
		return nil
	}
	const why = "the API server cannot verify the webhook, so every request that it covers fails or goes unchecked " +
		"until somebody provides a certificate and the caBundle"
	converted := b.csv.conversions()
	var out []preview.Finding
	for _, o := range objects {
		ref, field := preview.RefOf(o.Body), ""
		switch ref.Kind {
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			field = "webhooks[0].clientConfig.caBundle"
		case "CustomResourceDefinition":
			if _, ok := converted[ref.Name]; ok {
				field = "spec.conversion.webhook.clientConfig.caBundle"
			}
		}
		if field == "" {
			continue
		}
		f := finding(ruleWithoutCA, preview.Critical, ref, fmt.Sprintf("%s %s: %s is empty", ref.Kind, ref.Name, field))
		f.Title, f.Why = "webhook without a certificate authority", why
		out = append(out, f)
	}
	return out
}

func finding(rule string, severity preview.Severity, ref preview.Ref, evidence string) preview.Finding {
	return preview.Finding{
		ID:          rule + "/" + ref.ID(),
		Rule:        rule,
		Severity:    severity,
		Object:      ref.ID(),
		Evidence:    evidence,
		Fingerprint: preview.FindingFingerprint(rule, evidence),
	}
}

// distinct leaves one object of each id. Equal ones, as of two equal
// permissions, are one. Where a manifest and the CSV make the same object, the
// later generator wins, as under OLM, which replaces a bundled webhook Service
// by its own; a finding says so. Two different manifests of one object have no
// order that a reader could know, and are an error.
func (b *bundle) distinct(out *format.Output) error {
	at := make(map[string]int, len(out.Objects))
	var kept []format.Rendered
	for _, o := range out.Objects {
		ref := preview.RefOf(o.Body)
		i, dup := at[ref.ID()]
		if !dup {
			at[ref.ID()] = len(kept)
			kept = append(kept, o)
			continue
		}
		first := kept[i]
		same, err := equal(first.Body, o.Body)
		if err != nil {
			return fmt.Errorf("rendering %s: %w", ref.ID(), err)
		}
		if same {
			continue
		}
		if first.Origin != b.csv.origin && o.Origin != b.csv.origin {
			return fmt.Errorf("the bundle holds %s twice with different content, in %s and in %s", ref.ID(), first.Origin.File, o.Origin.File)
		}
		kept[i] = o
		out.Findings = append(out.Findings, replaced(ref, o.Origin == b.csv.origin))
	}
	out.Objects = kept
	return nil
}

func replaced(ref preview.Ref, byCSV bool) preview.Finding {
	evidence := fmt.Sprintf("%s %s: the bundle's own manifest replaces the one made from the CSV", ref.Kind, ref.Name)
	if byCSV {
		evidence = fmt.Sprintf("%s %s: the object made from the CSV replaces the bundle's own manifest", ref.Kind, ref.Name)
	}
	f := finding(ruleReplaced, preview.Info, ref, evidence)
	f.Title = "two definitions of one object"
	f.Why = "the bundle ships a manifest for an object that its CSV also leads to; only one of them is applied"
	return f
}

// equal compares decoded values by their canonical form.
func equal(a, b any) (bool, error) {
	x, err := preview.Canonical(a)
	if err != nil {
		return false, err
	}
	y, err := preview.Canonical(b)
	return string(x) == string(y), err
}
