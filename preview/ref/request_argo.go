package ref

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/assignment"
)

func ignoredInApplication() []ignoredField {
	return []ignoredField{
		{"spec.project", "what Argo CD permits"}, {"spec.info", "text for people"}, {"spec.revisionHistoryLimit", "how many revisions Argo CD keeps"},
		{"spec.ignoreDifferences", "what Argo CD takes for no change"}, {"operation", "what Argo CD is doing at the moment"},
		{"spec.syncPolicy.automated", "when Argo CD writes"}, {"spec.syncPolicy.retry", "what happens after a failure"}, {"spec.syncPolicy.syncOptions", "how Argo CD writes"},
		{"spec.destination.server", "the cluster comes from the kubeconfig; the review names it"},
		{"spec.destination.name", "the cluster comes from the kubeconfig; the review names it"},
	}
}

// application reads an Application of Argo CD.
func (r *reader) application(f *strictReader) {
	r.Release, r.Namespace, r.ArgoHooks = r.asked.Name, f.At("spec.destination.namespace").Text(), true
	if r.Namespace == "" {
		r.Namespace = r.asked.Namespace
	}
	one, several := f.At("spec.source"), f.At("spec.sources")
	if !several.Set() {
		r.argoContent(one, "spec", "source")
		return
	}
	if one.Set() {
		one.Fail("there are sources too; give one of them")
		return
	}
	r.argoSources(several)
}

// argoSources reads the sources of an Application that has several: those with content, and
// others with a name, whose files the first refer to as $NAME/PATH. Where several have content,
// each is a section.
func (r *reader) argoSources(v field) {
	items := v.Items()
	var content []int
	for i, item := range items {
		if item.At("ref").Text() == "" {
			content = append(content, i)
		}
	}
	switch {
	case len(content) == 0 || len(content) > maxSections:
		v.Fail("%d sources with content; at least one and at most %d are read", len(content), maxSections)
	case len(content) == 1:
		r.argoContent(items[content[0]], "spec", "sources", content[0])
		r.argoReferred(items)
	default:
		for _, i := range content {
			r.argoSection(items, i)
		}
		r.pin = r.pinSections
	}
}

// argoSection adds one source with content as a section, with the sources that have files
// for it.
func (r *reader) argoSection(items []field, i int) {
	name := items[i].At("name").Text()
	if !isLabel(name) {
		name = "source-" + strconv.Itoa(i+1)
	}
	s := Section{Name: name, Request: &Request{home: r.home, Release: r.Release, ArgoHooks: true}}
	s.Object = r.Object + ", source " + s.Name
	below := *r
	below.Request = s.Request
	below.argoContent(items[i], "spec", "sources", i)
	if s.Release != r.Release {
		items[i].At("helm.releaseName").Fail("of several sources with content none is rendered for a release of another name than the Application's")
	}
	below.argoReferred(items)
	if slices.ContainsFunc(r.Sections, func(other Section) bool { return other.Name == s.Name }) {
		items[i].At("name").Fail("two sources are named %s; names must be unique", s.Name)
	}
	r.Sections = append(r.Sections, s)
}

// argoReferred adds the sources that others refer to.
func (r *reader) argoReferred(items []field) {
	for i, item := range items {
		name := item.At("ref").Text()
		switch {
		case name == "":
			continue
		case item.At("path").Text() != "" || item.At("chart").Text() != "" || !isLabel(name):
			item.At("ref").Fail("a source is either content or files that others refer to")
			return
		}
		s := r.remote(item.At("repoURL"), gitText(item.At("repoURL"), item.At("repoURL").Need(), "", argoRevision(item)))
		s.Destination = path.Join(referredDir, name)
		r.pinEach(func(p Pinned, at int) edit { return r.set(p.commit(at), "spec", "sources", i, "targetRevision") })
	}
}

// referredDir is the directory in the content that gets the sources which an
// Application only refers to, each below its name.
const referredDir = ".sources"

// argoRevision returns the branch, tag or commit that targetRevision names; empty,
// which is the default branch, for HEAD.
func argoRevision(v field) string {
	revision := v.At("targetRevision").Text()
	if revision == "HEAD" {
		return "" // the default branch
	}
	return revision
}

// argoContent reads the source of an Application that has the content, at a path of the
// Application's document.
func (r *reader) argoContent(v field, at ...any) {
	address, chart := v.At("repoURL"), v.At("chart").Text()
	v.At("name").Text()
	pin := append(at, "targetRevision")
	if chart != "" {
		r.argoChart(v, address, chart)
		r.pinEach(func(p Pinned, _ int) edit { return r.set(p.Version, pin...) })
		r.argoHelm(v.At("helm"))
		return
	}
	if text := address.Need(); strings.HasPrefix(text, "oci://") {
		r.remote(address, text+":"+v.At("targetRevision").Need())
		r.pinEach(func(p Pinned, i int) edit { return r.set(p.digest(i), pin...) })
	} else {
		r.remote(address, gitText(address, text, "", argoRevision(v)))
		r.pinEach(func(p Pinned, i int) edit { return r.set(p.commit(i), pin...) })
	}
	r.Path = cleanSubdir(v.At("path").Text())
	helm, kustomize, directory := v.At("helm"), v.At("kustomize"), v.At("directory")
	switch {
	case helm.Set():
		r.Format = "helm"
		r.argoHelm(helm)
	case kustomize.Set():
		r.Format = "kustomize"
		r.argoKustomize(kustomize)
	case directory.Set():
		r.Format = "plain"
		if directory.At("recurse").Flag() {
			directory.At("recurse").Fail("directories below the path are not read; give a path each")
		}
	}
}

