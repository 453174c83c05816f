package record

import (
	"encoding/base64"
	"encoding/json"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Fence names the run that wrote a record, and stands in its Secret: the holder
// of the lock, how often the lease had changed hands, and the revision. A run
// that was stopped for longer than its lease lasts finds another one there.
type Fence struct {
	Holder      string `json:"holder"`
	Transitions int64  `json:"transitions"`
	Revision    int    `json:"revision"`
}

func (f Fence) encoded() string {
	data, _ := json.Marshal(f) // two numbers and a string
	return base64.StdEncoding.EncodeToString(data)
}

// FenceOf reads the fence of a Secret; the zero value where it has none, as a
// record of an earlier version of this tool.
func FenceOf(secret map[string]any) Fence {
	var f Fence
	text, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", keyFence))
	if err != nil || json.Unmarshal(text, &f) != nil {
		return Fence{}
	}
	return f
}
