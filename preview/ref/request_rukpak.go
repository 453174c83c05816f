package ref

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// rukpakNamespace is where rukpak looks for the Secrets of BundleDeployments,
// which have no namespace, when it is installed as documented.
const rukpakNamespace = "rukpak-system"

// bundleDeployment reads the three shapes of rukpak's BundleDeployment:
// v1alpha1, which embeds a Bundle, v1alpha2 as shipped, and v1alpha2 with
// several sources as proposed in rukpak's issue 703.
func (r *reader) bundleDeployment(f *fields) {
	r.Release, r.home = r.asked.Name, rukpakNamespace
	spec := f.at("spec")
	r.Namespace = spec.at("installNamespace").text()
	r.Format = r.provisioner(spec.at("provisionerClassName"))
	if spec.at("format").set() {
		r.Format = spec.at("format").text()
	}
	if spec.at("paused").flag() {
		r.Paused = "spec.paused"
	}
	r.helmConfig(spec.at("config"))
	if spec.at("preflight.crdUpgradeSafety.disabled").flag() {
		r.note(RuleNoPreflight, "spec.preflight.crdUpgradeSafety.disabled: rukpak would not check whether changed CustomResourceDefinitions are safe; this tool checks as ever")
	}
	if template := spec.at("template"); template.set() {
		f.know("spec.template.metadata")
		if inner := r.provisioner(template.at("spec.provisionerClassName")); inner != "" {
			r.Format = inner // of the Bundle: it says what the content is
		}
		r.rukpakSource(template.at("spec.source"), "type", "spec", "template", "spec", "source")
		return
	}
	if spec.at("sources").set() {
		for i, item := range spec.at("sources").items() {
			r.rukpakSource(item, "kind", "spec", "sources", i)
		}
		return
	}
	r.rukpakSource(spec.at("source"), "type", "spec", "source")
}

func (r *reader) provisioner(v field) string {
	const prefix = "core-rukpak-io-"
	class := v.oneOf(prefix+"plain", prefix+"registry", prefix+"helm")
	return strings.TrimPrefix(class, prefix)
}

// helmConfig reads the values of a chart, which are text of YAML.
func (r *reader) helmConfig(v field) {
	switch values := v.at("values"); values.value.(type) {
	case nil:
	case string:
		r.Values = valuesText(values, values.text())
	default:
		r.Values = values.mapping()
	}
}

// valuesText reads a text of values.
func valuesText(v field, text string) map[string]any {
	docs, err := preview.Decode([]byte(text))
	switch {
	case err != nil:
		v.fail("its text is not YAML: %s", err)
		return nil
	case len(docs) == 0:
		return nil
	}
	values, ok := docs[0].(map[string]any)
	if !ok || len(docs) > 1 {
		v.fail("its text is not one mapping")
	}
	return values
}

// rukpakSource reads one source, which lies at a path of the document.
func (r *reader) rukpakSource(v field, selector string, path ...any) {
	kind := v.at(selector).text()
	before := len(r.Sources)
	switch kind {
	case "image":
		r.rukpakImage(v, append(path, "image"))
	case "git":
		r.rukpakGit(v, append(path, "git"))
	case "http":
		r.rukpakHTTP(v, path)
	case "configMaps":
		r.rukpakConfigMaps(v.at("configMaps"))
	case "local":
		v.at("local.configmap").set()
		name, namespace := v.at("local.configmap.name").need(), v.at("local.configmap.namespace").need()
		r.remote(v.at("local.configmap"), "configmap://"+namespace+"/"+name)
		r.pinned(nil)
	case "upload":
		v.at(selector).fail("the content of an upload lies in rukpak's upload service alone; give the directory that was uploaded instead")
	default:
		v.at(selector).fail("%q is not a source; known are: image, git, http, configMaps, local", clip(kind))
	}
	if destination := v.at("destination"); destination.set() && len(r.Sources) == before+1 {
		r.Sources[before].Destination = destination.text()
	}
}

func (r *reader) rukpakImage(v field, path []any) {
	image, key := v.at("image.ref"), "ref"
	text := image.text()
	if uri := v.at("uri"); uri.set() { // the uniform variant of the proposal
		image, text, path, key = uri, uri.text(), path[:len(path)-1], "uri"
	}
	if text == "" {
		image.fail("it is missing")
		return
	}
	s := r.remote(image, imageText(text))
	s.CA = v.at("image.certificateData").text()
	verified(v.at("image.insecureSkipTLSVerify"))
	r.secret(s, v.at("image.pullSecret"), field{f: v.f})
	r.secret(s, v.at("image.auth.name"), v.at("image.auth.namespace"))
	r.secret(s, v.at("auth.secret.name"), v.at("auth.secret.namespace"))
	scheme := strings.HasPrefix(text, "oci://")
	r.pinned(func(p Pinned, i int) edit {
		pinned := p.image(i, r.Sources[i].Reference)
		if scheme {
			pinned = imageText(pinned)
		}
		return r.set(pinned, append(path, key)...)
	})
}

func (r *reader) rukpakGit(v field, path []any) {
	git := v.at("git")
	address := git.at("repository")
	if uri := v.at("uri"); uri.set() {
		address = uri
	}
	revision, chosen := git.at("ref"), ""
	text, isText := revision.value.(string)
	if isText {
		revision.text()
	}
	for _, key := range []string{"branch", "tag", "commit"} {
		if named := revision.at(key).text(); named != "" {
			if text != "" {
				revision.fail("give one of branch, tag and commit")
			}
			chosen, text = key, named
			if key != "commit" {
				text = map[string]string{"branch": "refs/heads/", "tag": "refs/tags/"}[key] + named
			}
		}
	}
	s := r.remote(address, gitText(address, address.need(), git.at("directory").text(), text))
	verified(git.at("auth.insecureSkipVerify"))
	r.secret(s, git.at("auth.secret.name"), git.at("auth.secret.namespace"))
	r.secret(s, v.at("auth.secret.name"), v.at("auth.secret.namespace"))
	if destination := git.at("destination"); destination.set() {
		s.Destination = destination.text()
	}
	r.pinned(func(p Pinned, i int) edit {
		switch {
		case isText || chosen == "" && git.value == nil:
			return r.set(p.commit(i), append(path, "ref")...)
		case chosen == "":
			return r.set(p.commit(i), append(path, "ref", "commit")...)
		}
		return r.rename("commit", p.commit(i), append(path, "ref", chosen)...)
	})
}

func (r *reader) rukpakHTTP(v field, path []any) {
	address, at := v.at("http.url"), append(path, "http", "url")
	if uri := v.at("uri"); uri.set() {
		address, at = uri, append(path, "uri")
	}
	s := r.remote(address, address.need())
	verified(v.at("http.auth.insecureSkipVerify"))
	r.secret(s, v.at("http.auth.secret.name"), v.at("http.auth.secret.namespace"))
	r.secret(s, v.at("auth.secret.name"), v.at("auth.secret.namespace"))
	r.pinned(func(p Pinned, i int) edit { return r.set(p.reference(i, r.Sources[i].Reference), at...) })
}

// rukpakConfigMaps reads ConfigMaps of rukpak's own namespace, each with the
// directory that its files go to.
func (r *reader) rukpakConfigMaps(v field) {
	for _, item := range v.items() {
		name := item.at("configMap.name")
		s := r.remote(name, "configmap://"+rukpakNamespace+"/"+name.need())
		s.Destination, s.Subdir = item.at("path").text(), "manifests"
		r.pinned(nil)
	}
}
