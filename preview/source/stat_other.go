//go:build !linux && !darwin

package source

import "io/fs"

// statOf returns metadata without the time of a file's last change, which this system
// does not record, so that every file is hashed.
func statOf(info fs.FileInfo) fileStat {
	return fileStat{size: info.Size(), modified: info.ModTime().UnixNano()}
}
