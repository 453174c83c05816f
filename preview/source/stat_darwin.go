package source

import (
	"io/fs"
	"syscall"
)

func statOf(info fs.FileInfo) fileStat {
	s := fileStat{size: info.Size(), modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = sys.Ctimespec.Nano()
		s.device, s.inode = uint64(sys.Dev), sys.Ino
	}
	return s
}
