// Package filetree holds the files of a source in memory: a [Tree] that archives and
// layers of images are unpacked into, and that is handed out as a read-only [fs.FS].
//
// All that is read is held to [Limits] before memory is spent: the number and sizes of
// files, the bytes after decompression and their ratio to those before, the depth and
// length of paths. Links, devices, absolute paths and paths with ".." are refused where
// they would be content; of an image they are skipped outside of what is kept.
//
// [Digest] is the hash of a tree: equal files have equal digests, whether they come from
// a directory, a ConfigMap or a commit. It hashes a listing, which [ParseListing] reads
// back.
package filetree

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Tree holds files in memory. One goroutine builds it; then it is frozen and used as a
// read-only file system.
type Tree struct {
	Root  *Node
	Plain bool // it is one file that is no archive, under the name PlainFile
}

// Node is a file or, if Children is not nil, a directory.
type Node struct {
	name     string
	Data     []byte
	shipped  fs.FileMode // see [ShippedMode]
	Children map[string]*Node
	sorted   []fs.DirEntry // of a frozen directory
}

// New returns an empty tree.
func New() *Tree { return &Tree{Root: newDir(".")} }

// Plain returns a tree with one file that is no archive, called [PlainFile].
func Plain(data []byte, mode fs.FileMode) *Tree {
	t := New()
	t.Plain = true
	t.Put(PlainFile, data, mode)
	return t
}

func newDir(name string) *Node { return &Node{name: name, Children: map[string]*Node{}} }

// Put adds a file. As a later layer does, it replaces whatever is at the path, and a
// file that is in place of a parent directory.
func (t *Tree) Put(name string, data []byte, mode fs.FileMode) {
	parent := t.mkdir(path.Dir(name))
	base := path.Base(name)
	parent.Children[base] = &Node{name: base, Data: data, shipped: mode &^ fs.ModeType}
}

func (t *Tree) mkdir(name string) *Node {
	dir := t.Root
	for _, part := range split(name) {
		child := dir.Children[part]
		if child == nil || child.Children == nil {
			child = newDir(part)
			dir.Children[part] = child
		}
		dir = child
	}
	return dir
}

// Find returns the node at a path, or nil.
func (t *Tree) Find(name string) *Node {
	n := t.Root
	for _, part := range split(name) {
		if n = n.Children[part]; n == nil {
			return nil
		}
	}
	return n
}

// InTheWay returns a file at a path, in place of one of its parent directories, or
// below it; nil if there is none, so that a file can be added at the path.
func (t *Tree) InTheWay(name string) *Node {
	n := t.Root
	for _, part := range split(name) {
		if n = n.Children[part]; n == nil || n.Children == nil {
			return n
		}
	}
	for n.Children != nil {
		for _, child := range n.Children { // any file below will do: there is one
			n = child
			break
		}
	}
	return n
}

// remove deletes a path and everything below it.
func (t *Tree) remove(name string) {
	if parent := t.Find(path.Dir(name)); parent != nil {
		delete(parent.Children, path.Base(name))
	}
}

// clear empties a directory.
func (t *Tree) clear(name string) {
	if n := t.Find(name); n != nil && n.Children != nil {
		clear(n.Children)
	}
}

// Move moves the directory at one path to another; false if there is no such directory.
func (t *Tree) Move(from, to string) bool {
	n := t.Find(from)
	if n == nil || n.Children == nil {
		return false
	}
	t.remove(from)
	moved := *n
	moved.name = path.Base(to)
	t.mkdir(path.Dir(to)).Children[moved.name] = &moved
	return true
}

// Sub makes the directory at a path the root of the tree; false if there is no such
// directory.
func (t *Tree) Sub(name string) bool {
	n := t.Find(name)
	if n == nil || n.Children == nil {
		return false
	}
	root := *n
	root.name = "."
	t.Root = &root
	return true
}

// Freeze removes empty directories, which no digest covers, and returns the tree as a
// file system.
func (t *Tree) Freeze() fs.FS {
	t.Root.freeze()
	return memFS{t.Root}
}

func (n *Node) freeze() {
	n.sorted = nil
	for _, name := range slices.Sorted(maps.Keys(n.Children)) {
		child := n.Children[name]
		if child.Children != nil {
			child.freeze()
			if len(child.Children) == 0 {
				delete(n.Children, name)
				continue
			}
		}
		n.sorted = append(n.sorted, fs.FileInfoToDirEntry(child))
	}
}

func split(name string) []string {
	if name == "" || name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// A node is its own [fs.FileInfo]. Modes and times carry nothing of the machine.

// Name returns the last element of the node's path.
func (n *Node) Name() string { return n.name }

// Size returns the number of bytes of a file.
func (n *Node) Size() int64 { return int64(len(n.Data)) }

// ModTime returns the zero time.
func (n *Node) ModTime() time.Time { return time.Time{} }

// IsDir reports whether the node is a directory.
func (n *Node) IsDir() bool { return n.Children != nil }

// Sys returns nil.
func (n *Node) Sys() any { return nil }

// Mode returns 0444, or 0555 for a directory; see [ShippedMode] for the source's own.
func (n *Node) Mode() fs.FileMode {
	if n.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type memFS struct{ root *Node }

func (m memFS) Open(name string) (fs.File, error) {
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return &openDir{node: n, path: name}, nil
	}
	return &openFile{node: n, Reader: bytes.NewReader(n.Data)}, nil
}

func (m memFS) ReadFile(name string) ([]byte, error) {
	data, err := Bytes(m, name)
	return bytes.Clone(data), err
}

// Bytes returns a file of content without copying it, which matters for large ones. The
// caller must not change the bytes.
func Bytes(content fs.FS, name string) ([]byte, error) {
	m, ok := content.(memFS)
	if !ok {
		return fs.ReadFile(content, name)
	}
	n, err := m.find("read", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return n.Data, nil
}

func (m memFS) Stat(name string) (fs.FileInfo, error) {
	n, err := m.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (m memFS) find(op, name string) (*Node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	t := Tree{Root: m.root}
	n := t.Find(name)
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

type openFile struct {
	node *Node
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Close() error               { return nil }

type openDir struct {
	node *Node
	path string
	read int
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: fs.ErrInvalid}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.node.sorted[d.read:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	d.read += len(rest)
	return slices.Clone(rest), nil
}

// PlainFile is the name of the only file of content that is no archive.
const PlainFile = "file"

// ShippedMode returns the mode that a file of content has in its source: for an archive
// or image all bits but the type; for a directory or git commit 0755 or 0644; 0 if the
// source has no modes.
func ShippedMode(info fs.FileInfo) fs.FileMode {
	if n, ok := info.(*Node); ok {
		return n.shipped
	}
	return 0
}
