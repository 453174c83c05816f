package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

var (
	htmlTag   = regexp.MustCompile(`</?([a-zA-Z!][a-zA-Z0-9]*)`)
	htmlAttr  = regexp.MustCompile(`\s(on[a-z]+|style|src|srcset|action|formaction|xlink:href)\s*=`)
	htmlLinks = regexp.MustCompile(`href="([^"]*)"`)
	ownHTML   = map[string]bool{}
)

func init() {
	for _, match := range htmlTag.FindAllStringSubmatch(pageTemplate, -1) {
		ownHTML[match[1]] = true
	}
}

// Whatever a plan holds, the page has the tags of its template only, one
// script, one style, and no address but those of our own pages.
func TestHTMLFromOutsideIsInert(t *testing.T) {
	for i, text := range append(injections, `"><script>alert(1)</script>`, `' onmouseover='alert(1)`, `</style><script>`, `{{.Title}}`, `</script>`) {
		t.Run(fmt.Sprintf("%d %.20q", i, text), func(t *testing.T) {
			got := write(t, reviewtest.HostilePlan(text), Options{Format: HTML})
			got = strings.Replace(got, "<script>"+pageScript+"</script>", "", 1)
			got = strings.Replace(got, "<style>"+pageStyle+"</style>", "", 1)
			if strings.Contains(got, "<script") || strings.Contains(got, "<style") {
				t.Fatal("there is another script or style, or ours is not what was hashed")
			}
			for _, match := range htmlTag.FindAllStringSubmatch(got, -1) {
				if !ownHTML[match[1]] {
					t.Errorf("tag %s", match[0])
				}
			}
			for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(got, -1) {
				if htmlAttr.MatchString(tag) {
					t.Errorf("attribute in %.200s", tag)
				}
			}
			for _, match := range htmlLinks.FindAllStringSubmatch(got, -1) {
				anchor, inside := strings.CutPrefix(match[1], "#")
				if inside && strings.Count(got, `id="`+anchor+`"`) != 1 || !inside && !strings.HasPrefix(match[1], "https://kubernetes.io/") {
					t.Errorf("link to %s", match[1])
				}
			}
		})
	}
}

// Style and script must pass the writer as they are, or the policy's hashes are
// wrong.
func TestThePageSaysItsPolicy(t *testing.T) {
	got := write(t, reviewtest.Plans(t)["fresh-install"], Options{Format: HTML})
	for _, want := range []string{
		"default-src &#39;none&#39;", "<script>" + pageScript + "</script>", "<style>" + pageStyle + "</style>", "prefers-color-scheme",
		strings.ReplaceAll(sourceHash(pageScript), "+", "&#43;"), strings.ReplaceAll(sourceHash(pageStyle), "+", "&#43;"),
		"kubectl operator install mongodb", "rbac-secrets-read", "To reduce it:", "manifests/all.yaml", `id="rule-rbac-secrets-read"`,
	} {
		if !strings.Contains(got, want) && !strings.Contains(got, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page has no %.80s", want)
		}
	}
	if strings.ContainsAny(pageScript+pageStyle, "\t\r") {
		t.Error("a tab would be expanded on its way out")
	}
}

// The page lists its sections, and shows the changed fields and the accounts.
func TestThePageHasContents(t *testing.T) {
	p := reviewtest.Plans(t)["upgrade"]
	p.Access.Accounts = []preview.Account{{Subject: preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "app", Name: "op"}, Extent: "cluster-admin"}}
	got := write(t, p, Options{Format: HTML})
	for _, want := range []string{
		`<a href="#changes">Changes</a>`, `<a href="#accounts">Accounts</a>`, `<a href="#apply">Apply this plan</a>`, `<td data-name="amounts to">cluster-admin in effect</td>`,
		`<span class="object">@@ Deployment operator @@</span>`, `<span class="del">- .spec.replicas: 1</span>`, `<span class="add">&#43; .spec.replicas: 2</span>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// manyObjects is a plan of n objects with changes and manifests.
func manyObjects(t testing.TB, n int) *preview.Plan {
	p := reviewtest.Base(preview.RequestInstall)
	for i := range n {
		name := fmt.Sprint("settings-", i)
		p.Objects = append(p.Objects, preview.Object{
			ID: "core/ConfigMap/ns/" + name, APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: name, Package: "mongodb",
			Action: preview.ActionUpdate, Origin: preview.Origin{File: "manifests/all.yaml", Document: i + 1},
			Changes: []preview.Change{{Path: ".data.a", Op: "change", From: "<b>old</b>", To: fmt.Sprint("needle", i)}},
			Planned: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "ns"},
				"data": map[string]any{"a": fmt.Sprint("needle", i), "long": strings.Repeat("text ", 200)}},
		})
	}
	p.Findings = freshInstallFindings()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func freshInstallFindings() []preview.Finding {
	return []preview.Finding{reviewtest.Finding(preview.Critical, "rbac-secrets-read", "core/ConfigMap/ns/settings-0", "can read Secrets", "why", "get secrets; list secrets")}
}

func TestSlowPageOfManyObjectsIsBounded(t *testing.T) {
	slowtest.Skip(t, "a page of 5,000 objects")
	got := write(t, manyObjects(t, 5000), Options{Format: HTML})
	if n := strings.Count(got, `class="item update"`); n != 5000 {
		t.Errorf("%d objects", n)
	}
	p := manyObjects(t, 220)
	for i := range p.Objects {
		p.Objects[i].Planned["data"] = map[string]any{"a": strings.Repeat("x", 70_000)}
	}
	got = write(t, p, Options{Format: HTML})
	if len(got) > maxManifests+1<<20 || strings.Count(got, manifestCut) < 220 {
		t.Errorf("%d bytes, %d manifests are said to be cut", len(got), strings.Count(got, manifestCut))
	}
}

func BenchmarkHTML5000(b *testing.B) {
	p := manyObjects(b, 5000)
	for b.Loop() {
		n := counter(0)
		if err := Write(&n, p, Options{Format: HTML}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(n))
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
