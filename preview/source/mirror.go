package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Mirror is a rule that content of a registry, of repositories or of one repository may
// be read from other places. Mirrors are asked in order, and by digest only: a tag's own
// registry decides its meaning. Pin and reference stay the source's.
type Mirror struct {
	// Source is HOST[:PORT], HOST[:PORT]/PATH, or *.DOMAIN.
	Source string
	// Mirrors take the place of Source in a reference: HOST[:PORT][/PATH].
	Mirrors []string
	// Never keeps from asking the source when no mirror has it.
	Never bool
}

// mirrorKinds are the API kinds of mirror rules (OpenShift config/v1 and
// operator/v1alpha1), with the field of spec that has the rules.
var mirrorKinds = map[string]string{
	"config.openshift.io/v1/ImageDigestMirrorSet":             "imageDigestMirrors",
	"operator.openshift.io/v1alpha1/ImageContentSourcePolicy": "repositoryDigestMirrors",
}

const (
	maxMirrorRules  = 1000
	maxMirrorPlaces = 16 // of one rule
)

// mirrorPlace matches HOST[:PORT][/PATH]. A source may also begin with "*.", which is
// cut before.
var mirrorPlace = lazyregexp.New(`^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

// ParseMirrors parses mirror rules: one or several documents of kind
// ImageDigestMirrorSet or ImageContentSourcePolicy, in YAML or JSON.
func ParseMirrors(data []byte) ([]Mirror, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, err
	}
	var out []Mirror
	for _, doc := range docs {
		object, _ := doc.(map[string]any)
		kind := preview.String(object, "apiVersion") + "/" + preview.String(object, "kind")
		if err := onlyFields(object, "apiVersion", "kind", "metadata", "spec", "status"); err != nil {
			return nil, err
		}
		field, ok := mirrorKinds[kind]
		if !ok {
			return nil, fmt.Errorf("%s is not a set of digest mirrors; want an ImageDigestMirrorSet of config.openshift.io/v1", bounded.Quote(kind))
		}
		spec, _ := object["spec"].(map[string]any)
		if err := onlyFields(spec, field); err != nil {
			return nil, fmt.Errorf("spec: %w", err)
		}
		rules, ok := spec[field].([]any)
		if !ok {
			return nil, fmt.Errorf("spec.%s is missing or not a list", field)
		}
		for i, rule := range rules {
			m, err := parseMirror(rule)
			if err != nil {
				return nil, fmt.Errorf("spec.%s[%d]: %w", field, i, err)
			}
			if out = append(out, m); len(out) > maxMirrorRules {
				return nil, fmt.Errorf("more than %d rules", maxMirrorRules)
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no rule")
	}
	return out, nil
}

func parseMirror(rule any) (Mirror, error) {
	fields, ok := rule.(map[string]any)
	if !ok {
		return Mirror{}, errors.New("not a mapping")
	}
	if err := onlyFields(fields, "source", "mirrors", "mirrorSourcePolicy"); err != nil {
		return Mirror{}, err
	}
	m := Mirror{Source: preview.String(fields, "source")}
	if !mirrorPlace.MatchString(strings.TrimPrefix(m.Source, "*.")) {
		return Mirror{}, fmt.Errorf("source %s: want HOST, HOST/PATH or *.DOMAIN", bounded.Quote(m.Source))
	}
	switch policy := preview.String(fields, "mirrorSourcePolicy"); policy {
	case "", "AllowContactingSource":
	case "NeverContactSource":
		m.Never = true
	default:
		return Mirror{}, fmt.Errorf("mirrorSourcePolicy %s: want AllowContactingSource or NeverContactSource", bounded.Quote(policy))
	}
	places, _ := fields["mirrors"].([]any)
	for _, place := range places {
		text, _ := place.(string)
		if !mirrorPlace.MatchString(text) {
			return Mirror{}, fmt.Errorf("mirror %s: want HOST or HOST/PATH", bounded.Quote(fmt.Sprint(place)))
		}
		m.Mirrors = append(m.Mirrors, text)
	}
	if len(m.Mirrors) == 0 || len(m.Mirrors) > maxMirrorPlaces {
		return Mirror{}, fmt.Errorf("%d mirrors; want 1 to %d", len(m.Mirrors), maxMirrorPlaces)
	}
	return m, nil
}

// onlyFields returns an error for an unknown field: a misspelt one could drop a
// restriction, such as never to contact the source.
func onlyFields(object map[string]any, known ...string) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("field %s is not known; want %s", bounded.Quote(name), strings.Join(known, ", "))
		}
	}
	return nil
}

// mirrorRule has the mirrors of one repository.
type mirrorRule struct {
	places []string // HOST/REPO, in the order they are asked
	never  bool
}

// mirrorsOf returns the mirrors of a repository: the mirrors of the rules with the
// longest matching source; there may be several.
func mirrorsOf(rules []Mirror, repo name.Repository) mirrorRule {
	full := repo.RegistryStr() + "/" + repo.RepositoryStr()
	var out mirrorRule
	longest := -1
	for _, rule := range rules {
		rest, ok := below(full, rule.Source)
		if !ok || len(rule.Source) < longest {
			continue
		}
		if len(rule.Source) > longest {
			longest, out = len(rule.Source), mirrorRule{}
		}
		out.never = out.never || rule.Never
		for _, mirror := range rule.Mirrors {
			if place := mirror + rest; !slices.Contains(out.places, place) {
				out.places = append(out.places, place)
			}
		}
	}
	return out
}

// below returns what follows a rule's source in the name of a repository; false if the
// rule does not match.
func below(repo, source string) (string, bool) {
	host, path, _ := strings.Cut(repo, "/")
	if domain, ok := strings.CutPrefix(source, "*."); ok {
		return "/" + path, strings.HasSuffix(host, "."+domain)
	}
	sourceHost, sourcePath, _ := strings.Cut(source, "/")
	if sourceHost == "docker.io" {
		sourceHost = name.DefaultRegistry
	}
	switch {
	case !strings.EqualFold(host, sourceHost):
		return "", false
	case sourcePath == "":
		return "/" + path, true
	case path == sourcePath:
		return "", true
	}
	rest, ok := strings.CutPrefix(path, sourcePath+"/")
	return "/" + rest, ok
}
