package source

import (
	"io/fs"
	"syscall"
)

func statOf(info fs.FileInfo) fileStat {
	s := fileStat{size: info.Size(), modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = sys.Ctim.Nano()
		s.device, s.inode = uint64(sys.Dev), sys.Ino //nolint:unconvert // not everywhere the same type
	}
	return s
}
