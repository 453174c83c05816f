package catalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// table has for every package of a catalog its summary for searches and the APIs that it
// provides. It is computed from all bundles when it is first needed, and stored next to
// the index.
type table struct {
	rows      []Hit      // by package, without their catalog
	providers []provider // by API
}

// provider is an API, and the packages with a bundle that provides it, as indexes of
// rows.
type provider struct {
	api      string // see apiKey
	packages []int
}

const (
	tableFormat = "-table-2"
	// tableText is how many bytes of a package's texts are searched (16 KiB); some
	// descriptions are whole manuals.
	tableText = 16 << 10
	// maxAPIs is the most APIs that are recorded for a bundle's package.
	maxAPIs = 10_000
)

func apiKey(group, version, kind string) string { return group + "/" + version + "/" + kind }

// Providers returns the packages with a bundle that provides an API, sorted. They are
// not checked: a returned package may break the rules of catalogs.
func (c *Catalog) Providers(group, version, kind string) ([]string, error) {
	t, err := c.table()
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(t.providers, apiKey(group, version, kind), func(p provider, key string) int {
		return strings.Compare(p.api, key)
	})
	if !ok {
		return nil, nil
	}
	var out []string
	for _, at := range t.providers[i].packages {
		out = append(out, t.rows[at].Package)
	}
	return out, nil
}

// table returns the table from memory or the store, and computes it if neither has it.
func (c *Catalog) table() (*table, error) {
	c.tabling.Lock()
	defer c.tabling.Unlock()
	if c.tabled != nil {
		return c.tabled, nil
	}
	if c.store != nil {
		c.tabled = c.storedTable()
	}
	if c.tabled == nil {
		t, err := c.makeTable()
		if err != nil {
			return nil, fmt.Errorf("reading catalog %s: %w", c.origin.Reference, err)
		}
		c.tabled = t
		c.storeTable(t)
	}
	return c.tabled, nil
}

func (c *Catalog) storedTable() *table {
	file, err := c.store.Open(indexName(c.identity) + tableFormat)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, directoryBytes+1))
	if err != nil || len(data) > directoryBytes {
		return nil
	}
	body, ok := unseal(c.store.Key(), c.identity+tableFormat, data)
	if !ok {
		return nil
	}
	return readTable(body)
}

// storeTable stores the table for later runs. Errors are ignored: then it is computed
// again.
func (c *Catalog) storeTable(t *table) {
	if c.store == nil {
		return
	}
	body := t.append(nil)
	_ = c.store.Create(indexName(c.identity)+tableFormat, func(w io.Writer) error {
		_, err := w.Write(append(body, seal(c.store.Key(), c.identity+tableFormat, body)...))
		return err
	})
}

