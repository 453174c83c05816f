package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyTheLinesOfOneCatalogChange(t *testing.T) {
	const before = `# mine

catalogs:
  # the big one
  - name: community
    reference: registry.example.com/catalogs/community:latest   # floats

  - name: ours
    reference: ./catalog # ours
    priority: 3

# what is cached
cache:
    maxBytes: 7   # a little
`
	path := put(t, filepath.Join(t.TempDir(), "config.yaml"), before)
	getenv := env(map[string]string{"KUBECTL_OPERATOR_CONFIG": path})
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := AddCatalog(getenv, Catalog{Name: "new", Reference: "/srv/my catalog", Priority: -2}); err != nil {
		t.Fatal(err)
	}
	added := strings.Replace(before, "    priority: 3\n", "    priority: 3\n  - name: new\n    reference: /srv/my catalog\n    priority: -2\n", 1)
	expect(t, path, added)
	if _, err := RemoveCatalog(getenv, "community"); err != nil {
		t.Fatal(err)
	}
	expect(t, path, strings.Replace(added, "  # the big one\n  - name: community\n    reference: registry.example.com/catalogs/community:latest   # floats\n", "", 1))
	if _, err := RemoveCatalog(getenv, "new"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
}

func expect(t *testing.T, path, want string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != want {
		t.Errorf("%v; the file is\n%s\nwant\n%s", err, data, want)
	}
}

func TestAConfigurationIsEditedHoweverItIsWritten(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                    "",
		"a comment alone":          "# nothing yet\n",
		"without catalogs":         "# c\ncache: {maxBytes: 7} # d\n",
		"without a last line end":  "cache: {maxBytes: 7}",
		"in one line":              "{cache: {maxBytes: 7}}",
		"an empty list":            "catalogs: []\n",
		"no list":                  "catalogs:\ncache: {maxBytes: 7}\n",
		"a list in one line":       "catalogs: [{name: a, reference: /a}] # c\n",
		"entries in lines":         "catalogs:\n- {name: a, reference: /a}\n- {name: b, reference: /b}\ncache: {maxBytes: 7}\n",
		"references over lines":    "catalogs:\n- name: a\n  reference: >-\n    /a\n",
		"an anchor":                "catalogs:\n- &a {name: a, reference: /a}\n- {name: c, reference: /c}\n",
		"a document start and end": "---\ncache: {maxBytes: 7}\n...\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, filepath.Join(t.TempDir(), "config.yaml"), text)
			getenv := env(map[string]string{"KUBECTL_OPERATOR_CONFIG": path})
			before, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := AddCatalog(getenv, Catalog{Name: "new", Reference: "/new", Priority: 1}); err != nil {
				t.Fatal(err)
			}
			c, err := Load(getenv)
			if err != nil || len(c.Catalogs) != len(before.Catalogs)+1 || c.Cache != before.Cache {
				t.Fatalf("%+v, %v", c, err)
			}
			for i := len(c.Catalogs) - 1; i >= 0; i-- {
				if _, err := RemoveCatalog(getenv, c.Catalogs[i].Name); err != nil {
					t.Fatal(err)
				}
			}
			if c, err = Load(getenv); err != nil || len(c.Catalogs) != 0 || c.Cache != before.Cache {
				t.Errorf("%+v, %v", c, err)
			}
			data, _ := os.ReadFile(path)
			for _, comment := range []string{"# c", "# d", "# nothing yet"} {
				if strings.Contains(text, comment) && !strings.Contains(string(data), comment) {
					t.Errorf("the comment %q is gone:\n%s", comment, data)
				}
			}
		})
	}
}

func TestWhatCannotBeEditedIsLeftAlone(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a file that does not parse": {"catalogs: [", "changing the configuration"},
		"an unknown field":           {"catalogues: []", "unknown field"},
		"a name that is there":       {"catalogs: [{name: new, reference: /x}]", `it has a catalog "new" already; remove that first`},
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, filepath.Join(t.TempDir(), "config.yaml"), test.text)
			_, err := AddCatalog(env(map[string]string{"KUBECTL_OPERATOR_CONFIG": path}), Catalog{Name: "new", Reference: "/new"})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			expect(t, path, test.text)
		})
	}
	getenv := env(map[string]string{"KUBECTL_OPERATOR_CONFIG": put(t, filepath.Join(t.TempDir(), "c"), "")})
	if _, err := RemoveCatalog(getenv, "x"); err == nil || !strings.Contains(err.Error(), `it has no catalog "x"`) {
		t.Error(err)
	}
	if _, err := AddCatalog(getenv, Catalog{Name: "x", Reference: "mongodb"}); err == nil || !strings.Contains(err.Error(), "want a directory") {
		t.Error(err)
	}
	if _, err := AddCatalog(env(nil), Catalog{Name: "x", Reference: "/x"}); err == nil || !strings.Contains(err.Error(), "no place for the configuration") {
		t.Error(err)
	}
}

func TestANewConfigurationIsPrivateAndALinkStaysOne(t *testing.T) {
	home := t.TempDir()
	getenv := env(map[string]string{"HOME": home})
	path, err := AddCatalog(getenv, Catalog{Name: "a", Reference: "/a"})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || path != filepath.Join(home, ".config/kubectl-operator/config.yaml") {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	elsewhere := filepath.Join(home, "dotfiles.yaml")
	if err := os.Rename(path, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if _, err := AddCatalog(getenv, Catalog{Name: "b", Reference: "/b"}); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(path); err != nil || target != elsewhere {
		t.Errorf("the link is gone: %q, %v", target, err)
	}
	if c, err := Load(getenv); err != nil || len(c.Catalogs) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("catalogs:\n- name: a\n  reference: /a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		have, err := Parse(data)
		if err != nil {
			return
		}
		want := have
		want.Catalogs = append(append([]Catalog{}, have.Catalogs...), Catalog{Name: "fuzz-new", Reference: "/new"})
		out, err := rewrite(data, have, want)
		if err != nil {
			return
		}
		if _, err := rewrite(out, want, have); err != nil && len(have.Catalogs) > 0 {
			t.Errorf("what was added cannot be removed: %v\n%s", err, out)
		}
	})
}
