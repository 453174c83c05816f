// Package scripts searches objects for suspicious code: in the commands of pods, and in
// texts that pods may run.
package scripts

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
)

// maxDepth is how deep in the fields of a custom resource texts are read.
const maxDepth = 128

// Reader searches objects for signs. It keeps those of the last object, which several
// rules ask for.
type Reader struct {
	*code.Reader
	of      *preview.Object
	pods    []Line
	scripts []Line
}

// Line is a sign that was found in an object, as a line of evidence.
type Line struct {
	Family code.Family
	Item   *preview.Item // the container that has it, nil for other texts
	Text   string
}

// NewReader returns a reader for the objects of one plan.
func NewReader() *Reader { return &Reader{Reader: code.NewReader()} }

// Pod returns the signs in the commands of an object's pod template.
func (r *Reader) Pod(o *preview.Object) []Line {
	r.read(o)
	return r.pods
}

// Scripts returns the signs in the texts of an object that pods may run, such as those
// of a ConfigMap.
func (r *Reader) Scripts(o *preview.Object) []Line {
	r.read(o)
	return r.scripts
}

func (r *Reader) read(o *preview.Object) {
	if r.of == o {
		return
	}
	r.of, r.pods, r.scripts = o, nil, nil
	if o.Planned != nil {
		r.readPod(o.Planned)
		r.readScripts(o)
	}
}

func keysOf(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func (r *Reader) readPod(body map[string]any) {
	pod, _ := preview.PodTemplate(body)
	for _, container := range cloud.Containers(pod) {
		in := func(part string) *preview.Item {
			return &preview.Item{Kind: "container", Name: preview.EvidenceName(preview.String(container, "name")), Part: part}
		}
		variables := map[string]string{}
		for _, env := range preview.Maps(container, "env") {
			variables[preview.String(env, "name")] = preview.String(env, "value")
		}
		command := append(preview.Texts(container["command"]), preview.Texts(container["args"])...)
		r.podSigns(in(""), r.Command(command, variables), false)
		all := pods.Handlers(container)
		for _, handler := range pods.SortedNames(all) {
			words := preview.Texts(preview.Value(all[handler], "exec", "command"))
			r.podSigns(in(handler), r.Command(words, variables), strings.HasSuffix(handler, "Probe"))
		}
		r.variables(in, container)
	}
}

// podSigns adds the signs of a command. Weak signs of downloads in a probe are left out
// if they name no host outside the cluster, as probes request addresses of their pod.
func (r *Reader) podSigns(in *preview.Item, signs []code.Sign, probe bool) {
	for _, s := range signs {
		if !probe || s.Strong || s.Outside || s.Family != code.Fetches {
			r.pods = append(r.pods, Line{s.Family, in, s.String()})
		}
	}
}

// variables adds the signs in the values of a container's environment variables, which
// programs may run. The excerpt is left out for variables that are named like secrets.
func (r *Reader) variables(in func(part string) *preview.Item, container map[string]any) {
	for _, env := range preview.Maps(container, "env") {
		name, value := preview.String(env, "name"), preview.String(env, "value")
		if len(value) == 0 || strings.EqualFold(name, "no_proxy") {
			continue
		}
		for _, s := range r.Text(name + "=" + value) {
			if !s.Strong && s.Family != code.Unchecks {
				continue
			}
			if preview.SensitiveName(name) {
				s.Excerpt = ""
			}
			r.pods = append(r.pods, Line{s.Family, in("variable " + preview.EvidenceName(name)), s.String()})
		}
	}
}

// readScripts adds the signs in the texts of an object that pods may run.
func (r *Reader) readScripts(o *preview.Object) {
	annotations := preview.Map(o.Planned, "metadata", "annotations")
	for _, key := range keysOf(annotations) {
		if text, _ := annotations[key].(string); key != "kubectl.kubernetes.io/last-applied-configuration" {
			r.script("annotation "+key, "", text, true)
		}
	}
	switch {
	case o.Is(preview.KindConfigMap):
		r.data(o, "data", false, true)
		r.data(o, "binaryData", true, true)
	case o.Is(preview.KindSecret):
		r.data(o, "stringData", false, false)
		r.data(o, "data", true, false)
	case !content.BuiltIn(o.Planned):
		for _, key := range keysOf(o.Planned) {
			if key != "metadata" && key != "status" {
				r.leaves(key, o.Planned[key], true, 0)
			}
		}
	}
}

// data adds the signs in the values of a field of a ConfigMap or Secret. encoded: the
// values are base64; shown: evidence may show excerpts.
func (r *Reader) data(o *preview.Object, field string, encoded, shown bool) {
	entries := preview.Map(o.Planned, field)
	for _, key := range keysOf(entries) {
		text, _ := entries[key].(string)
		if encoded {
			plain, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				continue
			}
			text = string(plain)
		}
		if format := code.Program([]byte(text)); format != "" {
			r.scripts = append(r.scripts, Line{code.Hides, nil, field + " " + preview.EvidenceName(key) + ": is a program (" + format + ")"})
			continue
		}
		r.script(field+" "+key, key, text, shown)
	}
}

// script adds the signs of a text; only strong ones if the text is not a script.
func (r *Reader) script(at, name, text string, shown bool) {
	if len(text) < 8 {
		return
	}
	script := code.Script(name, text)
	for _, s := range r.Text(text) {
		if !s.Strong && !script {
			continue
		}
		if !shown {
			s.Excerpt = ""
		}
		r.scripts = append(r.scripts, Line{s.Family, nil, preview.EvidenceName(at) + ": " + s.String()})
	}
}

// leaves adds the signs in the texts of a custom resource, at any depth. Containers in
// it are left out, as they are judged like those of a pod.
func (r *Reader) leaves(path string, v any, shown bool, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case string:
		r.script(path, "", v, shown)
	case map[string]any:
		for _, key := range keysOf(v) {
			if !listsContainers(key, v[key]) {
				r.leaves(path+"."+key, v[key], shown && !preview.SensitiveName(key), depth+1)
			}
		}
	case []any:
		for i, item := range v {
			r.leaves(path+"["+strconv.Itoa(i)+"]", item, shown, depth+1)
		}
	}
}

func listsContainers(key string, v any) bool {
	if key != "containers" && key != "initContainers" && key != "ephemeralContainers" {
		return false
	}
	list, _ := v.([]any)
	for _, item := range list {
		if m, ok := item.(map[string]any); !ok || m["image"] == nil {
			return false
		}
	}
	return len(list) > 0
}