// makeTable computes the table from every package.
func (c *Catalog) makeTable() (*table, error) {
	names := c.Names()
	t := &table{rows: make([]Hit, len(names))}
	apis := make([][]string, len(names))
	err := tasks.Each(len(names), len(names), func(i int) (err error) {
		t.rows[i], apis[i], err = c.row(names[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	packages := map[string][]int{}
	for i, keys := range apis {
		for _, key := range keys {
			packages[key] = append(packages[key], i)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(packages)) {
		t.providers = append(t.providers, provider{key, packages[key]})
	}
	return t, nil
}

func (c *Catalog) row(name string) (Hit, []string, error) {
	docs, err := c.documents(name)
	if err != nil {
		return Hit{}, nil, err
	}
	return newHit(name, docs), providedAPIs(docs), nil
}

// providedAPIs returns the APIs that any bundle of a package provides, as keys of
// [apiKey], sorted.
func providedAPIs(docs *documents) []string {
	seen := map[string]bool{}
	for _, d := range docs.bundles {
		for _, value := range gvkValues(d) {
			if seen[apiKey(value.Group, value.Version, value.Kind)] = true; len(seen) > maxAPIs {
				break
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

const propertyGVK = "olm.gvk"

// gvk is the value of an olm.gvk property.
type gvk struct{ Group, Version, Kind string }

// gvkValues returns the APIs in the olm.gvk properties of a bundle. In the form that
// programs usually write they are found without decoding the bundle, because there are
// many bundles.
func gvkValues(d document) []gvk {
	count := bytes.Count(d.raw, []byte(propertyGVK)) - bytes.Count(d.raw, []byte(propertyGVK+"."))
	if count == 0 {
		return nil
	}
	if out := gvkJSON(d.raw); len(out) == count {
		return out
	}
	if out := gvkYAML(d.raw); len(out) == count {
		return out
	}
	fields, err := decodeFields(d.raw)
	if err != nil {
		return nil // it is an error for who asks for the package
	}
	var out []gvk
	for _, value := range properties(fields, propertyGVK) {
		if value, ok := value.(map[string]any); ok {
			out = append(out, gvkOf(value))
		}
	}
	return out
}

func gvkOf(value map[string]any) gvk {
	return gvk{preview.String(value, "group"), preview.String(value, "version"), preview.String(value, "kind")}
}

func gvkJSON(raw []byte) (out []gvk) {
	before := []byte(`{"type":"` + propertyGVK + `","value":`)
	for {
		_, rest, found := bytes.Cut(raw, before)
		if !found {
			return out
		}
		var value gvk
		if end := bytes.IndexByte(rest, '}'); end < 0 || json.Unmarshal(rest[:end+1], &value) != nil {
			return nil
		}
		out, raw = append(out, value), rest
	}
}

// gvkYAML returns the APIs in olm.gvk properties of a bundle in YAML, if each property
// begins with its type; nil if one cannot be read.
func gvkYAML(raw []byte) (out []gvk) {
	for {
		at := bytes.Index(raw, []byte("- type: "+propertyGVK+"\n"))
		if at < 0 {
			return out
		}
		indent := at - 1 - bytes.LastIndexByte(raw[:at], '\n')
		end := at
		for line := range bytes.Lines(raw[at:]) {
			depth := len(line) - len(bytes.TrimLeft(line, " "))
			if end > at && (depth < indent || depth == indent && len(bytes.TrimSpace(line)) > 0) {
				break
			}
			end += len(line)
		}
		decoded, err := preview.Decode(raw[at:end])
		if err != nil || len(decoded) != 1 {
			return nil
		}
		list, _ := decoded[0].([]any)
		if len(list) != 1 {
			return nil
		}
		item, _ := list[0].(map[string]any)
		value, ok := item["value"].(map[string]any)
		if !ok {
			return nil
		}
		out, raw = append(out, gvkOf(value)), raw[end:]
	}
}

func (t *table) append(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(t.rows)))
	for _, r := range t.rows {
		for _, s := range []string{r.Package, r.DefaultChannel, r.Version, r.Description, r.Deprecated, r.Problem, r.Terms} {
			out = appendText(out, s)
		}
	}
	out = binary.AppendUvarint(out, uint64(len(t.providers)))
	for _, p := range t.providers {
		out = appendText(out, p.api)
		out = binary.AppendUvarint(out, uint64(len(p.packages)))
		for _, at := range p.packages {
			out = binary.AppendUvarint(out, uint64(at))
		}
	}
	return out
}

// readTable decodes a stored table; nil if it is not valid.
func readTable(data []byte) *table {
	f := &fields{text: string(data)}
	t := &table{rows: make([]Hit, f.count())}
	for i := range t.rows {
		r := &t.rows[i]
		for _, to := range []*string{&r.Package, &r.DefaultChannel, &r.Version, &r.Description, &r.Deprecated, &r.Problem, &r.Terms} {
			*to = f.string()
		}
	}
	t.providers = make([]provider, f.count())
	for i := range t.providers {
		p := &t.providers[i]
		p.api, p.packages = f.string(), make([]int, f.count())
		for j := range p.packages {
			if p.packages[j] = int(f.uvarint()); p.packages[j] >= len(t.rows) {
				return nil
			}
		}
	}
	if f.bad || f.text != "" || !slices.IsSortedFunc(t.providers, func(a, b provider) int { return cmp.Compare(a.api, b.api) }) {
		return nil
	}
	return t
}
