package program

import (
	"os"

	"golang.org/x/sys/unix"
)

// limitMemory limits the data of a process that was just started, and of those that it
// starts. It is no protection from the program, which runs with the user's rights, but
// from what it did not mean to do.
func limitMemory(p *os.Process, most int64) {
	if most > 0 {
		limit := unix.Rlimit{Cur: uint64(most), Max: uint64(most)}
		_ = unix.Prlimit(p.Pid, unix.RLIMIT_DATA, &limit, nil) // it may have ended
	}
}

// hideProcess closes the files of this process below /proc to processes of the same user:
// a program has its own environment, and could else read this one's.
func hideProcess() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
