package main

import (
	"bufio"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropFilePages takes the pages of the program's own file out of its resident memory: the
// initialization of its packages has touched most of them, and few are needed to wait. The
// kernel has them in its cache, and maps one again when it is used. Only pages that
// nothing has written to are dropped: code, and constants where no loader relocates them.
func dropFilePages() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		// START-END PERMISSIONS OFFSET DEVICE INODE PATH (proc_pid_maps(5))
		columns := strings.Fields(lines.Text())
		if len(columns) < 6 || columns[5] != self || columns[1] != "r-xp" && (columns[1] != "r--p" || !fixed()) {
			continue
		}
		from, to, _ := strings.Cut(columns[0], "-")
		start, badStart := strconv.ParseUint(from, 16, 64)
		end, badEnd := strconv.ParseUint(to, 16, 64)
		if badStart == nil && badEnd == nil {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_DONTNEED) // else they stay
		}
	}
}

// fixed reports whether the program was linked for one address, so that its constants are
// as they are in the file.
func fixed() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-buildmode", Value: "exe"})
}
