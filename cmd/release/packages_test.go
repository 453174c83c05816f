package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// packed is what a package of a distribution says of itself, and its files.
type packed struct {
	name, version, arch string
	files               map[string]string // mode and sha256, by path
}

func describedFile(mode fs.FileMode, data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%04o %s", mode.Perm(), hex.EncodeToString(sum[:]))
}

// installedFiles are the files below a directory, but for the records of dpkg.
func installedFiles(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(root, "var")) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, root)] = describedFile(info.Mode(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readAPK reads a package of Alpine: tar files in gzip, one behind the other; .PKGINFO
// describes the package.
func readAPK(path string) (packed, error) {
	file, err := os.Open(path)
	if err != nil {
		return packed{}, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return packed{}, err
	}
	out, r := packed{files: map[string]string{}}, tar.NewReader(unpacked)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return packed{}, err
		}
		data, err := io.ReadAll(r)
		switch {
		case err != nil:
			return packed{}, err
		case header.Name == ".PKGINFO":
			for line := range strings.Lines(string(data)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
				switch key {
				case "pkgname":
					out.name = value
				case "pkgver":
					out.version = value
				case "arch":
					out.arch = value
				}
			}
		case header.Typeflag == tar.TypeReg && !strings.HasPrefix(header.Name, "."):
			if header.Uname != "root" || header.Gname != "root" {
				return packed{}, fmt.Errorf("%s is of %s:%s", header.Name, header.Uname, header.Gname)
			}
			out.files["/"+header.Name] = describedFile(header.FileInfo().Mode(), data)
		}
	}
}

// The tags of a header of RPM that are read (rpm.org, "Tags").
const (
	rpmName, rpmVersion, rpmArch, rpmCompressor = 1000, 1001, 1022, 1125
	rpmFileModes, rpmFileUsers, rpmFileDigests  = 1030, 1039, 1035
)

// rpmHeader is a section of an RPM file: texts and numbers by tag (rpm.org, "RPM V4
// package format").
type rpmHeader struct {
	entries map[uint32][4]uint32 // tag, type, offset, count
	store   []byte
}

func readRPMHeader(r io.Reader) (rpmHeader, int, error) {
	var start struct {
		Magic, Reserved, Entries, Bytes uint32
	}
	if err := binary.Read(r, binary.BigEndian, &start); err != nil {
		return rpmHeader{}, 0, err
	}
	if start.Magic != 0x8eade801 {
		return rpmHeader{}, 0, fmt.Errorf("no header begins with %x", start.Magic)
	}
	entries := make([][4]uint32, start.Entries)
	if err := binary.Read(r, binary.BigEndian, &entries); err != nil {
		return rpmHeader{}, 0, err
	}
	h := rpmHeader{entries: map[uint32][4]uint32{}, store: make([]byte, start.Bytes)}
	for _, e := range entries {
		h.entries[e[0]] = e
	}
	_, err := io.ReadFull(r, h.store)
	return h, 16 + 16*int(start.Entries) + int(start.Bytes), err
}

func (h rpmHeader) texts(tag uint32) []string {
	e := h.entries[tag]
	return strings.SplitN(string(h.store[e[2]:]), "\x00", int(e[3])+1)[:e[3]]
}

// readRPM reads a package of RPM: a lead, the header of signatures, the package's
// header, and its files as cpio in gzip. Each file is compared with its digest in the
// header.
func readRPM(path string) (packed, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return packed{}, err
	}
	r := bytes.NewReader(data[96:])
	_, n, err := readRPMHeader(r)
	if err != nil {
		return packed{}, err
	}
	if _, err := r.Seek(int64((8-n%8)%8), io.SeekCurrent); err != nil {
		return packed{}, err
	}
	h, _, err := readRPMHeader(r)
	if err != nil {
		return packed{}, err
	}
	out := packed{name: h.texts(rpmName)[0], version: h.texts(rpmVersion)[0], arch: h.texts(rpmArch)[0], files: map[string]string{}}
	if compressor := h.texts(rpmCompressor)[0]; compressor != "gzip" {
		return packed{}, fmt.Errorf("it is compressed with %s", compressor)
	}
	payload, err := gzip.NewReader(r)
	if err != nil {
		return packed{}, err
	}
	digests, users := h.texts(rpmFileDigests), h.texts(rpmFileUsers)
	modes := h.store[h.entries[rpmFileModes][2]:]
	for i := 0; ; i++ {
		name, data, err := readCPIO(payload)
		if err != nil || name == "" {
			return out, err
		}
		mode := fs.FileMode(binary.BigEndian.Uint16(modes[2*i:]))
		out.files["/"+strings.TrimPrefix(strings.TrimPrefix(name, "."), "/")] = describedFile(mode, data)
		if sum := sha256.Sum256(data); digests[i] != hex.EncodeToString(sum[:]) || users[i] != "root" {
			return packed{}, fmt.Errorf("%s is of %s, with digest %s in the header", name, users[i], digests[i])
		}
	}
}

// readCPIO reads a file of a cpio archive ("newc"); its name is empty at the end.
func readCPIO(r io.Reader) (name string, data []byte, err error) {
	header := make([]byte, 110)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", nil, err
	}
	field := func(i int) (n int) {
		parsed, parseErr := strconv.ParseUint(string(header[6+8*i:14+8*i]), 16, 32)
		err = errors.Join(err, parseErr)
		return int(parsed)
	}
	size, length := field(6), field(11)
	if err != nil {
		return "", nil, err
	}
	named, data := make([]byte, length+(4-(110+length)%4)%4), make([]byte, size+(4-size%4)%4)
	if _, err := io.ReadFull(r, named); err != nil {
		return "", nil, err
	}
	if _, err := io.ReadFull(r, data); err != nil {
		return "", nil, err
	}
	if name = string(named[:length-1]); name == "TRAILER!!!" {
		return "", nil, nil
	}
	return name, data[:size], nil
}

// checkPackages compares the rpm and the apk of a release with the files that dpkg
// installed of the deb.
func checkPackages(t *testing.T, out, arch string, want map[string]string) {
	t.Helper()
	for kind, read := range map[string]func(string) (packed, error){"rpm": readRPM, "apk": readAPK} {
		found, err := filepath.Glob(filepath.Join(out, "*."+kind))
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v %v", kind, found, err)
			continue
		}
		p, err := read(found[0])
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if p.name != name || !strings.HasPrefix(p.version, "1.2.3") || p.arch != arch {
			t.Errorf("%s: is %s %s for %s", kind, p.name, p.version, p.arch)
		}
		for path, file := range want {
			if p.files[path] != file {
				t.Errorf("%s: %s is %q, and in the deb %q", kind, path, p.files[path], file)
			}
		}
		for path := range p.files {
			if want[path] == "" {
				t.Errorf("%s: has %s, and the deb has not", kind, path)
			}
		}
	}
}
