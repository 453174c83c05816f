package k8s

import (
	"io"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// RouteLogs sends the logs of client-go and its libraries to w, or discards
// them if w is nil; by default they are printed on the terminal. Call it once,
// when the program starts: klog has one logger per process.
func RouteLogs(w io.Writer) {
	if w == nil {
		klog.SetLogger(logr.Discard())
		return
	}
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w))))
}
