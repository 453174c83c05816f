package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// completer is the name of a program that kubectl runs to complete the command
// line of "kubectl operator".
const completer = "kubectl_complete-operator"

const (
	completerText    = "#!/bin/sh\nexec kubectl-operator __complete \"$@\"\n"
	completerWindows = "@echo off\r\nkubectl-operator.exe __complete %*\r\n"
)

// member is one file of an archive.
type member struct {
	name string
	data []byte
	mode fs.FileMode
}

// members returns the files of an archive, sorted by name.
func (r *release) members(b build) ([]member, error) {
	program, err := os.ReadFile(b.program)
	if err != nil {
		return nil, err
	}
	out := []member{{"LICENSE", r.terms, 0o644}, {"THIRD_PARTY", r.notices, 0o644}, {"README.md", r.readme, 0o644}}
	if b.os == "windows" {
		out = append(out, member{name + ".exe", program, 0o755}, member{completer + ".cmd", []byte(completerWindows), 0o755})
	} else {
		out = append(out, member{name, program, 0o755}, member{completer, []byte(completerText), 0o755})
	}
	for _, dir := range []string{"man", "completions"} {
		entries, err := os.ReadDir(filepath.Join(r.docs, dir))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			data, err := os.ReadFile(filepath.Join(r.docs, dir, entry.Name()))
			if err != nil {
				return nil, err
			}
			out = append(out, member{dir + "/" + entry.Name(), data, 0o644})
		}
	}
	slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

func (r *release) writeArchive(b *build) error {
	members, err := r.members(*b)
	if err != nil {
		return err
	}
	pack := tarball
	if b.os == "windows" {
		pack = zipFile
	}
	data, err := pack(members, r.time)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	b.sum = hex.EncodeToString(sum[:])
	return os.WriteFile(filepath.Join(r.out, b.archive), data, 0o644)
}

// tarball returns a tar.gz of files that names no user of this machine.
func tarball(members []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, m := range members {
		header := &tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: int64(m.mode), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), compressed.Close()) // before the bytes are taken
	return out.Bytes(), err
}

func zipFile(members []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at}
		header.SetMode(m.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(m.data); err != nil {
			return nil, err
		}
	}
	err := w.Close() // before the bytes are taken: it writes the directory
	return out.Bytes(), err
}

// writePackages makes the packages for Linux distributions. It runs a program of
// another Go module, so that what makes packages is no dependency of this one.
func (r *release) writePackages() error {
	if r.packager == "" {
		return nil
	}
	for _, b := range r.builds {
		if b.os != "linux" {
			continue
		}
		if err := r.writePackagesOf(b); err != nil {
			return fmt.Errorf("making the packages for %s: %w", b.arch, err)
		}
	}
	return nil
}

func (r *release) writePackagesOf(b build) error {
	members, err := r.members(b)
	if err != nil {
		return err
	}
	stage, err := os.MkdirTemp("", name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	for _, m := range members {
		path := filepath.Join(stage, filepath.FromSlash(m.name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, m.data, m.mode)); err != nil {
			return err
		}
	}
	cmd := exec.Command(r.packager, "-version", r.number(), "-arch", b.arch, "-time", fmt.Sprint(r.time.Unix()), "-from", stage, "-out", r.out)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// checksums is the file with the SHA-256 of every other file of the release.
const checksums = "checksums.txt"

func (r *release) writeChecksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, entry := range entries { // sorted by name
		if entry.Name() == checksums {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), entry.Name())
	}
	return os.WriteFile(filepath.Join(r.out, checksums), []byte(text.String()), 0o644)
}
