package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

var note = source.ArtifactKind{Type: "application/vnd.test.note", MediaType: "text/plain", MaxBytes: 1 << 20, What: "a note"}

func noteOf(text string) source.Artifact {
	return source.Artifact{
		Type: note.Type, MediaType: note.MediaType, Title: "note.txt", Data: []byte(text),
		Annotations: map[string]string{"about": "nothing"},
	}
}

func TestAnArtifactIsReadBackByItsDigestFromAnyRegistry(t *testing.T) {
	for name, front := range map[string][]sourcetest.Middleware{
		"no login":                  nil,
		"basic":                     {sourcetest.Basic("me", "hunter2")},
		"bearer":                    {sourcetest.Bearer("me", "hunter2", 0)},
		"without the referrers API": {withoutReferrers},
	} {
		t.Run(name, func(t *testing.T) {
			registry := sourcetest.TLS(t, front...)
			o := registry.Options(t)
			o.RegistryConfig = configFile(t, registry.Host, "me:hunter2")
			f := source.New(o)
			for _, to := range []string{"/team/notes", "/team/notes:v1"} {
				digest, err := f.PushArtifact(t.Context(), registry.Host+to, noteOf("hello"), "")
				must(t, err)
				at := registry.Host + "/team/notes@" + digest
				got, err := f.PullArtifact(t.Context(), at, note)
				must(t, err)
				if string(got) != "hello" {
					t.Errorf("%s reads %q", to, got)
				}
				about := map[string]bool{}
				for _, text := range []string{"one", "two"} {
					referring, err := f.PushArtifact(t.Context(), registry.Host+"/team/notes", noteOf(text), digest)
					must(t, err)
					about[referring+" "+text] = true
				}
				found, unreadable, err := f.ReferringArtifacts(t.Context(), at, note)
				must(t, err)
				for digest, text := range found {
					delete(about, digest+" "+string(text))
				}
				if len(found) != 2 || len(about) != 0 || len(unreadable) != 0 {
					t.Errorf("%s: found %v, missed %v, unreadable %v", to, found, about, unreadable)
				}
			}
			_, err := f.PushArtifact(t.Context(), registry.Host+"/team/notes", noteOf("x"), "sha256:"+strings.Repeat("0", 64))
			mustFail(t, err, "does not have it")
		})
	}
}

func TestArtifactsThatAreNotWhatTheyShouldBeAreRefused(t *testing.T) {
	registry := sourcetest.TLS(t)
	f := source.New(registry.Options(t))
	repo := registry.Host + "/team/notes"
	push := func(a source.Artifact) string {
		digest, err := f.PushArtifact(t.Context(), repo, a, "")
		must(t, err)
		return digest
	}
	other := noteOf("hello")
	other.Type = "application/vnd.test.other"
	binary := noteOf("hello")
	binary.MediaType = "application/octet-stream"
	image, err := source.PushDir(t.Context(), repo+":image", bundleDir(), nil, registry.Options(t))
	must(t, err)
	raw := func(edit func(map[string]any)) string {
		layer := map[string]any{"mediaType": note.MediaType, "size": 5, "digest": "sha256:" + strings.Repeat("0", 64)}
		m := map[string]any{
			"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": note.Type,
			"config": layer, "layers": []any{layer},
		}
		edit(m)
		data, err := json.Marshal(m)
		must(t, err)
		return registry.Manifest(t, "team/notes", "", "application/vnd.oci.image.manifest.v1+json", data)
	}
	layers := func(m map[string]any) map[string]any { return m["layers"].([]any)[0].(map[string]any) }
	for name, c := range map[string]struct{ digest, want string }{
		"another type of artifact":   {push(other), `it is not a note: its artifactType is "application/vnd.test.other"`},
		"another type of file":       {push(binary), "one layer of type text/plain"},
		"an image":                   {image, "it is not a note"},
		"two files":                  {raw(func(m map[string]any) { m["layers"] = []any{layers(m), layers(m)} }), "one layer"},
		"a file that is not there":   {raw(func(map[string]any) {}), "does not have it"},
		"a file that is too long":    {raw(func(m map[string]any) { layers(m)["size"] = 1<<20 + 1 }), "larger than its cap of 1 MiB"},
		"a file that lies elsewhere": {raw(func(m map[string]any) { layers(m)["urls"] = []string{"https://example.com"} }), "outside the registry"},
		"an artifact of nowhere":     {"sha256:" + strings.Repeat("0", 64), "does not have it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.PullArtifact(t.Context(), repo+"@"+c.digest, note)
			mustFail(t, err, c.want)
		})
	}
	_, err = f.PullArtifact(t.Context(), repo+":image", note)
	mustFail(t, err, "a tag can be moved")
	for _, to := range []string{"team", repo + "@" + image, repo + ":a b", "UPPER/x:", ""} {
		if _, err := f.PushArtifact(t.Context(), to, noteOf("x"), ""); err == nil {
			t.Errorf("%q was pushed to", to)
		}
		if err := source.CheckArtifactDestination(to); err == nil {
			t.Errorf("%q can be pushed to", to)
		}
	}
}

