package registryv1

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// Limits on the documents of a bundle that are read.
const (
	maxDocuments     = 200
	maxDocumentBytes = 1 << 20 // of one
)

// notDocuments are the directories of a bundle whose files are objects, metadata or tests
// of the bundle itself (operator-registry docs/design/operator-bundle.md, scorecard).
var notDocuments = []string{manifestsDir, "metadata", "tests"}

// cloudDocuments returns what the publisher writes about access to clouds: in the
// description of the ClusterServiceVersion, and in files beside the objects. What cannot
// be read is left out, since nothing is made of it.
func cloudDocuments(b *bundle, content fs.FS) []preview.CloudDocument {
	var out []preview.CloudDocument
	add := func(d *preview.CloudDocument) {
		if d != nil {
			out = append(out, *d)
		}
	}
	add(cloud.ReadDescription(b.packageName, b.csv.description))
	read := 0
	_ = fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // see above
		case entry.IsDir() && (slices.Contains(notDocuments, name) || strings.HasPrefix(entry.Name(), ".") && name != "."):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !cloud.IsDocument(name):
			return nil
		case read == maxDocuments:
			return fs.SkipAll
		}
		read++
		if text, err := readFile(content, name, maxDocumentBytes); err == nil {
			add(cloud.ReadDocument(b.packageName, name, string(text)))
		}
		return nil
	})
	return out
}
