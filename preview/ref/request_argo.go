package ref

import (
	"fmt"
	"path"
	"strings"
)

func ignoredInApplication() []ignoredField {
	return []ignoredField{
		{"spec.project", "what Argo CD permits"}, {"spec.info", "text for people"}, {"spec.revisionHistoryLimit", "how many revisions Argo CD keeps"},
		{"spec.ignoreDifferences", "what Argo CD takes for no change"}, {"operation", "what Argo CD is doing at the moment"},
		{"spec.syncPolicy.automated", "when Argo CD writes"}, {"spec.syncPolicy.retry", "what happens after a failure"}, {"spec.syncPolicy.syncOptions", "how Argo CD writes"},
		{"spec.destination.server", "the cluster is that of the kubeconfig, and the review names it"},
		{"spec.destination.name", "the cluster is that of the kubeconfig, and the review names it"},
	}
}

// application reads Argo CD's Application.
func (r *reader) application(f *fields) {
	r.Release, r.Namespace = r.asked.Name, f.at("spec.destination.namespace").text()
	if r.Namespace == "" {
		r.Namespace = r.asked.Namespace
	}
	one, several := f.at("spec.source"), f.at("spec.sources")
	if !several.set() {
		r.argoContent(one, "spec", "source")
		return
	}
	if one.set() {
		one.fail("there are sources besides; give one of them")
		return
	}
	r.argoSources(several)
}

// argoSources reads several sources: one with content, and others whose files
// it refers to by name.
func (r *reader) argoSources(v field) {
	var content []field
	for i, item := range v.items() {
		name := item.at("ref").text()
		switch {
		case name == "":
			content = append(content, item)
			r.argoContent(item, "spec", "sources", i)
			continue
		case item.at("path").text() != "" || item.at("chart").text() != "" || !isLabel(name):
			item.at("ref").fail("a source is either content or files that others refer to")
			return
		}
		s := r.remote(item.at("repoURL"), gitText(item.at("repoURL"), item.at("repoURL").need(), "", argoRevision(item)))
		s.Destination = path.Join(referredDir, name)
		r.pinned(func(p Pinned, at int) edit { return r.set(p.commit(at), "spec", "sources", i, "targetRevision") })
	}
	if len(content) != 1 {
		v.fail("%d sources with content; one is supported, and any number that it refers to with ref", len(content))
	}
}

// referredDir is where sources lie that another refers to.
const referredDir = ".sources"

// argoRevision reads what of a repository is meant.
func argoRevision(v field) string {
	revision := v.at("targetRevision").text()
	if revision == "HEAD" {
		return "" // the default branch
	}
	return revision
}

// argoContent reads a source of content.
func (r *reader) argoContent(v field, at ...any) {
	address, chart := v.at("repoURL"), v.at("chart").text()
	v.at("name").text()
	pin := append(at, "targetRevision")
	if chart != "" {
		r.argoChart(v, address, chart)
		r.pinned(func(p Pinned, _ int) edit { return r.set(p.Version, pin...) })
		r.argoHelm(v.at("helm"))
		return
	}
	if text := address.need(); strings.HasPrefix(text, "oci://") {
		r.remote(address, text+":"+v.at("targetRevision").need())
		r.pinned(func(p Pinned, i int) edit { return r.set(p.digest(i), pin...) })
	} else {
		r.remote(address, gitText(address, text, "", argoRevision(v)))
		r.pinned(func(p Pinned, i int) edit { return r.set(p.commit(i), pin...) })
	}
	r.Path = cleanSubdir(v.at("path").text())
	helm, kustomize, directory := v.at("helm"), v.at("kustomize"), v.at("directory")
	switch {
	case helm.set():
		r.Format = "helm"
		r.argoHelm(helm)
	case kustomize.set():
		r.Format = "kustomize"
		r.argoKustomize(kustomize)
	case directory.set():
		r.Format = "plain"
		if directory.at("recurse").flag() {
			directory.at("recurse").fail("directories below the path are not read; give a path each")
		}
	}
}

