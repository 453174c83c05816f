package record

import (
	"encoding/base64"
	"encoding/json"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Fence identifies the run that wrote a record: the holder of the Lease, how often
// the Lease had changed hands, and the revision. It is stored with the record. A run
// that was suspended past its Lease sees by it that another run has written since.
type Fence struct {
	Holder      string `json:"holder"`
	Transitions int64  `json:"transitions"`
	Revision    int    `json:"revision"`
}

func (f Fence) encoded() string {
	data, _ := json.Marshal(f) // two numbers and a string
	return base64.StdEncoding.EncodeToString(data)
}

// FenceOf returns the fence stored in a record's Secret; the zero value if it
// has none, as in records of earlier versions.
func FenceOf(secret map[string]any) Fence {
	var f Fence
	text, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", keyFence))
	if err != nil || json.Unmarshal(text, &f) != nil {
		return Fence{}
	}
	return f
}
