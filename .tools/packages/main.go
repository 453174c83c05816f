// Command packages makes the packages of Linux distributions from a directory that has
// the files of a release archive: deb, rpm and apk. The same files are the same packages,
// byte for byte. It is run by cmd/release, and is of this module for what it depends on.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

const name = "kubectl-operator"

func main() {
	version := flag.String("version", "", "version, such as 1.2.3")
	arch := flag.String("arch", "", "architecture, as Go names it")
	seconds := flag.Int64("time", 0, "time of all files, in seconds since 1970")
	from := flag.String("from", "", "directory of the files")
	out := flag.String("out", "", "directory for the packages")
	flag.Parse()
	if err := pack(*version, *arch, *from, *out, time.Unix(*seconds, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func pack(version, arch, from, out string, at time.Time) error {
	manuals, err := os.MkdirTemp("", "manuals-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(manuals)
	contents, err := contents(from, manuals, at)
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: name, Arch: arch, Platform: "linux", Version: version, VersionSchema: "semver", Section: "admin", Priority: "optional", MTime: at,
			Maintainer: "The kubectl-operator authors <maintainers@kubectl-operator.invalid>", Homepage: "https://github.com/kubectl-operator/kubectl-operator", License: "Apache-2.0",
			Description: "Review exactly what an install would do to a Kubernetes cluster, then do exactly that",
			Overridables: nfpm.Overridables{
				Contents: contents, Recommends: []string{"ca-certificates"},
				RPM: nfpm.RPM{BuildHost: "localhost", Compression: "gzip:9", Group: "Applications/System"}, Deb: nfpm.Deb{Compression: "gzip"},
			},
		})
		if err := write(format, info, out); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

func write(format string, info *nfpm.Info, out string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := packager.Package(info, &data); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, packager.ConventionalFileName(info)), data.Bytes(), 0o644)
}

// contents are the files of a package, each with the place where distributions look.
func contents(from, manuals string, at time.Time) (files.Contents, error) {
	var out files.Contents
	add := func(source, place string, mode os.FileMode) {
		out = append(out, &files.Content{Source: source, Destination: place, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: at, Owner: "root", Group: "root"}})
	}
	add(filepath.Join(from, name), "/usr/bin/"+name, 0o755)
	add(filepath.Join(from, "kubectl_complete-operator"), "/usr/bin/kubectl_complete-operator", 0o755)
	for shell, place := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/" + name, "zsh": "/usr/share/zsh/site-functions/_" + name,
		"fish": "/usr/share/fish/vendor_completions.d/" + name + ".fish",
	} {
		add(filepath.Join(from, "completions", shell), place, 0o644)
	}
	for file, as := range map[string]string{"LICENSE": "copyright", "THIRD_PARTY": "THIRD_PARTY", "README.md": "README.md"} {
		add(filepath.Join(from, file), "/usr/share/doc/"+name+"/"+as, 0o644)
	}
	pages, err := filepath.Glob(filepath.Join(from, "man", "*.1"))
	if err != nil || len(pages) == 0 {
		return nil, errors.Join(err, errors.New("there are no man pages"))
	}
	for _, page := range pages {
		packed := filepath.Join(manuals, filepath.Base(page)+".gz")
		if err := compress(page, packed); err != nil {
			return nil, err
		}
		add(packed, path.Join("/usr/share/man/man1", filepath.Base(packed)), 0o644)
	}
	return out, nil
}

// compress writes a file as gzip, without a name or time in it.
func compress(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}
