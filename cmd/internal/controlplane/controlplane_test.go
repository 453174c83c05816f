package controlplane_test

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/controlplane"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

const here = runtime.GOOS + "/" + runtime.GOARCH

// published is an image of a control plane in an OCI image layout.
type published struct{ dir, digest string }

// publish writes an image whose programs have the given text.
func publish(t *testing.T, text string, change func(*source.ImageLayout)) published {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{sandbox.BinaryName, sandbox.BinaryName + "-kwok"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat(text+name, 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	layout := source.ImageLayout{
		Dir: filepath.Join(dir, "layout"), Tag: "v1", Name: sandbox.BinaryName, Label: source.LabelControlPlane,
		Images: []source.ProgramImage{{Platform: here, Program: paths[0], Others: paths[1:]}},
	}
	if change != nil {
		change(&layout)
	}
	digest, err := source.WriteImageLayout(layout)
	if err != nil {
		t.Fatal(err)
	}
	return published{layout.Dir, digest}
}

// blob returns the path of the image's largest blob, which is its layer.
func (p published) blob(t *testing.T) string {
	t.Helper()
	blobs, err := filepath.Glob(filepath.Join(p.dir, "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	largest, size := "", int64(0)
	for _, path := range blobs {
		if info, err := os.Stat(path); err == nil && info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	return largest
}

func (p published) archive(t *testing.T) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "control-plane.tar"))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(file)
	if err := w.AddFS(os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

func TestAControlPlaneIsInstalledOnceByItsDigest(t *testing.T) {
	image := publish(t, "one", nil)
	var said []string
	options := controlplane.Options{
		From: "oci-layout:" + image.dir + "@" + image.digest, Dir: t.TempDir(),
		Sources: source.Options{CacheDir: t.TempDir()}, Say: func(line string) { said = append(said, line) },
	}
	program, err := controlplane.Install(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, program + "-kwok"} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o700 || info.Size() < 1000 {
			t.Errorf("%s: %v, %v; want a program of its owner", path, info, err)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], image.dir) || !strings.Contains(said[1], "installed") {
		t.Errorf("said %q", said)
	}
	again, err := controlplane.Install(t.Context(), options)
	if err != nil || again != program || len(said) != 2 {
		t.Errorf("the second time it was %s, %v, after %q; want what is there", again, err, said)
	}
	other := publish(t, "another", nil)
	options.From = "oci-layout:" + other.dir + "@" + other.digest
	newer, err := controlplane.Install(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(options.Dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(filepath.Dir(newer)) {
		t.Errorf("after a newer one the directory has %v, %v; want that alone", entries, err)
	}
}

func TestAFileOfTheReleasedControlPlaneNeedsNoDigest(t *testing.T) {
	image := publish(t, "released", nil)
	released := "registry.example.com/control-plane@" + image.digest
	for name, from := range map[string]string{
		"as a directory, without its digest": image.dir,
		"as an archive, without its digest":  image.archive(t),
	} {
		t.Run(name, func(t *testing.T) {
			options := controlplane.Options{From: from, Released: released, Dir: t.TempDir(), Sources: source.Options{CacheDir: t.TempDir()}}
			if _, err := controlplane.Install(t.Context(), options); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAControlPlaneThatIsNotTheOneMeantIsNotInstalled(t *testing.T) {
	good := publish(t, "good", nil)
	other := publish(t, "other", nil)
	elsewhere := "plan9/arm"
	for name, test := range map[string]struct {
		from, released string
		want           []string
	}{
		"no digest says which one is meant": {
			from: good.dir, want: []string{"name it by its digest", "--from oci-layout:" + good.dir + "@" + good.digest},
		},
		"a file is not that of the release": {
			from: other.dir, released: "registry.example.com/control-plane@" + good.digest,
			want: []string{"its digest is " + other.digest, "has " + good.digest},
		},
		"a digest is that of another image": {
			from: "oci-layout:" + good.dir + "@" + other.digest, want: []string{other.digest},
		},
		"it is for another platform": {
			from: publish(t, "x", func(l *source.ImageLayout) { l.Images[0].Platform = elsewhere }).pinned(),
			want: []string{here, elsewhere},
		},
		"the image is that of another program": {
			from: publish(t, "x", func(l *source.ImageLayout) { l.Label = "" }).pinned(),
			want: []string{"not an image of a control plane", source.LabelControlPlane},
		},
		"a program is missing": {
			from: publish(t, "x", func(l *source.ImageLayout) { l.Images[0].Others = nil }).pinned(),
			want: []string{"the image has no " + sandbox.BinaryName + "-kwok"},
		},
		"a byte of the layer was changed": {
			from: damaged(t, func(data []byte) []byte { data[len(data)/2] ^= 1; return data }), want: []string{"sha256:"},
		},
		"the layer was cut off": {
			from: damaged(t, func(data []byte) []byte { return data[:len(data)/2] }), want: []string{"do not match their digest"},
		},
		"it is a git repository": {
			from: "git+https://example.com/x", want: []string{"--from git+https://example.com/x", "OCI image layout"},
		},
		"there is none": {want: []string{"make sandbox", "--from IMAGE@sha256:HEX"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program, err := controlplane.Install(t.Context(), controlplane.Options{From: test.from, Released: test.released, Dir: dir, Sources: source.Options{CacheDir: t.TempDir()}})
			if err == nil {
				t.Fatalf("installed %s", program)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q; want %q in it", err, want)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("the directory has %v, %v; want nothing", left, err)
			}
		})
	}
}

func (p published) pinned() string { return "oci-layout:" + p.dir + "@" + p.digest }

// damaged publishes an image whose layer is not what its digest says.
func damaged(t *testing.T, change func([]byte) []byte) string {
	t.Helper()
	image := publish(t, fmt.Sprint("damaged", len(t.Name())), nil)
	data, err := os.ReadFile(image.blob(t))
	if err == nil {
		err = os.WriteFile(image.blob(t), change(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return image.pinned()
}

func TestADirectoryThatCannotBeWrittenIsNamed(t *testing.T) {
	image := publish(t, "one", nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := controlplane.Install(t.Context(), controlplane.Options{From: image.pinned(), Dir: filepath.Join(file, "below"), Sources: source.Options{CacheDir: t.TempDir()}})
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error = %v; want one that names %s", err, file)
	}
}
