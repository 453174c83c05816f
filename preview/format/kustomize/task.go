package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// mount is the directory where kustomize sees the files of the content; its errors
// contain the name.
const mount = "/content"

// Task is the task of a sandboxed process that builds a kustomization.
func Task() child.Task { return child.Task{Name: Name, Work: work} }

func work(input []byte) ([]byte, error) {
	log.SetOutput(io.Discard)
	var b build
	if err := json.Unmarshal(input, &b); err != nil {
		return nil, err
	}
	files := filesys.MakeFsInMemory()
	for name, data := range b.Files {
		if err := files.WriteFile(path.Join(mount, name), data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	made, err := krusty.MakeKustomizer(&krusty.Options{
		Reorder: krusty.ReorderOptionNone, LoadRestrictions: types.LoadRestrictionsRootOnly,
		PluginConfig: types.DisabledPluginConfig(),
	}).Run(files, path.Join(mount, b.Root))
	if err != nil {
		return nil, sentence(err)
	}
	if err := substitute(made, b.Variables); err != nil {
		return nil, err
	}
	return made.AsYaml()
}

// tried matches kustomize's errors about a file, which go on to say that it is no
// directory either.
var tried = lazyregexp.New(`^.*accumulation err='(.*)': (must build at directory|unable to find one of).*$`)

// sentence returns an error of kustomize as one sentence, without line breaks and
// internal paths.
func sentence(err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	text = tried.ReplaceAllString(text, "$1")
	text = strings.NewReplacer(mount+"/", "", mount, ".").Replace(text)
	if len(text) > 600 {
		text = text[:600] + "…"
	}
	return errors.New(text)
}
