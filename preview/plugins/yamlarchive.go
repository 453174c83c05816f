package plugins

import (
	"archive/zip"
	"bytes"
	"strings"
)

// YAMLArchive is the name of the zip with the YAML plugins of a set, which a server of
// Optimus sends to its clients as /plugins from its working directory, and "optimus
// plugin sync" unpacks (plugin/plugin_manager.go).
const YAMLArchive = "yaml-plugins.zip"

// ArchiveOf returns the [YAMLArchive] of files: those that Optimus finds, directly at the
// location, by their names. It is nil without any. The same files give the same bytes.
func ArchiveOf(files []File) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	found := false
	for _, f := range files {
		if !isYAMLPlugin(f.Path) || strings.Contains(f.Path, "/") {
			continue
		}
		found = true
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.Path, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil || !found {
		return nil, err
	}
	return out.Bytes(), nil
}

// ServesArchive reports whether a server of Optimus looks for plugins at a location of
// this name, and so serves the archive that lies next to it.
func ServesArchive(base string) bool { return base == optimusLocation }
