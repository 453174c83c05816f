package format

import (
	"io/fs"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// Limits on the documents of a package that are read.
const (
	maxDocuments     = 200
	maxDocumentBytes = 1 << 20 // of one
)

// CloudDocuments returns the publisher's text about access to clouds in files next to a
// package's objects. skip names the directories, of the content, that hold none.
// Unreadable files are left out, since nothing is made of them.
func CloudDocuments(pkg string, content fs.FS, skip func(dir string) bool) []preview.CloudDocument {
	var out []preview.CloudDocument
	read := 0
	_ = fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // see above
		case entry.IsDir() && name != "." && (skip(name) || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !cloud.IsDocument(name):
			return nil
		case read == maxDocuments:
			return fs.SkipAll
		}
		read++
		if text, err := ReadFile(content, name, maxDocumentBytes); err == nil {
			if d := cloud.ReadDocument(pkg, name, string(text)); d != nil {
				out = append(out, *d)
			}
		}
		return nil
	})
	return out
}
