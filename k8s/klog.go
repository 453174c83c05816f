package k8s

import (
	"io"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// RouteLogs sends what client-go and its libraries log to w, or nowhere when
// it is nil: by default they print to the terminal. Call it once, at wiring:
// klog has one logger per process.
func RouteLogs(w io.Writer) {
	if w == nil {
		klog.SetLogger(logr.Discard())
		return
	}
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w))))
}
