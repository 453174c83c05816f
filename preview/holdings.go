package preview

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// KeyHoldings is the key of a release's [Holdings] in its record Secret.
const KeyHoldings = "definitions"

// Holdings are the CRDs and Namespaces of a release's newest revision. Plans of other
// releases read them, and so does its removal.
type Holdings struct {
	// Gone is true once the release was uninstalled: objects that still carry its labels
	// have no owner.
	Gone bool `json:"gone,omitempty"`
	// Definitions maps the names of the release's CRDs to how it holds each.
	Definitions map[string]Holding `json:"definitions"`
	// Namespaces maps the names of the Namespaces that the release created to their
	// uids.
	Namespaces map[string]string `json:"namespaces,omitempty"`
}

// Holding is one CRD of a release: the digest of the planned object. Shared means that
// another release with the same CRD owns it.
type Holding struct {
	Digest string `json:"digest"`
	Shared bool   `json:"shared,omitempty"`
}

// HoldingsOf returns the release whose record a Secret is, and its holdings. ok is
// false for a Secret that is not a record: the ApplySet id in its label must match its
// name and namespace. A record without a list of CRDs has none. It errs if the list
// cannot be decoded.
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
