package child

import (
	"errors"
	"testing"
)

func TestTheEndOfAChildIsASentence(t *testing.T) {
	const memory = "it needs more than 192 MiB of memory"
	for said, want := range map[string]string{
		"fatal error: runtime: out of memory\n\ngoroutine 1":                                              memory,
		"fatal error: runtime: cannot allocate memory":                                                    memory,
		"runtime: failed to create new OS thread (have 9 already; errno=11)\nfatal error: newosproc":      memory,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f01": memory,
		"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow":             "it calls itself without end",
		"something else\nand more": "its confined process ended early: something else",
		"":                         "its confined process ended early: exit status 2",
	} {
		if got := crash(errors.New("exit status 2"), said, 192<<20).Error(); got != want {
			t.Errorf("%.40q: %s, want %s", said, got, want)
		}
	}
}
