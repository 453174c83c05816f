package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fullPlan has something in every field of the contract.
func fullPlan(t testing.TB) *Plan {
	t.Helper()
	p := &Plan{}
	fill(reflect.ValueOf(p).Elem(), 0)
	p.Objects = []Object{p.Objects[0], p.Objects[0]}
	p.Objects[1].ID = "core/ConfigMap/n/b"
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

// fill sets every exported field that has a JSON name.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		item := reflect.New(v.Type().Elem()).Elem()
		fill(item, depth+1)
		v.SetMapIndex(reflect.ValueOf("key"), item)
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Interface:
		v.Set(reflect.ValueOf("any"))
	}
}

func TestPlanSpeaksTheJSONNamesOfTheContract(t *testing.T) {
	p := fullPlan(t)
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                              "access against apiVersion appliedBy base cloud complete configChanges contentDigest digest files findings generation images kind location objects optionChanges options packages platform platforms policy readMode reads recordChanges release releaseOptions request ruleset stages summary target tool undo unknowns verdict",
		"request":                       "action beside channel cloudPolicies file fileRequest flags format keep leftOut path reference revision version",
		"release":                       "name namespace",
		"releaseOptions":                "cloudPolicies conflicts conflictsOf format path pinImages platform strict unknown values variables",
		"releaseOptions.values.0":       "integers json keys withheld",
		"optionChanges.0":               "change default from keys option to",
		"recordChanges.0":               "from of to what",
		"appliedBy":                     "controller fails failsOn limits manager method object overwrites record revision state tool",
		"appliedBy.limits.0":            "detail object what window",
		"appliedBy.limits.0.window":     "duration kind manualSync schedule timeZone",
		"options":                       "adopt conflicts conflictsOf expires includeCRDs includeNamespaces onFailure prune strict",
		"target":                        "context identity server user version",
		"packages.0":                    "bundle cloudDocuments contentDigest dependencies executors format isolation name notes parameters referrers relatedImages requires sources verification version via",
		"packages.0.parameters":         "certs clusterReads installMode kubeVersion section values watchNamespaces",
		"packages.0.parameters.section": "namespace package",
		"packages.0.sources.0":          "digest kind reference verification",
		"packages.0.via.0":              "channel digest kind reference rejected verification why",
		"packages.0.verification":       "identity status",
		"objects.0":                     "action adoption apiVersion applied changes conflicts contested digest format hook id kind left live manager name namespace origin package result secretKeys",
		"objects.0.live":                "fingerprint uid",
		"objects.0.conflicts.0":         "manager path",
		"objects.0.changes.0":           "from op path to",
		"objects.0.origin":              "document file line",
		"files.0":                       "action changes contents live mode origin path sha256 size text",
		"files.0.changes.0":             "from op path to",
		"configChanges.0":               "from op path to",
		"packages.0.executors.0":        "by image",
		"platforms.0":                   "contentDigest files platform sources",
		"platforms.0.sources.0":         "digest kind",
		"platforms.0.files.0":           "contents mode origin path sha256 size",
		"generation":                    "from restores to",
		"location":                      "host path",
		"files.0.live":                  "mode sha256",
		"stages.0":                      "id objects requires rollback timeout",
		"access":                        "accounts gained grants installer lost wildcards",
		"access.wildcards":              "against meanings more unanswered version why",
		"access.wildcards.meanings.0":   "apiGroups count dangerous more notServed others resources scope verbs",
		"access.wildcards.meanings.0.dangerous.0": "resource verbs",
		"access.grants.0":                         "apiGroups change held namespace nonResourceURLs resourceNames resources rules scope subject verbs via",
		"access.grants.0.subject":                 "kind name namespace",
		"access.installer.missing.0":              "resource verb why",
		"cloud.permissions.0":                     "actions certainty change conditions effect origin provider resources roles rules",
		"cloud.declared.0":                        "certainty origin provider",
		"images.0":                                "digest pinned reference usedBy",
		"reads.0":                                 "fingerprint id uid",
		"findings.0":                              "acceptedIn alsoDeleted alsoIn case claim counted evidence fingerprint id judged line object pieces ref rule severity subjects title why",
		"summary":                                 "adopt blocked create delete keep patch replace shared skip unchanged unknown update",
		"unknowns.0":                              "object quota reason served why",
		"against":                                 "carrier contentDigest notes package reference version",
		"policy":                                  "path sha256 waived",
		"undo":                                    "contentDigest findings objects revision",
		"undo.objects.0":                          "action apiVersion digest id",
		"verdict":                                 "changes groups mitigations obstacles otherFields sentence",
		"verdict.obstacles.0":                     "cause flags object remedy",
		"verdict.changes.0":                       "gained text topic what who",
		"findings.0.judged":                       "by expires owner reason was",
	} {
		at := any(got)
		for _, key := range strings.Split(path, ".") {
			switch v := at.(type) {
			case map[string]any:
				if key != "" {
					at = v[key]
				}
			case []any:
				at = v[0]
			}
		}
		m, _ := at.(map[string]any)
		if names := strings.Join(slices.Sorted(maps.Keys(m)), " "); names != want {
			t.Errorf("%s:\n got %s\nwant %s", path, names, want)
		}
	}
}

