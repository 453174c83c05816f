package ref

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const sourceGroup = "source.toolkit.fluxcd.io"

// fluxSource is an object of Flux that describes a source of content, such as a
// GitRepository.
type fluxSource struct {
	*strictReader
	r        *reader
	document *document // nil when it came from the cluster
	home     string    // its namespace
}

// fluxSource returns the source object that a request refers to; nil, with the reader's
// error set, if there is none.
func (r *reader) fluxSource(kind, namespace, name string) *fluxSource {
	if name == "" {
		return nil
	}
	body := r.find(sourceGroup, []string{"v1", "v1beta2"}, kind, namespace, name)
	if body == nil {
		return nil
	}
	s := &fluxSource{r: r, home: namespace, strictReader: newStrictReader(kind+" "+namespace+"/"+name, body, ignoredInSource())}
	s.document = r.inFile(sourceGroup, kind, namespace, name)
	return s
}

// done passes errors about a source object's fields on to the reader, unless the object
// is the request itself, whose errors are reported anyway.
func (s *fluxSource) done() {
	if s.document == s.r.asked {
		return
	}
	if err := s.err(); err != nil && s.r.err == nil {
		s.r.err = err
	}
}

// add adds a source to the request by its reference, and reads the fields that all
// kinds of source objects have, such as its Secret. v is the field that errors name.
func (s *fluxSource) add(v field, text string) {
	if s.document != s.r.asked && text == "" {
		text = "invalid" // and v has failed
	}
	added := s.r.remote(v, text)
	verified(s.At("spec.insecure"))
	s.At("spec.provider").OneOf("generic")
	// The Secret lies next to the object that names it.
	home := s.At("metadata.namespace")
	home.Value = s.home
	s.r.secret(added, s.At("spec.secretRef.name"), home)
}

// helmRepository adds a chart of the HelmRepository as a source.
func (s *fluxSource) helmRepository(name, version string) {
	defer s.done()
	address := s.At("spec.url")
	text := strings.TrimRight(address.Need(), "/")
	s.At("spec.passCredentials").Flag()
	kind := s.At("spec.type").OneOf("default", "oci")
	if !strings.HasPrefix(text, "oci://") && kind != "oci" {
		scheme, rest, _ := strings.Cut(text, "://")
		if scheme != "https" {
			address.Fail("a repository of charts is https:// or oci://")
			return
		}
		text = "chart+https://" + rest + "/" + name
		if version != "" {
			text += "?version=" + escapeRange(version)
		}
		s.add(address, text)
		s.r.pinEach(func(p Pinned, _ int) edit { return s.r.set(p.Version, "spec", "chart", "spec", "version") })
		return
	}
	s.add(address, chartImage(imageText(text)+"/"+name, version))
	s.r.pinEach(func(p Pinned, _ int) edit { return s.r.set(p.Version, "spec", "chart", "spec", "version") })
}

// chartImage returns the reference of a chart in an OCI registry: by tag if version is
// a single one, else with the range over tags.
func chartImage(repository, version string) string {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err == nil {
		return repository + ":" + strings.ReplaceAll(version, "+", "_")
	}
	return tagsText(repository, version)
}

// tagsText returns a reference with a version range over the tags of a repository.
// Without a range any tag that is a version, but no pre-release, matches.
func tagsText(repository, version string) string {
	if version == "" {
		version = "*"
	}
	return repository + "?version=" + escapeRange(version)
}

// escapeRange returns a version range with the characters escaped that would end the
// query of a reference.
func escapeRange(version string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", "?", "%3F").Replace(version)
}

// gitRepository adds the repository of a GitRepository as a source.
func (s *fluxSource) gitRepository(subdir string) {
	defer s.done()
	address := s.At("spec.url")
	revision := ""
	ref := s.At("spec.ref")
	// In the order that Flux looks at them.
	branch, tag, name, commit := ref.At("branch").Text(), ref.At("tag").Text(), ref.At("name").Text(), ref.At("commit").Text()
	if ref.At("semver").Text() != "" && name == "" && commit == "" {
		ref.At("semver").Fail("a range over tags is not supported; give spec.ref.tag or spec.ref.commit")
		return
	}
	switch {
	case commit != "":
		revision = commit
	case name != "":
		revision = name
	case tag != "":
		revision = "refs/tags/" + tag
	case branch != "":
		revision = "refs/heads/" + branch
	default:
		revision = "refs/heads/master" // as Flux defaults
	}
	s.add(address, gitText(address, address.Need(), subdir, revision))
	s.pinAt(func(p Pinned, i int) string { return p.commit(i) }, "spec", "ref", "commit")
}

// ociRepository adds the artifact of an OCIRepository as a source.
func (s *fluxSource) ociRepository() {
	defer s.done()
	address := s.At("spec.url")
	text := address.Need()
	if !strings.HasPrefix(text, "oci://") {
		address.Fail("want oci://HOST/REPO")
		return
	}
	// In the order that Flux looks at them.
	digest, version, tag := s.At("spec.ref.digest").Text(), s.At("spec.ref.semver").Text(), s.At("spec.ref.tag").Text()
	switch {
	case digest != "":
		text += "@" + digest
	case version != "":
		text = tagsText(text, version)
	case tag != "":
		text += ":" + tag
	default:
		text += ":latest" // as Flux defaults
	}
	s.add(address, s.selectLayer(text))
	s.pinAt(func(p Pinned, i int) string { return p.digest(i) }, "spec", "ref", "digest")
}

// selectLayer returns the reference of an artifact with the layer that layerSelector
// selects. The operation makes no difference: Flux copies an archive, and its consumers
// extract it.
func (s *fluxSource) selectLayer(text string) string {
	selector := s.At("spec.layerSelector")
	selector.At("operation").OneOf("extract", "copy")
	layer := selector.At("mediaType").Text()
	switch {
	case layer == "":
		return text
	case !IsMediaType(layer):
		selector.At("mediaType").Fail("%q is not a media type", clip(layer))
		return text
	case strings.Contains(text, "?"):
		return text + "&layer=" + layer
	}
	return text + "?layer=" + layer
}

// pinAt makes [Request.Pin] write the value for the source that was added last, such as
// its digest, at a path of the source object. That fails if the object is not in the
// file.
func (s *fluxSource) pinAt(value func(Pinned, int) string, path ...any) {
	s.r.pinEach(func(p Pinned, i int) edit {
		if s.document == nil {
			return edit{err: fmt.Errorf("%s lies in the cluster and not in the file; add it to the file to pin it", s.object)}
		}
		return edit{document: s.document.index, path: path, value: value(p, i)}
	})
}

// dataOf returns the value of a key of a ConfigMap, or of a Secret, decoded.
func dataOf(body map[string]any, key string) (string, error) {
	data := preview.Map(body, "data")
	text, ok := data[key].(string)
	switch {
	case !ok:
		return "", errNoKey(key)
	case preview.String(body, "kind") != "Secret":
		return text, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("its key %s is not base64", clip(key))
	}
	return string(decoded), nil
}

// jsonText returns a value as JSON, which is valid YAML.
func jsonText(v any) string {
	text, _ := json.MarshalIndent(v, "", "  ") // of maps, lists and scalars
	return string(text) + "\n"
}

// mappings reads a list of maps, with all fields in them marked as read.
func mappings(v field) []any {
	var out []any
	for _, item := range v.Items() {
		if m := item.Mapping(); m != nil {
			out = append(out, m)
		}
	}
	return out
}
