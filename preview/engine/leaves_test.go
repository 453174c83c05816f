package engine_test

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// leafPaths returns the path of each scalar of a value: keys and indexes.
func leafPaths(value any, path []string, out *[][]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			leafPaths(item, append(slices.Clone(path), key), out)
		}
	case []any:
		for i, item := range v {
			leafPaths(item, append(slices.Clone(path), strconv.Itoa(i)), out)
		}
	default:
		*out = append(*out, path)
	}
}

// atPath calls change with the value at a path and puts what it returns in its place; a
// nil removes the key or the item.
func atPath(value any, path []string, change func(any) any) any {
	if len(path) == 0 {
		return change(value)
	}
	switch v := value.(type) {
	case map[string]any:
		if v[path[0]] = atPath(v[path[0]], path[1:], change); v[path[0]] == nil {
			delete(v, path[0])
		}
		return v
	case []any:
		i, _ := strconv.Atoi(path[0])
		if v[i] = atPath(v[i], path[1:], change); v[i] == nil {
			return slices.Delete(v, i, i+1)
		}
		return v
	}
	return value
}

func otherValue(value any) any {
	switch v := value.(type) {
	case string:
		return v + "x"
	case bool:
		return !v
	case int64:
		return v + 1
	}
	return fmt.Sprint(value) + "x"
}

// leafChange is a version of a content with one object changed at a path.
type leafChange struct {
	content planned.Content
	at      int
	path    []string
}

func (l leafChange) version(change func(any) any) planned.Content {
	out := l.content
	out.Objects = slices.Clone(out.Objects)
	out.Objects[l.at].Planned = atPath(preview.CloneBody(out.Objects[l.at].Planned), l.path, change).(map[string]any)
	return out
}

// part returns the leaf, or its subject or rule if the rest without the leaf is no version.
func (l leafChange) part() leafChange {
	switch {
	case l.path[0] == "subjects":
		l.path = l.path[:2]
	case l.isName() && len(l.rule().ResourceNames) == 1:
		l.path = l.path[:2] // a rule without names gives more
	}
	return l
}

// isName reports whether the leaf is a resource name of a rule.
func (l leafChange) isName() bool { return len(l.path) == 4 && l.path[2] == "resourceNames" }

// rule returns the rule that a leaf of a role is of.
func (l leafChange) rule() preview.Grant {
	n, _ := strconv.Atoi(l.path[1])
	return access.Rules(map[string]any{"rules": preview.List(l.content.Objects[l.at].Planned, "rules")[n:][:1]})[0]
}

// findings returns which findings a version has by itself.
func findings(t *testing.T, release preview.Release, version planned.Content) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, f := range comparison(t, release, planned.Content{}, version).Findings {
		found[f.ID+f.Fingerprint] = true
	}
	return found
}

func comparison(t *testing.T, release preview.Release, older, newer planned.Content) *preview.Plan {
	t.Helper()
	p, err := engine.Compare([]planned.Content{newer}, []planned.Content{older}, preview.Baseline{Package: older.Package.Name, Version: "before"},
		engine.Options{Release: release, Apply: preview.DefaultOptions(), Schemas: leafSchemas()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// leafSchemas are read once: each time takes as long as a plan.
var leafSchemas = sync.OnceValue(k8s.NewSchemas)

// A finding counts as one that the older version has too only while nothing that decides
// it changes: for every finding of the corpus, each leaf of its object, and each leaf of
// other objects that the finding depends on. Of roles and bindings the latter alone
// counts, as rights rest on rules and not on whole objects. The usual run takes two
// leaves of an object in each fourth bundle, a soak all.
func TestSlowNoFindingOfAChangedLeafIsAsBefore(t *testing.T) {
	slowtest.Skip(t, "a plan for each leaf of the objects that findings are about")
	var total leafCount
	for i, dir := range corpustest.Bundles(t) {
		if !slowtest.InSample(i, 4) {
			continue
		}
		content, release, err := seal(t, dir)
		if err != nil {
			continue // see TestSlowEveryRealBundleHasOneContentDigest
		}
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			about := map[string]bool{}
			for _, f := range comparison(t, release, content, content).Findings {
				about[f.Object] = about[f.Object] || f.AlsoIn != ""
			}
			for at := range content.Objects {
				if o := &content.Objects[at]; about[o.ID] || ofRBAC(o) {
					total.changeLeaves(t, release, content, at)
				}
			}
		})
	}
	t.Logf("%d leaves of %d objects were changed; of %d findings in these plans %d were as before",
		total.leaves, total.objects, total.findings, total.before)
	if total.leaves < 100 || total.before < 100 {
		t.Errorf("%+v are too few to say anything", total)
	}
}

// leafCount counts the leaves that were changed, of how many objects, and the findings in
// the plans of that, those as before among them.
type leafCount struct{ objects, leaves, findings, before int }

// changeLeaves changes leaves of an object, each in its own plan.
func (n *leafCount) changeLeaves(t *testing.T, release preview.Release, content planned.Content, at int) {
	t.Helper()
	var paths [][]string
	o := &content.Objects[at]
	leafPaths(map[string]any(o.Planned), nil, &paths)
	slices.SortFunc(paths, slices.Compare)
	paths = slices.DeleteFunc(paths, func(path []string) bool {
		text := strings.Join(path, ".")
		return text == "apiVersion" || text == "kind" || text == "metadata.name" || text == "metadata.namespace" // another object
	})
	most := 2
	if slowtest.Soak() {
		most = len(paths)
	}
	// A finding that is there without the whole object is there without each of its parts.
	whole := content
	whole.Objects = slices.Delete(slices.Clone(content.Objects), at, at+1)
	without := map[string]map[string]bool{"": findings(t, release, whole)}
	n.objects++
	for _, path := range someOf(paths, most, o.ID) {
		l := leafChange{content, at, path}
		n.leaves++
		for _, f := range comparison(t, release, content, l.version(otherValue)).Findings {
			n.findings++
			if f.AlsoIn == "" {
				continue
			}
			n.before++
			decides := f.Object == o.ID && !ofRBAC(o)
			if !decides && !without[""][f.ID+f.Fingerprint] {
				part := l.part()
				key := strings.Join(part.path, "\x00")
				if without[key] == nil {
					without[key] = findings(t, release, part.version(func(any) any { return nil }))
				}
				decides = !without[key][f.ID+f.Fingerprint]
			}
			if decides {
				t.Errorf("%s: %s changed, and %s of %s is as before: %s", o.ID, strings.Join(path, "."), f.Rule, f.Object, f.Evidence)
			}
		}
	}
}

func ofRBAC(o *preview.Object) bool { return o.Ref().Group() == "rbac.authorization.k8s.io" }

// someOf returns n of the paths, by a hash of the text: the same in each run, others for
// each object.
func someOf(paths [][]string, n int, text string) [][]string {
	hash := fnv.New32()
	_, _ = hash.Write([]byte(text))
	var out [][]string
	for i := range min(n, len(paths)) {
		out = append(out, paths[(int(hash.Sum32()>>1)+i*7919)%len(paths)])
	}
	return out
}
