package filetree

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// zipBytes is the largest size in bytes of a zip archive. Its directory is at its end,
// so that it is read into memory as a whole.
const zipBytes = 128 * bounded.MiB

// UnpackArchive unpacks a tar (plain, gzip or zstd) or zip archive of size bytes,
// distinguished by its first bytes, into memory. Links, devices, a name that occurs
// twice and names that lead out of the archive are errors. If everything is below one
// directory, that becomes the root, unless it is "manifests", which formats look for. A
// tar archive without end is an error: one that was cut between two members would pass
// for a shorter one.
func (l Limits) UnpackArchive(r io.Reader, size int64) (*Tree, error) {
	buffered := bufio.NewReaderSize(r, 64*bounded.KiB)
	magic, _ := buffered.Peek(4)
	if l.Artifacts && !isArchive(buffered) {
		return l.plainFile(buffered)
	}
	u := &archiveUnpacker{limits: l, left: Budget{Limits: l.Catalog}, tree: New()}
	var err error
	if bytes.HasPrefix(magic, []byte("PK\x03\x04")) || bytes.HasPrefix(magic, []byte("PK\x05\x06")) {
		err = u.zip(buffered)
	} else {
		err = u.tar(buffered, size)
	}
	if err != nil {
		return nil, err
	}
	if u.left.Files == 0 {
		return nil, errors.New("it holds no files")
	}
	if l.Artifacts {
		return u.tree, nil
	}
	if top := soleDirectory(u.tree); top != "" && top != "manifests" {
		u.tree.Sub(top)
	}
	return u.tree, l.CheckKind(u.tree)
}

