//go:build !linux || !(amd64 || arm64)

package child

import (
	"fmt"
	"os"
	"runtime/metrics"
	"time"
)

// confine ends this process when it holds more memory than it may. There is no
// stronger isolation on this system that works without privileges.
func confine(memory int64) string {
	go func() {
		held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(20 * time.Millisecond) {
			metrics.Read(held)
			if held[0].Value.Uint64()-held[1].Value.Uint64() > uint64(memory) {
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(1)
			}
		}
	}()
	return "no stronger isolation on this system"
}
