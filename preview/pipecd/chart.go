package pipecd

import (
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// readChart reads the fields helmChart and helmOptions.
func readChart(v, options fields.Field) *Chart {
	c := &Chart{
		Path: v.At("path"), Git: v.At("gitRemote"), Ref: v.At("ref"),
		Repository: v.At("repository"), Name: v.At("name"), Version: v.At("version"),
		ReleaseName: options.At("releaseName").Text(), ValueFiles: options.At("valueFiles").Texts(),
		SetValues: options.At("setValues").TextMap(), SetFiles: options.At("setFiles").TextMap(),
		APIVersions: options.At("apiVersions").Texts(), KubeVersion: options.At("kubeVersion").Text(),
	}
	switch path := c.Path.Text(); {
	case c.Git.Text() != "" && c.Repository.Text() != "":
		c.Repository.Fail("there is a gitRemote too; give one of them")
	case c.Repository.Text() == "" && path == "":
		v.Fail("it names neither a path nor a repository")
	}
	for _, name := range c.ValueFiles {
		checkFile(options.At("valueFiles"), name)
	}
	for key, name := range c.SetFiles {
		checkKey(options.At("setFiles"), key)
		checkFile(options.At("setFiles"), name)
	}
	for key, value := range c.SetValues {
		checkKey(options.At("setValues"), key)
		if strings.ContainsAny(value, `{},\`) {
			options.At("setValues").Fail("the value of %s has characters that Helm reads as a list; give it in a file of valueFiles", shorten(key))
		}
	}
	return c
}

// checkFile records an error unless a file lies below the directory of the configuration,
// as PipeCD checks.
func checkFile(v fields.Field, name string) {
	switch {
	case strings.Contains(name, "://"):
		v.Fail("%q is an address without a pin; keep the file next to this one", shorten(name))
	case !within(name):
		v.Fail("%q does not lie below the directory of the file", shorten(name))
	}
}

// checkKey records an error unless a key of a value is a path of keys.
func checkKey(v fields.Field, key string) {
	if key == "" || strings.ContainsAny(key, `[]{}\,=`) {
		v.Fail("%q is not a path of keys; give it in a file of valueFiles", shorten(key))
	}
}

// within reports whether a path is relative and stays below its directory.
func within(name string) bool {
	clean := path.Clean(name)
	return name != "" && !path.IsAbs(name) && !strings.Contains(name, `\`) && clean != ".." && !strings.HasPrefix(clean, "../")
}

// shorten escapes a text from outside, for messages.
func shorten(text string) string { return textsafe.Clip(text, 120) }
