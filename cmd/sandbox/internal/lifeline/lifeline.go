// Package lifeline ends a process when the process that started it is gone.
//
// The starter holds the write end of a pipe whose read end is the child's
// stdin, and never writes. However the starter ends, kill -9 included, the
// kernel closes the pipe and the child reads end of file.
package lifeline

import (
	"io"
	"os"
)

// Env is the environment variable that says that stdin is a lifeline: at its end, the
// program ends. Without it stdin means nothing, so that the components can be started by
// hand.
const Env = "KUBECTL_OPERATOR_SANDBOX_LIFELINE"

// Watch calls gone, once, when r is at its end. It does nothing unless Env is set.
func Watch(r io.Reader, gone func()) {
	if os.Getenv(Env) == "" {
		return
	}
	go func() {
		// An error means the same as end of file: the pipe is of no use any more.
		_, _ = io.Copy(io.Discard, r)
		gone()
	}()
}
