package source_test

import (
	"archive/tar"

	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func link(name, target string) sourcetest.Entry {
	return sourcetest.Entry{Header: tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}}
}
