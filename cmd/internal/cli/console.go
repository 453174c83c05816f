package cli

import "github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"

// console is what commands say, and ask, beside the screens: reports of plans,
// lists, documents for tools, questions.
type console struct {
	streams *streams.Streams
}
