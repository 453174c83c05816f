package plugins

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Host is a Deployment whose pods install a plugin set themselves, by a config in a
// ConfigMap. A PluginSet names it:
//
//	spec:
//	  host:
//	    deployment: {namespace: optimus, name: optimus-server}
//	    configMap: {name: optimus-plugins, key: plugins.yaml}  # default: the set's name, plugins.yaml
//	    custom-init-image: registry.example.com/own@sha256:…   # default: default-init-image
//	    default-init-image: registry.example.com/kubectl-operator@sha256:…
//
// The ConfigMap gets the config without spec.host and spec.executor under the key, the lock file under
// KEY.lock, and under KEY.digest the content digest of the files, with one digest for
// each platform, separated by commas. The pods refuse to install files with another
// digest.
type Host struct {
	Deployment preview.Ref
	ConfigMap  preview.Ref
	Key        string
	// CustomInitImage is the image of the init container that installs the
	// plugins, DefaultInitImage the one where there is none; see PodTemplate.
	CustomInitImage, DefaultInitImage string
}

// The keys of a host's ConfigMap other than the config's.
const (
	defaultKey   = "plugins.yaml"
	suffixLock   = ".lock"
	suffixDigest = ".digest"
)

// maxConfigMap is the most bytes that config and lock file may have together in a
// ConfigMap: the API server's limit of 1 MiB, less some room for metadata.
const maxConfigMap = 1000 << 10

var configMapKey = lazyregexp.New(`^[A-Za-z0-9_][-._A-Za-z0-9]{0,200}$`)

// host reads the field spec.host of a plugin set; nil if the set has none.
func (p *parser) host(f field) *Host {
	if !f.IsMap() {
		return nil
	}
	deployment, configMap := f.At("deployment"), f.At("configMap")
	h := &Host{
		Deployment: preview.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: name(deployment.At("namespace"), ""), Name: name(deployment.At("name"), "")},
		Key:        configMap.At("key").Text(),
	}
	h.ConfigMap = preview.Ref{
		APIVersion: "v1", Kind: "ConfigMap",
		Namespace: name(configMap.At("namespace"), h.Deployment.Namespace), Name: name(configMap.At("name"), p.set.Name),
	}
	h.CustomInitImage, h.DefaultInitImage = f.At("custom-init-image").Text(), f.At("default-init-image").Text()
	switch {
	case h.Key == "":
		h.Key = defaultKey
	case !configMapKey.MatchString(h.Key):
		configMap.At("key").Fail("it is no key of a ConfigMap: letters, digits, \"-\", \"_\" and \".\"")
	}
	if configMap.Set() {
		configMap.IsMap()
	}
	return h
}

// name reads the name of an object. If the field is not set it is fallback, or an error
// if that is empty.
func name(f field, fallback string) string {
	text := fallback
	if f.Set() || fallback == "" {
		text = f.Need()
	}
	if text != "" && !ref.IsName(text) {
		f.Fail("%q is not a name: lower-case letters, digits, \"-\" and \".\"", clip(text))
	}
	return text
}

// checkHost returns an error for a set with a host in a cluster whose config contains
// credentials or other secrets, because the config is stored in a ConfigMap.
func (s *Set) checkHost() error {
	if s.Host == nil {
		return nil
	}
	for _, p := range s.Plugins {
		for _, a := range p.Artifacts {
			for _, secret := range []Secret{a.Auth.Password, a.Auth.Bearer, a.Auth.Google, a.Auth.SecretKey} {
				if secret.inline != "" {
					return fmt.Errorf("plugin %s: its login is in the config, which ends up in a ConfigMap; write {env: NAME} or {file: PATH} there instead", clip(p.Name))
				}
			}
		}
	}
	if paths := preview.SensitivePaths(configOf(s)); len(paths) > 0 {
		return fmt.Errorf("%s is a secret by its name, and the config ends up in a ConfigMap; have the host read it from a file or its environment, and give only the name of that, as in %s_file",
			clip(strings.TrimPrefix(paths[0], ".")), clip(paths[0][strings.LastIndex(paths[0], ".")+1:]))
	}
	return nil
}

