// Program kubectl-operator-format-env is an example of a format by a program: it makes a
// ConfigMap of every file NAME.env, whose lines are KEY=VALUE. A value given by --set
// KEY=VALUE replaces the value of KEY in files.
//
// It takes nothing but the standard library, on purpose: a format is a
// ResourceList on standard input and one on standard output, in any language.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// The two ends of the protocol, as far as they are used here. The input is
// JSON, and JSON is a valid answer.
type (
	input struct {
		APIVersion     string  `json:"apiVersion"`
		Kind           string  `json:"kind"`
		FunctionConfig request `json:"functionConfig"`
	}
	request struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Parameters struct {
				Values map[string]any `json:"values"`
			} `json:"parameters"`
			Files []struct {
				Path    string `json:"path"`
				Content []byte `json:"content"` // base64 in JSON
			} `json:"files"`
		} `json:"spec"`
	}
	output struct {
		APIVersion string      `json:"apiVersion"`
		Kind       string      `json:"kind"`
		Items      []configMap `json:"items"`
		Results    []result    `json:"results,omitempty"`
	}
	configMap struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   metadata          `json:"metadata"`
		Data       map[string]string `json:"data"`
	}
	metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	result struct {
		Message  string            `json:"message"`
		Severity string            `json:"severity"` // error, warning or info
		File     map[string]string `json:"file,omitempty"`
	}
)

func main() {
	out, err := run(os.Stdin)
	if err != nil { // not a request at all: there is no request to answer
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if slices.ContainsFunc(out.Results, func(r result) bool { return r.Severity == "error" }) {
		os.Exit(1)
	}
}

func run(stdin io.Reader) (*output, error) {
	var in input
	decoder := json.NewDecoder(stdin)
	decoder.UseNumber() // a value of 1000000 is not 1e+06
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	config := in.FunctionConfig
	if in.Kind != "ResourceList" || config.APIVersion != "kubectl-operator/v1alpha1" || config.Kind != "FormatRequest" {
		return nil, fmt.Errorf("want a ResourceList with a FormatRequest of kubectl-operator/v1alpha1, not a %s of %s", config.Kind, config.APIVersion)
	}
	out := &output{APIVersion: "config.kubernetes.io/v1", Kind: "ResourceList", Items: []configMap{}}
	used := map[string]bool{}
	for _, file := range config.Spec.Files {
		name, isEnv := strings.CutSuffix(path.Base(file.Path), ".env")
		if !isEnv {
			continue
		}
		data := map[string]string{}
		for i, line := range strings.Split(string(file.Content), "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, value, ok := strings.Cut(line, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			if !ok {
				out.say("error", file.Path, fmt.Sprintf("line %d has no =", i+1))
				continue
			}
			if given, ok := config.Spec.Parameters.Values[key]; ok {
				value, used[key] = fmt.Sprint(given), true
			}
			data[key] = value
		}
		out.Items = append(out.Items, configMap{
			APIVersion: "v1", Kind: "ConfigMap", Data: data,
			// Where an object came from is shown in the review.
			Metadata: metadata{Name: name, Annotations: map[string]string{"config.kubernetes.io/path": file.Path}},
		})
	}
	if len(out.Items) == 0 {
		out.say("error", "", "there is no file NAME.env")
	}
	for _, key := range sorted(config.Spec.Parameters.Values) {
		if !used[key] {
			out.say("warning", "", "no file has "+key)
		}
	}
	return out, nil
}

func (o *output) say(severity, file, message string) {
	r := result{Message: message, Severity: severity}
	if file != "" {
		r.File = map[string]string{"path": file}
	}
	o.Results = append(o.Results, r)
}

func sorted(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
