package planfile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func plan(t testing.TB, data string) *preview.Plan {
	t.Helper()
	body := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "n"},
		"data":     map[string]any{data: "v", "big": int64(9007199254740993)},
	}
	ref := preview.RefOf(body)
	p := &preview.Plan{
		Objects: []preview.Object{{
			ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
			Action: preview.ActionUpdate, Planned: body, LiveBody: body, ResultBody: body,
		}},
		Reads: []preview.Read{{ID: "core/Namespace/-/n", Body: map[string]any{"kind": "Namespace"}}},
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanFilesRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.tgz")
	p := plan(t, "key")
	if err := Save(path, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	file, err := Load(path, Keys{})
	if err != nil {
		t.Fatal(err)
	}
	loaded := file.Plan
	o := loaded.Objects[0]
	if loaded.Digest != p.Digest || preview.Value(o.Planned, "data", "big") != int64(9007199254740993) || o.LiveBody == nil || o.ResultBody == nil || loaded.Reads[0].Body == nil {
		t.Errorf("loaded %+v", o)
	}
	var a, b bytes.Buffer
	if err := errors.Join(Encode(&a, p), Encode(&b, p)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same plan gives different bytes")
	}
}

func TestPlanFilesAreNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.tgz")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Save(path, plan(t, "key"), Options{})
	if err == nil || !strings.Contains(err.Error(), "is not overwritten") {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "mine" {
		t.Errorf("the file now holds %q", data)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left behind", len(entries))
	}
}

func TestSecretsAreNotSavedSilently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.tgz")
	p := plan(t, "password")
	var secrets *SecretsError
	if err := Save(path, p, Options{}); !errors.As(err, &secrets) || secrets.Objects[0] != "core/ConfigMap/n/a" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written")
	}
	if err := Save(path, p, Options{PlaintextSecrets: true}); err != nil {
		t.Error(err)
	}
}

func archive(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		header := &tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600, Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// document is a plan.json as it is written.
func document(t testing.TB) string {
	t.Helper()
	entries, err := entriesOf(plan(t, "key"))
	if err != nil {
		t.Fatal(err)
	}
	return string(entries[0].data)
}

func TestDecodeRefuses(t *testing.T) {
	const head = `{"apiVersion":"kubectl-operator/v1alpha1","kind":"Plan"`
	whole := document(t)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"something that is no archive":    {[]byte("hello"), "not a plan file"},
		"an archive without a plan":       {archive(t, "x", "y"), "plan.json is missing"},
		"another document":                {archive(t, "plan.json", `{"apiVersion":"v1","kind":"Pod"}`), "not a Plan"},
		"a field that the contract lacks": {archive(t, "plan.json", head+`,"surprise":1}`), "unknown field"},
		"a key set twice":                 {archive(t, "plan.json", head+`,"kind":"Plan"}`), "set twice"},
		"a name in another case":          {archive(t, "plan.json", strings.Replace(whole, `"complete"`, `"COMPLETE"`, 1)), "not written as this tool"},
		"a file twice":                    {archive(t, "plan.json", head+`}`, "plan.json", head+`}`), "not a plan's"},
		"a body of no object":             {archive(t, "plan.json", whole, "objects/x.json", "{}"), "belongs to no object"},
		"a body that is no object":        {archive(t, "plan.json", whole, "objects/core/ConfigMap/n/a.json", "[]"), "not an object"},
		"a bomb":                          {archive(t, "plan.json", head+`}`, "objects/x.json", strings.Repeat(" ", 8<<20)), "more than a plan may hold"},
		"half an archive":                 {archive(t, "plan.json", head+`}`)[:60], "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(bytes.NewReader(c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := Encode(&b, plan(f, "key")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(archive(f, "plan.json", `{"apiVersion":"kubectl-operator/v1alpha1","kind":"Plan","objects":[{"id":"x"}]}`, "live/x.json", "{}"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Decode(bytes.NewReader(data)) // no panic, no hang
	})
}

// A plan of as many objects as a package may have is read again: with a live and a
// resulting object each, and findings about them.
func TestSlowLargestPlanRoundTrips(t *testing.T) {
	slowtest.Skip(t, "a plan of 40,000 objects")
	p := &preview.Plan{}
	for i := range preview.MaxObjects {
		name := fmt.Sprint("a", i)
		body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "n"}}
		o := preview.Object{ID: preview.RefOf(body).ID(), APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name, Action: preview.ActionUpdate, Planned: body, LiveBody: body, ResultBody: body}
		p.Objects = append(p.Objects, o)
		p.Findings = append(p.Findings, preview.Finding{ID: "rule/" + o.ID, Rule: "rule", Severity: preview.Warning, Object: o.ID, Evidence: strings.Repeat("evidence ", 60)})
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Objects) != len(p.Objects) || got.Digest != p.Digest || got.Objects[preview.MaxObjects-1].ResultBody == nil {
		t.Errorf("%d objects of %s", len(got.Objects), got.Digest)
	}
}

func TestAnErrorNamesTheFirstObjectsWithSecrets(t *testing.T) {
	objects := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{1: "(a)", 5: "(a, b, c, d, e)", 7: "(a, b, c, d, e, and 2 more)"} {
		if got := (&SecretsError{Objects: objects[:n]}).Error(); !strings.Contains(got, want) {
			t.Errorf("%d: %s", n, got)
		}
	}
}
