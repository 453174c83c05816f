package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
)

// AddCatalog adds a catalog to the user's configuration file, which is created if
// it does not exist, and returns the path of the file.
func AddCatalog(getenv func(string) string, added Catalog) (string, error) {
	return edit(getenv, func(c *Config) error {
		if slices.ContainsFunc(c.Catalogs, func(have Catalog) bool { return have.Name == added.Name }) {
			return fmt.Errorf("it has a catalog %q already; remove that first", added.Name)
		}
		c.Catalogs = append(c.Catalogs, added)
		return nil
	})
}

// RemoveCatalog removes a catalog from the user's configuration file, and
// returns its path.
func RemoveCatalog(getenv func(string) string, name string) (string, error) {
	return edit(getenv, func(c *Config) error {
		before := len(c.Catalogs)
		c.Catalogs = slices.DeleteFunc(c.Catalogs, func(have Catalog) bool { return have.Name == name })
		if len(c.Catalogs) == before {
			return fmt.Errorf("it has no catalog %q; one that the cluster has is deleted with kubectl", name)
		}
		return nil
	})
}

// edit changes the list of catalogs in the configuration file and nothing else,
// and returns its path. A file that cannot be parsed is not changed.
func edit(getenv func(string) string, change func(*Config) error) (string, error) {
	path := getenv("KUBECTL_OPERATOR_CONFIG")
	if path == "" {
		path = defaultPath(getenv)
	}
	if path == "" {
		return "", errors.New("no place for the configuration: neither KUBECTL_OPERATOR_CONFIG nor HOME is set; KUBECTL_OPERATOR_CONFIG=FILE names one")
	}
	fail := func(err error) (string, error) {
		if _, ofDisk := errors.AsType[*fs.PathError](err); ofDisk {
			err = fmt.Errorf("%w; KUBECTL_OPERATOR_CONFIG=FILE names one that can be written", err)
		}
		return "", fmt.Errorf("changing the configuration %s: %w", path, err)
	}
	data, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	have, err := Parse(data)
	if err != nil {
		return fail(err)
	}
	want := have
	want.Catalogs = slices.Clone(have.Catalogs)
	if err := change(&want); err != nil {
		return fail(err)
	}
	if data, err = rewrite(data, have, want); err != nil {
		return fail(err)
	}
	if err := replace(path, data); err != nil {
		return fail(err)
	}
	return path, nil
}

// rewrite returns the text of the configuration file with the catalogs of want
// instead of have. It changes only the lines of the catalog that was added or
// removed; if the file does not have one item per line, all of it is written anew,
// with its comments. The result is parsed again, and must have the wanted catalogs.
func rewrite(data []byte, have, want Config) ([]byte, error) {
	for _, way := range []func([]byte, Config, Config) ([]byte, error){splice, reencode} {
		out, err := way(data, have, want)
		if err != nil {
			continue
		}
		if got, err := Parse(out); err == nil && reflect.DeepEqual(got, want) {
			return out, nil
		}
	}
	if err := want.check(); err != nil {
		return nil, err
	}
	return nil, errors.New("it is written in a way that this command cannot change; edit it by hand")
}

var errNotByLine = errors.New("each catalog must be on its own line")

// splice returns the text with only the lines of one catalog added or removed;
// an error if the text does not have one item per line.
func splice(data []byte, have, want Config) ([]byte, error) {
	lines := strings.SplitAfter(string(data), "\n")
	if last := lines[len(lines)-1]; last == "" {
		lines = lines[:len(lines)-1]
	} else {
		lines[len(lines)-1] = last + "\n"
	}
	top, err := document(data)
	if err != nil {
		return nil, err
	}
	list := field(top, "catalogs")
	if len(want.Catalogs) > len(have.Catalogs) {
		item := entry(want.Catalogs[len(want.Catalogs)-1])
		if list == nil && (top == nil || top.Style&yaml.FlowStyle == 0) {
			return []byte(strings.Join(lines, "") + "catalogs:\n" + item.lines(0)), nil
		}
		if list == nil || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
			return nil, errNotByLine
		}
		at := lastLine(list)
		return []byte(strings.Join(lines[:at], "") + item.lines(list.Column-1) + strings.Join(lines[at:], "")), nil
	}
	if list == nil || list.Style&yaml.FlowStyle != 0 || len(list.Content) != len(have.Catalogs) || len(list.Content) == 1 {
		return nil, errNotByLine
	}
	gone := 0
	for gone < len(want.Catalogs) && have.Catalogs[gone] == want.Catalogs[gone] {
		gone++
	}
	item := list.Content[gone]
	from, to := item.Line-1, lastLine(item)
	for from > 0 && strings.HasPrefix(strings.TrimSpace(lines[from-1]), "#") && strings.Contains(headComment(item), strings.TrimSpace(lines[from-1])) {
		from--
	}
	return []byte(strings.Join(lines[:from], "") + strings.Join(lines[to:], "")), nil
}

// reencode returns the whole file as the YAML encoder writes it, including comments.
func reencode(data []byte, have, want Config) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errNotByLine
	}
	list := field(top, "catalogs")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "catalogs"}, list)
	}
	if list.Kind != yaml.SequenceNode {
		*list = yaml.Node{Kind: yaml.SequenceNode, HeadComment: list.HeadComment, LineComment: list.LineComment}
	}
	kept := list.Content
	list.Content = nil
	for i, node := range kept {
		if i < len(have.Catalogs) && slices.Contains(want.Catalogs, have.Catalogs[i]) {
			list.Content = append(list.Content, node)
		}
	}
	for _, added := range want.Catalogs[min(len(list.Content), len(want.Catalogs)):] {
		list.Content = append(list.Content, entry(added).node())
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&doc); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// entry is a catalog to be written as lines of YAML.
type entry Catalog

func (e entry) node() *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key, value, tag string) {
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value, Tag: tag})
	}
	add("name", e.Name, "!!str")
	add("reference", e.Reference, "!!str")
	if e.Priority != 0 {
		add("priority", fmt.Sprint(e.Priority), "!!int")
	}
	return node
}

// lines returns the entry as an item of an indented list.
func (e entry) lines(indent int) string {
	text, err := yaml.Marshal([]*yaml.Node{e.node()})
	if err != nil {
		return ""
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(strings.Repeat(" ", indent) + line)
	}
	return out.String()
}

// document returns the top-level mapping of a YAML file, nil for an empty file.
func document(data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil
	}
	return doc.Content[0], nil
}

func field(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// lastLine returns the number of the last line of a node.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}

func headComment(n *yaml.Node) string {
	text := n.HeadComment
	for _, child := range n.Content {
		text += "\n" + child.HeadComment
	}
	return text
}

// replace writes a file atomically, with the permissions of the old file. If
// the path is a symbolic link, the file that it points to is replaced.
func replace(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, data, mode)
}