// isArchive reports whether the first bytes belong to an archive or to a compressed
// file, which counts as an archive.
func isArchive(r *bufio.Reader) bool {
	const tarMagic = 257 // where "ustar" stands in the header of a member
	head, _ := r.Peek(tarMagic + 5)
	for _, magic := range []string{"PK\x03\x04", "PK\x05\x06", "\x1f\x8b", "\x28\xb5\x2f\xfd"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return len(head) > tarMagic && string(head[tarMagic:]) == "ustar"
}

// plainFile returns a tree with one file, for bytes that are no archive.
func (l Limits) plainFile(r io.Reader) (*Tree, error) {
	data, err := bounded.ReadAll(r, l.Catalog.FileBytes)
	switch {
	case err != nil:
		return nil, err
	case len(data) == 0:
		return nil, errors.New("it is empty")
	}
	return Plain(data, 0), nil
}

// CheckKind returns an error if a tree that looks like a bundle exceeds the limits for
// bundles.
func (l Limits) CheckKind(t *Tree) error {
	if n := t.Find("manifests"); n == nil || n.Children == nil {
		return nil
	}
	left := Budget{Limits: l.Bundle}
	return t.Root.Each("", func(name string, data []byte) error { return left.Take(name, int64(len(data))) })
}

// soleDirectory returns the name of the only directory at the root, empty if there is
// anything else.
func soleDirectory(t *Tree) string {
	if len(t.Root.Children) != 1 {
		return ""
	}
	for name, child := range t.Root.Children {
		if child.Children != nil {
			return name
		}
	}
	return ""
}

// Each calls f for every file at or below a node, in lexical order. name is the path of
// the node.
func (n *Node) Each(name string, f func(name string, data []byte) error) error {
	if n.Children == nil {
		return f(name, n.Data)
	}
	for _, child := range sortedKeys(n.Children) {
		if err := n.Children[child].Each(path.Join(name, child), f); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(children map[string]*Node) []string {
	names := make([]string, 0, len(children))
	for name := range children {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// archiveUnpacker unpacks one archive into a tree.
type archiveUnpacker struct {
	limits  Limits
	left    Budget
	entries int
	tree    *Tree
}

func (u *archiveUnpacker) tar(r io.Reader, size int64) error {
	plain, err := decompress(r)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	var total int64
	inflated := &inflateReader{
		r: plain, total: &total, most: u.limits.inflatedBytes,
		mostHere: u.limits.ratioFloor + u.limits.ratio*size, ratio: u.limits.ratio,
	}
	archive := tar.NewReader(inflated)
	for {
		before := total
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return u.ended(inflated, total-before)
		}
		if errors.Is(err, tar.ErrHeader) && u.entries == 0 {
			return errors.New("it is neither a tar archive (plain, gzip or zstd) nor a zip archive")
		}
		if err != nil {
			return ArchiveError(err)
		}
		if header.Typeflag == tar.TypeXGlobalHeader { // git archive writes the commit there
			continue
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeDir {
			return fmt.Errorf("%s is %s; only plain files and directories are read", bounded.Quote(header.Name), describeType(header.Typeflag))
		}
		if err := u.entry(memberOf(header), archive); err != nil {
			return ArchiveError(err)
		}
	}
}

// tarBlock is the size in bytes of the blocks that a tar archive consists of.
const tarBlock = 512

// ended checks how a tar archive ends. last is the number of bytes after its last
// member: less than a block is padding only, without the block of zeros that ends an
// archive, so that it was cut; that is an error unless its digest was given. The rest
// of the compressed data is read too, because its checksum comes last.
func (u *archiveUnpacker) ended(inflated io.Reader, last int64) error {
	if last < tarBlock && u.entries > 0 && !u.limits.Unended {
		return errors.New("the archive ends too early: the blocks that end a tar archive are missing; fetch it again, or give its #sha256=")
	}
	if _, err := io.Copy(io.Discard, inflated); err != nil {
		return ArchiveError(err)
	}
	return nil
}

func (u *archiveUnpacker) zip(r io.Reader) error {
	data, err := bounded.ReadAll(r, zipBytes)
	if err != nil {
		return err
	}
	// archive/zip allocates for what the directory holds, so that is counted
	// before.
	if bytes.Count(data, []byte("PK\x01\x02")) > u.limits.Entries {
		return fmt.Errorf("more than %d entries", u.limits.Entries)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return zipError(err)
	}
	for _, f := range archive.File {
		if err := u.zipEntry(f); err != nil {
			return zipError(err)
		}
	}
	return nil
}

func (u *archiveUnpacker) zipEntry(f *zip.File) error {
	switch mode := f.Mode(); {
	case mode.Type()&^fs.ModeDir != 0:
		return fmt.Errorf("%s is %s; only plain files and directories are read", bounded.Quote(f.Name), DescribeMode(mode))
	case f.Flags&1 != 0:
		return fmt.Errorf("%s is encrypted", bounded.Quote(f.Name))
	case mode.IsDir() || strings.HasSuffix(f.Name, "/"):
		return u.entry(archiveMember{f.Name, fs.ModeDir, 0}, nil)
	case f.UncompressedSize64 > uint64(u.limits.Catalog.FileBytes):
		return fmt.Errorf("%s claims %d bytes; at most %s are read", bounded.Quote(f.Name), f.UncompressedSize64, bounded.ByteCount(u.limits.Catalog.FileBytes))
	}
	body, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", bounded.Quote(f.Name), err)
	}
	defer func() { _ = body.Close() }()
	mode := f.Mode()
	if creator := f.CreatorVersion >> 8; creator != zipByUnix && creator != zipByDarwin {
		mode = 0 // made where files have no such modes: archive/zip answers 0666
	}
	return u.entry(archiveMember{f.Name, mode, int64(f.UncompressedSize64)}, body)
}

// The systems whose modes a zip archive keeps (APPNOTE.TXT, 4.4.2).
const (
	zipByUnix   = 3
	zipByDarwin = 19
)

// archiveMember is a file or directory as the archive describes it, which may not be
// true.
type archiveMember struct {
	name string
	mode fs.FileMode
	size int64
}

// memberOf returns a member of a tar archive. Its type decides whether it is a
// directory, because the mode in its header may say otherwise.
func memberOf(header *tar.Header) archiveMember {
	m := archiveMember{header.Name, header.FileInfo().Mode() &^ fs.ModeType, header.Size}
	if header.Typeflag == tar.TypeDir {
		m.mode |= fs.ModeDir
	}
	return m
}

// entry adds one member to the tree. Its body must have exactly as many bytes as the
// archive says.
func (u *archiveUnpacker) entry(m archiveMember, body io.Reader) error {
	if u.entries++; u.entries > u.limits.Entries {
		return fmt.Errorf("more than %d entries", u.limits.Entries)
	}
	cleaned, err := u.limits.CleanPath(m.name)
	if err != nil {
		return err
	}
	if m.mode.IsDir() {
		return u.directory(cleaned)
	}
	if cleaned == "" {
		return errors.New("a file that stands for the root")
	}
	if err := u.directory(path.Dir(cleaned)); err != nil {
		return err
	}
	if u.tree.Find(cleaned) != nil {
		return fmt.Errorf("%s is in it twice", bounded.Quote(cleaned))
	}
	if err := u.left.Take(cleaned, m.size); err != nil {
		return err
	}
	data := make([]byte, m.size) // take has capped it
	if _, err := io.ReadFull(body, data); err != nil {
		return fmt.Errorf("%s: %w", bounded.Quote(cleaned), err)
	}
	// One more byte, or the checksum that archive/zip compares at the end.
	if n, err := io.ReadFull(body, make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s does not hold what its header says", bounded.Quote(cleaned))
	}
	u.tree.Put(cleaned, data, m.mode)
	return nil
}

// directory adds a directory to the tree. A file at its path or above it is an error.
func (u *archiveUnpacker) directory(name string) error {
	dir := u.tree.Root
	for _, part := range split(name) {
		child := dir.Children[part]
		if child == nil {
			child = newDir(part)
			dir.Children[part] = child
		}
		if child.Children == nil {
			return fmt.Errorf("%s is in it twice, as a file and as a directory", bounded.Quote(name))
		}
		dir = child
	}
	return nil
}

func zipError(err error) error {
	switch {
	case errors.Is(err, zip.ErrFormat):
		return errors.New("the zip archive is damaged")
	case errors.Is(err, zip.ErrAlgorithm):
		return errors.New("the zip archive is compressed in a way that is not read; deflate is")
	case errors.Is(err, zip.ErrChecksum):
		return errors.New("the zip archive does not have the checksum it names")
	}
	return ArchiveError(err)
}
