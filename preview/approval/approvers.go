package approval

import (
	"bytes"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// KindApprovers is the kind of the file that lists who may approve.
const KindApprovers = "Approvers"

const (
	maxApproversBytes = 1 << 20
	maxApprovers      = 1000
	maxKeysEach       = 16
)

// Approvers lists the people who may approve, and which of their approvals count.
type Approvers struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// ApproverMayApply lets the approval of who applies the plan count.
	ApproverMayApply bool `json:"approverMayApply"`
	// ContentApprovals lets approvals of the content alone count.
	ContentApprovals bool       `json:"contentApprovals"`
	Approvers        []Approver `json:"approvers"`
}

// Approver is a person, with their keys and user names. Several keys of one person
// count as one approver.
type Approver struct {
	Name string `json:"name"`
	Key  string `json:"key"` // public keys in PEM
	// Users are the names this person has in clusters, as kubectl auth whoami
	// prints them.
	Users []string `json:"users"`

	keys map[string]crypto.PublicKey // by id
}

// SharedKeyError is the error for a key listed for two approvers, because one person
// could approve twice with it.
type SharedKeyError struct{ First, Second, ID string }

func (e *SharedKeyError) Error() string {
	return fmt.Sprintf("the approvers %s and %s have the same key, %s", e.First, e.Second, e.ID)
}

// ReadApprovers reads a file of approvers in YAML or JSON. An unknown field is an
// error.
func ReadApprovers(data []byte) (*Approvers, error) {
	if len(data) > maxApproversBytes {
		return nil, errors.New("it has more than 1 MiB")
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%d documents; want one of kind %s", len(docs), KindApprovers)
	}
	body, err := json.Marshal(docs[0])
	if err != nil {
		return nil, err
	}
	var a Approvers
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return nil, fmt.Errorf("want apiVersion, kind, approverMayApply, contentApprovals and approvers with name, key and users: %w", err)
	}
	if a.APIVersion != preview.APIVersion || a.Kind != KindApprovers {
		return nil, fmt.Errorf("it is %.40q %.40q; want %s %s", a.APIVersion, a.Kind, preview.APIVersion, KindApprovers)
	}
	if len(a.Approvers) == 0 || len(a.Approvers) > maxApprovers {
		return nil, fmt.Errorf("it names %d approvers; want 1 to %d", len(a.Approvers), maxApprovers)
	}
	return &a, a.check()
}

func (a *Approvers) check() error {
	names, owners := map[string]bool{}, map[string]string{}
	for i := range a.Approvers {
		one := &a.Approvers[i]
		switch {
		case one.Name == "":
			return fmt.Errorf("approver %d has no name", i+1)
		case names[one.Name]:
			return fmt.Errorf("approver %s is named twice; put all keys of one person under one name", one.Name)
		case !a.ApproverMayApply && len(one.Users) == 0:
			return fmt.Errorf("approver %s has no users, so it cannot be known whether this person applies the plan; list them, or set approverMayApply: true", one.Name)
		}
		names[one.Name] = true
		if err := one.readKeys(); err != nil {
			return fmt.Errorf("approver %s: %w", one.Name, err)
		}
		for id := range one.keys {
			if other, taken := owners[id]; taken {
				return &SharedKeyError{First: other, Second: one.Name, ID: id}
			}
			owners[id] = one.Name
		}
	}
	return nil
}

func (a *Approver) readKeys() error {
	keys, err := ReadPublicKeys([]byte(a.Key))
	if err != nil {
		return err
	}
	a.keys = map[string]crypto.PublicKey{}
	for _, key := range keys {
		a.keys[key.ID] = key.key
	}
	return nil
}

// whoSigned returns the name of the approver who signed an envelope, and the id of the
// key; ok is false if none of the approvers' keys made the signature.
func (a *Approvers) whoSigned(o *unverifiedEnvelope) (name, id string, ok bool) {
	for i := range a.Approvers {
		for id, key := range a.Approvers[i].keys {
			if o.verifiedBy(key) {
				return a.Approvers[i].Name, id, true
			}
		}
	}
	return "", "", false
}

// isUser reports whether the approver called name has user as user name in a cluster.
func (a *Approvers) isUser(name, user string) bool {
	return slices.ContainsFunc(a.Approvers, func(one Approver) bool {
		return one.Name == name && slices.Contains(one.Users, user)
	})
}
