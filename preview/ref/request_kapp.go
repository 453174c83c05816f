package ref

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// appGroup is the API group of kapp-controller.
const appGroup = "kappctrl.k14s.io"

func ignoredInApp() []ignoredField {
	return []ignoredField{
		{"spec.serviceAccountName", "whose rights the controller takes; here the user's own count"},
		{"spec.syncPeriod", "when the controller looks again"}, {"spec.noopDelete", "how the controller uninstalls"},
	}
}

// app reads an App of kapp-controller: its fetched sources, its templates, and its deploy
// target (carvel-dev/kapp-controller v0.53.0, pkg/app and pkg/fetch/vendir.go).
func (r *reader) app(f *strictReader) {
	spec := f.At("spec")
	r.Release, r.Namespace = r.asked.Name, spec.At("defaultNamespace").Text()
	if r.Namespace == "" {
		r.Namespace = r.asked.Namespace
	}
	for _, name := range []string{"paused", "canceled"} {
		if spec.At(name).Flag() {
			r.Paused = "spec." + name
		}
	}
	r.appDeploy(spec.At("deploy"))
	fetches := spec.At("fetch").Items()
	bundle := false
	r.Files = map[string]string{}
	for i, item := range fetches {
		destination := item.At("path").Text()
		if destination == "" && len(fetches) > 1 {
			destination = strconv.Itoa(i)
		}
		bundle = item.At("imgpkgBundle").Set() && destination == "" || bundle
		r.appFetch(item, destination, "spec", "fetch", i)
	}
	if len(fetches) == 0 {
		spec.At("fetch").Fail("it is missing; an App fetches its content")
	}
	pick := r.appTemplate(spec.At("template"), bundle)
	r.appSelect(pick)
}

// appSelect sets how the content is made of the files that were fetched. Those of the App
// itself alone need no source but the file.
func (r *reader) appSelect(pick func(map[string]string) map[string]string) {
	inline := r.Files
	switch {
	case len(inline) == 0:
		r.Files = nil
	case len(r.Sources) == 0:
		r.Files = nil
		r.beside()
		r.Select = func(fs.FS, string) (map[string]string, error) {
			if pick == nil {
				return inline, nil
			}
			return pick(inline), nil
		}
		return
	}
	if pick != nil {
		r.Select = func(content fs.FS, _ string) (map[string]string, error) {
			files, err := filesIn(content)
			return pick(files), err
		}
	}
}

func filesIn(content fs.FS) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		files[name] = string(data)
		return err
	})
	return files, err
}

// appDeploy reads where kapp deploys to. The plan names other effects of its options.
func (r *reader) appDeploy(v field) {
	items := v.Items()
	if len(items) != 1 {
		v.Fail("%d items; kapp-controller takes one, such as kapp: {}", len(items))
		return
	}
	kapp := items[0].At("kapp")
	if !kapp.Set() {
		items[0].Fail("it names no tool; want kapp: {}")
	}
	kapp.Document().Know(kapp.Path+".inspect", kapp.Path+".delete", kapp.Path+".rawOptions")
	if into := kapp.At("intoNs").Text(); into != "" {
		r.Namespace, r.OneNamespace = into, true
	}
}

// appFetch reads one item of spec.fetch, at a path of the document.
func (r *reader) appFetch(v field, destination string, at ...any) {
	before, kinds := len(r.Sources), 0
	for _, kind := range []struct {
		name string
		read func(v field, destination string, at []any)
	}{
		{"inline", r.appInline}, {"image", r.appImage}, {"imgpkgBundle", r.appImage}, {"http", r.appHTTP}, {"git", r.appGit}, {"helmChart", r.appChart},
	} {
		if one := v.At(kind.name); one.Set() {
			kinds++
			kind.read(one, destination, append(slices.Clone(at), kind.name))
		}
	}
	if kinds != 1 {
		v.Fail("%d kinds of sources; want one of inline, image, imgpkgBundle, http, git and helmChart", kinds)
	}
	for i := before; i < len(r.Sources); i++ {
		r.Sources[i].Destination = destination
	}
}

// appInline reads the files of an App that it holds itself, or has from ConfigMaps.
func (r *reader) appInline(v field, destination string, _ []any) {
	for name, text := range v.At("paths").TextMap() {
		r.appFile(v.At("paths"), path.Join(destination, name), text)
	}
	for _, item := range v.At("pathsFrom").Items() {
		if secret := item.At("secretRef"); secret.Set() {
			secret.Document().Know(secret.Path)
			secret.Fail("files of a Secret are not read: the review would show them; keep those that are no secret in a ConfigMap")
			return
		}
		from := item.At("configMapRef")
		below := from.At("directoryPath").Text()
		body := r.find("", []string{"v1"}, "ConfigMap", r.asked.Namespace, from.At("name").Need())
		for key := range preview.Map(body, "data") {
			if text, err := dataOf(body, key); err == nil {
				r.appFile(from, path.Join(destination, below, key), text)
			}
		}
	}
}

