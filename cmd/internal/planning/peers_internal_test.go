package planning

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// What content refers to is opened up to a limit, whatever refers to it; what was opened
// already counts once.
func TestContentOpensAFewPeers(t *testing.T) {
	p := &peers{opened: map[string]fetchedContent{}}
	for i := range maxPeers - 1 {
		p.opened[strconv.Itoa(i)] = fetchedContent{}
	}
	known := "oci://registry.example.com/a:1"
	p.opened[known] = fetchedContent{Content: &source.Content{}}
	if _, _, err := p.Open(t.Context(), known); err != nil {
		t.Error(err)
	}
	_, _, err := p.Open(t.Context(), "oci://registry.example.com/b:1")
	if err == nil || !strings.Contains(err.Error(), "it refers to more than 100 sources") {
		t.Errorf("got %v", err)
	}
}