func TestBytesThatWereChangedOnTheWayAreNoArtifact(t *testing.T) {
	for _, part := range []string{"/blobs/", "/manifests/"} {
		changing := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, part) {
					next.ServeHTTP(w, r)
					return
				}
				answer := httptest.NewRecorder()
				next.ServeHTTP(answer, r)
				maps.Copy(w.Header(), answer.Header())
				_, _ = w.Write(bytes.ReplaceAll(answer.Body.Bytes(), []byte("hello"), []byte("HELLO")))
			})
		}
		registry := sourcetest.TLS(t, changing)
		f := source.New(registry.Options(t))
		a := noteOf("hello")
		a.Annotations["about"] = "hello"
		digest, err := f.PushArtifact(t.Context(), registry.Host+"/n", a, "")
		must(t, err)
		_, err = f.PullArtifact(t.Context(), registry.Host+"/n@"+digest, note)
		mustFail(t, err, "do not match their digest")
	}
}

// Anyone who may push to a repository can put anything next to an artifact.
func TestHostileReferrersAreNamedAndStandInNobodysWay(t *testing.T) {
	registry := sourcetest.TLS(t)
	f := source.New(registry.Options(t))
	repo := registry.Host + "/team/notes"
	digest, err := f.PushArtifact(t.Context(), repo, noteOf("hello"), "")
	must(t, err)
	good, err := f.PushArtifact(t.Context(), repo, noteOf("good"), digest)
	must(t, err)
	two := registry.Refer(t, "team/notes", digest, note.Type, source.Signature{MediaType: note.MediaType, Payload: []byte("a")}, source.Signature{MediaType: note.MediaType, Payload: []byte("b")})
	registry.Refer(t, "team/notes", digest, "application/vnd.test.other", source.Signature{MediaType: note.MediaType, Payload: []byte("a")})
	found, unreadable, err := f.ReferringArtifacts(t.Context(), repo+"@"+digest, note)
	must(t, err)
	if !slices.Equal(slices.Collect(maps.Keys(found)), []string{good}) || len(unreadable) != 1 || unreadable[two] == nil {
		t.Errorf("found %v, unreadable %v", found, unreadable)
	}
	for i := range 200 {
		_, err := f.PushArtifact(t.Context(), repo, noteOf(fmt.Sprint(i)), digest)
		must(t, err)
	}
	_, _, err = f.ReferringArtifacts(t.Context(), repo+"@"+digest, note)
	mustFail(t, err, "more than 200 artifacts")
}

func TestArtifactsNeedTLSUnlessPlainHTTPIsAllowed(t *testing.T) {
	registry := sourcetest.Plain(t)
	o := registry.Options(t)
	o.PlainHTTP = false
	_, err := source.New(o).PushArtifact(context.Background(), registry.Host+"/n", noteOf("hello"), "")
	if err == nil || !strings.Contains(err.Error(), "--plain-http allows it") {
		t.Errorf("got %v", err)
	}
	_, err = source.New(o).PullArtifact(context.Background(), registry.Host+"/n@sha256:"+strings.Repeat("0", 64), note)
	if err == nil || !strings.Contains(err.Error(), "--plain-http allows it") {
		t.Errorf("got %v", err)
	}
}