func (r *reader) appFile(v field, name, text string) {
	if err := checkBelow(name); err != nil {
		v.Fail("%s", err)
		return
	}
	r.Files[name] = text
}

// appSource sets what all kinds of remote sources have.
func (r *reader) appSource(s *RequestSource, v field) {
	home := v.Document().At("metadata.namespace")
	home.Value = nil // the Secret is in the namespace of the App
	r.secret(s, v.At("secretRef.name"), home)
}

// appImage reads an image or a bundle of imgpkg.
func (r *reader) appImage(v field, _ string, at []any) {
	key := "url"
	if at[len(at)-1] == "imgpkgBundle" {
		key = "image"
	}
	address, selection := v.At(key), v.At("tagSelection")
	text := imageText(address.Need())
	if selection.Set() {
		if selection.At("semver.prereleases").Set() {
			selection.At("semver.prereleases").Fail("versions before a release are not looked for; name the tag")
		}
		r.remote(address, tagsText(text, selection.At("semver.constraints").Text()))
		r.pinEach(func(Pinned, int) edit {
			return edit{err: errors.New("a tagSelection cannot have a digest; give " + address.Path + " alone")}
		})
	} else {
		if path.Base(text) == path.Base(repository(text)) {
			text += ":latest" // as imgpkg defaults
		}
		r.remote(address, text)
		r.pinEach(func(p Pinned, i int) edit {
			return r.set(p.image(i, r.Sources[i].Reference), append(at, key)...)
		})
	}
	s := &r.Sources[len(r.Sources)-1]
	s.Subdir = cleanSubdir(v.At("subPath").Text())
	r.appSource(s, v)
}

// appHTTP reads an archive.
func (r *reader) appHTTP(v field, _ string, at []any) {
	address, text := v.At("url"), v.At("url").Need()
	if sum := v.At("sha256").Text(); sum != "" {
		text += digestFragment + sum
	}
	s := r.remote(address, text)
	s.Subdir = cleanSubdir(v.At("subPath").Text())
	r.appSource(s, v)
	r.pinEach(func(p Pinned, i int) edit {
		return r.set(strings.TrimPrefix(p.digest(i), "sha256:"), append(at, "sha256")...)
	})
}

// appGit reads a repository. Its ref may name the remote, which is origin.
func (r *reader) appGit(v field, _ string, at []any) {
	address := v.At("url")
	if v.At("refSelection").Set() {
		v.At("refSelection").Fail("a range over tags is not supported; give ref")
	}
	v.Document().Know(v.Path+".lfsSkipSmudge", v.Path+".forceHTTPBasicAuth", v.Path+".depth")
	s := r.remote(address, gitText(address, address.Need(), v.At("subPath").Text(), strings.TrimPrefix(v.At("ref").Text(), "origin/")))
	r.appSource(s, v)
	r.pinEach(func(p Pinned, i int) edit { return r.set(p.commit(i), append(at, "ref")...) })
}

// appChart reads a chart of a repository or registry.
func (r *reader) appChart(v field, _ string, at []any) {
	address, name, version := v.At("repository.url"), v.At("name").Need(), v.At("version").Text()
	text := strings.TrimRight(address.Need(), "/")
	if rest, found := strings.CutPrefix(text, "https://"); found {
		if text = "chart+https://" + rest + "/" + name; version != "" {
			text += "?version=" + escapeRange(version)
		}
	} else {
		text = chartImage(imageText(text)+"/"+name, version)
	}
	r.appSource(r.remote(address, text), v.At("repository"))
	r.pinEach(func(p Pinned, _ int) edit { return r.set(p.Version, append(at, "version")...) })
}

// appLock is where a bundle of imgpkg has its lock of images.
const appLock = ".imgpkg/images.yml"

