package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// The protocol: KRM functions specification v1.
const (
	listVersion = "config.kubernetes.io/v1"
	listKind    = "ResourceList"
	RequestKind = "FormatRequest"
)

type resourceList struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Items      []any    `json:"items"`
	Config     *request `json:"functionConfig,omitempty"`
}

// request is the functionConfig of the KRM protocol: the release, the parameters and
// the content to render.
type request struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       spec              `json:"spec"`
}

type spec struct {
	Release    preview.Release `json:"release"`
	Parameters parameters      `json:"parameters"`
	Files      []file          `json:"files"`
}

type parameters struct {
	Values          map[string]any `json:"values"`
	InstallMode     string         `json:"installMode"`
	WatchNamespaces []string       `json:"watchNamespaces"`
	Certs           string         `json:"certs"`
	KubeVersion     string         `json:"kubeVersion"`
	APIVersions     []string       `json:"apiVersions"`
}

// file is one file of the content; JSON carries the bytes as base64.
type file struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
}

// encode returns the input of a program as JSON, which is also valid YAML.
func encode(in format.Input) ([]byte, error) {
	files := []file{}
	err := fs.WalkDir(in.Content, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(in.Content, path)
		files = append(files, file{Path: path, Content: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the content: %w", err)
	}
	return encodeFiles(files, in.Release, in.Params)
}

func encodeFiles(files []file, release preview.Release, params format.Params) ([]byte, error) {
	r := &request{
		APIVersion: preview.APIVersion, Kind: RequestKind, Metadata: map[string]string{"name": release.Name},
		Spec: spec{Release: release, Files: files, Parameters: parameters{
			Values: params.Values, InstallMode: params.InstallMode, Certs: params.Certs, KubeVersion: params.KubeVersion,
			WatchNamespaces: orEmpty(params.WatchNamespaces), APIVersions: orEmpty(params.APIVersions),
		}},
	}
	if r.Spec.Parameters.Values == nil {
		r.Spec.Parameters.Values = map[string]any{}
	}
	return json.Marshal(resourceList{APIVersion: listVersion, Kind: listKind, Items: []any{}, Config: r})
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// severity is how serious a result of the KRM protocol is: error, warning or info.
type severity string

// The severities of the protocol.
const (
	failing severity = "error"
	warning severity = "warning"
	info    severity = "info"
)

// answer has the objects and results that a program printed.
type answer struct {
	objects []format.RenderedObject
	results map[severity][]string
}

// ask runs a program and parses its answer. An answer without objects is an error.
func ask(ctx context.Context, p *program.Program, input []byte) (*answer, error) {
	if len(input) > p.Limits.Input {
		return nil, fmt.Errorf("running %s: the content takes %d MiB as its input, more than the %d MiB that a program is given; narrow it with --path",
			p.File, len(input)>>20, p.Limits.Input>>20)
	}
	r, err := p.Run(ctx, input)
	if err != nil {
		return nil, err
	}
	a, err := read(r, p.File)
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", p.File, err)
	}
	if len(a.objects) == 0 {
		return nil, fmt.Errorf("running %s: it made no objects", p.File)
	}
	return a, nil
}

// read parses the output of a finished run. Results of severity error, and else an exit
// code other than 0, are errors.
func read(r *program.Result, file string) (*answer, error) {
	a, err := decode(r.Stdout, file)
	// Results say more than an exit code or standard error.
	if err == nil {
		if text := a.text(failing); text != "" {
			return nil, errors.New(text)
		}
	}
	if !r.State.Success() {
		return nil, errors.New(r.Failure())
	}
	return a, err
}

// decode parses a ResourceList. Objects whose annotations name no file get origin as
// theirs.
func decode(data []byte, origin string) (*answer, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("its answer is not YAML: %s", textsafe.Line(clip(err.Error())))
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("its answer is %d documents; want one %s of %s", len(docs), listKind, listVersion)
	}
	list, _ := docs[0].(map[string]any)
	if preview.String(list, "kind") != listKind || preview.String(list, "apiVersion") != listVersion {
		return nil, fmt.Errorf("its answer is no %s of %s", listKind, listVersion)
	}
	a := &answer{results: map[severity][]string{}}
	if err := a.readResults(list["results"]); err != nil {
		return nil, err
	}
	items, ok := list["items"].([]any)
	if !ok && list["items"] != nil {
		return nil, errors.New("items of its answer is not a list")
	}
	for i, item := range items {
		objects, err := preview.Flatten(item)
		if err != nil {
			return nil, fmt.Errorf("items[%d] of its answer: %w", i, err)
		}
		for _, body := range objects {
			a.add(body, preview.Origin{File: origin, Document: i + 1})
		}
	}
	return a, nil
}

// text returns the messages of the results with a severity on one line, at most ten.
func (a *answer) text(s severity) string {
	const most = 10
	lines := a.results[s]
	if n := len(lines) - most; n > 0 {
		return strings.Join(lines[:most], "; ") + fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(lines, "; ")
}

func (a *answer) readResults(v any) error {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return errors.New("results of its answer is not a list")
	}
	for i, item := range list {
		result, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("results[%d] of its answer is not a mapping", i)
		}
		of := severity(preview.String(result, "severity"))
		switch of {
		case "":
			of = failing // the specification's default
		case failing, warning, info:
		default:
			return fmt.Errorf("results[%d] of its answer: severity %q; want error, warning or info", i, clip(string(of)))
		}
		a.results[of] = append(a.results[of], resultText(result))
	}
	return nil
}