func TestEmptyPlanHasListsNotNulls(t *testing.T) {
	p := &Plan{Packages: []Package{{}}, Objects: []Object{{}}, Images: []Image{{}}, Stages: []Stage{{}}}
	p.Access.Grants, p.Cloud.Permissions = []Grant{{}}, []CloudPermission{{}}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(p)
	text := strings.ReplaceAll(string(data), `"from":null`, "")
	if i := strings.Index(text, "null"); i >= 0 {
		t.Errorf("…%s", text[max(0, i-60):i+4])
	}
}

// Every Fact moves the digest; nothing else does.
func TestDigestCoversExactlyTheFacts(t *testing.T) {
	facts := map[string]bool{
		"release": true, "base": true, "readMode": true, "undo": true, "options": true, "releaseOptions": true, "optionChanges": true, "recordChanges": true, "appliedBy": true, "target.identity": true,
		"packages.0.name": true, "packages.0.contentDigest": true, "packages.0.requires": true, "packages.0.dependencies": true,
		"packages.0.notes": true, "packages.0.relatedImages": true, "packages.0.executors": true, "packages.0.bundle": true, "packages.0.format": true, "packages.0.sources.0.kind": true, "packages.0.sources.0.digest": true,
		"objects.0.package": true, "objects.0.origin": true, "files": true, "stages": true,
		"platform": true, "generation": true, "location": true, "platforms": true, "configChanges": true,
		"against.package": true, "against.version": true, "against.contentDigest": true, "against.notes": true, "against.carrier": true,
		"reads": true, "unknowns": true, "cloud": true, "access.grants": true,
		"objects.0.id": true, "objects.0.action": true, "objects.0.digest": true, "objects.0.live": true,
		"objects.0.conflicts": true, "objects.0.result": true, "objects.0.secretKeys": true, "objects.0.hook": true, "objects.0.adoption": true, "objects.0.manager": true, "objects.0.left": true, "objects.0.format": true, "objects.0.applied": true,
	}
	// Fields that Seal computes, and fields below a Fact that are no facts.
	view := []string{"base.packages", "access.grants.0.rules", "cloud.permissions.0.rules", "cloud.permissions.0.certainty", "cloud.declared.0.certainty", "digest", "contentDigest", "summary", "apiVersion", "kind", "ruleset", "complete"}
	before := fullPlan(t).Digest
	leaves(reflect.ValueOf(fullPlan(t)).Elem(), "", func(path string, _ reflect.Value) {
		isFact := false
		for prefix := range facts {
			isFact = isFact || path == prefix || strings.HasPrefix(path, prefix+".")
		}
		for _, prefix := range view {
			if path == prefix || strings.HasPrefix(path, prefix+".") {
				isFact = false
			}
		}
		if strings.HasPrefix(path, "objects.1") {
			return
		}
		changed := fullPlan(t)
		leaves(reflect.ValueOf(changed).Elem(), "", func(other string, v reflect.Value) {
			if other == path {
				alter(v)
			}
		})
		if err := changed.Seal(); err != nil {
			t.Fatal(err)
		}
		if moved := changed.Digest != before; moved != isFact {
			t.Errorf("%s: moved the digest: %v, is a Fact: %v", path, moved, isFact)
		}
	})
}

func leaves(v reflect.Value, path string, visit func(string, reflect.Value)) {
	join := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name != "-" {
				leaves(v.Field(i), join(name), visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), join(fmt.Sprint(i)), visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			leaves(v.Elem(), path, visit)
		}
	default:
		visit(path, v)
	}
}

func alter(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("other")
	case reflect.Int, reflect.Int64:
		v.SetInt(8)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Interface:
		v.Set(reflect.ValueOf("other"))
	}
}

