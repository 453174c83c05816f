package ref

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// rukpakNamespace is the namespace where rukpak looks for Secrets and ConfigMaps, if it
// is installed as documented: BundleDeployments have no namespace themselves.
const rukpakNamespace = "rukpak-system"

// bundleDeployment reads the three forms of rukpak's BundleDeployment: v1alpha1,
// which embeds a Bundle, v1alpha2 as released, and v1alpha2 with several sources
// as proposed in rukpak's issue 703.
func (r *reader) bundleDeployment(f *strictReader) {
	r.Release, r.home = r.asked.Name, rukpakNamespace
	spec := f.At("spec")
	r.Namespace = spec.At("installNamespace").Text()
	r.Format = r.provisioner(spec.At("provisionerClassName"))
	if spec.At("format").Set() {
		r.Format = spec.At("format").Text()
	}
	if spec.At("paused").Flag() {
		r.Paused = "spec.paused"
	}
	r.helmConfig(spec.At("config"))
	if spec.At("preflight.crdUpgradeSafety.disabled").Flag() {
		r.note(rules.PreflightDisabled, "spec.preflight.crdUpgradeSafety.disabled", "rukpak")
	}
	if template := spec.At("template"); template.Set() {
		f.Know("spec.template.metadata")
		if inner := r.provisioner(template.At("spec.provisionerClassName")); inner != "" {
			r.Format = inner // of the Bundle: it says what the content is
		}
		r.rukpakSource(template.At("spec.source"), "type", "spec", "template", "spec", "source")
		return
	}
	if spec.At("sources").Set() {
		for i, item := range spec.At("sources").Items() {
			r.rukpakSource(item, "kind", "spec", "sources", i)
		}
		return
	}
	r.rukpakSource(spec.At("source"), "type", "spec", "source")
}

func (r *reader) provisioner(v field) string {
	const prefix = "core-rukpak-io-"
	class := v.OneOf(prefix+"plain", prefix+"registry", prefix+"helm")
	return strings.TrimPrefix(class, prefix)
}

// helmConfig reads the values of a chart, which rukpak has as YAML in a string.
func (r *reader) helmConfig(v field) {
	switch values := v.At("values"); values.Value.(type) {
	case nil:
	case string:
		r.Values = valuesText(values, values.Text())
	default:
		r.Values = preview.FileNumbers(values.Mapping())
	}
}

// valuesText parses a chart's values from YAML text; v is the field that errors name.
// Empty text gives nil.
func valuesText(v field, text string) map[string]any {
	docs, err := preview.Decode([]byte(text))
	switch {
	case err != nil:
		v.Fail("its text is not YAML: %s", err)
		return nil
	case len(docs) == 0:
		return nil
	}
	values, ok := docs[0].(map[string]any)
	if !ok || len(docs) > 1 {
		v.Fail("its text is not one mapping")
	}
	return preview.FileNumbers(values)
}

// rukpakSource reads one source, at a path of the document. selector is the key that
// has the kind of source.
func (r *reader) rukpakSource(v field, selector string, path ...any) {
	kind := v.At(selector).Text()
	before := len(r.Sources)
	switch kind {
	case "image":
		r.rukpakImage(v, append(path, "image"))
	case "git":
		r.rukpakGit(v, append(path, "git"))
	case "http":
		r.rukpakHTTP(v, path)
	case "configMaps":
		r.rukpakConfigMaps(v.At("configMaps"))
	case "local":
		v.At("local.configmap").Set()
		name, namespace := v.At("local.configmap.name").Need(), v.At("local.configmap.namespace").Need()
		r.remote(v.At("local.configmap"), "configmap://"+namespace+"/"+name)
		r.pinEach(nil)
	case "upload":
		v.At(selector).Fail("the content of an upload lies in rukpak's upload service alone; give the directory that was uploaded instead")
	default:
		v.At(selector).Fail("%q is not a source; known are: image, git, http, configMaps, local", clip(kind))
	}
	if len(r.Sources) == before+1 {
		r.Sources[before].Destination = rukpakDestination(v, kind)
	}
}

