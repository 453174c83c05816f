package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// mongodb is a package as teams publish them: a channel with a plain chain, one
// with skips and skipRange, and a pre-release.
const mongodb = `---
schema: olm.package
name: mongodb
defaultChannel: stable
description: |
  A document database.
  More text.
---
schema: olm.channel
package: mongodb
name: stable
entries:
- name: mongodb.v1.8.0
- name: mongodb.v1.9.0
  replaces: mongodb.v1.8.0
- name: mongodb.v1.10.0
  replaces: mongodb.v1.9.0
  skips: [mongodb.v1.9.1]
  skipRange: '>=1.8.5 <1.9.0'
---
schema: olm.channel
package: mongodb
name: candidate
entries:
- name: mongodb.v2.0.0-rc1
  skipRange: '<2.0.0-rc1'
`

func bundle(name, pkg, version string) string {
	return fmt.Sprintf(`---
schema: olm.bundle
package: %[2]s
name: %[1]s
image: registry.example/%[2]s:v%[3]s
properties:
- type: olm.package
  value: {packageName: %[2]s, version: %[3]s}
`, name, pkg, version)
}

func mongodbCatalog() string {
	text := mongodb
	for _, v := range []string{"1.8.0", "1.9.0", "1.10.0", "2.0.0-rc1"} {
		text += bundle("mongodb.v"+v, "mongodb", v)
	}
	return text
}

const deprecations = `---
schema: olm.deprecations
package: mongodb
entries:
- reference: {schema: olm.package}
  message: the package moves
- reference: {schema: olm.channel, name: candidate}
  message: use stable
- reference: {schema: olm.bundle, name: mongodb.v1.10.0}
  message: has a bug
`

func load(t testing.TB, reference string, files map[string]string) *Catalog {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, body := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(body)}
	}
	c, err := Load(fsys, Origin{Reference: reference, Digest: "sha256:" + reference})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func one(t testing.TB, text string) []*Catalog {
	t.Helper()
	return []*Catalog{load(t, "cat", map[string]string{"catalog.yaml": text})}
}

func TestResolveFollowsTheRules(t *testing.T) {
	installed := func(v string) *Installed { return &Installed{Bundle: "mongodb.v" + v, Version: v} }
	tests := []struct {
		name    string
		query   Query
		extra   string
		version string
		channel string
		why     string
	}{
		{"nothing asked for is the default channel's head", Query{}, "", "1.10.0", "stable", "head of channel stable"},
		{"another channel's head, a pre-release", Query{Channels: []string{"candidate"}}, "", "2.0.0-rc1", "candidate", "head of channel candidate"},
		{"an exact version", Query{Version: "1.9.0"}, "", "1.9.0", "stable", `in range "1.9.0"`},
		{"a range takes the highest", Query{Version: ">=1.8 <1.10"}, "", "1.9.0", "stable", ""},
		{"a range with a pre-release", Query{Version: ">=2.0.0-0", Channels: []string{"candidate"}}, "", "2.0.0-rc1", "candidate", ""},
		{"a range prefers what is not deprecated", Query{Version: "^1"}, deprecations, "1.9.0", "stable", ""},
		{"a deprecated one when there is no other", Query{Version: "~1.10"}, deprecations, "1.10.0", "stable", ""},
		{"one edge at a time", Query{Installed: installed("1.8.0")}, "", "1.9.0", "stable", "replaces mongodb.v1.8.0"},
		{"along replaces", Query{Installed: installed("1.9.0")}, "", "1.10.0", "stable", "replaces"},
		{"along skips, of a bundle that is not there", Query{Installed: installed("1.9.1")}, "", "1.10.0", "stable", "skips mongodb.v1.9.1"},
		{"along skipRange", Query{Installed: installed("1.8.7")}, "", "1.10.0", "stable", "skips the range of"},
		{"into another channel", Query{Installed: installed("1.10.0"), Channels: []string{"candidate"}}, "", "2.0.0-rc1", "candidate", "skips the range"},
		{"at the top already", Query{Installed: installed("1.10.0")}, "", "1.10.0", "stable", "has no upgrade"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.query.Package = "mongodb"
			got, err := Resolve(one(t, mongodbCatalog()+test.extra), test.query)
			if err != nil {
				t.Fatal(err)
			}
			if got.Version != test.version || got.Channel != test.channel || !strings.Contains(got.Why, test.why) {
				t.Errorf("got %s in %s because %q", got.Version, got.Channel, got.Why)
			}
			if got.Bundle != "mongodb.v"+test.version || got.Image != "registry.example/mongodb:v"+test.version {
				t.Errorf("got bundle %s, image %s", got.Bundle, got.Image)
			}
			if via := got.Via(); via.Kind != "catalog" || via.Reference != "cat" || via.Digest != "sha256:cat" || via.Channel != test.channel {
				t.Errorf("via %+v", via)
			}
			current := test.query.Installed != nil && test.query.Installed.Version == test.version
			if got.Current != current {
				t.Errorf("current is %v", got.Current)
			}
		})
	}
}

