package helm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	chartFile  = "Chart.yaml"
	ignoreFile = ".helmignore"
)

// Caps on a chart. Helm's own for archives are 100 MiB; the largest public
// charts have 5.
const (
	maxMetadataBytes = 1 << 20
	maxChartBytes    = 32 << 20
	maxChartFiles    = 10_000
)

// chartRoot returns the directory with Chart.yaml: the root, or the only directory of a
// root without files. It is empty if there is no chart.
func chartRoot(content fs.FS) (string, error) {
	if info, err := fs.Stat(content, chartFile); err == nil && info.Mode().IsRegular() {
		return ".", nil
	}
	entries, err := fs.ReadDir(content, ".")
	if err != nil {
		return "", err
	}
	if len(entries) != 1 || !entries[0].IsDir() {
		return "", nil
	}
	info, err := fs.Stat(content, path.Join(entries[0].Name(), chartFile))
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	return entries[0].Name(), nil
}

type metadata struct {
	name, version, kind string
	deprecated          bool
	doc                 map[string]any // all of it
}

// readMetadata reads Chart.yaml, which must have a name and a version. Helm's own
// reader validates the rest in the child process.
func readMetadata(content fs.FS, name string) (metadata, error) {
	data, err := readFile(content, name, maxMetadataBytes)
	if err != nil {
		return metadata{}, err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return metadata{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(docs) != 1 {
		return metadata{}, fmt.Errorf("%s: want one document", name)
	}
	doc, ok := docs[0].(map[string]any)
	if !ok {
		return metadata{}, fmt.Errorf("%s: want a mapping", name)
	}
	m := metadata{name: preview.String(doc, "name"), version: preview.String(doc, "version"), kind: preview.String(doc, "type"), doc: doc}
	m.deprecated, _ = doc["deprecated"].(bool)
	switch {
	case m.name == "":
		return metadata{}, fmt.Errorf("%s: it has no name", name)
	case m.version == "":
		return metadata{}, fmt.Errorf("%s: it has no version", name)
	}
	return m, nil
}

// ChartWithDigest returns a chart's Chart.yaml, by its name, with the first twelve digits of
// a digest as metadata of the version, as Flux's helm-controller makes it of a chart from an
// OCIRepository. As there, a tag that is a version has to be the chart's. It returns nil
// for content that is no chart.
func ChartWithDigest(content fs.FS, tag, digest string) (map[string]string, error) {
	root, err := chartRoot(content)
	if err != nil || root == "" {
		return nil, err
	}
	name := path.Join(root, chartFile)
	is, err := readMetadata(content, name)
	if err != nil {
		return nil, err
	}
	version, err := semver.NewVersion(is.version)
	if err != nil {
		return nil, fmt.Errorf("Flux refuses the version %.100q of the chart; want one such as 1.2.3", is.version)
	}
	if tagged, err := semver.NewVersion(strings.ReplaceAll(tag, "_", "+")); err == nil && !tagged.Equal(version) {
		return nil, fmt.Errorf("Flux refuses tag %s of chart %s %.100s, which is another version; push the chart with the tag of its version", tag, is.name, is.version)
	}
	_, hex, _ := strings.Cut(digest, ":")
	with, err := version.SetMetadata(hex[:min(len(hex), 12)])
	if err != nil {
		return nil, err
	}
	is.doc["version"] = with.String()
	text, err := json.Marshal(is.doc)
	return map[string]string{name: string(text)}, err
}

// file is one file of a chart, its name relative to the chart.
type file struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// readChart reads the files of a chart, sorted, without those that .helmignore
// excludes.
func readChart(content fs.FS) ([]file, error) {
	root, err := chartRoot(content)
	if err != nil {
		return nil, err
	}
	if root == "" {
		return nil, errors.New("not a chart: there is no " + chartFile)
	}
	if content, err = fs.Sub(content, root); err != nil {
		return nil, err
	}
	rules, err := readIgnore(content)
	if err != nil {
		return nil, err
	}
	var files []file
	left := int64(maxChartBytes)
	err = fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if rules.Ignore(name, info) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		if len(files) == maxChartFiles {
			return fmt.Errorf("the chart has more than %d files", maxChartFiles)
		}
		data, err := readFile(content, name, left)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		files = append(files, file{Name: name, Data: bytes.TrimPrefix(data, []byte("\ufeff"))})
		return nil
	})
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	return files, err
}

// readIgnore returns the rules of .helmignore. For a packaged chart they change
// nothing, because the files were left out when it was packed.
func readIgnore(content fs.FS) (*ignore.Rules, error) {
	rules := ignore.Empty()
	data, err := readFile(content, ignoreFile, maxMetadataBytes)
	switch {
	case err == nil:
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("%s: %w", ignoreFile, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	rules.AddDefaults()
	return rules, nil
}

func readFile(content fs.FS, name string, most int64) ([]byte, error) {
	f, err := content.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(data)) > most {
		if strings.HasSuffix(name, chartFile) {
			return nil, fmt.Errorf("%s: larger than %d bytes", name, most)
		}
		return nil, fmt.Errorf("the chart has more than %d MiB of files", maxChartBytes>>20)
	}
	return data, nil
}
