package engine

import (
	"encoding/json"
	"errors"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// records indexes the values that this program recorded among a plan's reads, by
// kind and name.
type records struct {
	bodies map[string]map[string]any
	names  map[string][]string // by kind, in the order of the reads
}

func newRecords(p *preview.Plan) *records {
	out := &records{bodies: map[string]map[string]any{}, names: map[string][]string{}}
	for _, read := range p.Reads {
		if preview.String(read.Body, "apiVersion") == preview.APIVersion {
			out.add(read)
		}
	}
	return out
}

func (r *records) add(read preview.Read) {
	if r.bodies[read.ID] != nil {
		return
	}
	r.bodies[read.ID] = read.Body
	ref := preview.RefOf(read.Body)
	r.names[ref.Kind] = append(r.names[ref.Kind], ref.Name)
}

// Names returns the names recorded under a kind.
func (r *records) Names(kind string) []string { return r.names[kind] }

// Record decodes a recorded value; false if there is none. A field of an
// unexpected type counts as missing.
func (r *records) Record(kind, name string, into any) bool {
	return decode(r.bodies[ownRef(kind, name).ID()], into)
}

// recordSearch finds single records among the reads of a plan, without an index.
type recordSearch struct{ plan *preview.Plan }

func (s recordSearch) Record(kind, name string, into any) bool {
	return decode(bodyRead(s.plan, ownRef(kind, name).ID()), into)
}

// recordReader finds recorded values by kind and name.
type recordReader interface {
	Record(kind, name string, into any) bool
}

func decode(body map[string]any, into any) bool {
	if body == nil {
		return false
	}
	data, err := json.Marshal(body)
	if err != nil { // decoded from JSON: cannot fail
		return false
	}
	var mismatch *json.UnmarshalTypeError
	err = json.Unmarshal(data, into)
	return err == nil || errors.As(err, &mismatch)
}

// ownRef names a read of a kind of this tool's own.
func ownRef(kind, name string) preview.Ref {
	return preview.Ref{APIVersion: preview.APIVersion, Kind: kind, Name: name}
}

// bodyRead returns a live object that a plan has only read, nil if there is none.
func bodyRead(p *preview.Plan, id string) map[string]any {
	for _, read := range p.Reads {
		if read.ID == id {
			return read.Body
		}
	}
	return nil
}