func TestResolveRefusesAndSaysWhatThereIs(t *testing.T) {
	tests := []struct {
		name  string
		query Query
		want  string
	}{
		{"an unknown channel", Query{Channels: []string{"fast"}}, `has no channel "fast"; it has candidate, stable`},
		{"an unknown version", Query{Version: "3"}, `no version "3" in channel stable; it has 1.10.0, 1.9.0, 1.8.0`},
		{"a version of another channel", Query{Version: "2.0.0-rc1"}, `channel "candidate" has 2.0.0-rc1`},
		{"a broken range", Query{Version: ">>1"}, "not a version range"},
		{"no edge to the version", Query{Version: "3.0.0", Installed: &Installed{"mongodb.v1.8.0", "1.8.0"}}, `leads from mongodb.v1.8.0 to a version "3.0.0"; it leads to 1.9.0`},
		{"an older version along edges", Query{Version: "1.8.0", Installed: &Installed{"mongodb.v1.10.0", "1.10.0"}}, "which is older; with REF mongodb@1.8.0 a downgrade is planned"},
		{"pre-releases alone, and a range that names none", Query{Version: ">=1", Channels: []string{"candidate"}}, "channel \"stable\" has 1.10.0"},
		{"a downgrade that nobody asked for", Query{Policy: SelfCertified, Installed: &Installed{"mongodb.v2.0.0-rc1", "2.0.0-rc1"}}, "channel stable leads from 2.0.0-rc1 down to 1.10.0; a downgrade is planned only when its version is asked for: PACKAGE@1.10.0"},
		{"a policy that is none", Query{Policy: "Whatever", Installed: &Installed{"mongodb.v1.8.0", "1.8.0"}}, `upgrade policy "Whatever": want CatalogProvided or SelfCertified`},
		{"an installed bundle nobody knows", Query{Installed: &Installed{"other.v5", "5.0.0"}}, "no edge of channel"},
		{"an installed version that is none", Query{Installed: &Installed{"other", "x"}}, "not a semantic version"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.query.Package = "mongodb"
			_, err := Resolve(one(t, mongodbCatalog()), test.query)
			mustFail(t, err, test.want)
		})
	}
}