func (r *reader) argoChart(v, address field, chart string) {
	r.Format = "helm"
	text, version := strings.TrimRight(address.need(), "/"), v.at("targetRevision").text()
	if rest, found := strings.CutPrefix(text, "https://"); found {
		text = "chart+https://" + rest + "/" + chart
		if version != "" && version != "*" {
			text += "?version=" + escapeRange(version)
		}
		r.remote(address, text)
		return
	}
	if strings.Contains(text, "://") && !strings.HasPrefix(text, "oci://") {
		address.fail("a repository of charts is https://, or HOST/REPO of an OCI registry")
		return
	}
	r.remote(address, imageText(text)+"/"+chart+":"+strings.ReplaceAll(version, "+", "_"))
}

// argoHelm reads the values of a chart: files, then text, then objects, then
// parameters, each over those before it.
func (r *reader) argoHelm(v field) {
	if name := v.at("releaseName").text(); name != "" {
		r.Release = name
	}
	v.at("version").oneOf("v3")
	if v.at("skipTests").flag() {
		v.f.know(v.path + ".skipTests") // tests never run here
	}
	for i, file := range v.at("valueFiles").texts() {
		name, rest, referred := strings.Cut(strings.TrimPrefix(file, "$"), "/")
		switch {
		case strings.HasPrefix(file, "$") && referred && isLabel(name):
			file = path.Join(referredDir, name, rest)
		case strings.Contains(file, "://") || strings.HasPrefix(file, "$"):
			v.at("valueFiles").fail("item %d does not lie within the sources", i)
		default:
			file = path.Join(r.Path, file)
		}
		r.ValuesFiles = append(r.ValuesFiles, file)
	}
	if values := v.at("values"); values.text() != "" {
		r.Values = valuesText(values, values.text())
	}
	if object := v.at("valuesObject").mapping(); len(object) > 0 {
		r.Values = object // instead of the text
	}
	for _, item := range v.at("parameters").items() {
		name, value := item.at("name").need(), item.at("value").text()
		if strings.ContainsAny(name, `[]{}\,=`) {
			item.at("name").fail("a parameter is a path of keys; for others give valuesObject")
			return
		}
		var parsed any = value
		if !item.at("forceString").flag() {
			parsed = scalarOf(value)
		}
		keys := strings.Split(name, ".")
		for i := len(keys) - 1; i > 0; i-- {
			parsed = map[string]any{keys[i]: parsed}
		}
		r.Values = merged(r.Values, map[string]any{keys[0]: parsed})
	}
}

// scalarOf reads a value as Helm's --set does: true, false, null and whole
// numbers are what they look like, all else is text.
func scalarOf(text string) any {
	var n int64
	switch {
	case text == "true", text == "false":
		return text == "true"
	case text == "null":
		return nil
	case text != "0" && strings.HasPrefix(text, "0"):
		return text
	}
	if _, err := fmt.Sscanf(text, "%d", &n); err == nil && fmt.Sprint(n) == text {
		return n
	}
	return text
}

// argoKustomize reads what an Application changes about a kustomization.
func (r *reader) argoKustomize(v field) {
	over := overlay{
		Namespace: v.at("namespace").text(), Prefix: v.at("namePrefix").text(), Suffix: v.at("nameSuffix").text(),
		Patches: v.at("patches").mappings(), CommonLabels: v.at("commonLabels").mapping(), CommonAnnotations: v.at("commonAnnotations").mapping(),
	}
	for _, image := range v.at("images").items() {
		over.Images = append(over.Images, kustomizeImage(image))
	}
	for _, item := range v.at("replicas").items() {
		over.Replicas = append(over.Replicas, item.mapping())
	}
	for _, component := range v.at("components").texts() {
		over.Components = append(over.Components, path.Join(sourceDir, r.Path, component))
	}
	r.around(over)
}

// kustomizeImage reads [NAME=]IMAGE[:TAG|@DIGEST].
func kustomizeImage(v field) map[string]any {
	name, image, renamed := strings.Cut(v.need(), "=")
	if !renamed {
		image = name
	}
	out := map[string]any{}
	if repo, digest, found := strings.Cut(image, "@"); found {
		image, out["digest"] = repo, digest
	} else if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		image, out["newTag"] = image[:at], image[at+1:]
	}
	if !renamed {
		name = image
	} else {
		out["newName"] = image
	}
	out["name"] = name
	return out
}