func (r *reader) argoChart(v, address field, chart string) {
	r.Format = "helm"
	text, version := strings.TrimRight(address.Need(), "/"), v.At("targetRevision").Text()
	if rest, found := strings.CutPrefix(text, "https://"); found {
		text = "chart+https://" + rest + "/" + chart
		if version != "" && version != "*" {
			text += "?version=" + escapeRange(version)
		}
		r.remote(address, text)
		return
	}
	if strings.Contains(text, "://") && !strings.HasPrefix(text, "oci://") {
		address.Fail("a repository of charts is https://, or HOST/REPO of an OCI registry")
		return
	}
	r.remote(address, chartImage(imageText(text)+"/"+chart, version))
}

// argoHelm reads the values of a chart from the field helm: value files, values as
// text, values as object instead of the text, then parameters, each overriding those
// before.
func (r *reader) argoHelm(v field) {
	if name := v.At("releaseName").Text(); name != "" {
		r.Release = name
	}
	v.At("version").OneOf("v3")
	if v.At("skipTests").Flag() {
		v.Document().Know(v.Path + ".skipTests") // tests never run here
	}
	for i, file := range v.At("valueFiles").Texts() {
		name, rest, referred := strings.Cut(strings.TrimPrefix(file, "$"), "/")
		switch {
		case strings.HasPrefix(file, "$") && referred && isLabel(name):
			file = path.Join(referredDir, name, rest)
		case strings.Contains(file, "://") || strings.HasPrefix(file, "$"):
			v.At("valueFiles").Fail("item %d does not lie within the sources", i)
		default:
			file = path.Join(r.Path, file)
		}
		r.ValuesFiles = append(r.ValuesFiles, file)
	}
	if values := v.At("values"); values.Text() != "" {
		r.Values = valuesText(values, values.Text())
	}
	if object := v.At("valuesObject").Mapping(); len(object) > 0 {
		r.Values = preview.FileNumbers(object) // instead of the text
	}
	for _, item := range v.At("parameters").Items() {
		r.argoParameter(item)
	}
}

// argoParameter reads a parameter, which Argo CD gives to Helm as --set NAME=VALUE, or as
// --set-string. Commas in its value separate nothing unless it is a list {a,b}.
func (r *reader) argoParameter(v field) {
	name, value := v.At("name").Need(), v.At("value").Text()
	if strings.Contains(value, "$") {
		v.At("value").Fail("Argo CD replaces $NAME in it; give it in valuesObject")
	}
	if !strings.HasPrefix(value, "{") || !strings.HasSuffix(value, "}") {
		value = escapeCommas(value)
	}
	texts, set := &r.Set, []string{name + "=" + value}
	var text []string
	if v.At("forceString").Flag() {
		texts, set, text = &r.SetString, nil, set
	}
	if name == "" {
		return
	}
	// Files of the sources may have more that it goes into; an error in the form names the
	// field.
	if err := (&assignment.Values{Map: map[string]any{}}).All(set, text); err != nil {
		v.Fail("%s", err)
		return
	}
	*texts = append(*texts, name+"="+value)
}

// escapeCommas puts a backslash before each comma that has none.
func escapeCommas(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if text[i] == ',' && (i == 0 || text[i-1] != '\\') {
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// argoKustomize reads the changes that an Application makes to a kustomization.
func (r *reader) argoKustomize(v field) {
	over := overlay{
		Namespace: v.At("namespace").Text(), Prefix: v.At("namePrefix").Text(), Suffix: v.At("nameSuffix").Text(),
		Patches: mappings(v.At("patches")), CommonLabels: v.At("commonLabels").Mapping(), CommonAnnotations: v.At("commonAnnotations").Mapping(),
	}
	for _, image := range v.At("images").Items() {
		over.Images = append(over.Images, kustomizeImage(image))
	}
	for _, item := range v.At("replicas").Items() {
		over.Replicas = append(over.Replicas, item.Mapping())
	}
	for _, component := range v.At("components").Texts() {
		over.Components = append(over.Components, path.Join(sourceDir, r.Path, component))
	}
	r.around(over)
}

// kustomizeImage parses [NAME=]IMAGE[:TAG|@DIGEST].
func kustomizeImage(v field) map[string]any {
	name, image, renamed := strings.Cut(v.Need(), "=")
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
