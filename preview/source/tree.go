package source

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

// tree holds files in memory. It is built by one goroutine, then frozen and
// handed out as a read-only file system.
type tree struct {
	root  *node
	plain bool // see Content.Plain
}

// node is a directory when children is not nil, else a file.
type node struct {
	name     string
	data     []byte
	shipped  fs.FileMode // see ShippedMode
	children map[string]*node
	sorted   []fs.DirEntry // of a frozen directory
}

func newTree() *tree { return &tree{root: newDir(".")} }

// plainTree holds one file that is no archive.
func plainTree(data []byte, mode fs.FileMode) *tree {
	t := newTree()
	t.plain = true
	t.put(PlainFile, data, mode)
	return t
}

func newDir(name string) *node { return &node{name: name, children: map[string]*node{}} }

// put stores a file, replacing whatever stood at its path or was a file on the
// way to it, as a later layer does.
func (t *tree) put(name string, data []byte, mode fs.FileMode) {
	parent := t.mkdir(path.Dir(name))
	base := path.Base(name)
	parent.children[base] = &node{name: base, data: data, shipped: mode &^ fs.ModeType}
}

func (t *tree) mkdir(name string) *node {
	dir := t.root
	for _, part := range split(name) {
		child := dir.children[part]
		if child == nil || child.children == nil {
			child = newDir(part)
			dir.children[part] = child
		}
		dir = child
	}
	return dir
}

// find returns the node at a path, or nil.
func (t *tree) find(name string) *node {
	n := t.root
	for _, part := range split(name) {
		if n = n.children[part]; n == nil {
			return nil
		}
	}
	return n
}

// inTheWay returns the file that stands at a path, on the way to it, or below it, or
// nil: a file can be put at the path where there is none.
func (t *tree) inTheWay(name string) *node {
	n := t.root
	for _, part := range split(name) {
		if n = n.children[part]; n == nil || n.children == nil {
			return n
		}
	}
	for n.children != nil {
		for _, child := range n.children { // any file below will do: there is one
			n = child
			break
		}
	}
	return n
}

// remove deletes a path and everything below it.
func (t *tree) remove(name string) {
	if parent := t.find(path.Dir(name)); parent != nil {
		delete(parent.children, path.Base(name))
	}
}

// clear empties a directory.
func (t *tree) clear(name string) {
	if n := t.find(name); n != nil && n.children != nil {
		clear(n.children)
	}
}

// move puts the directory at from where to is. It reports whether there was one.
func (t *tree) move(from, to string) bool {
	n := t.find(from)
	if n == nil || n.children == nil {
		return false
	}
	t.remove(from)
	moved := *n
	moved.name = path.Base(to)
	t.mkdir(path.Dir(to)).children[moved.name] = &moved
	return true
}

// sub makes the directory at a path the root. It reports whether there was one.
func (t *tree) sub(name string) bool {
	n := t.find(name)
	if n == nil || n.children == nil {
		return false
	}
	root := *n
	root.name = "."
	t.root = &root
	return true
}

// freeze drops empty directories, which no digest covers, and returns the file
// system.
func (t *tree) freeze() fs.FS {
	t.root.freeze()
	return memFS{t.root}
}

func (n *node) freeze() {
	n.sorted = nil
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		child := n.children[name]
		if child.children != nil {
			child.freeze()
			if len(child.children) == 0 {
				delete(n.children, name)
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

// node is its own fs.FileInfo. Modes and times carry nothing of the machine.

func (n *node) Name() string       { return n.name }
func (n *node) Size() int64        { return int64(len(n.data)) }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.children != nil }
func (n *node) Sys() any           { return nil }
func (n *node) Mode() fs.FileMode {
	if n.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type memFS struct{ root *node }

func (m memFS) Open(name string) (fs.File, error) {
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return &openDir{node: n, path: name}, nil
	}
	return &openFile{node: n, Reader: bytes.NewReader(n.data)}, nil
}

func (m memFS) ReadFile(name string) ([]byte, error) {
	data, err := Bytes(m, name)
	return bytes.Clone(data), err
}

// Bytes returns a file of content as it is held, which saves a copy of a large
// one. What it returns must not be changed.
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
	return n.data, nil
}

func (m memFS) Stat(name string) (fs.FileInfo, error) {
	n, err := m.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (m memFS) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	t := tree{root: m.root}
	n := t.find(name)
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

type openFile struct {
	node *node
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Close() error               { return nil }

type openDir struct {
	node *node
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

// ShippedMode is the mode that its source has for a file of content: type bits
// aside all of it for an archive and an image, 0755 or 0644 for a directory and
// a git commit. It is zero where the source knows none.
func ShippedMode(info fs.FileInfo) fs.FileMode {
	if n, ok := info.(*node); ok {
		return n.shipped
	}
	return 0
}