func TestContentDigestDependsOnContentAlone(t *testing.T) {
	release := Release{Name: "a", Namespace: "n"}
	pkg := Package{
		Name: "p", Version: "1.0.0", Bundle: "p.v1", Format: "f",
		Sources: []Source{{Kind: "image", Reference: "host/repo:tag", Digest: "sha256:1"}},
		Via:     []ResolutionStep{{Kind: "catalog", Reference: "c"}},
	}
	objects := []Object{{ID: "b", Digest: "2", Action: ActionCreate}, {ID: "a", Digest: "1"}}
	base, err := ContentDigest(release, pkg, objects, nil)
	if err != nil {
		t.Fatal(err)
	}
	same := func(name string, p Package, o []Object) {
		if got, _ := ContentDigest(release, p, o, nil); got != base {
			t.Errorf("%s moves the content digest", name)
		}
	}
	other := pkg
	other.Sources = []Source{{Kind: "directory", Reference: "./elsewhere", Digest: "sha256:1"}}
	same("the reference", other, objects)
	other = pkg
	other.Via, other.Verification = nil, Verification{Status: "verified"}
	same("the catalog", other, objects)
	reversed := slices.Clone(objects)
	slices.Reverse(reversed)
	same("the order of objects", pkg, reversed)
	moved := slices.Clone(objects)
	moved[0].Action, moved[0].Live = ActionUpdate, Live{UID: "u"}
	same("what the cluster holds", pkg, moved)

	for name, change := range map[string]func(*Package, []Object){
		"a pin":             func(p *Package, _ []Object) { p.Sources = []Source{{Digest: "sha256:2"}} },
		"the version":       func(p *Package, _ []Object) { p.Version = "2.0.0" },
		"a parameter":       func(p *Package, _ []Object) { p.Parameters.Certs = "none" },
		"an object's bytes": func(_ *Package, o []Object) { o[0].Digest = "3" },
	} {
		p, o := pkg, slices.Clone(objects)
		change(&p, o)
		if got, _ := ContentDigest(release, p, o, nil); got == base {
			t.Errorf("%s does not move the content digest", name)
		}
	}
}

func TestStagesFollowThePhaseOrder(t *testing.T) {
	object := func(apiVersion, kind, name string, action Action) Object {
		r := Ref{APIVersion: apiVersion, Kind: kind, Name: name}
		return Object{ID: r.ID(), APIVersion: apiVersion, Kind: kind, Name: name, Action: action}
	}
	stages := BuildStages([]Object{
		object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "w", ActionCreate),
		object("apps/v1", "Deployment", "d", ActionUpdate),
		object("example.com/v1", "Anything", "x", ActionCreate),
		object("v1", "Namespace", "n", ActionCreate),
		object("v1", "ConfigMap", "old", ActionDelete),
		object("apiregistration.k8s.io/v1", "APIService", "old", ActionDelete),
		object("rbac.authorization.k8s.io/v1", "ClusterRole", "r", ActionCreate),
	}, "")
	var got []string
	for _, s := range stages {
		got = append(got, s.ID+strings.Join(s.Requires, ",")+":"+fmt.Sprint(len(s.Objects)))
	}
	want := "namespaces:1 rolesnamespaces:1 deployroles:2 admissiondeploy:1 pruneadmission:2"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
	if last := stages[len(stages)-1]; !strings.Contains(last.Objects[0], "APIService") {
		t.Errorf("deletions begin with %s, want the APIService that could block others", last.Objects[0])
	}
	if overridden := BuildStages([]Object{object("v1", "Namespace", "n", ActionCreate)}, "9s"); overridden[0].Timeout != "9s" {
		t.Errorf("timeout %s", overridden[0].Timeout)
	}
}

func TestSetIDIsKubectlsOwn(t *testing.T) {
	// KEP-3659's test value, with our record's name worked out by hand.
	if got := SetID(Release{Name: "x", Namespace: "ns"}); len(got) != 55 || !strings.HasPrefix(got, "applyset-") || !strings.HasSuffix(got, "-v1") {
		t.Errorf("got %s", got)
	}
}

func TestForeignOwners(t *testing.T) {
	release := Release{Name: "r", Namespace: "n"}
	ours := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	Mark(ours, release)
	if owner, foreign := ForeignOwner(ours, release); foreign || !IsMember(ours, release) {
		t.Errorf("our own object belongs to %v", owner)
	}
	if owner, foreign := ForeignOwner(ours, Release{Name: "other", Namespace: "n"}); !foreign || owner.String() != "release r" {
		t.Errorf("another release's object belongs to %v", owner)
	}
	for text, want := range map[string]string{
		"annotations: {meta.helm.sh/release-name: h}":             "Helm release h",
		"labels: {olm.operatorframework.io/owner-name: e}":        "OLM v1 extension e",
		"labels: {olm.owner: c}":                                  "OLM operator c",
		"annotations: {argocd.argoproj.io/tracking-id: t}":        "Argo CD application t",
		"labels: {kustomize.toolkit.fluxcd.io/name: k}":           "Flux Kustomization k",
		"labels: {applyset.kubernetes.io/part-of: applyset-x-v1}": "ApplySet applyset-x-v1",
	} {
		body := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, "+text+"}}")
		if owner, foreign := ForeignOwner(body, release); !foreign || owner.String() != want {
			t.Errorf("%s: got %v", text, owner)
		}
	}
}