// rukpakDestination reads the directory that the content of a source goes to, which the
// proposal writes next to the source or in it.
func rukpakDestination(v field, kind string) string {
	beside, within := v.At("destination"), v.At(kind+".destination")
	if beside.Set() && within.Set() {
		within.Fail("%s is there too; give one of them", beside.Path)
	}
	if within.Set() {
		return within.Text()
	}
	return beside.Text()
}

func (r *reader) rukpakImage(v field, path []any) {
	image, key := v.At("image.ref"), "ref"
	text := image.Text()
	if uri := v.At("uri"); uri.Set() { // the uniform variant of the proposal
		image, text, path, key = uri, uri.Text(), path[:len(path)-1], "uri"
	}
	if text == "" {
		image.Fail("it is missing")
		return
	}
	s := r.remote(image, imageText(text))
	s.CA = v.At("image.certificateData").Text()
	verified(v.At("image.insecureSkipTLSVerify"))
	r.secret(s, v.At("image.pullSecret"), v.At("image.pullSecret.namespace"))
	r.secret(s, v.At("image.auth.name"), v.At("image.auth.namespace"))
	r.secret(s, v.At("image.auth.secret.name"), v.At("image.auth.secret.namespace"))
	r.secret(s, v.At("auth.secret.name"), v.At("auth.secret.namespace"))
	scheme := strings.HasPrefix(text, "oci://")
	r.pinEach(func(p Pinned, i int) edit {
		pinned := p.image(i, r.Sources[i].Reference)
		if scheme {
			pinned = imageText(pinned)
		}
		return r.set(pinned, append(path, key)...)
	})
}

func (r *reader) rukpakGit(v field, path []any) {
	git := v.At("git")
	address, revision, directory := git.At("repository"), git.At("ref"), git.At("directory")
	if uri := v.At("uri"); uri.Set() { // the uniform variant, with ref and directory next to it
		address = uri
		if !git.Set() {
			revision, directory, path = v.At("ref"), v.At("directory"), path[:len(path)-1]
		}
	}
	chosen := ""
	text, isText := revision.Value.(string)
	if isText {
		revision.Text()
	}
	for _, key := range []string{"branch", "tag", "commit"} {
		if named := revision.At(key).Text(); named != "" {
			if text != "" {
				revision.Fail("give one of branch, tag and commit")
			}
			chosen, text = key, named
			if key != "commit" {
				text = map[string]string{"branch": "refs/heads/", "tag": "refs/tags/"}[key] + named
			}
		}
	}
	s := r.remote(address, gitText(address, address.Need(), directory.Text(), text))
	verified(git.At("auth.insecureSkipVerify"))
	r.secret(s, git.At("auth.secret.name"), git.At("auth.secret.namespace"))
	r.secret(s, v.At("auth.secret.name"), v.At("auth.secret.namespace"))
	r.pinEach(func(p Pinned, i int) edit {
		switch {
		case isText || chosen == "" && !git.Set():
			return r.set(p.commit(i), append(path, "ref")...)
		case chosen == "":
			return r.set(p.commit(i), append(path, "ref", "commit")...)
		}
		return r.rename("commit", p.commit(i), append(path, "ref", chosen)...)
	})
}

func (r *reader) rukpakHTTP(v field, path []any) {
	address, at := v.At("http.url"), append(path, "http", "url")
	if uri := v.At("uri"); uri.Set() {
		address, at = uri, append(path, "uri")
	}
	s := r.remote(address, address.Need())
	verified(v.At("http.auth.insecureSkipVerify"))
	r.secret(s, v.At("http.auth.secret.name"), v.At("http.auth.secret.namespace"))
	r.secret(s, v.At("auth.secret.name"), v.At("auth.secret.namespace"))
	r.pinEach(func(p Pinned, i int) edit { return r.set(p.reference(i, r.Sources[i].Reference), at...) })
}

// rukpakConfigMaps adds ConfigMaps of rukpak's namespace as sources, each with the
// directory that gets its files.
func (r *reader) rukpakConfigMaps(v field) {
	for _, item := range v.Items() {
		name := item.At("configMap.name")
		s := r.remote(name, "configmap://"+rukpakNamespace+"/"+name.Need())
		s.Destination, s.Subdir = item.At("path").Text(), "manifests"
		r.pinEach(nil)
	}
}