// HostContent returns the content of a release for a plugin set whose host runs in the
// cluster: the ConfigMap and the restart of the host. fetched has the set for each
// platform of the host's pods, first the one that the plan shows; lock goes into the
// ConfigMap, and the pods verify the artifacts with it.
func HostContent(set *Set, fetched []PlatformSet, lock *Lock, release preview.Release) (planned.Content, error) {
	host, own := set.Host, fetched[0]
	p, err := Plan(set, own.Fetched, Target{Platform: own.Platform, Location: preview.Location{Path: set.Location, Host: host.Deployment.ID()}})
	if err == nil && len(fetched) > 1 {
		err = AddPlatforms(p, set, fetched[1:])
	}
	if err != nil {
		return planned.Content{}, err
	}
	pkg := p.Packages[0]
	configMap, err := host.configMap(set, lock, filesDigests(p))
	if err != nil {
		return planned.Content{}, err
	}
	content, err := planned.Prepare(release, planned.Material{
		Info:    format.Info{Package: pkg.Name, Version: pkg.Version, Bundle: pkg.Bundle, Format: pkg.Format},
		Output:  &format.Output{Objects: []format.RenderedObject{{Body: configMap, Origin: preview.Origin{File: "spec.host.configMap"}}}},
		Sources: pkg.Sources, Notes: slices.Concat(pkg.Notes, noteLocalArtifacts(fetched), host.initImageNotes()),
	})
	if err != nil {
		return content, err
	}
	content.Package.Executors = pkg.Executors
	if err := recordTexts(p.Files, own.Fetched); err != nil {
		return content, err
	}
	restart := planned.Set{Platform: p.Platform, Location: *p.Location, Files: p.Files, Platforms: p.Platforms}
	return planned.SealSet(content, release, restart, pkg.Parameters.Values, host.Deployment)
}

// maxRecorded is how many bytes of text files of a set are stored in the record
// together (256 KiB); a file that exceeds the rest is stored without its text.
const maxRecorded = 256 << 10

// recordTexts sets the text of the plan's text files, so that the next review can
// compare it with what is then planned.
func recordTexts(files []preview.File, fetched []FetchedPlugin) error {
	laid, err := Files(fetched)
	if err != nil {
		return err
	}
	left := maxRecorded
	for i := range files {
		at := slices.IndexFunc(laid, func(f File) bool { return f.Path == files[i].Path })
		if at < 0 {
			continue
		}
		if text, ok := readableText(files[i].Path, laid[at].Data); ok && len(text) <= left {
			files[i].Text, left = text, left-len(text)
		}
	}
	return nil
}

// filesDigests returns the content digest of the files on each platform of a plan,
// separated by commas. A pod verifies its installation with them.
func filesDigests(p *preview.Plan) string {
	if len(p.Platforms) == 0 {
		return p.Packages[0].ContentDigest
	}
	var out []string
	for _, one := range p.Platforms {
		out = append(out, one.ContentDigest)
	}
	return strings.Join(out, ",")
}

func (h *Host) configMap(set *Set, lock *Lock, filesDigest string) (map[string]any, error) {
	body := preview.CloneBody(set.body)
	for _, field := range []string{"host", "executor"} { // of what is printed for others
		delete(preview.Map(body, "spec"), field)
	}
	config, locked := diff.Manifest(body), string(lock.Encode())
	if n := len(config) + len(locked); n > maxConfigMap {
		return nil, errors.New("the config and its lock have " + strconv.Itoa(n) + " bytes, and a ConfigMap takes " + strconv.Itoa(maxConfigMap))
	}
	return map[string]any{
		"apiVersion": h.ConfigMap.APIVersion, "kind": h.ConfigMap.Kind,
		"metadata": map[string]any{"namespace": h.ConfigMap.Namespace, "name": h.ConfigMap.Name},
		"data":     map[string]any{h.Key: config, h.Key + suffixLock: locked, h.Key + suffixDigest: filesDigest},
	}, nil
}

// noteLocalArtifacts returns a note for each artifact with a local path, because each
// pod reads that path in its own file system.
func noteLocalArtifacts(fetched []PlatformSet) []preview.Note {
	var out []preview.Note
	for _, on := range fetched {
		for _, f := range on.Fetched {
			note := rules.PluginLocal.Note("plugin/"+f.Name, rules.PluginLocal.NoteText(clip(f.Source.Reference)))
			if f.Artifact.Local && !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	return out
}

// IsHosted reports whether a file contains a PluginSet with a host in a cluster.
// An unreadable file counts as no.
func IsHosted(data []byte) bool {
	if len(data) > MaxBytes {
		return false
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(docs, func(doc any) bool {
		body, _ := doc.(map[string]any)
		return preview.String(body, "kind") == KindPluginSet && preview.String(body, "apiVersion") == preview.APIVersion &&
			preview.Map(body, "spec", "host") != nil
	})
}