// resultText returns the message of a result, after the object or file that it is
// about.
func resultText(result map[string]any) string {
	text := preview.String(result, "message")
	if text == "" {
		text = "no message"
	}
	if path := preview.String(result, "file", "path"); path != "" {
		text = path + ": " + text
	}
	if ref := preview.Map(result, "resourceRef"); preview.String(ref, "kind") != "" {
		text = preview.String(ref, "kind") + " " + preview.String(ref, "name") + ": " + text
	}
	return textsafe.Line(clip(text))
}

// clip shortens text that a program printed to 300 bytes.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// Annotations that orchestrators of functions keep their books with. They say
// where an object came from and are no part of it.
const (
	internalPrefix = "internal.config.kubernetes.io/"
	pathKey        = "config.kubernetes.io/path"
	indexKey       = "config.kubernetes.io/index"
	idKey          = "config.k8s.io/id"
	localKey       = "config.kubernetes.io/local-config"
)

// add adds an object to the answer, with the origin that its annotations give. An
// object that they mark as local configuration is left out.
func (a *answer) add(body map[string]any, origin preview.Origin) {
	annotations := preview.Map(body, "metadata", "annotations")
	if local := preview.String(annotations, localKey); local != "" && local != "false" {
		a.results[info] = append(a.results[info], resultText(map[string]any{
			"resourceRef": map[string]any{"kind": preview.String(body, "kind"), "name": preview.String(body, "metadata", "name")},
			"message":     "left out: it is marked as local configuration",
		}))
		return
	}
	if path := firstText(annotations, internalPrefix+"path", pathKey); path != "" {
		origin = preview.Origin{File: clip(path), Document: 1}
		if n, err := strconv.Atoi(firstText(annotations, internalPrefix+"index", indexKey)); err == nil && n >= 0 && n < 1<<20 {
			origin.Document = n + 1
		}
	}
	for key := range annotations {
		if strings.HasPrefix(key, internalPrefix) || key == pathKey || key == indexKey || key == idKey {
			delete(annotations, key)
		}
	}
	if annotations != nil && len(annotations) == 0 {
		delete(preview.Map(body, "metadata"), "annotations")
	}
	a.objects = append(a.objects, format.RenderedObject{Body: body, Origin: origin})
}

func firstText(m map[string]any, keys ...string) string {
	for _, key := range keys {
		if s := preview.String(m, key); s != "" {
			return s
		}
	}
	return ""
}
