// Package byprogram reads content with a program of the user's own: an executable
// kubectl-operator-source-NAME that reads one JSON request with an address from standard
// input and writes an archive of the files that it leads to to standard output.
//
// The archive is read like any other (package filetree): within limits, without links
// and devices, and in memory alone, so that nothing in it can be written anywhere.
package byprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// RequestKind is the kind of the request on standard input.
const RequestKind = "SourceRequest"

// request is what a program is asked for.
type request struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       spec              `json:"spec"`
}

type spec struct {
	Address string `json:"address"`
}

// Request returns the input of the program of a source for an address. The same
// reference always makes the same bytes, so the plan, which seals the reference, seals
// the request too.
func Request(name, address string) ([]byte, error) {
	return json.Marshal(request{
		APIVersion: preview.APIVersion, Kind: RequestKind, Metadata: map[string]string{"name": name}, Spec: spec{Address: address},
	})
}

// Fetch returns the files that a program leads to at an address.
func Fetch(ctx context.Context, p *program.Program, address string, l filetree.Limits) (*filetree.Tree, error) {
	input, err := Request(p.Name, address)
	if err != nil {
		return nil, err
	}
	r, err := p.Run(ctx, input)
	if err != nil {
		return nil, err
	}
	t, err := read(r, l)
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", p.File, err)
	}
	return t, nil
}

// read unpacks the answer of a finished run. The answer to an exit code other than 0
// does not count.
func read(r *program.Result, l filetree.Limits) (*filetree.Tree, error) {
	if !r.State.Success() {
		return nil, errors.New(r.Failure())
	}
	if len(r.Stdout) == 0 {
		return nil, errors.New("it printed nothing; want a tar of the files on standard output")
	}
	t, err := l.UnpackArchive(bytes.NewReader(r.Stdout), int64(len(r.Stdout)))
	if err != nil {
		return nil, fmt.Errorf("its answer: %s", textsafe.Line(err.Error()))
	}
	return t, nil
}