// appTemplate reads what makes objects of the files: helm template, or ytt and kbld over
// plain manifests. It returns the paths to take, nil for all. Any other program to run is an
// error.
func (r *reader) appTemplate(v field, bundle bool) func(map[string]string) map[string]string {
	var paths []string
	locks := false
	for i, item := range v.Items() {
		chart, ytt, kbld := item.At("helmTemplate"), item.At("ytt"), item.At("kbld")
		switch {
		case chart.Set() && i == 0:
			r.appHelm(chart)
		case ytt.Set():
			ytt.Document().Know(ytt.Path+".ignoreUnknownComments", ytt.Path+".strict")
			paths = append(paths, appPaths(ytt, i)...)
		case kbld.Set():
			for _, name := range appPaths(kbld, i) {
				if locks = locks || name == appLock; name != appLock {
					paths = append(paths, name)
				}
			}
		default:
			item.Fail("it is not run here; helmTemplate first, ytt and kbld are read")
		}
	}
	switch {
	case len(v.Items()) == 0:
		v.Fail("it is missing; an App makes objects of its content, such as with ytt: {}")
	case locks && !bundle:
		v.Fail("kbld has the lock of a bundle, and none is fetched")
	case r.Format == "helm" && len(paths) > 0:
		v.Fail("files outside the chart are not read")
	case r.Format == "helm" && locks:
		r.Format = "carvel"
	case r.Format == "helm":
	case locks:
		r.Format = "carvel"
		return func(files map[string]string) map[string]string { return appManifests(files, paths, "config", appLock) }
	default:
		r.Format = "plain"
		return func(files map[string]string) map[string]string { return appManifests(files, paths, "", "") }
	}
	return nil
}

// appPaths reads the paths that ytt or kbld reads, but standard input, which is what the step
// before made.
func appPaths(v field, step int) []string {
	var out []string
	v.At("paths").Know()
	given := v.At("paths").Texts()
	for _, name := range given {
		if name != "-" {
			out = append(out, path.Clean(name))
		}
	}
	if step > 0 && len(given) > 0 && !slices.Contains(given, "-") {
		v.At("paths").Fail("it has no \"-\", so that what was made before is not applied")
	}
	return out
}

// appManifests returns the manifests below paths as ytt and kbld find them, in directories of
// any depth, side by side in one directory, and one file as it is.
func appManifests(files map[string]string, paths []string, into, kept string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == kept {
			out[name] = files[name]
		}
		read := len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return p == "." || name == p || strings.HasPrefix(name, p+"/") })
		if ext := path.Ext(name); read && (ext == ".yml" || ext == ".yaml") && !strings.HasPrefix(name, ".imgpkg/") && !strings.Contains("/"+name, "/_ytt_lib/") {
			out[path.Join(into, strings.ReplaceAll(name, "/", "_"))] = files[name]
		}
	}
	return out
}

// appHelm reads how helm template renders the chart. Its hooks are objects like all others.
func (r *reader) appHelm(v field) {
	r.Format, r.Path, r.PlainHooks = "helm", cleanSubdir(v.At("path").Text()), true
	if name := v.At("name").Text(); name != "" {
		r.Release = name
	}
	if namespace := v.At("namespace").Text(); namespace != "" && namespace != r.Namespace {
		v.At("namespace").Fail("the chart is made for %s, and kapp deploys to %s; only one namespace for both is read", clip(namespace), clip(r.Namespace))
	}
	r.KubeVersion = v.At("kubernetesVersion.version").Text()
	r.APIVersions = v.At("kubernetesAPIs.groupVersions").Texts()
	for _, item := range v.At("valuesFrom").Items() {
		file, from, kind := item.At("path").Text(), item.At("configMapRef.name"), "ConfigMap"
		if item.At("secretRef").Set() {
			from, kind = item.At("secretRef.name"), "Secret"
		}
		switch {
		case file == "-":
			item.Fail("nothing is made before the chart")
		case file != "" && r.Values != nil:
			item.Fail("values from files are read before values from ConfigMaps and Secrets; put it first")
		case file != "":
			r.ValuesFiles = append(r.ValuesFiles, path.Clean(file))
		case !from.Set():
			item.Know()
			item.Fail("it is not read; want path, configMapRef or secretRef")
		default:
			r.appValues(from, kind)
		}
	}
}

// appValues merges the values of all keys of a ConfigMap or Secret.
func (r *reader) appValues(from field, kind string) {
	body := r.find("", []string{"v1"}, kind, r.asked.Namespace, from.Need())
	if body == nil {
		return
	}
	if kind == "Secret" {
		r.SecretValues = true
		r.note(rules.ValuesFromSecret, r.asked.Namespace, from.Text())
	}
	for _, key := range slices.Sorted(maps.Keys(preview.Map(body, "data"))) {
		text, err := dataOf(body, key)
		if err != nil {
			from.Fail("%s", err)
			return
		}
		r.Values = Merged(r.Values, valuesText(from, text))
	}
}
