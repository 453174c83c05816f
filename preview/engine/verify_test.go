package engine_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

func TestSavedPlanComesBackAsItWas(t *testing.T) {
	p := mustOffline(t, bundle("mongodb", "1.11.0"))
	loaded := reload(t, encode(t, p))
	verified, notice, err := engine.Verify(loaded, k8s.NewSchemas())
	if err != nil || notice != "" {
		t.Fatalf("%v, %q", err, notice)
	}
	if verified.Digest != p.Digest || len(verified.Findings) != len(p.Findings) {
		t.Errorf("digest %s, want %s", verified.Digest, p.Digest)
	}
	if verified.Request.Reference != "" || verified.Packages[0].Sources[0].Reference != "" {
		t.Error("what is only recorded is shown from a loaded plan")
	}
}

// Every leaf of plan.json is changed in turn, and every body: the plan is
// refused, or what would be displayed is the same.
func TestSlowEveryTamperedLeafIsRefusedOrNotShown(t *testing.T) {
	slowtest.Skip(t, "changing every leaf of a real plan")
	p := mustOffline(t, bundle("mongodb", "1.11.0"))
	tamperEveryLeaf(t, p)
}

// TestEveryTamperedLeafOfWhatGoesIsRefusedOrNotShown: of what is only deleted
// there is no planned object, and every leaf is held by something else.
func TestEveryTamperedLeafOfWhatGoesIsRefusedOrNotShown(t *testing.T) {
	older := versionOf(t, "1.0.0", configMap("gone", "a"), configMap("same", "a"), privileged("old"))
	newer := versionOf(t, "1.1.0", configMap("same", "a"))
	p, err := engine.Compare([]planned.Content{newer}, []planned.Content{older},
		preview.Baseline{Package: "op", Version: "1.0.0"},
		engine.Options{Release: preview.Release{Name: "op", Namespace: "app"}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas()})
	if err != nil || p.Summary.Delete != 2 {
		t.Fatalf("%v, %+v", err, p.Summary)
	}
	tamperEveryLeaf(t, p)

	// A file that was not even read has nothing but the digest.
	unread := func(apiVersion string) string {
		p := &preview.Plan{Objects: []preview.Object{{ID: "apps/Deployment/app/x", APIVersion: apiVersion, Kind: "Deployment", Namespace: "app", Name: "x", Action: preview.ActionUnknown}}}
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		return p.Digest
	}
	if unread("apps/v1") == unread("apps/v1evil") {
		t.Error("the version of an object that was not read is in no digest")
	}
}

func tamperEveryLeaf(t *testing.T, p *preview.Plan) {
	schemas := k8s.NewSchemas()
	files := unpack(t, encode(t, p))
	verified, _, err := engine.Verify(reload(t, pack(t, files)), schemas)
	if err != nil {
		t.Fatal(err)
	}
	want := show(t, verified)
	refused, unseen := 0, 0
	for _, name := range names(files) {
		n := countLeaves(parse(t, files[name]))
		step := 1
		if name != "plan.json" {
			step = max(1, n/5) // each body is one hash: a few leaves of each will do
		}
		for i := 0; i < n; i += step {
			altered, path := alterLeaf(parse(t, files[name]), i)
			data, err := json.Marshal(altered)
			if err != nil {
				t.Fatal(err)
			}
			tampered := cloneFiles(files)
			tampered[name] = data
			loaded, err := planfile.Decode(bytes.NewReader(pack(t, tampered)))
			if err != nil {
				refused++
				continue
			}
			got, _, err := engine.Verify(loaded, schemas)
			var refusal *engine.RefusedError
			switch {
			case errors.As(err, &refusal):
				refused++
			case err != nil:
				t.Errorf("%s %s: %v, want a refusal", name, path, err)
			case show(t, got) == want:
				unseen++
			default:
				t.Errorf("%s %s was changed, accepted, and is shown", name, path)
			}
		}
	}
	t.Logf("%d changes refused, %d not shown", refused, unseen)
	if refused == 0 || unseen == 0 {
		t.Errorf("%d refused, %d not shown", refused, unseen)
	}
}

func TestBodiesCannotBeLeftOutOrAdded(t *testing.T) {
	p := mustOffline(t, bundle("redis", "2.4.1"))
	files := unpack(t, encode(t, p))
	for _, name := range names(files) {
		if name == "plan.json" {
			continue
		}
		missing := cloneFiles(files)
		delete(missing, name)
		if _, _, err := engine.Verify(reload(t, pack(t, missing)), k8s.NewSchemas()); err == nil {
			t.Errorf("without %s the plan still verifies", name)
		}
	}
	added := cloneFiles(files)
	added["objects/core/ConfigMap/x/y.json"] = []byte("{}")
	if _, err := planfile.Decode(bytes.NewReader(pack(t, added))); err == nil {
		t.Error("an object that the plan does not have was accepted")
	}
}

func show(t *testing.T, p *preview.Plan) string {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func encode(t *testing.T, p *preview.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := planfile.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func reload(t *testing.T, data []byte) *preview.Plan {
	t.Helper()
	p, err := planfile.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unpack(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

func pack(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for _, name := range names(files) {
		if err := archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(files[name])), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func names(files map[string][]byte) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func cloneFiles(files map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range files {
		out[k] = v
	}
	return out
}

func parse(t *testing.T, data []byte) any {
	t.Helper()
	v, err := preview.DecodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func countLeaves(v any) int {
	n := 0
	walk(v, "", func(string, any) any { n++; return nil })
	return n
}

// alterLeaf changes the i-th leaf and says where it is.
func alterLeaf(v any, i int) (altered any, path string) {
	n := 0
	altered = walk(v, "", func(at string, leaf any) any {
		n++
		if n-1 != i {
			return nil
		}
		path = at
		switch leaf := leaf.(type) {
		case string:
			return leaf + "x"
		case bool:
			return !leaf
		case int64:
			return leaf + 1
		}
		return "something"
	})
	return altered, path
}

// walk rebuilds a value in key order; change returns nil to keep a leaf. Empty
// lists and maps are leaves.
func walk(v any, path string, change func(path string, leaf any) any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			out := map[string]any{}
			var keys []string
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				out[k] = walk(v[k], strings.TrimPrefix(path+"."+k, "."), change)
			}
			return out
		}
	case []any:
		if len(v) > 0 {
			out := make([]any, len(v))
			for i := range v {
				out[i] = walk(v[i], fmt.Sprintf("%s[%d]", path, i), change)
			}
			return out
		}
	}
	if to := change(path, v); to != nil {
		return to
	}
	return v
}
