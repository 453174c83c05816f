package engine

import (
	"encoding/json"
	"errors"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// records is an index of the values that [recorder.Note] recorded among a plan's reads,
// by kind and name.
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

// Names returns the names of the values that were recorded under a kind.
func (r *records) Names(kind string) []string { return r.names[kind] }

// Record decodes the value that was recorded under a kind and name; false if there is
// none. A field of an unexpected type counts as missing.
func (r *records) Record(kind, name string, into any) bool {
	return decode(r.bodies[ownRef(kind, name).ID()], into)
}

// recordSearch finds single recorded values by searching the reads of a plan; an index
// would not pay.
type recordSearch struct{ plan *preview.Plan }

func (s recordSearch) Record(kind, name string, into any) bool {
	return decode(bodyRead(s.plan, ownRef(kind, name).ID()), into)
}

// recordReader decodes a recorded value by kind and name; false if there is none.
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

// ownRef returns the reference of a read of one of this program's own kinds.
func ownRef(kind, name string) preview.Ref {
	return preview.Ref{APIVersion: preview.APIVersion, Kind: kind, Name: name}
}

// bodyRead returns the body of a read by its id; nil if the plan has none.
func bodyRead(p *preview.Plan, id string) map[string]any {
	for _, read := range p.Reads {
		if read.ID == id {
			return read.Body
		}
	}
	return nil
}
