//go:build !linux || !(amd64 || arm64)

package child

import (
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// confine makes this process end if it uses more memory than its limit, and returns a
// description of the sandbox. Nothing stronger is available here without privileges.
func confine(memory int64) string {
	tasks.Async(func() error {
		held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(20 * time.Millisecond) {
			metrics.Read(held)
			if held[0].Value.Uint64()-held[1].Value.Uint64() > uint64(memory) {
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(1)
			}
		}
		return nil
	})
	return "no stronger isolation on this system"
}
