package preview

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// KeyHoldings is the key under which the Secret with a release's record holds
// what other releases need to know of it.
const KeyHoldings = "definitions"

// Holdings has the CRDs and Namespaces of a release's newest revision, for the
// plans of other releases and for its removal.
type Holdings struct {
	// Gone is set once the release was uninstalled: what still carries its
	// marks has no owner.
	Gone bool `json:"gone,omitempty"`
	// Definitions maps names to how the release has them.
	Definitions map[string]Holding `json:"definitions"`
	// Namespaces maps the names of those that the release made to their uids.
	Namespaces map[string]string `json:"namespaces,omitempty"`
}

// Holding is one CRD of a release: the digest of the planned object, and whether
// another release that contains the same CRD owns it.
type Holding struct {
	Digest string `json:"digest"`
	Shared bool   `json:"shared,omitempty"`
}

// HoldingsOf returns the release whose record a Secret is, and its holdings. ok is
// false for a Secret that is not a record: its name and namespace must give the
// ApplySet id in its label. A record without a list of CRDs has none.
func HoldingsOf(secret map[string]any) (r Release, h Holdings, ok bool, err error) {
	ref := RefOf(secret)
	name, isRecord := strings.CutPrefix(ref.Name, RecordName(""))
	r = Release{Name: name, Namespace: ref.Namespace}
	if !isRecord || String(secret, "metadata", "labels", LabelSetID) != SetID(r) {
		return Release{}, Holdings{}, false, nil
	}
	text := String(secret, "data", KeyHoldings)
	if text == "" {
		return r, Holdings{}, true, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil {
		return r, Holdings{}, true, fmt.Errorf("reading what release %s in namespace %s holds: %w", r.Name, r.Namespace, err)
	}
	return r, h, true, nil
}
