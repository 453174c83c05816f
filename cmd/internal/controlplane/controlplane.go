// Package controlplane installs the embedded control plane from an OCI image, for those
// who have no checkout to build it in. The image is pinned by its digest; other content
// is not installed.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// Options of [Install].
type Options struct {
	// From is what to install: IMAGE@sha256:HEX, oci-layout:PATH@sha256:HEX, or the path
	// of an OCI image layout, a directory or a tar archive. Empty means Released.
	From string
	// Released is the image that this build of the program belongs to, with its digest;
	// empty for a build that was not released. From needs no digest if it is that image.
	Released string
	// Dir is where control planes are installed, each in its own directory; empty means
	// [sandbox.ProgramDir].
	Dir string
	// Sources is how registries are read. Its platform is set here.
	Sources source.Options
	// Say receives a line before the download, one for each tenth of it, and one after it;
	// may be nil.
	Say func(string)
}

// Install returns the path of the control plane's program, which it downloads unless
// it is installed already. Other control planes in the directory are removed then: one
// is some 270 MB.
func Install(ctx context.Context, o Options) (string, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	reference, err := parse(o.From, o.Released)
	if err != nil {
		return "", err
	}
	if o.Dir == "" {
		if o.Dir, err = sandbox.ProgramDir(); err != nil {
			return "", err
		}
	}
	o.Sources.Platform = runtime.GOOS + "/" + runtime.GOARCH
	o.Sources.Progress = tenths(o.Say)
	fetcher := source.New(o.Sources)
	pin, err := fetcher.Pin(ctx, reference)
	if err != nil {
		return "", fmt.Errorf("finding the control plane for %s: %w", o.Sources.Platform, err)
	}
	if err := checkDigest(reference, pin, o.Released); err != nil {
		return "", err
	}
	to := filepath.Join(o.Dir, directoryName(pin.Source.Digest, o.Sources.Platform))
	program := filepath.Join(to, sandbox.BinaryName)
	if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() {
		return program, nil
	}
	o.Say(fmt.Sprintf("taking the control plane for %s from %s into %s", o.Sources.Platform, reference.Text, to))
	n, err := unpack(ctx, fetcher, pin, to)
	if err != nil {
		return "", fmt.Errorf("installing the control plane from %s: %w%s", reference.Text, err, advice(err, o.Dir))
	}
	o.Say(fmt.Sprintf("installed the control plane: %d MiB; remove it with: rm -r %s", n>>20, o.Dir))
	return program, removeOthers(to)
}

// tenths says how large a download is, and each tenth of it that has come. A short
// download is not worth a line.
func tenths(say func(string)) func(source.Progress) {
	const least = 1 << 20
	said := int64(-1)
	return func(p source.Progress) {
		if tenth := p.Done * 10 / max(p.Total, 1); p.Total >= least && tenth > said {
			said = tenth
			say(fmt.Sprintf("downloaded %d of %d MiB", p.Done>>20, p.Total>>20))
		}
	}
}

// advice says, as the rest of a sentence, where else a control plane can be installed if the
// disk does not take it.
func advice(err error, dir string) string {
	for _, reason := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, reason) {
			return fmt.Sprintf("; it takes 300 MB below %s: make room there, or set XDG_DATA_HOME to a directory that has it", dir)
		}
	}
	return ""
}

func parse(from, released string) (ref.Reference, error) {
	text := from
	if text == "" {
		text = released
	}
	if text == "" {
		return ref.Reference{}, sandbox.ErrNotBuilt
	}
	if _, err := os.Stat(text); err == nil {
		text = "oci-layout:" + text
	}
	r, err := ref.Parse(text)
	if err != nil {
		return ref.Reference{}, fmt.Errorf("--from: %w", err)
	}
	if r.Kind != ref.KindImage && r.Kind != ref.KindLayout {
		return ref.Reference{}, fmt.Errorf("--from %s: the control plane is an image; write IMAGE@sha256:HEX, or the path of an OCI image layout", from)
	}
	return r, nil
}

// checkDigest returns an error unless a digest says which image is meant: the installed
// program is run, so a tag is not enough.
func checkDigest(r ref.Reference, pin source.Pin, released string) error {
	if strings.HasSuffix(r.Text, "@"+pin.Source.Digest) {
		return nil
	}
	_, want, ok := strings.Cut(released, "@")
	switch {
	case !ok:
		return fmt.Errorf("--from %s: name it by its digest, so that no other program is run: --from %s@%s if this is the one you mean", r.Text, r.Text, pin.Source.Digest)
	case want != pin.Source.Digest:
		return fmt.Errorf("--from %s: its digest is %s, and the control plane of this program has %s; to run it all the same: --from %s@%s", r.Text, pin.Source.Digest, want, r.Text, pin.Source.Digest)
	}
	return nil
}

func directoryName(digest, platform string) string {
	return strings.ReplaceAll(digest, ":", "-") + "-" + strings.ReplaceAll(platform, "/", "-")
}

// programs are the files of a control plane that are installed.
var programs = []string{sandbox.BinaryName, sandbox.BinaryName + "-kwok"}

// unpack writes the files of an image into a new directory, which gets its name when
// all of them are there and verified. It returns their size in bytes.
func unpack(ctx context.Context, fetcher *source.Fetcher, pin source.Pin, to string) (size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	missing := slices.Clone(programs)
	err = fetcher.WalkLabelled(ctx, pin, source.LabelControlPlane, func(name string, r io.Reader) error {
		i := slices.Index(missing, name)
		if i < 0 {
			return nil
		}
		missing = slices.Delete(missing, i, i+1)
		n, err := writeProgram(filepath.Join(temporary, name), r)
		size += n
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(missing) > 0 {
		return 0, fmt.Errorf("the image has no %s", strings.Join(missing, " and no "))
	}
	err = os.Rename(temporary, to)
	if errors.Is(err, os.ErrExist) { // another process was faster, with the same content
		err = nil
	}
	return size, err
}

func writeProgram(path string, r io.Reader) (int64, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(file, r)
	return n, errors.Join(err, file.Close())
}

// removeOthers removes the other entries next to an installed control plane: older ones,
// and leftovers of a killed installation.
func removeOthers(kept string) error {
	entries, err := os.ReadDir(filepath.Dir(kept))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != filepath.Base(kept) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(kept), entry.Name())))
		}
	}
	return err
}