func TestDeprecationsAreNoted(t *testing.T) {
	cats := one(t, mongodbCatalog()+deprecations)
	choice, err := Resolve(cats, Query{Package: "mongodb"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"has a bug", "the package moves"}; !slices.Equal(choice.Deprecated, want) {
		t.Errorf("got %q, want %q", choice.Deprecated, want)
	}
	if hits := Search(cats, "mongo"); len(hits) != 1 || hits[0].Deprecated != "the package moves" {
		t.Errorf("search: %+v", hits)
	}
}

func TestTheNearestNameIsSuggestedWhateverElseThereIs(t *testing.T) {
	stranger := "schema: olm.package\nname: etcd-backup\ndefaultChannel: stable\n"
	cats := []*Catalog{
		load(t, "first", map[string]string{"c": mongodbCatalog()}),
		load(t, "second", map[string]string{"c": stranger}),
	}
	_, err := Resolve(cats, Query{Package: "mongdb"})
	mustFail(t, err, `did you mean "mongodb"?`)
}

func TestAPackageInTwoCatalogsIsAnErrorThatNamesBoth(t *testing.T) {
	cats := []*Catalog{
		load(t, "first", map[string]string{"c": mongodbCatalog()}),
		load(t, "second", map[string]string{"c": mongodbCatalog()}),
	}
	_, err := Resolve(cats, Query{Package: "mongodb"})
	mustFail(t, err, "in 2 catalogs: first and second; choose one with --catalog")
	_, err = Resolve(cats, Query{Package: "mongdb"})
	mustFail(t, err, `no package "mongdb" in 2 catalogs; did you mean "mongodb"?`)
	_, err = Resolve(cats[:1], Query{Package: "postgresql"})
	if mustFail(t, err, `no package "postgresql" in first`); strings.Contains(err.Error(), "did you mean") {
		t.Error(err)
	}
	if _, err = Resolve([]*Catalog{cats[0], cats[0]}, Query{Package: "mongodb"}); err != nil {
		t.Errorf("a catalog given twice: %v", err)
	}
	_, err = Resolve(nil, Query{Package: "mongodb"})
	mustFail(t, err, "no catalog is configured")
}

func TestJSONAndYAMLReadTheSame(t *testing.T) {
	jsonText := `{"Schema":"olm.package","name":"m","defaultChannel":"s"}
{"schema":"olm.channel","package":"m","name":"s","entries":[{"name":"m.v1"}]}` +
		` {"schema":"olm.bundle","package":"m","name":"m.v1","image":"r.example/m:v1","properties":[{"type":"olm.package","value":{"packageName":"m","version":"1.0.0"}},{"type":"x","value":"}{\"["}]}
{"schema":"custom","package":"m","name":"kept out"}`
	texts := map[string]string{
		"JSON lines":                          jsonText,
		"JSON in many rows":                   strings.ReplaceAll(jsonText, ",", ",\n"),
		"block YAML":                          "%YAML 1.1\n---\nschema: \"olm.package\"\nname: 'm'\ndefaultChannel: s\n--- # next\nNAME: s\nentries: [{name: m.v1}]\npackage: m\nschema: olm.channel\n" + bundle("m.v1", "m", "1.0.0") + "...\n",
		"flow YAML":                           "{schema: olm.package, name: m, defaultChannel: s}\n---\n{schema: olm.channel, package: m, name: s, entries: [{name: m.v1}]}\n" + bundle("m.v1", "m", "1.0.0"),
		"values that only a decoder can read": "schema: !!str olm.package\nname: &n m\ndefaultChannel: s\n---\nschema: olm.channel\npackage: >-\n  m\nname: s # c\nentries: [{name: m.v1}]\n" + bundle("m.v1", "m", "1.0.0"),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			choice, err := Resolve(one(t, text), Query{Package: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if choice.Bundle != "m.v1" || choice.Channel != "s" {
				t.Errorf("got %+v", choice)
			}
		})
	}
}

func TestAnotherPackagesTroubleIsNotMine(t *testing.T) {
	broken := map[string]string{
		"a package without channels": "---\nschema: olm.package\nname: other\n",
		"a document that is no YAML": "---\nschema: olm.bundle\npackage: other\nname: x\nimage: [\n",
		"a document of another kind": "---\nkind: Kustomization\n",
		"a document of nothing":      "---\nnull\n",
		"an alias bomb":              "---\nschema: olm.bundle\npackage: other\nname: b\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
		"a name with an escape":      "---\nschema: olm.package\nname: \"o\\e[31mther\"\n",
	}
	for name, text := range broken {
		t.Run(name, func(t *testing.T) {
			cats := []*Catalog{load(t, "cat", map[string]string{"a/other.yaml": text, "b/catalog.yaml": mongodbCatalog()})}
			if _, err := Resolve(cats, Query{Package: "mongodb"}); err != nil {
				t.Error(err)
			}
			for _, n := range cats[0].Names() {
				if n != "mongodb" && n != "other" {
					t.Errorf("name %q was let through", n)
				}
			}
		})
	}
}

// A file that cannot be read hides whatever it holds: versions, channels that
// take them away, deprecations. opm refuses such a catalog too.
func TestAFileThatCannotBeReadSpoilsTheCatalog(t *testing.T) {
	const channel = "---\nschema: olm.channel\npackage: other\nname: x\n"
	for _, test := range []struct{ name, file, text, want string }{
		{"a document without a name", "d.yaml", "# text\n---\nfoo: [\n", "d.yaml: line 3: did not find expected node content"},
		{"a scalar", "d.yml", "just text\n", "d.yml: line 1: a document that is no mapping"},
		{"keys that are there twice", "d.yaml", "---\nschema: olm.bundle\nSchema: olm.bundle\npackage: other\n", "d.yaml: line 1: field schema is there twice"},
		{"a channel with a syntax error", "d.yaml", channel + "entries: [{name: a}\n", "d.yaml: line 4: did not find expected"},
		{"aliases without end", "d.yaml", "a: &a [x]\nb: [" + strings.Repeat("*a, ", 1001) + "]\n", "d.yaml: line 2: more than 1000 aliases"},
		{"JSON that was cut", "d.json", `{"schema":"olm.bundle","package":"other","name":"a"}` + "\n" + `{"schema":"olm.deprecations","pack`, "d.json: line 2: after 53 bytes: unexpected EOF"},
		{"a stream that was cut", "all.jsonl", `{"schema":"olm.deprecations","pack`, "all.jsonl: line 1: "},
		{"a catalog under no such name", "catalog", "schema: olm.package\nname: other\n---\nfoo: [\n", "catalog: line 4: "},
		{"a README", "README.md", "# Text\n\n- [x](y: [\n", ""},
		{"a picture", "logo.png", "\x89PNG\r\n\x1a\n{", ""},
		{"what is to be ignored", "docs/d.yaml", "foo: [\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{test.file: test.text, "m/catalog.yaml": mongodbCatalog(), ignoreFile: "docs/\n"}
			fsys := fstest.MapFS{}
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			c, err := Load(fsys, Origin{Reference: "cat"})
			if test.want != "" {
				mustFail(t, err, "reading catalog cat: "+test.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Resolve([]*Catalog{c}, Query{Package: "mongodb"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMyPackagesTroubleIsSaid(t *testing.T) {
	entry := "---\nschema: olm.channel\npackage: mongodb\nname: x\nentries: "
	tests := []struct{ name, add, want string }{
		{"a second package document", "---\nschema: olm.package\nname: mongodb\n", "2 olm.package documents"},
		{"a second channel of a name", strings.Replace(entry, ": x", ": stable", 1) + "[{name: mongodb.v1.8.0}]\n", `two channels are named "stable"`},
		{"a second bundle of a name", bundle("mongodb.v1.8.0", "mongodb", "1.8.0"), `two bundles are named "mongodb.v1.8.0"`},
		{"an entry without a bundle", entry + "[{name: nowhere}]\n", `entry "nowhere" has no bundle`},
		{"an entry that is there twice", entry + "[{name: mongodb.v1.8.0}, {name: mongodb.v1.8.0}]\n", "two entries"},
		{"a circle below the head", entry + "[{name: mongodb.v1.10.0, replaces: mongodb.v1.9.0}, {name: mongodb.v1.8.0, replaces: mongodb.v1.9.0}, {name: mongodb.v1.9.0, replaces: mongodb.v1.8.0}]\n", `its entries mongodb.v1.8.0, mongodb.v1.9.0 replace each other in a circle`},
		{"a deprecation of a bundle that is not there", "---\nschema: olm.deprecations\npackage: mongodb\nentries: [{reference: {schema: olm.bundle, name: x}, message: m}]\n", `deprecations: olm.bundle "x" does not exist`},
		{"a deprecation of something else", "---\nschema: olm.deprecations\npackage: mongodb\nentries: [{reference: {schema: olm.thing}, message: m}]\n", `olm.thing "" does not exist`},
		{"two deprecations of one bundle", deprecations + "- reference: {schema: olm.package}\n  message: again\n", `needs one message`},
		{"a circle", entry + "[{name: mongodb.v1.8.0, replaces: mongodb.v1.9.0}, {name: mongodb.v1.9.0, replaces: mongodb.v1.8.0}]\n", "in a circle"},
		{"no entries", entry + "[]\n", "has no entries"},
		{"a name that is a number", entry + "[{name: 1}]\n", "field name is not text"},
		{"a version that is none", bundle("m.x", "mongodb", "one"), `"one" is not a semantic version`},
		{"no version", "---\nschema: olm.bundle\npackage: mongodb\nname: x\n", "0 olm.package properties"},
		{"another package's version", strings.Replace(bundle("m.x", "mongodb", "1.0.0"), "packageName: mongodb", "packageName: m", 1), `names package "m"`},
		{"a deprecation of nothing", "---\nschema: olm.deprecations\npackage: mongodb\nentries: [{reference: {schema: olm.channel, name: x}, message: m}]\n", "does not exist"},
		{"a deprecation without a message", "---\nschema: olm.deprecations\npackage: mongodb\nentries: [{reference: {schema: olm.package}}]\n", "needs one message"},
		{"keys that read in two ways", "---\nschema: olm.bundle\npackage: mongodb\ndescription: \"x\nname: fake\ny: z\"\n", "write it on one line"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Resolve(one(t, mongodbCatalog()+test.add), Query{Package: "mongodb"})
			mustFail(t, err, test.want)
		})
	}
	t.Run("an image that is none", func(t *testing.T) {
		text := strings.ReplaceAll(mongodbCatalog(), "image: registry.example/mongodb:v1.10.0", "image: registry.example/mongodb")
		_, err := Resolve(one(t, text), Query{Package: "mongodb"})
		mustFail(t, err, "neither tag nor digest")
	})
	t.Run("a default channel that is not there", func(t *testing.T) {
		_, err := Resolve(one(t, strings.Replace(mongodbCatalog(), "defaultChannel: stable", "defaultChannel: gone", 1)), Query{Package: "mongodb"})
		mustFail(t, err, `default channel "gone" does not exist`)
	})
}

func TestIgnoredPathsAreNotRead(t *testing.T) {
	c := load(t, "cat", map[string]string{
		".indexignore":          "# comment\nN*.json\n/docs/\n**/testdata/**\n!Now.json\n",
		"NOT.json":              "not: [yaml",
		"sub/NOTES.json":        "not: [yaml",
		"docs/x.yaml":           "not: [yaml",
		"a/b/testdata/x/y.yaml": "not: [yaml",
		"sub/.indexignore":      "only-here.yaml\n",
		"sub/only-here.yaml":    "not: [yaml",
		"Now.json":              bundle("m.v1", "m", "1.0.0"),
		"mongodb/catalog.yaml":  mongodbCatalog(),
	})
	if want := []string{"m", "mongodb"}; !slices.Equal(c.Names(), want) {
		t.Errorf("got %q", c.Names())
	}
}

func TestSearch(t *testing.T) {
	cats := []*Catalog{
		load(t, "first", map[string]string{"c": mongodbCatalog()}),
		load(t, "second", map[string]string{"c": "---\nschema: olm.package\nname: another\ndescription: has a Document store\n"}),
	}
	hits := Search(cats, "DOCUMENT")
	if len(hits) != 2 || hits[0].Package != "another" || hits[1].Package != "mongodb" {
		t.Fatalf("got %+v", hits)
	}
	if hits[0].Problem == "" {
		t.Error("a package without channels has no problem")
	}
	want := Hit{Package: "mongodb", DefaultChannel: "stable", Version: "1.10.0", Description: "A document database.", Catalog: cats[0].origin, Terms: hits[1].Terms}
	if hits[1] != want {
		t.Errorf("got %+v, want %+v", hits[1], want)
	}
	for _, form := range []string{
		"{schema: olm.bundle, package: db, name: db1, image: x, properties: [{type: olm.package, value: {packageName: db, version: 1.0.0}}, {type: olm.csv.metadata, value: {displayName: Store, keywords: [Graph, 7], provider: {name: ACME Corp}}}]}",
		`{"schema": "olm.bundle", "package": "db", "name": "db1", "image": "x", "properties": [{"type": "olm.package", "value": {"packageName": "db", "version": "1.0.0"}}, {"type": "olm.csv.metadata", "value": {"displayName": "Store", "keywords": ["Graph"], "provider": {"name": "ACME Corp"}}}]}`,
	} {
		third := []*Catalog{load(t, "third", map[string]string{"c": "---\n{schema: olm.package, name: db, defaultChannel: s, description: holds things}\n---\n{schema: olm.channel, package: db, name: s, entries: [{name: db1}]}\n", "d.json": form})}
		for _, term := range []string{"acme", "graph", "store", "things", "db"} {
			if hits := Search(third, term); len(hits) != 1 || hits[0].Description != "holds things" {
				t.Errorf("%s finds %+v", term, hits)
			}
		}
	}
	if hits := Search(cats, "nothing like it"); len(hits) != 0 || hits == nil {
		t.Errorf("got %+v", hits)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(mongodbCatalog() + deprecations))
	f.Add([]byte(`{"schema":"olm.package","name":"mongodb","defaultChannel":"s"}{"schema":"olm.channel","package":"mongodb","name":"s","entries":[{"name":"a"}]}`))
	f.Add([]byte("{schema: olm.package, name: mongodb}\n---\nname: x\n---"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Load(fstest.MapFS{"c": &fstest.MapFile{Data: data}}, Origin{Reference: "c"})
		if err != nil {
			return
		}
		cats := []*Catalog{c}
		Search(cats, "")
		for _, name := range c.Names() {
			choice, err := Resolve(cats, Query{Package: name})
			if err == nil && (choice.Bundle == "" || choice.Image == "") {
				t.Errorf("an empty choice: %+v", choice)
			}
			_, _ = Resolve(cats, Query{Package: name, Version: ">=0", Installed: &Installed{"x", "1.0.0"}})
		}
	})
}

func mustFail(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}
