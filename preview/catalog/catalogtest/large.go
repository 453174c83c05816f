package catalogtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Size is the size of a catalog that is generated: about Packages * Bundles *
// BundleBytes bytes.
type Size struct {
	Packages int
	Bundles  int // of each package
	// BundleBytes is the size of a bundle's document; public catalogs have 10 to 40 KB,
	// mostly the description and the examples of its ClusterServiceVersion.
	BundleBytes int
	// Needs gives each package a requirement on the next one, so that the first needs all.
	Needs bool
}

// PackageName returns the name of a package of a generated catalog.
func PackageName(i int) string { return fmt.Sprintf("operator-%05d", i) }

// Generate writes a catalog to a directory as opm does: a directory for each package,
// with its documents as indented JSON in one file. The same size gives the same bytes.
func Generate(t testing.TB, dir string, size Size) {
	t.Helper()
	filler := prose(size.BundleBytes)
	for i := range size.Packages {
		if err := generatePackage(filepath.Join(dir, PackageName(i)), i, size, filler); err != nil {
			t.Fatal(err)
		}
	}
}

func generatePackage(dir string, i int, size Size, filler string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "catalog.json"))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	WritePackage(out, i, size, filler)
	return errors.Join(out.Flush(), file.Close())
}

// WritePackage writes the documents of one package.
func WritePackage(out io.Writer, i int, size Size, filler string) {
	name := PackageName(i)
	_, _ = fmt.Fprintf(out, `{
    "schema": "olm.package",
    "name": %[1]q,
    "defaultChannel": "stable",
    "description": "What package %[1]s is for"
}
{
    "schema": "olm.channel",
    "name": "stable",
    "package": %[1]q,
    "entries": [`, name)
	for v := range size.Bundles {
		replaces, comma := "", ","
		if v > 0 {
			replaces = fmt.Sprintf(`, "replaces": "%s.v1.%d.0"`, name, v-1)
		}
		if v == size.Bundles-1 {
			comma = ""
		}
		_, _ = fmt.Fprintf(out, "\n        { \"name\": \"%s.v1.%d.0\"%s }%s", name, v, replaces, comma)
	}
	_, _ = io.WriteString(out, "\n    ]\n}\n")
	needs := ""
	if size.Needs && i < size.Packages-1 {
		needs = fmt.Sprintf(`
        { "type": "olm.package.required", "value": { "packageName": %q, "versionRange": ">=1.0.0" } },`, PackageName(i+1))
	}
	for v := range size.Bundles {
		own := excerpt(filler, (i*7919+v*104729)%(len(filler)/2), len(filler)/2)
		_, _ = fmt.Fprintf(out, `{
    "schema": "olm.bundle",
    "name": "%[1]s.v1.%[2]d.0",
    "package": %[1]q,
    "image": "quay.io/example/%[1]s-bundle@sha256:%064[3]x",
    "properties": [
        { "type": "olm.package", "value": { "packageName": %[1]q, "version": "1.%[2]d.0" } },
        { "type": "olm.gvk", "value": { "group": "%[1]s.example.com", "version": "v1", "kind": "Thing" } },%[4]s
        { "type": "olm.csv.metadata", "value": { "displayName": %[1]q, "description": "%[5]s" } }
    ],
    "relatedImages": [
        { "name": "manager", "image": "quay.io/example/%[1]s@sha256:%064[3]x" }
    ]
}
`, name, v, i*1000+v, needs, own)
	}
}

// prose returns text, as it stands within a JSON string, of twice a bundle's size: words,
// line breaks and the quoted examples that descriptions have.
func prose(bundle int) string {
	words := []string{"the", "operator", "manages", "a", "cluster", "of", "databases", "with", "backups", "and", "certificates", "in", "every", "namespace"}
	random := rand.New(rand.NewPCG(1, 2))
	var out strings.Builder
	for out.Len() < 2*bundle {
		switch random.IntN(12) {
		case 0:
			out.WriteString(`\n`)
		case 1:
			fmt.Fprintf(&out, `\"size-%d\": %d, `, random.IntN(1000), random.IntN(1000))
		default:
			out.WriteString(words[random.IntN(len(words))] + " ")
		}
	}
	return out.String()
}

// excerpt returns so many bytes of text from a place on, whole escapes.
func excerpt(text string, from, size int) string {
	for from > 0 && text[from-1] == '\\' {
		from--
	}
	return strings.TrimRight(text[from:from+size], `\`)
}
